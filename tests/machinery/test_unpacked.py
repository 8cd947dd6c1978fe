"""What a search finds in packed files, and that no packing makes it unpack more than it has room for."""

from __future__ import annotations

import gzip
import io
import zipfile

from mihakk.machinery.unpacked import unpacked


def archive(**members: bytes) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as into:
        for name, data in members.items():
            into.writestr(name, data)
    return packed.getvalue()


def test_members_of_members_are_found() -> None:
    assert b"a word" in list(unpacked(archive(inner=gzip.compress(archive(text=b"a word")))))


def test_what_would_unpack_to_more_than_the_room_gives_its_bytes_alone() -> None:
    large = bytes(10_000)
    for packed in (
        gzip.compress(large),
        archive(large=large),
        archive(small=b"x", large=gzip.compress(large)),
    ):
        assert large in list(unpacked(packed, room=10_000 + len(packed)))
        assert large not in list(unpacked(packed, room=9_999))


def test_a_damaged_file_gives_its_bytes() -> None:
    for whole in (gzip.compress(b"a word" * 99), archive(text=b"a word" * 99)):
        assert next(unpacked(whole[:-20])) == whole[:-20]
        assert len(list(unpacked(whole[:-20]))) <= 2
