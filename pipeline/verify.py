"""Compares every file of a benchmark's lake with what it was written as; and what of it can be pruned."""

from __future__ import annotations

import gzip
import io
import zlib
from collections.abc import Callable, Iterator

import pyarrow as pa
import pyarrow.parquet as pq

from mihakk.machinery.errors import MihakkError
from mihakk.machinery.ids import sha256
from mihakk.machinery.lake import Lake
from mihakk.machinery.lake.ledger import FOLDER as LEDGER
from mihakk.machinery.lake.seal import torn, unsealed
from mihakk.machinery.lake.stage import FAILED
from mihakk.pipeline.sign_off import OVERRIDES, SIGN_OFFS
from mihakk.pipeline.steps.audit import AUDITED_BY
from mihakk.releases.hub.embedded import EmbeddedHub
from mihakk.schemas.manifest import ShardManifest, StageManifest
from mihakk.schemas.record import Record
from mihakk.schemas.stages import STAGES

REBUILD = "run `mihakk build`, which makes it again"
RUN_RECORD = "delete it: a run's record is only shown to people"
RELEASED_FIX = (
    "run `git checkout --force main` in that folder; where git's own files are damaged, restore the folder "
    "from a backup or from where the release is published"
)
HEADERS = tuple(b"\x1f\x8b\x08" + bytes(6) + bytes([system]) for system in (3, 255))
"""How a packed page begins: no name, no time; Python writes one of two systems."""
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
    """Reads a lake and the releases made of it; changes nothing.

    Tables are compared with the digests of their shards' manifests, raw bodies, people's decisions and the
    ledger with the digest in their names, releases by git. Manifests, run records, journals and the like end
    with a digest of themselves (`mihakk.machinery.lake.seal`); what an earlier version wrote has none and
    must parse.

    Args:
        lake: Of one benchmark.
        hub: Where its releases are; None: they are not looked at.
    """

    def __init__(self, lake: Lake, hub: EmbeddedHub | None = None) -> None:
        self._lake, self._storage, self._hub = lake, lake.storage, hub
        self._files = self._bytes = 0

    def run(self) -> Verification:
        """All files of the benchmark that have a form."""
        damages = tuple(self._damages())
        return Verification(files=self._files, bytes=self._bytes, damages=damages)

    def of_stage(self, stage: str) -> tuple[Damage, ...]:
        """One stage's files alone."""
        return tuple(self._stage(stage))

    def _damages(self) -> Iterator[Damage]:
        for stage in STAGES:
            yield from self._stage(stage)
        yield from self._raw()
        for path, fix in (
            *((f"runs/{name}", RUN_RECORD) for name in self._named("runs", ".json")),
            *(
                (f"quality/{name}", "delete it: it is measured again")
                for name in self._named("quality", ".json")
            ),
            *(
                (f"{word}/{name}", RESTORE)
                for word in (SIGN_OFFS, OVERRIDES)
                for name in self._named(word, ".json")
            ),
            *((name, REBUILD) for name in self._names("") if name == AUDITED_BY),
        ):
            yield from self._parses(path, fix, lines=False)
        for folder in self._names("journals"):
            for name in self._named(f"journals/{folder}", ".jsonl"):
                fix = "remove the line: that call is asked again"
                yield from self._parses(f"journals/{folder}/{name}", fix, lines=True)
        review = (f"review/{name}" for name in self._names("review"))
        for folder, suffix in ((LEDGER, ".parquet"), *((one, ".jsonl") for one in ("decisions", *review))):
            for name in self._named(folder, suffix):
                wanted = name.removesuffix(suffix).rpartition("-")[2]
                yield from self._digest(f"{folder}/{name}", wanted, RESTORE)
        if self._hub:
            repository = self._hub.repository(self._lake.benchmark)
            for name, what in self._hub.rotten(self._lake.benchmark):
                yield Damage(path=str(repository / name), what=what, fix=RELEASED_FIX)

    def _stage(self, stage: str) -> Iterator[Damage]:
        recorded: dict[str, ShardManifest] = {}
        if self._storage.exists(self._storage.path(stage, "manifest.json")):
            try:
                whole = StageManifest.model_validate(unsealed(self._read(f"{stage}/manifest.json")))
            except (ValueError, MihakkError) as error:
                yield Damage(path=f"{stage}/manifest.json", what=_first_line(error), fix=REBUILD)
            else:
                recorded = {shard.shard: shard for shard in whole.shards}
                yield from self._rejected(stage, whole.rejected)
        for name in sorted({*recorded, *self._shards(stage)}):
            yield from self._shard(stage, name, recorded.get(name))
        if FAILED in self._names(stage):
            yield from self._table(f"{stage}/{FAILED}")

    def _shards(self, stage: str) -> Iterator[str]:
        """Also those of a stage that has not been finished."""
        for name in self._named(f"{stage}/shards", ".json"):
            yield name.removesuffix(".json")

    def _shard(self, stage: str, name: str, recorded: ShardManifest | None) -> Iterator[Damage]:
        path = f"{stage}/shards/{name}.json"
        shard = recorded
        try:
            shard = ShardManifest.model_validate(unsealed(self._read(path)))
        except (ValueError, MihakkError) as error:
            yield Damage(path=path, what=_first_line(error), fix=REBUILD)
        # With other inputs it is what a run left that did not come to the stage's end.
        if shard and recorded and shard.digest == recorded.digest and shard.parts != recorded.parts:
            yield Damage(path=path, what=f"its digests are not those of {stage}/manifest.json", fix=REBUILD)
        for table, wanted in shard.parts.items() if shard else ():
            yield from self._digest(f"{stage}/{table}/part-{name}.parquet", wanted)

    def _rejected(self, stage: str, wanted: str) -> Iterator[Damage]:
        path = f"{stage}/rejected.parquet"
        yield from self._digest(path, wanted) if wanted else self._table(path)

    def _table(self, path: str) -> Iterator[Damage]:
        def look(data: bytes) -> str:
            pq.read_table(io.BytesIO(data))
            return ""

        return self._looked(path, REBUILD, look)

    def _digest(self, path: str, wanted: str, fix: str = REBUILD) -> Iterator[Damage]:
        def look(data: bytes) -> str:
            found = sha256(data)
            return "" if found.startswith(wanted) else f"sha256 {found[:12]}, recorded {wanted[:12]}"

        return self._looked(path, fix, look)

    def _raw(self) -> Iterator[Damage]:
        again = "delete it and run `mihakk build`, which fetches it again if the source still has it"
        for folder in self._names("raw"):
            for name in [] if folder.startswith("index") else self._named(f"raw/{folder}", ".gz"):

                def look(data: bytes, wanted: str = name.removesuffix(".gz")) -> str:
                    found = sha256(gzip.decompress(data))
                    if data[:10] not in HEADERS:
                        return "its first ten bytes are not those written"
                    return "" if found == wanted else f"its content has sha256 {found[:12]}"

                yield from self._looked(f"raw/{folder}/{name}", again, look)
        if "index.jsonl" in self._names("raw"):
            yield from self._parses(
                "raw/index.jsonl", "remove the line: that page is fetched again", lines=True
            )

    def _looked(self, path: str, fix: str, look: Callable[[bytes], str]) -> Iterator[Damage]:
        """What `look` says is wrong with a file's bytes, or why it can't be read."""
        try:
            what = look(self._read(path))
        except (pa.ArrowInvalid, OSError, EOFError, zlib.error, MihakkError) as error:
            what = _first_line(error)
        if what:
            yield Damage(path=path, what=what, fix=fix)

    def _parses(self, path: str, fix: str, *, lines: bool) -> Iterator[Damage]:
        data = self._read(path)
        rows = data.split(b"\n") if lines else [data]
        # The last line of a journal that a killed run was writing has no end; the next run closes it.
        if lines and torn(rows[-1]):
            rows.pop()
        for number, row in enumerate(rows, 1):
            try:
                if row or not lines:
                    unsealed(row)
            except ValueError as error:
                where = f"{path}:{number}" if lines else path
                yield Damage(path=where, what=_first_line(error), fix=fix)

    def _names(self, folder: str) -> list[str]:
        return self._storage.list(self._storage.path(*folder.split("/")))

    def _named(self, folder: str, suffix: str) -> list[str]:
        return [name for name in self._names(folder) if name.endswith(suffix)]

    def _read(self, path: str) -> bytes:
        data = self._storage.read(self._storage.path(*path.split("/")))
        self._files += 1
        self._bytes += len(data)
        return data


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]


RUNS_KEPT = 120


class Prunable(Record):
    """One file or folder that may go."""

    path: str
    files: int
    bytes: int
    why: str


def prunable(lake: Lake) -> list[Prunable]:
    """What `prune` would remove: never tables, raw bytes, answered calls or people's decisions."""
    storage = lake.storage
    found = []
    for stage in storage.list(storage.path("scratch")):
        folder = storage.path("scratch", stage)
        sizes = [storage.size(f"{folder}/{name}") for name in storage.list(folder)]
        found.append(
            Prunable(
                path=f"scratch/{stage}",
                files=len(sizes),
                bytes=sum(sizes),
                why="work between passes; made again when it is needed",
            )
        )
    names = sorted(name for name in storage.list(storage.path("runs")) if name.endswith(".json"))
    for name in names[: max(0, len(names) - RUNS_KEPT)]:
        size = storage.size(storage.path("runs", name))
        found.append(
            Prunable(path=f"runs/{name}", files=1, bytes=size, why=f"older than the {RUNS_KEPT} newest runs")
        )
    return found


def prune(lake: Lake, found: list[Prunable]) -> None:
    """Removes what was found; use it inside the lake's lock."""
    for one in found:
        lake.storage.remove(lake.storage.path(*one.path.split("/")))
