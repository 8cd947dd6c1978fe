"""A benchmark's lake and releases copied to a folder, and brought back: whole or not at all.

A backup may be made while a run works on the lake. Files of a lake are whole or absent, so what can go wrong
is only that a shard is made anew while it is copied: then its parts are not those that its manifest names,
and it is copied again. Decisions, journals and records come last, so that they hold whatever the stages were
made of. `backup.json`, written last, has the digest of every file.
"""

from __future__ import annotations

import shutil
import uuid
from collections.abc import Callable, Iterator, Set
from contextlib import suppress
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path, PurePosixPath

import orjson

from mihakk.machinery.errors import ExternalFailure, UsageError
from mihakk.machinery.ids import sha256
from mihakk.machinery.lake import Lake
from mihakk.machinery.lake.seal import seal, unsealed
from mihakk.pipeline.verify import Damage, Verifier
from mihakk.releases.hub.embedded import EmbeddedHub
from mihakk.schemas.manifest import FORMAT
from mihakk.schemas.record import Record
from mihakk.schemas.stages import STAGES

LISTED = "backup.json"
TRIES = 20
"""Times that shards are copied anew which a run goes on changing."""


class Backup(Record):
    """What a backup holds."""

    benchmark: str
    made: datetime
    mihakk: str
    """Version that made it."""
    format: int
    """Generation of the lake."""
    files: dict[str, str]
    """Path in the backup's folder to SHA-256: `lake/...` and `hub/...`."""
    bytes: int
    damaged: tuple[str, ...] = ()
    """Files that were damaged in the lake already, and were copied as they are."""


def back_up(lake: Lake, hub: EmbeddedHub, folder: Path) -> Backup:
    """Copies everything that a benchmark's lake and Hub hold, but for what only saves time.

    Raises:
        UsageError: The folder is there already, the lake is empty or of a newer Mihakk.
        ExternalFailure: A run kept changing a stage; the folder's file system is full.
    """
    if folder.exists():
        raise UsageError(f"{folder} is there already: name a new folder for each backup")
    lake.refuse_newer()
    if not list(_wanted(lake)):
        raise UsageError(
            f"there is nothing of {lake.benchmark} in {lake.storage.root}: name its lake with --lake"
        )
    half = folder.with_name(f".{folder.name}.{uuid.uuid4().hex}.part")
    try:
        copy = Lake(str(half / "lake"), lake.benchmark)
        damaged = _copied(lake, copy)
        hub.copy(lake.benchmark, half / "hub" / lake.benchmark)
        found = _listed(half, lake.benchmark, damaged)
        (half / LISTED).write_bytes(
            seal(orjson.dumps(found.model_dump(mode="json"), option=orjson.OPT_INDENT_2))
        )
        half.rename(folder)
    except OSError as error:
        raise ExternalFailure(
            f"the backup can't be written to {folder}: {error}. Make room, or name another folder"
        ) from error
    finally:
        shutil.rmtree(half, ignore_errors=True)
    return found


def restore(folder: Path, lake: Lake, hub: EmbeddedHub) -> Backup:
    """Brings a backup back, where lake and Hub have nothing of the benchmark; goes on where it stopped.

    Raises:
        UsageError: The folder holds no backup of that benchmark, or one of a newer Mihakk, or a file of the
            lake or of the Hub is another than the backup's.
        ExternalFailure: A file of the backup is not what was written.
    """
    told = _read(folder, lake.benchmark)
    for path, wanted in told.files.items():
        place = folder / path
        if not place.is_file() or sha256(place.read_bytes()) != wanted:
            raise ExternalFailure(
                f"{place} is not what was backed up: nothing was restored. Take another backup or copy of it"
            )
    mine = [path for path in told.files if path.startswith("lake/")]
    root = f"lake/{lake.benchmark}/"
    there = {path: sha256(lake.storage.read(lake.storage.path(path))) for path in _wanted(lake)}
    other = sorted(path for path, found in there.items() if told.files.get(root + path) != found)
    repository = hub.repository(lake.benchmark)
    if other or (repository.exists() and not _same(repository, folder / "hub" / lake.benchmark)):
        where = lake.storage.path(other[0]) if other else repository
        raise UsageError(
            f"{where} is not the backup's: move {lake.storage.root} and {repository} away first, or restore "
            "to others (MIHAKK_LAKE, MIHAKK_HUB). Nothing was changed"
        )
    with lake.locked() as still_locked:
        # A stage's manifest says that its parts are there, so it comes last.
        for path in sorted(mine, key=lambda one: (PurePosixPath(one).name == "manifest.json", one)):
            still_locked()
            if path.removeprefix(root) not in there:
                lake.storage.write(lake.storage.path(path.removeprefix(root)), (folder / path).read_bytes())
    if (folder / "hub" / lake.benchmark).is_dir() and not repository.exists():
        hub.take(lake.benchmark, folder / "hub" / lake.benchmark)
    return told


