"""`mihakk lake verify` finds one rotten byte in each kind of file; `prune` takes nothing that is needed."""

from __future__ import annotations

import json
import random
import tarfile
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from flows.cli import app
from tests.end_to_end.test_older_lake import ARCHIVE


@pytest.fixture
def lake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A real lake of two builds and a review."""
    with tarfile.open(ARCHIVE) as archive:
        archive.extractall(tmp_path, filter="data")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "lake/small/raw/ab").mkdir(parents=True, exist_ok=True)
    return tmp_path / "lake"


def called(command: str, lake: Path, *options: str) -> Result:
    return CliRunner().invoke(app, ["lake", command, "small.yaml", "--lake", str(lake), "--json", *options])


def test_a_sound_lake_is_sound_and_every_file_of_it_was_read(lake: Path) -> None:
    done = called("verify", lake)
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    assert found["damages"] == []
    unread = {"README", ".lock"}
    there = [path for path in (lake / "small").rglob("*") if path.is_file() and path.name not in unread]
    there = [path for path in there if "scratch" not in path.parts]
    assert found["files"] == len(there)


@pytest.mark.parametrize("number", range(6))
@pytest.mark.parametrize("pattern", ["[1-8]_*/*/part-*.parquet", "decisions/*.jsonl", "raw/??/*.gz"])
def test_one_flipped_bit_anywhere_is_found_where_a_digest_stands(
    lake: Path, pattern: str, number: int
) -> None:
    chosen = random.Random(f"{pattern}{number}")
    files = sorted((lake / "small").glob(pattern))
    assert files
    path = chosen.choice(files)
    data = bytearray(path.read_bytes())
    # The first ten bytes of a gzip file hold its time and system, which no digest of the content covers.
    place = chosen.randrange(10 if path.suffix == ".gz" else 0, len(data))
    data[place] ^= 1 << chosen.randrange(8)
    path.write_bytes(bytes(data))
    done = called("verify", lake)
    assert done.exit_code == 1
    (damage,) = json.loads(done.stdout)["damages"]
    assert damage["path"] == path.relative_to(lake / "small").as_posix()
    assert damage["fix"]


@pytest.mark.parametrize(
    "pattern",
    [
        *("[1-8]_*/manifest.json", "[1-8]_*/shards/*.json", "[1-8]_*/rejected.parquet", "runs/*.json"),
        *("journals/*/*.jsonl", "raw/index.jsonl", "quality/*.json"),
    ],
)
def test_a_file_that_no_longer_parses_is_found(lake: Path, pattern: str) -> None:
    files = sorted((lake / "small").glob(pattern))
    if not files:
        path = lake / "small" / pattern.replace("*", "made")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text('{"a": 1}\n')
        files = [path]
    data = files[0].read_bytes()
    files[0].write_bytes(data[:-4] + b"\x00\x00\x00\n" if data.endswith(b"\n") else data[: len(data) // 2])
    done = called("verify", lake)
    assert done.exit_code == 1, done.output
    (damage,) = json.loads(done.stdout)["damages"]
    assert damage["path"].split(":")[0] == files[0].relative_to(lake / "small").as_posix()


def test_pruning_leaves_all_that_cannot_be_made_again(lake: Path) -> None:
    scratch = lake / "small/scratch/3_curated/x.arrow"
    scratch.parent.mkdir(parents=True, exist_ok=True)
    scratch.write_bytes(b"x" * 1000)
    kept = {path: path.read_bytes() for path in (lake / "small").rglob("*") if path.is_file()}
    listed = json.loads(called("prune", lake, "--dry-run", "--runs-kept", "1").stdout)
    assert scratch.exists()
    assert json.loads(called("prune", lake, "--runs-kept", "1").stdout) == listed
    gone = {path.relative_to(lake / "small").as_posix() for path in kept if not path.exists()}
    assert {path.split("/")[0] for path in gone} == {"scratch", "runs"}
    assert len([path for path in gone if path.startswith("runs/")]) == 1
    assert called("verify", lake).exit_code == 0
