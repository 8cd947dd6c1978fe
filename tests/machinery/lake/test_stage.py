"""A stage's parts are whole or absent, counted, and not made twice."""

from __future__ import annotations

import errno
import os
import threading
from collections.abc import Callable
from pathlib import Path

import orjson
import pytest

from mihakk.machinery.errors import ExternalFailure, UsageError
from mihakk.machinery.lake import Lake, ShardOutput
from mihakk.machinery.lake.storage import Storage
from mihakk.schemas.manifest import ShardCounts
from mihakk.schemas.rejection import Cluster, Rejection


def row(name: str) -> Cluster:
    return Cluster(kept=name, merged=(), level="couplet", method="exact", similarity=1.0)


def output(*names: str, rejected: int = 0) -> ShardOutput:
    gone = [Rejection(record=f"r{n}", reason="odd", detail="odd") for n in range(rejected)]
    counts = ShardCounts(read=len(names) + rejected, kept=len(names), rejected=rejected, written=len(names))
    return ShardOutput({"clusters": (Cluster, [row(n) for n in names])}, counts, gone)


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    return Lake(str(tmp_path / "lake"), "demo")


def once(made: ShardOutput) -> Callable[[], ShardOutput]:
    calls: list[int] = []

    def work() -> ShardOutput:
        calls.append(1)
        assert len(calls) == 1, "the work was done twice"
        return made

    return work


def test_a_finished_shard_is_not_done_again(lake: Lake) -> None:
    stage = lake.stage("3_curated")
    work = once(output("a", rejected=2))
    first = stage.run("s-0", {"in": "x"}, work)
    assert stage.run("s-0", {"in": "x"}, work) == first
    stage.finish([first], inputs={}, config_digest="c", code_version="v")
    assert [r.kept for r in stage.read_all("clusters", Cluster)] == ["a"]
    assert len(stage.rejections()) == 2
    assert stage.manifest().counts.rejected == 2


def test_chosen_rows_alone_are_read(lake: Lake) -> None:
    stage = lake.stage("3_curated")
    made = [stage.run(f"s-{n}", {}, once(output(*names))) for n, names in enumerate(["ab", "cad", "e"])]
    stage.finish(made, inputs={}, config_digest="c", code_version="v")
    assert [r.kept for r in stage.read_all("clusters", Cluster, ("kept", {"a", "d"}))] == ["a", "a", "d"]
    assert list(stage.read_all("clusters", Cluster, ("kept", []))) == []
    assert list(stage.values("clusters", "kept", "level")) == [(kept, "couplet") for kept in "abcade"]
    assert list(stage.values("poems", "id")) == []


def test_changed_inputs_or_a_damaged_part_are_done_again(lake: Lake, tmp_path: Path) -> None:
    stage = lake.stage("3_curated")
    stage.run("s-0", {"in": "x"}, once(output("a")))
    stage.run("s-0", {"in": "y"}, once(output("b")))
    assert [r.kept for r in stage.read("clusters", Cluster, "s-0")] == ["b"]
    part = tmp_path / "lake/demo/3_curated/clusters/part-s-0.parquet"
    part.write_bytes(part.read_bytes()[:-10])
    with pytest.raises(ExternalFailure, match="damaged"):
        stage.read("clusters", Cluster, "s-0")
    stage.run("s-0", {"in": "y"}, once(output("b")))
    assert [r.kept for r in stage.read("clusters", Cluster, "s-0")] == ["b"]


def test_parts_of_shards_that_are_no_more_disappear(lake: Lake) -> None:
    stage = lake.stage("3_curated")
    shards = [stage.run(f"s-{n}", n, once(output(str(n), rejected=1))) for n in range(3)]
    stage.finish(shards, inputs={}, config_digest="c", code_version="v")
    stage.finish(shards[:1], inputs={}, config_digest="c", code_version="v")
    assert stage.shards() == ["s-0"]
    assert stage.read("clusters", Cluster, "s-2") == []
    assert len(stage.rejections()) == 1


def test_rejections_of_an_earlier_run_do_not_come_back(lake: Lake) -> None:
    stage = lake.stage("3_curated")
    before = stage.run("s-0", 1, once(output("a", rejected=2)))
    stage.finish([before], inputs={}, config_digest="c", code_version="v")
    after = stage.run("s-0", 2, once(output("a")))
    stage.finish([after], inputs={}, config_digest="c", code_version="v")
    assert stage.rejections() == []