def _wanted(lake: Lake) -> Iterator[str]:
    """Paths below the lake's root of what is kept: no locks, no unfinished files, nothing of `scratch/`."""
    root = lake.storage.root + "/"
    for path in lake.storage.files():
        place = path.removeprefix(root)
        name = place.rpartition("/")[2]
        if name != "README" and not name.startswith(".") and not place.startswith("scratch/"):
            yield place


def _copied(lake: Lake, copy: Lake) -> tuple[str, ...]:
    """Copies the lake stage by stage, then the rest; paths of files that are damaged in the lake as well."""
    damaged = [path for stage in STAGES for path in _copied_stage(lake, copy, stage)]
    _copy(lake, copy, lambda path: path.partition("/")[0] not in STAGES)
    return tuple(damaged)


def _copied_stage(lake: Lake, copy: Lake, stage: str) -> list[str]:
    _copy(lake, copy, lambda path: path.startswith(f"{stage}/"))
    before: tuple[Damage, ...] = ()
    for _ in range(TRIES):
        found = Verifier(copy).of_stage(stage)
        # What a run is just writing looks damaged in the lake too, but not twice with the same digests.
        if not found or (found == before and set(found) <= set(Verifier(lake).of_stage(stage))):
            return [one.path for one in found]
        before = found
        again = {_shard(one.path) for one in found} | {"manifest", "rejected"}
        _copy(lake, copy, _of_shards(stage, again))
    raise ExternalFailure(
        f"a run kept changing {lake.storage.path(stage)} while it was copied: run the backup again"
    )


def _of_shards(stage: str, shards: Set[str]) -> Callable[[str], bool]:
    return lambda path: path.startswith(f"{stage}/") and _shard(path) in shards


def _shard(path: str) -> str:
    """Shard that a file of a stage belongs to, or the name of a file of the whole stage."""
    return PurePosixPath(path).stem.removeprefix("part-")


def _copy(lake: Lake, copy: Lake, chosen: Callable[[str], bool]) -> None:
    """Makes the chosen files of the copy those of the lake, as of now."""
    there = set(filter(chosen, _wanted(lake)))
    for path in sorted(there):
        with suppress(FileNotFoundError):  # a run has just removed it
            copy.storage.write(copy.storage.path(path), lake.storage.read(lake.storage.path(path)))
    for path in set(filter(chosen, _wanted(copy))) - there:
        copy.storage.remove(copy.storage.path(path))


def _listed(half: Path, benchmark: str, damaged: tuple[str, ...]) -> Backup:
    files, size = {}, 0
    for path in sorted(half.rglob("*")):
        if path.is_file():
            data = path.read_bytes()
            files[path.relative_to(half).as_posix()] = sha256(data)
            size += len(data)
    return Backup(
        benchmark=benchmark,
        made=datetime.now(UTC),
        mihakk=version("mihakk"),
        format=FORMAT,
        files=files,
        bytes=size,
        damaged=damaged,
    )


def _read(folder: Path, benchmark: str) -> Backup:
    path = folder / LISTED
    try:
        found = unsealed(path.read_bytes())
        told = Backup.model_validate(found)
    except FileNotFoundError:
        raise UsageError(
            f"{folder} holds no backup: name the folder that `mihakk lake backup` wrote"
        ) from None
    except (ValueError, OSError) as error:
        raise UsageError(f"{path} can't be read as a list of a backup: {error}") from error
    if told.format > FORMAT:
        raise UsageError(
            f"{folder} was made by a newer Mihakk ({told.mihakk}, lake generation {told.format}; this one "
            f"knows {FORMAT}): update this checkout. Nothing was changed"
        )
    if told.benchmark != benchmark:
        raise UsageError(f"{folder} is a backup of {told.benchmark}, not of {benchmark}")
    return told


def _same(one: Path, other: Path) -> bool:
    def held(folder: Path) -> dict[str, str]:
        return {
            path.relative_to(folder).as_posix(): sha256(path.read_bytes())
            for path in folder.rglob("*")
            if path.is_file()
        }

    return held(one) == held(other)
