"""The public JSON export of Ganjoor, as a folder or a packed one."""

from __future__ import annotations

import tarfile
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath

import orjson

from mihakk.machinery.errors import SourceChanged, UsageError
from mihakk.scrapers.ganjoor.poem import Poet
from mihakk.scrapers.place import inside
from mihakk.scrapers.shape import check_fields

_MOST_BYTES = 64 << 20
"""No poem comes near it (the longest has some 5 MB)."""
_POET_USED = ("Name", "FullUrl")
_POET_OPTIONAL = ("DeathYearInLHijri", "ValidDeathDate")
_POET_IGNORED = (
    *("Id", "Nickname", "Description", "DescriptionHtml", "ImageUrl", "BirthYearInLHijri", "ValidBirthDate"),
    *("BirthPlace", "DeathPlace", "BirthPlaceLatitude", "BirthPlaceLongitude", "DeathPlaceLatitude"),
    *("DeathPlaceLongitude", "RootCatId", "PinOrder", "Published"),
)


def members(path: Path) -> Iterator[tuple[str, bytes]]:
    """Name and bytes of every JSON file under `poets/`, in the folder's or archive's order.

    Raises:
        UsageError: Neither a folder nor a tar archive.
        SourceChanged: A file is far larger than any poem.
    """
    if path.is_dir():
        for file in inside(path, "*.json"):
            if "poets" in file.relative_to(path).parts or path.name == "poets":
                yield (
                    file.relative_to(path).as_posix(),
                    _bounded(file.name, file.stat().st_size, file.read_bytes),
                )
        return
    try:
        with tarfile.open(path, "r:*") as archive:
            for member in archive:
                # Read, never unpacked: names that point outside do no harm.
                if member.isfile() and member.name.endswith(".json") and "poets/" in f"/{member.name}":
                    stream = archive.extractfile(member)
                    assert stream is not None, "a regular file has a stream"
                    yield member.name, _bounded(member.name, member.size, stream.read)
    except (tarfile.TarError, EOFError, OSError) as error:
        problem = str(error).splitlines()[0].rstrip(":")
        raise UsageError(
            f"{path} can't be read as Ganjoor's export (a folder or .tar.gz): {problem}"
        ) from error


def _bounded(name: str, size: int, read: Callable[[], bytes]) -> bytes:
    if size > _MOST_BYTES:
        raise SourceChanged(f"{name} has {size >> 20} MB; no poem has more than {_MOST_BYTES >> 20}")
    return read()


def is_poem(name: str) -> bool:
    """The file holds a poem, not a category or a poet."""
    return PurePosixPath(name).name not in ("_cat.json", "poet.json")


def read_poet(data: bytes, where: str) -> tuple[str, Poet]:
    """Address part (`/hafez`) of a poet and what is known of them."""
    try:
        row = orjson.loads(data)
    except orjson.JSONDecodeError as error:
        raise SourceChanged(f"{where} is not JSON: {error}; get the export again") from error
    check_fields(row, required=_POET_USED, optional=_POET_OPTIONAL, ignored=_POET_IGNORED, where=where)
    death = row.get("DeathYearInLHijri") or None
    return row["FullUrl"], Poet(row["Name"], death, death_sure=bool(row.get("ValidDeathDate")))