def test_losing_a_record_is_a_bug(lake: Lake) -> None:
    lost = ShardOutput({}, ShardCounts(read=2, kept=1))
    with pytest.raises(AssertionError, match="lost records"):
        lake.stage("3_curated").run("s-0", 1, lambda: lost)


def test_reading_an_unfinished_stage_says_the_fix(lake: Lake) -> None:
    with pytest.raises(UsageError, match="mihakk build"):
        lake.stage("3_curated").shards()


def test_two_runs_on_one_lake_are_kept_apart(lake: Lake, tmp_path: Path) -> None:
    again = Lake(str(tmp_path / "lake"), "demo")
    holder = rf"another run \(process {os.getpid()} on .+, since 20.+\) is working on"
    with lake.locked(), pytest.raises(UsageError, match=holder), again.locked():
        pass
    with again.locked():
        assert (tmp_path / "lake/demo/.lock").exists()


@pytest.mark.parametrize(
    ("code", "error"),
    [(errno.ENOSPC, ExternalFailure), (errno.EROFS, UsageError), (errno.EACCES, UsageError)],
)
def test_a_full_or_read_only_disk_leaves_no_half_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int, error: type[Exception]
) -> None:
    storage = Storage(str(tmp_path))
    storage.write(storage.path("table", "part"), b"old")

    def fail(_: int) -> None:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(error):
        storage.write(storage.path("table", "part"), b"new")
    assert storage.read(storage.path("table", "part")) == b"old"
    assert [path.name for path in (tmp_path / "table").iterdir()] == ["part"]


def test_a_lake_on_an_object_store(tmp_path: Path) -> None:
    stage = Lake("memory://lake", "demo").stage("3_curated")
    shard = stage.run("s-0", 1, once(output("a", rejected=1)))
    stage.finish([shard], inputs={}, config_digest="c", code_version="v")
    assert stage.tables() == ["clusters"]
    assert [r.kept for r in stage.read_all("clusters", Cluster)] == ["a"]


def finished(lake: Lake, name: str) -> Path:
    stage = lake.stage("3_curated")
    stage.finish([stage.run("s-0", 1, lambda: output(name))], inputs={}, config_digest="c", code_version="v")
    return Path(stage._path())


def rewritten(path: Path, **changes: object) -> None:
    path.write_bytes(orjson.dumps({**orjson.loads(path.read_bytes()), **changes}))


def test_bytes_that_rotted_but_still_decode_are_found_and_named(lake: Lake) -> None:
    folder = finished(lake, "a")
    part = folder / "clusters" / "part-s-0.parquet"
    other = Lake(str(folder.parents[1]), "other")
    part.write_bytes((finished(other, "b") / "clusters" / "part-s-0.parquet").read_bytes())
    stage = lake.stage("3_curated")
    with pytest.raises(ExternalFailure, match=r"part-s-0\.parquet is damaged .*mihakk build"):
        stage.read("clusters", Cluster, "s-0")
    finished(lake, "a")
    assert [row.kept for row in stage.read("clusters", Cluster, "s-0")] == ["a"]


def test_a_lake_of_a_newer_format_is_refused_before_anything_is_touched(lake: Lake) -> None:
    folder = finished(lake, "a")
    rewritten(folder / "manifest.json", format=99, a_field_of_then="x")
    with pytest.raises(UsageError, match="newer Mihakk"), lake.locked():
        pass
    with pytest.raises(UsageError, match="newer Mihakk"):
        lake.stage("3_curated").shards()


def test_what_an_older_format_left_is_made_again_shard_by_shard(lake: Lake) -> None:
    folder = finished(lake, "a")
    for path in (folder / "manifest.json", folder / "shards" / "s-0.json"):
        rewritten(path, format=0, a_field_of_then="x")
    with pytest.raises(UsageError, match="mihakk build"):
        lake.stage("3_curated").shards()
    with lake.locked():
        finished(lake, "b")
    assert [row.kept for row in lake.stage("3_curated").read_all("clusters", Cluster)] == ["b"]


def test_a_run_can_wait_for_another_to_end(lake: Lake, tmp_path: Path) -> None:
    again = Lake(str(tmp_path / "lake"), "demo")
    held = lake.locked()
    held.__enter__()
    over = threading.Event()

    def end() -> None:
        over.set()
        held.__exit__(None, None, None)

    threading.Timer(0.3, end).start()
    with again.locked(wait=30):
        assert over.is_set(), "the second run began while the first still held the lake"
