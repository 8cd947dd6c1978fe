"""The raw store keeps bytes once, whole, and notes every fetch."""

from __future__ import annotations

import gzip
import hashlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mihakk.machinery.errors import UsageError
from mihakk.scrapers.raw import RawStore


def test_bytes_lie_under_their_digest_and_open_with_plain_gzip(tmp_path: Path) -> None:
    raw = RawStore(tmp_path)
    digest = raw.keep(b"hello")
    blob = tmp_path / "raw" / digest[:2] / f"{digest}.gz"
    assert digest == hashlib.sha256(b"hello").hexdigest()
    assert gzip.decompress(blob.read_bytes()) == b"hello"
    before = blob.stat().st_mtime_ns
    assert raw.keep(b"hello") == digest
    assert blob.stat().st_mtime_ns == before
    assert not list(tmp_path.rglob("*.part"))


@given(st.binary(max_size=3000))
def test_what_is_kept_is_read_back(data: bytes) -> None:
    raw = RawStore("memory://raw-store-test")
    assert raw.read(raw.keep(data)) == data


def test_a_file_is_kept_like_its_bytes(tmp_path: Path) -> None:
    path = tmp_path / "big"
    path.write_bytes(b"0123456789" * 300_000)
    one, two = RawStore(tmp_path / "one"), RawStore(tmp_path / "two")
    digest = one.keep_file(path)
    assert digest == two.keep(path.read_bytes())
    assert one.read(digest) == path.read_bytes()


def test_a_damaged_blob_is_reported_not_returned(tmp_path: Path) -> None:
    raw = RawStore(tmp_path)
    digest = raw.keep(b"hello")
    blob = tmp_path / "raw" / digest[:2] / f"{digest}.gz"
    blob.write_bytes(gzip.compress(b"other"))
    with pytest.raises(UsageError, match="not what its name says"):
        raw.read(digest)
    blob.write_bytes(b"\x1f\x8b torn")
    with pytest.raises(UsageError, match="damaged"):
        raw.read(digest)
    with pytest.raises(UsageError, match="not in the raw store"):
        raw.read("0" * 64)


def test_the_index_outlives_the_process_and_a_torn_line(tmp_path: Path) -> None:
    raw = RawStore(tmp_path)
    raw.add("http://a/1", b"one", etag='"1"')
    index = tmp_path / "raw" / "index.jsonl"
    with index.open("ab") as out:
        out.write(b'\n{"url": "http://a/2", "retri')
    again = RawStore(tmp_path)
    again.add("http://a/3", b"three", headers={"paging-headers": "{}"})
    for store in (again, RawStore(tmp_path)):
        assert [fetched.url for fetched in store.fetched() if fetched.url[:9] == "http://a/"] == [
            "http://a/1",
            "http://a/3",
        ]
        found = store.latest("http://a/1")
        assert found is not None
        assert found.etag == '"1"'
        assert store.read(found.sha256) == b"one"
        assert store.latest("http://a/2") is None


def test_a_confirmed_page_keeps_its_bytes_and_gains_a_time(tmp_path: Path) -> None:
    raw = RawStore(tmp_path)
    first = raw.add("http://a/1", b"one")
    again = raw.confirm(first)
    assert again.sha256 == first.sha256
    assert again.retrieved_at >= first.retrieved_at
    assert RawStore(tmp_path).latest("http://a/1") == again


def test_the_store_lies_on_any_file_system() -> None:
    raw = RawStore("memory://raw-store-index")
    raw.add("http://a/1", b"one")
    raw.add("http://a/2", b"two")
    again = RawStore("memory://raw-store-index")
    assert [again.read(fetched.sha256) for fetched in again.fetched()] == [b"one", b"two"]
