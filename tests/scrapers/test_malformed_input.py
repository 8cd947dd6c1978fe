"""Malformed input of every source ends in a typed error or a rejection, never in a traceback."""

from __future__ import annotations

import io
import json
import os
import random
import shutil
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mihakk.machinery.configs import load_yaml
from mihakk.machinery.errors import MihakkError, SourceChanged, UsageError
from mihakk.schemas.benchmark import SourceUse
from mihakk.schemas.poem import Poem
from mihakk.schemas.rejection import Rejection
from mihakk.scrapers.raw import RawStore
from mihakk.scrapers.source import Entry, run
from tests.drills.mutations import mutated
from tests.scrapers.conftest import SAMPLES, fill, read_sample, sample_files

Scrape = Callable[..., list[Entry]]
TABLES = ("tsv", "xlsx", "parquet")


# --- what is mutated ------------------------------------------------------------------------------------
def _table_rows() -> list[dict[str, Any]]:
    return [
        {"id": n, "poet": "شاعر", "first": f"صدر {n}", "second": f"عجز {n}", "era": "العباسي"}
        for n in range(4)
    ]


def write_table(path: Path) -> None:
    """The same four couplets in the format that the suffix names."""
    rows = _table_rows()
    if path.suffix == ".xlsx":
        import openpyxl

        book = openpyxl.Workbook()
        for row in [list(rows[0]), *(list(row.values()) for row in rows)]:
            book.worksheets[0].append(row)
        book.save(path)
    elif path.suffix == ".parquet":
        import pyarrow as pa
        import pyarrow.parquet as pq

        pq.write_table(pa.Table.from_pylist(rows), path)
    else:
        lines = ["\t".join(map(str, row)) for row in [list(rows[0]), *(row.values() for row in rows)]]
        path.write_text("\n".join(lines), encoding="utf-8")


def _samples(folder: Path) -> list[tuple[str, Path]]:
    """Every sample of every source, copied, and a table of each further format."""
    shutil.copytree(SAMPLES, folder, dirs_exist_ok=True)
    found = [
        (f"{path.parent.name}-{path.stem}", folder / path.relative_to(SAMPLES)) for path in sample_files()
    ]
    for suffix in TABLES:
        place = folder / f"table_{suffix}"
        place.mkdir()
        write_table(place / f"t.{suffix}")
        use = {"use": "files", "options": {"path": f"$HERE/t.{suffix}", "kind": "poem"}}
        use["options"] |= {"language": "ar", "licence": "CC0-1.0"}  # type: ignore[operator]
        (place / "t.yaml").write_text(json.dumps(use))
        found.append((f"table-{suffix}", place / "t.yaml"))
    return found


def _inputs(sample: Path) -> list[Path]:
    """Files that the sample's source reads: those it names, or those of the folder that it names."""
    use, pages = read_sample(sample)
    if pages:
        return [sample.parent / page["file"] for page in pages.values()]
    text = json.dumps(use.options)
    files = [path for path in sample.parent.rglob("*") if path.is_file() and path.suffix != ".yaml"]
    named = [path for path in files if str(path) in text]
    return named or [path for path in files if ".expected." not in path.name]


def attack(folder: Path, rounds: int, seed: int) -> dict[str, int]:
    """Runs every sample `rounds` times with one of its files mutated; gives what came of it, counted.

    Raises:
        AssertionError: An error that is not one of ours, with what is needed to see it again.
    """
    ends: dict[str, int] = {}
    for name, sample in _samples(folder):
        inputs = _inputs(sample)
        assert inputs, name
        for number in range(rounds):
            chance = random.Random(f"{seed} {name} {number}")
            path = chance.choice(inputs)
            whole = path.read_bytes()
            path.write_bytes(mutated(path.name, whole, chance))
            try:
                end = _end(sample, folder / "lakes" / f"{name}-{number}")
            except Exception as error:
                raise AssertionError(
                    f"{name}, round {number}, {path.name}: {type(error).__name__}"
                ) from error
            finally:
                path.write_bytes(whole)
            ends[end] = ends.get(end, 0) + 1
    return ends


def _end(sample: Path, lake: Path) -> str:
    use, pages = read_sample(sample)
    raw = RawStore(lake)
    fill(raw, sample.parent, pages)
    try:
        entries = list(run(use, raw))
    except MihakkError as error:
        assert str(error)  # noqa: PT017
        return type(error).__name__
    finally:
        shutil.rmtree(lake, ignore_errors=True)
    return "rejections" if any(isinstance(entry, Rejection) for entry in entries) else "records"


def test_mutated_input_of_every_source_ends_in_typed_errors(tmp_path: Path) -> None:
    ends = attack(tmp_path, rounds=int(os.environ.get("MIHAKK_FUZZ_ROUNDS", "20")), seed=14)
    # The mutations do reach the parsers: some break the input, some only change it.
    assert ends["SourceChanged"] > 60
    assert ends["records"] > 20


