"""The whole line with its lake on a real S3-compatible server, over loopback: the local build's bytes."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx
import pytest

from mihakk.machinery.errors import ExternalFailure, UsageError
from mihakk.machinery.lake import Lake
from mihakk.machinery.lake._lease import Lease
from mihakk.machinery.lake.storage import Storage
from mihakk.machinery.llm.journal import Entry, Journal
from mihakk.machinery.llm.scripted import ScriptedServer
from mihakk.machinery.settings import settings
from mihakk.pipeline.build import Build, open_build
from mihakk.pipeline.engines.local import LocalEngine
from mihakk.pipeline.observer import Silent
from mihakk.pipeline.run import run_pipeline
from mihakk.scrapers.raw import RawStore
from tests.end_to_end.conftest import Workshop, fewer, make_workshop

pytestmark = pytest.mark.services

LAKE = "s3://verse/lake"


@pytest.fixture
def store(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A server of its own with one bucket; the environment says where it is, as it would to a cluster."""
    import s3fs
    from moto.server import ThreadedMotoServer

    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    _, port = server.get_host_and_port()
    address = f"http://127.0.0.1:{port}"
    httpx.post(f"{address}/moto-api/reset").raise_for_status()  # servers of one process share their buckets
    monkeypatch.setenv("AWS_ENDPOINT_URL", address)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "test")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "test")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    s3fs.S3FileSystem.clear_instance_cache()
    s3fs.S3FileSystem().mkdir("verse")
    try:
        yield LAKE
    finally:
        s3fs.S3FileSystem.clear_instance_cache()
        server.stop()


def opened(workshop: Workshop, name: str, monkeypatch: pytest.MonkeyPatch) -> Build:
    monkeypatch.setenv("MIHAKK_HUB", str(workshop.hub(name)))
    monkeypatch.setenv("MIHAKK_CACHE", str(workshop.folder / name / "cache"))
    settings.cache_clear()
    return open_build(workshop.config, workshop.folder / name / "run", LAKE)


def run(build: Build, workers: int = 1) -> None:
    engine = LocalEngine(workers)
    try:
        run_pipeline(build, engine, Silent())
    finally:
        engine.close()


def tables(build: Build) -> dict[str, str]:
    """Digest of every table in the lake on the store."""
    storage = build.lake.storage
    found: dict[str, str] = {}
    for stage in storage.list(storage.root):
        if stage[0].isdigit():
            for table in storage.list(storage.path(stage)):
                for name in [table] if "." in table else storage.list(storage.path(stage, table)):
                    path = "/".join(dict.fromkeys([stage, table, name]))
                    if name.endswith(".parquet"):
                        data = storage.read(storage.path(path))
                        found[f"lake/{build.config.name}/{path}"] = hashlib.sha256(data).hexdigest()
    return found


def written(build: Build) -> dict[str, datetime | None]:
    """When each part of the stages was written; the other machine's Hub is empty, so it releases again."""
    parts = [name for name in tables(build) if "/part-" in name and "/8_released/" not in name]
    return {part: build.lake.storage.modified(f"verse/{part}") for part in parts}


