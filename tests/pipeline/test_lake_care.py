"""`mihakk lake verify` finds one rotten byte in each kind of file; `prune` takes nothing that is needed."""

from __future__ import annotations

import gzip
import json
import random
import zlib
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from mihakk.flows.cli import app
from mihakk.machinery.ids import sha256
from mihakk.machinery.lake import Lake, ShardOutput, Stage
from mihakk.machinery.lake.storage import Storage
from mihakk.machinery.llm.journal import Journal
from mihakk.machinery.settings import settings
from mihakk.pipeline.sign_off import override, sign
from mihakk.pipeline.verify import Verifier
from mihakk.releases.gates import GATES, NEVER_OVERRIDDEN
from mihakk.releases.hub.embedded import EmbeddedHub
from mihakk.schemas.manifest import ShardCounts
from mihakk.scrapers.raw import RawStore
from tests.archives import unpacked
from tests.end_to_end.test_older_lake import ARCHIVE
from tests.reports.dashboard.conftest import Made


@pytest.fixture
def lake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A real lake of two builds and a review."""
    unpacked(ARCHIVE, tmp_path)
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
    unread = {"README", ".lock"}  # the same in every lake, and empty between runs
    there = [path for path in (lake / "small").rglob("*") if path.is_file() and path.name not in unread]
    there = [path for path in there if "scratch" not in path.parts]
    assert found["files"] == len(there)


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


def test_pruning_leaves_all_that_cannot_be_made_again(lake: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mihakk.pipeline.verify.RUNS_KEPT", 1)
    scratch = lake / "small/scratch/3_curated/x.arrow"
    scratch.parent.mkdir(parents=True, exist_ok=True)
    scratch.write_bytes(b"x" * 1000)
    kept = {path: path.read_bytes() for path in (lake / "small").rglob("*") if path.is_file()}
    listed = json.loads(called("prune", lake, "--dry-run").stdout)
    assert scratch.exists()
    assert json.loads(called("prune", lake).stdout) == listed
    gone = {path.relative_to(lake / "small").as_posix() for path in kept if not path.exists()}
    assert {path.split("/")[0] for path in gone} == {"scratch", "runs"}
    assert len([path for path in gone if path.startswith("runs/")]) == 1
    assert called("verify", lake).exit_code == 0


NAMED = {"README", ".lock"}
"""Files of a lake whose rot harms nobody: the same text in every lake, and the lock between two runs."""
GIT_FOR_PEOPLE = ("description", "COMMIT_EDITMSG", "info/", "logs/", "hooks/", "config")
"""What git neither checks nor needs to read a release, but for its config, which it reads and cannot check."""
KINDS = {
    "parts": "[1-8]_*/*/part-*.parquet",
    "all rejected": "[1-8]_*/rejected.parquet",
    "shards": "[1-8]_*/shards/*.json",
    "manifests": "[1-8]_*/manifest.json",
    "runs": "runs/*.json",
    "quality": "quality/*.json",
    "auditors": "audited_by.json",
    "journals": "journals/*/*.jsonl",
    "decisions": "decisions/*.jsonl",
    "review": "review/*/*.jsonl",
    "raw": "raw/??/*.gz",
    "index": "raw/index.jsonl",
    "sign-offs": "sign_offs/*.json",
    "ledger": "ledger/*.parquet",
    "overrides": "overrides/*.json",
}
APART = {"shards", "manifests"}
"""Kinds that say what others must be; all others rot at once."""


@pytest.fixture
def own(built: Made, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A lake that this code built, twice and with decisions between, with every kind of file in it."""
    mine = built.copy(tmp_path / "copy")
    monkeypatch.setenv("MIHAKK_HUB", str(mine.hub))
    settings.cache_clear()
    lake = Path(mine.build.lake_root)
    store = RawStore(str(lake / "small"))
    for number in range(3):
        store.add(f"https://example.org/{number}", f"صفحة {number}".encode())
    sign(mine.build, "approve", "Layla Haddad", "spot-checked 40 items")
    override(mine.build, min(set(GATES) - set(NEVER_OVERRIDDEN)), "agreed by the board")
    return lake


def flip(path: Path, chosen: random.Random) -> None:
    data = bytearray(path.read_bytes())
    # A last line without its end is what a killed process leaves, and no rot.
    data[chosen.randrange(len(data) - data.endswith(b"\n"))] ^= 1 << chosen.randrange(8)
    path.chmod(0o644)
    path.write_bytes(bytes(data))