@pytest.mark.drill
@pytest.mark.timeout(3600)
def test_ten_thousand_mutations_of_every_source_end_in_typed_errors(tmp_path: Path) -> None:
    ends = attack(tmp_path, rounds=10_000 // len(_samples(tmp_path / "count")) + 1, seed=2014)
    assert sum(ends.values()) >= 10_000


# --- single cases ---------------------------------------------------------------------------------------
def test_a_truncated_poem_of_an_export_is_one_rejection(tmp_path: Path, scraped: Scrape) -> None:
    """The other poems of the archive are still read, and the message says which file to get again."""
    folder = SAMPLES / "ganjoor" / "export"
    packed = tmp_path / "export.tar.gz"
    with tarfile.open(packed, "w:gz") as archive:
        for path in sorted(folder.rglob("*.json")):
            data = path.read_bytes()
            name = path.relative_to(folder).as_posix()
            if path.name.startswith("sh1"):
                data = data[: len(data) // 2]
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    entries = scraped("ganjoor", export=str(packed))
    (damaged,) = [e for e in entries if isinstance(e, Rejection) and e.reason == "file_truncated"]
    assert "sh1" in damaged.detail
    assert "get the file again" in damaged.detail
    assert [entry for entry in entries if isinstance(entry, Poem)]


def test_an_archive_cut_short_is_named(tmp_path: Path, scraped: Scrape) -> None:
    packed = tmp_path / "export.tar.gz"
    with tarfile.open(packed, "w:gz") as archive:
        archive.add(SAMPLES / "ganjoor" / "export", "export")
    packed.write_bytes(packed.read_bytes()[:900])
    with pytest.raises(UsageError, match=r"export.tar.gz can't be read as Ganjoor's export"):
        scraped("ganjoor", export=str(packed))


@pytest.mark.parametrize("text", ["[" * 5_000, "a: " + "{b: " * 5_000])
def test_yaml_nested_without_end_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "config.yaml"
    path.write_text(text)
    with pytest.raises(UsageError, match=r"config.yaml is (not YAML|nested too deeply)"):
        load_yaml(path)


def test_a_row_nested_without_end_is_one_rejection(tmp_path: Path, scraped: Scrape) -> None:
    path = tmp_path / "t.jsonl"
    deep = "[" * 900 + "]" * 900
    rows = [json.dumps(row) for row in _table_rows()]
    path.write_text("\n".join([*rows, '{"poet": "a", "couplets": ' + deep + "}"]))
    entries = scraped("files", path=str(path), kind="poem", language="ar", licence="CC0-1.0")
    assert len(entries) == 5
    assert isinstance(entries[-1], Rejection)


@pytest.mark.parametrize("source", ["fannorflop", "hafez", "openiti"])
def test_a_folder_in_place_of_a_file_is_said(tmp_path: Path, scraped: Scrape, source: str) -> None:
    with pytest.raises(UsageError, match=r"can't be read .* set the option `path` to a file"):
        scraped(source, path=str(tmp_path))


def test_links_that_leave_a_folder_are_not_followed(tmp_path: Path, scraped: Scrape) -> None:
    folder, outside = tmp_path / "tables", tmp_path / "outside"
    folder.mkdir()
    outside.mkdir()
    write_table(outside / "secret.tsv")
    write_table(folder / "own.tsv")
    (folder / "linked.tsv").symlink_to(outside / "secret.tsv")
    (folder / "linked").symlink_to(outside)
    (folder / "within.tsv").symlink_to(folder / "own.tsv")
    entries = scraped("files", path=str(folder), kind="poem", language="ar", licence="CC0-1.0")
    names = {e.provenance.url.partition("#")[0] for e in entries if isinstance(e, Poem)}
    assert names == {"file:own.tsv"}
    again = [e for e in entries if isinstance(e, Rejection)]
    assert [e.reason for e in again] == ["id_taken"] * 4, (
        "the link within was read, and its rows were there already"
    )
    assert all("file:within.tsv" in e.detail and "`ignore`" in e.detail for e in again)


def test_an_error_says_which_page_and_what(raw: RawStore, tmp_path: Path) -> None:
    use, pages = read_sample(SAMPLES / "aldiwan" / "pages_b.yaml")
    url = next(url for url in pages if "/poem" in url)
    fill(raw, SAMPLES / "aldiwan", pages)
    raw.add(url, b'<script type="application/ld+json">[1]</script><div id="poem_content"></div>')
    with pytest.raises(SourceChanged, match=rf"{url} is not of the shape .*AttributeError: .*page.py, line"):
        list(run(SourceUse.model_validate(use), raw))