def test_a_build_on_an_object_store_is_the_local_one(
    tmp_path: Path, auditors: ScriptedServer, store: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    workshop = make_workshop(tmp_path, auditors.url, fewer)
    workshop.build("local", monkeypatch)
    asked = len(auditors.calls)
    build = opened(workshop, "far", monkeypatch)
    run(build, workers=2)
    local = workshop.tables("local")
    far = {name: value for name, value in local.items() if name.startswith("lake/")}
    assert tables(build) == far
    released = {name: value for name, value in local.items() if name.startswith("hub/")}
    assert {n: v for n, v in workshop.tables("far").items() if n.startswith("hub/")} == released
    assert not build.lake.storage.exists(build.lake.storage.path(".lock"))
    assert len(auditors.calls) == 2 * asked
    # Another machine: no cache, the same lake. Nothing is fetched, made or asked again.
    elsewhere = opened(workshop, "other", monkeypatch)
    before = written(build)
    run(elsewhere)
    assert len(auditors.calls) == 2 * asked, "the journal did not come along"
    assert written(build) == before
    assert {n: v for n, v in workshop.tables("other").items() if n.startswith("hub/")} == released


def test_two_runs_on_one_lake_are_kept_apart(store: str) -> None:
    lake, again = Lake(store, "small"), Lake(store, "small")
    with lake.locked() as still_locked:
        with pytest.raises(UsageError, match="another run"), again.locked():
            pass
        still_locked()
    with again.locked():
        pass


def test_the_lock_of_a_dead_run_is_taken_over_once(store: str, monkeypatch: pytest.MonkeyPatch) -> None:
    storage = Storage(f"{store}/small")
    dead = Lease(storage, beat=1000)
    with pytest.raises(UsageError, match="another run"):
        Lease(storage)
    later = datetime.now(UTC) + timedelta(minutes=5)
    monkeypatch.setattr(Lease, "_now", lambda self: later)
    heir = Lease(storage, beat=0.1)
    monkeypatch.undo()
    with pytest.raises(UsageError, match="another run"):
        Lease(storage)
    # The first was only asleep: at its next renewal it learns that the lake is no longer its own.
    dead._beat = 0.05
    dead._over.set()
    dead._thread.join()
    dead._over.clear()
    dead._renew()
    with pytest.raises(ExternalFailure, match="lost"):
        dead.check()
    dead.release()
    heir.check()
    heir.release()
    assert storage.stamp(storage.path(".lock")) is None


def entry(number: int) -> Entry:
    key = hashlib.sha256(str(number).encode()).hexdigest()
    return Entry(
        key=key,
        model="m",
        revision="r",
        text=f"بيت {number}",
        finish_reason="stop",
        prompt_tokens=1,
        completion_tokens=1,
        latency=0.1,
        at="2026-01-01T00:00:00+00:00",
    )


def machine(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The journal's folder as another machine sees it."""
    monkeypatch.setenv("MIHAKK_CACHE", str(tmp_path / name))
    settings.cache_clear()
    return Lake(LAKE, "small").folder("journals", "audit")


def test_answers_reach_other_machines_and_outlive_a_killed_process(
    store: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = machine("one", tmp_path, monkeypatch)
    with Journal(one, "audit") as journal:
        for number in range(1000):
            journal.append(entry(number))
    # Killed: what was appended since the last sync lies in the local file alone, with a torn line behind it.
    with (one / "audit.jsonl").open("ab") as file, Journal(tmp_path / "plain", "audit") as plain:
        plain.append(entry(1000))
        file.write((tmp_path / "plain" / "audit.jsonl").read_bytes() + b'{"key":"to')
    with Journal(machine("two", tmp_path, monkeypatch), "audit") as journal:
        assert len(journal) == 1000
        journal.append(entry(2000))
    with Journal(machine("one", tmp_path, monkeypatch), "audit") as journal:
        assert len(journal) == 1002
        found = journal.get(entry(1000).key)
        assert found is not None
        assert found.text == "بيت 1000"
    with Journal(machine("three", tmp_path, monkeypatch), "audit") as journal:
        assert {e.key for e in journal.entries()} == {entry(n).key for n in (*range(1001), 2000)}
    storage = Storage(f"{store}/small/journals/audit")
    assert len(storage.list(storage.root)) < 8, "small segments become one"


def test_raw_pages_on_a_store(store: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mihakk.scrapers.raw._LOOSE", 4)
    raw = RawStore(f"{store}/small")
    for number in range(7):
        raw.add(f"http://a/{number % 3}", f"page {number}".encode())
    (tmp_path / "book").write_bytes(b"verse" * 100_000)
    digest = raw.keep_file(tmp_path / "book")
    for _ in range(2):
        again = RawStore(f"{store}/small")
        latest = again.latest("http://a/0")
        assert latest is not None
        assert again.read(latest.sha256) == b"page 6"
        assert len(list(again.fetched())) == 3
        assert again.read(digest) == b"verse" * 100_000
    storage = Storage(f"{store}/small/raw/index")
    assert len(storage.list(storage.root)) == 1


def test_a_store_that_is_not_there_and_a_bucket_that_is_not_are_told_apart(
    store: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    import s3fs

    with pytest.raises(UsageError, match="bucket"):
        Storage("s3://absent/lake").write("absent/lake/a", b"x")
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
    s3fs.S3FileSystem.clear_instance_cache()
    with pytest.raises(ExternalFailure, match="did not answer"):
        Storage(LAKE).write("verse/lake/a", b"x")
