"""Backup and restore of a real lake: while it changes, after an upgrade, over other files, with damage."""

from __future__ import annotations

import json
import shutil
import threading
from pathlib import Path

import orjson
import pytest
from typer.testing import CliRunner, Result

from mihakk.flows.cli import app
from mihakk.machinery.ids import sha256
from mihakk.machinery.lake import Lake, ShardOutput, Stage
from mihakk.machinery.llm.journal import Entry, Journal
from mihakk.machinery.settings import settings
from mihakk.pipeline.backup import LISTED, back_up
from mihakk.pipeline.verify import Verifier
from mihakk.releases.hub.embedded import EmbeddedHub
from mihakk.schemas.item import ITEM_ROWS
from mihakk.schemas.manifest import ShardCounts
from tests.archives import unpacked
from tests.end_to_end.test_older_lake import ARCHIVE


@pytest.fixture
def lake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A real lake of two builds and a review, with its releases."""
    unpacked(ARCHIVE, tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MIHAKK_HUB", str(tmp_path / "hub"))
    settings.cache_clear()
    return tmp_path / "lake"


def called(command: str, lake: Path, *options: object) -> Result:
    arguments = ["lake", command, "small.yaml", *map(str, options), "--lake", str(lake)]
    return CliRunner().invoke(app, arguments)


def held(*folders: Path) -> dict[str, str]:
    """What a user would miss: every file but locks and what only saves time."""
    return {
        str(path.relative_to(folder.parent)): sha256(path.read_bytes())
        for folder in folders
        for path in folder.rglob("*")
        if path.is_file() and path.name not in ("README", ".lock") and "scratch" not in path.parts
    }


def test_upgrade_refused_downgrade_and_restore(lake: Path, tmp_path: Path) -> None:
    hub, saved = tmp_path / "hub", tmp_path / "saved"
    before = held(lake / "small", hub / "small")
    assert called("backup", lake, saved).exit_code == 0
    manifest = lake / "small" / "5_checked" / "manifest.json"
    upgraded = orjson.dumps({**orjson.loads(manifest.read_bytes()), "format": 99})
    manifest.write_bytes(upgraded)
    refused = CliRunner().invoke(app, ["build", "small.yaml", "--until", "reviewed", "--lake", str(lake)])
    assert (refused.exit_code, "newer Mihakk" in refused.output) == (2, True), refused.output
    over = called("restore", lake, saved)
    assert (over.exit_code, "move " in over.output) == (2, True)
    assert manifest.read_bytes() == upgraded, "nothing is written over"
    (lake / "small").rename(lake / "newer")
    (hub / "small").rename(hub / "newer")
    assert called("restore", lake, saved).exit_code == 0
    assert held(lake / "small", hub / "small") == before
    assert called("verify", lake).exit_code == 0
    assert called("restore", lake, saved).exit_code == 0, "once more is nothing"


def test_a_restore_that_was_killed_goes_on_and_one_of_a_newer_mihakk_is_refused(
    lake: Path, tmp_path: Path
) -> None:
    hub, saved = tmp_path / "hub", tmp_path / "saved"
    before = held(lake / "small", hub / "small")
    called("backup", lake, saved)
    for path in sorted(path for path in (lake / "small").rglob("*") if path.is_file())[::2]:
        path.unlink()
    shutil.rmtree(hub / "small")
    assert called("restore", lake, saved).exit_code == 0
    assert held(lake / "small", hub / "small") == before
    listed = orjson.loads((saved / LISTED).read_bytes())
    listed.pop("seal")
    (saved / LISTED).write_bytes(orjson.dumps({**listed, "format": 99}))
    newer = called("restore", tmp_path / "empty", saved)
    assert (newer.exit_code, "newer Mihakk" in newer.output) == (2, True)
    assert not (tmp_path / "empty").exists()


def test_a_damaged_backup_restores_nothing_and_a_half_one_is_never_left(lake: Path, tmp_path: Path) -> None:
    saved = tmp_path / "saved"
    called("backup", lake, saved)
    part = next((saved / "lake").rglob("part-*.parquet"))
    part.write_bytes(part.read_bytes()[:-1] + b"?")
    gone = called("restore", tmp_path / "empty", saved)
    assert (gone.exit_code, part.name in gone.output.replace("\n", "")) == (75, True)
    assert not (tmp_path / "empty").exists()
    assert called("backup", lake, saved).exit_code == 2, "no backup is written over another"
    assert called("backup", tmp_path / "none", tmp_path / "other").exit_code == 2
    assert called("restore", lake, tmp_path / "none").exit_code == 2
    assert not list(tmp_path.glob(".*part"))
    rotten = next((lake / "small" / "4_generated").rglob("part-*.parquet"))
    rotten.write_bytes(b"rotten")
    told = json.loads(called("backup", lake, tmp_path / "third", "--json").stdout)
    assert told["damaged"] == [str(rotten.relative_to(lake / "small"))], "it is kept, and named"


def test_a_backup_while_a_run_writes_is_sound(lake: Path, tmp_path: Path) -> None:
    source = Lake(str(lake), "small")
    stage: Stage = source.stage("4_generated")
    over = threading.Event()
    kept = (
        source.lake.folder("journals", "audit")
        if hasattr(source, "lake")
        else source.folder("journals", "audit")
    )

    def write() -> None:
        shards = stage.shards()
        items = {shard: stage.read("items", ITEM_ROWS, shard) for shard in shards}
        number = 0
        with Journal(kept, "busy") as journal:
            while not over.is_set():
                number += 1
                shard = shards[number % len(shards)]
                few = items[shard][number % 5 :]
                counts = ShardCounts(read=len(few), kept=len(few), written=len(few))
                output = ShardOutput(tables={"items": (ITEM_ROWS, few)}, counts=counts)
                stage.run(shard, {"*": str(number)}, lambda output=output: output)
                key = sha256(str(number).encode())
                zeros = {"prompt_tokens": 1, "completion_tokens": 1, "latency": 0.0}
                entry = Entry(key=key, model="m", revision="", text="", finish_reason="", at="", **zeros)
                journal.append(entry)

    writer = threading.Thread(target=write)
    writer.start()
    try:
        for number in range(3):
            back_up(source, EmbeddedHub(), tmp_path / f"saved{number}")
    finally:
        over.set()
        writer.join()
    for number in range(3):
        copy = Lake(str(tmp_path / f"saved{number}" / "lake"), "small")
        assert Verifier(copy).run().damages == ()
