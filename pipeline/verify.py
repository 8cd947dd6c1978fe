"""Every file of a benchmark's lake compared with the digest or the form it was written with."""

from __future__ import annotations

import gzip
import io
import zlib
from collections.abc import Callable, Iterator

import orjson
import pyarrow as pa
import pyarrow.parquet as pq

from mihakk.errors import MihakkError
from mihakk.ids import sha256
from mihakk.lake import Lake
from schemas.manifest import ShardManifest, StageManifest
from schemas.record import Record
from schemas.stages import STAGES

REBUILD = "run `mihakk build`, which makes it again"
RESTORE = "restore it from a backup; nothing can make it again"


class Damage(Record):
    """One file of a lake that is not what was written."""

    path: str
    what: str
    fix: str


class Verification(Record):
    """What `verify` found."""

    files: int = 0
    """Files read whole."""
    bytes: int = 0
    damages: tuple[Damage, ...] = ()


class Verifier:
    """Reads a lake; changes nothing.

    Tables are compared with the digests of their shards' manifests, raw bodies and people's decisions with
    the digest in their names. Manifests, run records, journals, indexes and caches carry none: they must
    parse, so a byte that rots into another letter is not found there.
    """

    def __init__(self, lake: Lake, progress: Callable[[int], None] = lambda _: None) -> None:
        self._lake, self._storage, self._progress = lake, lake.storage, progress
        self._files = self._bytes = 0

    def run(self) -> Verification:
        """All files of the benchmark that have a form."""
        damages = tuple(self._damages())
        return Verification(files=self._files, bytes=self._bytes, damages=damages)

    def _damages(self) -> Iterator[Damage]:
        for stage in STAGES:
            yield from self._stage(stage)
        yield from self._raw()
        for folder, suffix, fix in (
            ("runs", ".json", "delete it: a record of a run is for people alone"),
            ("quality", ".json", "delete it: it is measured again"),
        ):
            for name in self._named(folder, suffix):
                yield from self._parses(f"{folder}/{name}", fix, lines=False)
        for folder in self._names("journals"):
            for name in self._named(f"journals/{folder}", ".jsonl"):
                fix = "remove the line: that call is asked again"
                yield from self._parses(f"journals/{folder}/{name}", fix, lines=True)
        for folder in ("decisions", *(f"review/{name}" for name in self._names("review"))):
            for name in self._named(folder, ".jsonl"):
                yield from self._digest_in_name(f"{folder}/{name}")

    def _stage(self, stage: str) -> Iterator[Damage]:
        manifest = f"{stage}/manifest.json"
        if not self._storage.exists(self._storage.path(manifest)):
            return
        data = self._read(manifest)
        try:
            shards = StageManifest.model_validate_json(data).shards
        except ValueError:
            yield Damage(path=manifest, what="it is no manifest of a stage", fix=REBUILD)
            return
        for shard in shards:
            own = f"{stage}/shards/{shard.shard}.json"
            try:
                parts = ShardManifest.model_validate_json(self._read(own)).parts
                if parts != shard.parts:
                    yield Damage(path=own, what=f"its digests are not those of {manifest}", fix=REBUILD)
            except (ValueError, MihakkError) as error:
                yield Damage(path=own, what=_first_line(error), fix=REBUILD)
            for table, wanted in shard.parts.items():
                yield from self._part(f"{stage}/{table}/part-{shard.shard}.parquet", wanted)
        try:
            pq.read_table(io.BytesIO(self._read(f"{stage}/rejected.parquet")))
        except (pa.ArrowInvalid, OSError, MihakkError) as error:
            yield Damage(path=f"{stage}/rejected.parquet", what=_first_line(error), fix=REBUILD)

    def _part(self, path: str, wanted: str) -> Iterator[Damage]:
        try:
            found = sha256(self._read(path))
        except (OSError, MihakkError) as error:
            yield Damage(path=path, what=_first_line(error), fix=REBUILD)
            return
        if found != wanted:
            yield Damage(path=path, what=f"sha256 {found[:12]}, recorded {wanted[:12]}", fix=REBUILD)

    def _raw(self) -> Iterator[Damage]:
        again = "delete it and run `mihakk build`, which fetches it again if the source still has it"
        for folder in self._names("raw"):
            if folder.startswith("index"):
                continue
            for name in self._named(f"raw/{folder}", ".gz"):
                path = f"raw/{folder}/{name}"
                try:
                    found = sha256(gzip.decompress(self._read(path)))
                except (OSError, EOFError, zlib.error) as error:
                    yield Damage(path=path, what=_first_line(error), fix=again)
                    continue
                if found != name.removesuffix(".gz"):
                    yield Damage(path=path, what=f"its content has sha256 {found[:12]}", fix=again)
        if "index.jsonl" in self._names("raw"):
            yield from self._parses(
                "raw/index.jsonl", "remove the line: that page is fetched again", lines=True
            )

    def _digest_in_name(self, path: str) -> Iterator[Damage]:
        wanted = path.removesuffix(".jsonl").rpartition("-")[2]
        found = sha256(self._read(path))[:16]
        if found != wanted:
            yield Damage(path=path, what=f"sha256 {found[:12]}, named {wanted[:12]}", fix=RESTORE)

    def _parses(self, path: str, fix: str, *, lines: bool) -> Iterator[Damage]:
        data = self._read(path)
        # The last line of a journal that a killed run was writing has no end; the next run closes it.
        rows = data[: data.rfind(b"\n") + 1].splitlines() if lines else [data]
        for number, row in enumerate(rows, 1):
            try:
                orjson.loads(row)
            except ValueError as error:
                where = f"{path}:{number}" if lines else path
                yield Damage(path=where, what=f"it is no JSON: {_first_line(error)}", fix=fix)

    def _names(self, folder: str) -> list[str]:
        return self._storage.list(self._storage.path(*folder.split("/")))

    def _named(self, folder: str, suffix: str) -> list[str]:
        return [name for name in self._names(folder) if name.endswith(suffix)]

    def _read(self, path: str) -> bytes:
        data = self._storage.read(self._storage.path(*path.split("/")))
        self._files += 1
        self._bytes += len(data)
        self._progress(len(data))
        return data


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]
