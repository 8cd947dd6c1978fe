"""Locks and appended files on a store that has neither; this one lacks conditional overwrites, too."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from mihakk.machinery.errors import ExternalFailure, UsageError
from mihakk.machinery.lake import Lake
from mihakk.machinery.lake._lease import Lease
from mihakk.machinery.lake.mirror import Mirror
from mihakk.machinery.lake.storage import Storage


@pytest.fixture
def url(monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr("mihakk.machinery.lake.storage.SETTLE_SECONDS", 0.0)
    return f"memory://lake-{uuid.uuid4().hex}"


def test_one_run_at_a_time_and_the_next_when_it_is_done(url: str) -> None:
    with Lake(url, "demo").locked() as still_locked:
        with pytest.raises(UsageError, match=r"another run \(process \d+"), Lake(url, "demo").locked():
            pass
        still_locked()
    with Lake(url, "demo").locked(wait=1):
        pass


def test_a_lock_that_is_not_renewed_is_taken_over_and_its_holder_learns_of_it(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    storage = Storage(url)
    asleep = Lease(storage, beat=0.2)
    asleep._over.set()
    asleep._thread.join()
    later = datetime.now(UTC) + timedelta(minutes=2)
    with monkeypatch.context() as clock:
        clock.setattr(Lease, "_now", lambda _: later)
        heir = Lease(storage, beat=60)
    asleep._over.clear()
    asleep._renew()
    with pytest.raises(ExternalFailure, match="another run holds it"):
        asleep.check()
    asleep.release()
    assert storage.stamp(storage.path(".lock")), "the heir's lock was removed"
    heir.check()
    heir.release()


def test_what_two_machines_append_reaches_both(url: str, tmp_path: Path) -> None:
    one = Mirror.start(tmp_path / "one", url)
    mine = tmp_path / "one" / "audit.jsonl"
    mine.write_bytes(b'{"a":1}\n{"a":2}\n{"torn')
    one.push(mine)
    one.push(mine)
    two = Mirror.start(tmp_path / "two", url)
    (tmp_path / "two" / "audit.jsonl").write_bytes(b'{"b":1}\n')
    two.push(tmp_path / "two" / "audit.jsonl")
    one = Mirror.start(tmp_path / "one", url)
    both = {b'{"a":1}\n{"a":2}\n', b'{"b":1}\n'}
    assert {path.read_bytes() for path in (tmp_path / "two").glob("*.jsonl")} == both
    assert {path.read_bytes().partition(b'{"torn')[0] for path in (tmp_path / "one").glob("*.jsonl")} == both
    # The line is whole now: only what is new goes up.
    with mine.open("ab") as file:
        file.write(b'":3}\n')
    one.push(mine)
    storage = Storage(url)
    assert len(storage.list(storage.root)) == 3


def test_many_segments_become_one_and_say_the_same(url: str, tmp_path: Path) -> None:
    mirror = Mirror.start(tmp_path / "one", url)
    path = tmp_path / "one" / "audit.jsonl"
    for number in range(20):
        with path.open("ab") as file:
            file.write(f'{{"n":{number}}}\n'.encode())
        mirror.push(path)
    mirror.merge(path)
    storage = Storage(url)
    (name,) = storage.list(storage.root)
    assert storage.read(storage.path(name)) == path.read_bytes()


def test_an_ordinary_folder_is_no_mirror(tmp_path: Path) -> None:
    assert Mirror.of(tmp_path) is None