def unharmed(path: Path) -> bool:
    """Whether a packed page still holds what it held: some bits between its last block and its sum fill a byte."""
    if path.suffix != ".gz":
        return False
    try:
        data = path.read_bytes()
        return data[:9] == b"\x1f\x8b\x08" + bytes(6) and sha256(gzip.decompress(data)) == path.stem
    except (OSError, EOFError, zlib.error):
        return False


def damaged(lake: Path) -> dict[str, str]:
    found = Verifier(Lake(str(lake), "small"), EmbeddedHub()).run()
    assert all(one.fix for one in found.damages)
    return {one.path.partition(":")[0]: one.what for one in found.damages}


def test_every_file_of_a_lake_is_of_a_kind_whose_rot_is_found(own: Path) -> None:
    assert damaged(own) == {}
    known = {path for pattern in KINDS.values() for path in (own / "small").glob(pattern)}
    assert all(list((own / "small").glob(pattern)) for pattern in KINDS.values()), "each kind is there"
    there = {path for path in (own / "small").rglob("*") if path.is_file() and path.name not in NAMED}
    # What passes of one stage hand to each other: `lake prune` takes it away.
    left = {path for path in there - known if "scratch" not in path.parts}
    assert {path.name for path in left} == set()


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    "kinds", [{"shards"}, {"manifests"}, set(KINDS) - APART], ids=["shards", "manifests", "rest"]
)
def test_one_flipped_bit_in_every_file_is_found_in_every_file(own: Path, kinds: set[str], seed: int) -> None:
    chosen = random.Random(f"{sorted(kinds)}{seed}")
    files = sorted(path for kind in kinds for path in (own / "small").glob(KINDS[kind]))
    for path in files:
        flip(path, chosen)
    wanted = {path.relative_to(own / "small").as_posix() for path in files if not unharmed(path)}
    assert len(wanted) >= len(files) - 1
    assert set(damaged(own)) == wanted


@pytest.mark.parametrize("seed", range(3))
def test_one_flipped_bit_in_a_release_is_found(own: Path, seed: int) -> None:
    folder = EmbeddedHub().repository("small")
    chosen = random.Random(seed)
    files = [path for path in sorted(folder.rglob("*")) if path.is_file() and ".git" not in path.parts]
    for path in files:
        flip(path, chosen)
    assert set(damaged(own)) == {str(path) for path in files}


def test_one_flipped_bit_in_what_git_keeps_is_found(own: Path) -> None:
    folder = EmbeddedHub().repository("small")
    git = folder / ".git"
    files = [path for path in sorted(git.rglob("*")) if path.is_file()]
    files = [path for path in files if not path.relative_to(git).as_posix().startswith(GIT_FOR_PEOPLE)]
    assert len(files) > 50
    unnoticed = []
    for path in [*random.Random(20261123).sample(files, 12), git / "HEAD", git / "index"]:
        before = path.read_bytes()
        flip(path, random.Random(path.name))
        if not damaged(own):
            unnoticed.append(path.relative_to(git).as_posix())
        path.write_bytes(before)
    assert unnoticed == []


def test_a_line_that_rotted_in_a_journal_is_asked_again_and_not_believed(own: Path) -> None:
    path = next((own / "small/journals/audit").glob("*.jsonl"))
    lines = path.read_bytes().splitlines(keepends=True)
    number = next(
        n for n, line in enumerate(lines) if b'answer_alignment\\":0' in line or b"answer_alignment" in line
    )
    key = json.loads(lines[number])["key"]
    lines[number] = lines[number].replace(b"answer_alignment", b"answer_alignmenu", 1)
    path.write_bytes(b"".join(lines))
    with Journal(path.parent, "audit") as journal:
        assert journal.get(key) is None
    assert list(damaged(own)) == [f"journals/audit/{path.name}"]


def test_a_journal_cut_short_by_a_kill_is_no_damage(own: Path) -> None:
    path = next((own / "small/journals/audit").glob("*.jsonl"))
    data = path.read_bytes()
    for cut in (1, 2, 30, 200):
        path.write_bytes(data[:-cut])
        assert damaged(own) == {}, cut


def test_what_an_unfinished_run_left_is_no_damage(own: Path) -> None:
    """Killed in stage 4 of a build with another config: its shards are new, the stage's manifest is old."""
    stage = Stage(Storage(str(own / "small")), "4_generated")
    shard = stage.shards()[0]
    stage.run(shard, "other inputs", lambda: ShardOutput(tables={}, counts=ShardCounts()))
    assert damaged(own) == {}
