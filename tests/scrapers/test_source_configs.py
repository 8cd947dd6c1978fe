"""The examples in configs/sources open, and those that need no network give what they promise."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
import yaml

from mihakk.machinery.errors import SourceChanged, UsageError
from mihakk.machinery.settings import ROOT
from mihakk.machinery.taxonomy import vocabulary
from mihakk.schemas.benchmark import SourceUse
from mihakk.schemas.poem import Poem
from mihakk.schemas.rejection import Rejection
from mihakk.scrapers.place import find
from mihakk.scrapers.raw import RawStore
from mihakk.scrapers.source import SOURCES, open_source, run

FILES = sorted((ROOT / "configs" / "sources").glob("*.yaml"))
LOCAL = (
    "amthal_openiti",
    "aldiwan_table",
    "ganjoor_poets",
    "ganjoor_export",
    "kinayat_openiti",
    "amin_openiti",
    "sahli_openiti",
    "hindawi_epub_file",
    "fannorflop",
    "own_table",
    "hafez",
)
FETCHED = ("vulgar_tongue", "slang_dictionary", "devils_dictionary", "english_in_ireland")
"""Books of Project Gutenberg that are not beside the checkout; read whole when they were declared."""


def use_of(path: Path) -> SourceUse:
    return SourceUse.model_validate(yaml.safe_load(path.read_text(encoding="utf-8")))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_an_example_opens(path: Path) -> None:
    assert open_source(use_of(path)).source.name == use_of(path).use


def test_every_source_has_an_example() -> None:
    assert {use_of(path).use for path in FILES} == set(SOURCES.names())


def test_every_example_that_was_not_tried_says_so() -> None:
    for path in FILES:
        text = path.read_text(encoding="utf-8")
        remote = (
            use_of(path).use in ("hub", "aldiwan", "arabic_poetry_net") or "jawaher" in text or "MAPS" in text
        )
        if path.stem in ("jawaher_table", "maps_english", "ashaar_hub"):
            assert "Inferred" in text, path.stem
            assert use_of(path).options["licence"] == "unknown"
        assert (
            remote
            or path.stem in (*LOCAL, *FETCHED, "metrec_table")
            or use_of(path).use in ("ganjoor", "hindawi")
        ), path.stem


@pytest.mark.parametrize("name", LOCAL)
def test_a_local_example_gives_its_records(
    name: str, shared_data: Path, raw: RawStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MIHAKK_SHARED_DATA", str(shared_data))
    entries = list(run(use_of(ROOT / "configs" / "sources" / f"{name}.yaml"), raw))
    records = [entry for entry in entries if not isinstance(entry, Rejection)]
    assert records
    again = list(run(use_of(ROOT / "configs" / "sources" / f"{name}.yaml"), raw))
    assert entries == again


def test_metrec_gives_every_couplet_with_a_metre_of_the_table(
    shared_data: Path, raw: RawStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = (shared_data / "metrec" / "labels.txt").read_text(encoding="utf-8").split()
    with gzip.open(shared_data / "metrec" / "baits_train.txt.gz", "rt", encoding="utf-8") as file:
        lines = [line.rstrip("\n").split(" ", 1) for _, line in zip(range(2_000), file, strict=False)]
    rows = ["poet\tmetre\tfirst\tsecond"]
    rows += ["\t".join(["", names[int(label)], *verse.split(" # ")]) for label, verse in lines]
    (tmp_path / "metrec").mkdir()
    (tmp_path / "metrec" / "metrec.tsv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    monkeypatch.setenv("MIHAKK_SHARED_DATA", str(tmp_path))
    use = use_of(ROOT / "configs" / "sources" / "metrec_table.yaml")
    use = use.model_copy(update={"options": use.options | {"least_yield": 2_000}})
    found = [one for one in run(use, raw) if isinstance(one, Poem)]
    assert len(found) == 2_000
    table = vocabulary("metre", "ar")
    assert table is not None
    assert len({table.match(one.source_labels["metre"]) for one in found}) == 14


def test_a_variable_that_is_not_set_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MIHAKK_NOWHERE", raising=False)
    with pytest.raises(UsageError, match="set the environment variable MIHAKK_NOWHERE"):
        find("$MIHAKK_NOWHERE/x.jsonl")


PRESENT: dict[str, dict[str, object]] = {
    "jawaher_table": {"proverb": "قول سائر", "explanation": "معنى القول السائر", "country": "مصر"},
    "maps_english": {"proverb": "A stitch in time", "explanation": "to mend early saves labour later"},
    "ashaar_hub": {
        "poem title": "قصيدة",
        "poem meter": "بحر الطويل",
        "poem verses": ["قفا نبك من ذكرى حبيب ومنزل", "بسقط اللوى بين الدخول فحومل"] * 2,
        "poem theme": "قصيدة غزل",
        "poem url": "http://x",
        "poet name": "امرؤ القيس",
        "poet era": "العصر الجاهلي",
        "poet location": "",
        "poet description": "",
        "poet url": "",
        "poem description": "",
        "poem language type": "",
    },
}
"""A row with every column that the three inferred configs expect."""


def inferred(name: str, folder: Path, row: dict[str, object]) -> SourceUse:
    """The config over one file of one row, at whatever place it names."""
    use = use_of(ROOT / "configs" / "sources" / f"{name}.yaml")
    options = use.options | {"least_yield": 1, "licence": "CC0-1.0"}
    folder.mkdir()
    if use.use == "hub":
        (folder / "train.jsonl").write_text(json.dumps(row, ensure_ascii=False) + "\n", encoding="utf-8")
        options |= {"dataset": str(folder), "revision": ""}
    else:
        (folder / "rows.jsonl").write_text(json.dumps(row, ensure_ascii=False) + "\n", encoding="utf-8")
        options |= {"path": str(folder / "rows.jsonl")}
    return use.model_copy(update={"options": options})


@pytest.mark.parametrize("name", PRESENT)
def test_an_inferred_example_stops_at_each_column_that_is_missing_or_unknown(
    name: str, raw: RawStore, tmp_path: Path
) -> None:
    whole = PRESENT[name]
    entries = list(run(inferred(name, tmp_path / "whole", whole), raw))
    assert [one for one in entries if not isinstance(one, Rejection)]
    for number, column in enumerate(whole):
        row = {one: value for one, value in whole.items() if one != column}
        use = use_of(ROOT / "configs/sources" / f"{name}.yaml")
        if column in use.options["columns"].values() and (
            use.use != "hub" or column in ("poet name", "poet era")
        ):
            with pytest.raises((UsageError, SourceChanged), match=column):
                list(run(inferred(name, tmp_path / f"without{number}", row), raw))
    with pytest.raises((UsageError, SourceChanged), match="unheard_of"):
        list(run(inferred(name, tmp_path / "more", whole | {"unheard_of": "x"}), raw))
