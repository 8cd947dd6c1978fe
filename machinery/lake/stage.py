"""Stage tables: shards in, shards out, and an account of every record."""

from __future__ import annotations

import contextlib
import fcntl
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from resource import RUSAGE_CHILDREN, RUSAGE_SELF, getrusage
from typing import IO, TYPE_CHECKING, Any

import numpy as np
import orjson
import pyarrow as pa
from pydantic import ValidationError

from mihakk.machinery.errors import ExternalFailure, UsageError
from mihakk.machinery.ids import canonical_json, digest, sha256
from mihakk.machinery.lake._lease import Lease, this_process
from mihakk.machinery.lake._manifests import read_manifest, refuse_newer
from mihakk.machinery.lake.columns import Row, from_table, read_parquet, to_parquet
from mihakk.machinery.lake.mirror import Mirror
from mihakk.machinery.lake.scratch import Scratch
from mihakk.machinery.lake.seal import seal
from mihakk.machinery.lake.storage import Storage
from mihakk.machinery.settings import settings
from mihakk.schemas.manifest import FORMAT, ShardCounts, ShardManifest, StageManifest
from mihakk.schemas.record import Record
from mihakk.schemas.rejection import Rejection

if TYPE_CHECKING:
    import pandas as pd


_README = b"""Written by mihakk. The folders 1_ to 8_ can be made again. Keep the others:
decisions/ and review/ hold what people decided, journals/ the replies of models,
ledger/ what became of each row in every run.
"""


@dataclass(frozen=True)
class ShardOutput:
    """What a stage makes of one shard."""

    tables: Mapping[str, tuple[Row, Sequence[Record]]]
    """Table name to (model, rows)."""
    counts: ShardCounts
    rejections: Sequence[Rejection] = field(default=())


Check = Callable[[str, str, Sequence[Record]], None]
"""Raises where rows of a stage's table are not what they have to be."""
FAILED = "rejected_before_failure.parquet"


class Lake:
    """All stages of one benchmark."""

    def __init__(self, root: str, benchmark: str) -> None:
        self.url = root.rstrip("/") + "/" + benchmark
        """Folder or fsspec URL of everything of this benchmark."""
        self.benchmark = benchmark
        self.storage = Storage(self.url)

    def stage(self, name: str, check: Check | None = None) -> Stage:
        """One stage's folder; `check` sees the rows of each table before they are written."""
        return Stage(self.storage, name, check)

    def scratch(self, stage: str, state: str) -> Scratch:
        """Where the passes of a stage leave what they hand to each other; `state` as of `Scratch`."""
        return Scratch(f"{self.url}/scratch/{stage}", state)

    def folder(self, *parts: str) -> Path:
        """A local folder beside the stages, for what must be appended to: journals.

        Of a lake on an object store it is a mirror in the cache: what is appended goes up, what other
        machines appended comes down when the folder is asked for.
        """
        if self.storage.local:
            return Path(self.storage.path(*parts))
        folder = settings().cache.joinpath("mirrors", sha256(self.url.encode())[:16], *parts)
        if len(parts) > 1:
            Mirror.start(folder, "/".join([self.url, *parts]))
        return folder

    def refuse_newer(self) -> None:
        """Looks at every stage before one is touched.

        Raises:
            UsageError: A newer Mihakk wrote one of them.
        """
        refuse_newer(self.storage)

    @contextlib.contextmanager
    def locked(self, wait: float = 0) -> Iterator[Callable[[], None]]:
        """Keeps a second run off the same lake; gives a check that the lock is still held.

        Raises:
            UsageError: Another run still holds it after `wait` seconds, or a newer Mihakk wrote it.
        """
        self.refuse_newer()
        self.storage.write(self.storage.path("README"), _README)
        if not self.storage.local:
            lease = Lease(self.storage, wait)
            try:
                yield lease.check
            finally:
                lease.release()
            return
        with Path(self.storage.path(".lock")).open("a+") as handle:
            deadline = time.monotonic() + wait
            while not try_lock(handle):
                if time.monotonic() >= deadline:
                    holder = _holder(handle)
                    run = f"another run ({holder})" if holder else "another run"
                    raise UsageError(
                        f"{run} is working on {self.storage.root}: wait for it, or stop it first"
                    )
                time.sleep(0.2)
            handle.truncate(0)
            handle.write(this_process())
            handle.flush()
            try:
                yield lambda: None
            finally:
                handle.truncate(0)


class Stage:
    """One stage's tables, shards and manifest."""

    def __init__(self, storage: Storage, name: str, check: Check | None = None) -> None:
        self._storage = storage
        self._check = check
        self.name = name

    def shards(self) -> list[str]:
        """Names of the shards of the finished stage, in order.

        Raises:
            UsageError: The stage has not been run to its end.
        """
        return [shard.shard for shard in self.manifest().shards]

    def manifest(self) -> StageManifest:
        """The finished stage's manifest.

        Raises:
            UsageError: The stage has not been run to its end.
        """
        path = self._path("manifest.json")
        manifest = read_manifest(self._storage, path, StageManifest)
        if manifest is None:
            left = "was left by another version or is damaged" if self.finished() else "has not finished"
            raise UsageError(f"stage {self.name} {left} in {self._storage.root}: run `mihakk build`")
        return manifest

    def finished(self) -> bool:
        """Whether the stage ran to its end at some time."""
        return self._storage.exists(self._path("manifest.json"))

    def tables(self) -> list[str]:
        """Names of the tables the finished stage holds."""
        return sorted({name for shard in self.manifest().shards for name in shard.parts} - {"rejected"})

    def read(
        self, table: str, row: Row, shard: str, chosen: tuple[str, Collection[str]] | None = None
    ) -> list[Any]:
        """Records of one shard's part; empty when the shard wrote none of that table.

        `chosen` names a column and values: only rows that have one of them are made into records.

        Raises:
            ExternalFailure: The part is damaged.
        """
        found = self.part(table, shard)
        if found is None:
            return []
        if chosen:
            column, values = chosen[0], frozenset(chosen[1])
            found = found.filter(_mask([name in values for name in found[column].to_pylist()]))
        try:
            return from_table(found, row)
        except ValidationError as error:
            raise _damaged(self._path(table, f"part-{shard}.parquet"), str(error).splitlines()[0]) from error

    def ids(self, table: str, shard: str) -> list[str]:
        """Ids of the rows of one shard's part, of which no records are made."""
        found = self.part(table, shard, ["id"])
        return [] if found is None else list(found["id"].to_pylist())

    def part(self, table: str, shard: str, columns: Sequence[str] | None = None) -> pa.Table | None:
        """One shard's part, or some columns of it, as it is stored; None where the shard wrote none.

        Raises:
            ExternalFailure: The part is damaged.
        """
        path = self._path(table, f"part-{shard}.parquet")
        if not self._storage.exists(path):
            return None
        data = self._storage.read(path)
        manifest = read_manifest(self._storage, self._path("shards", f"{shard}.json"), ShardManifest)
        # Bytes that rotted may still decode, to other letters: what counts is the digest.
        if manifest and manifest.parts.get(table, "") not in ("", sha256(data)):
            raise _damaged(path, "its digest is not the recorded one")
        try:
            return read_parquet(data, columns)
        except (pa.ArrowInvalid, OSError) as error:
            raise _damaged(path, str(error).splitlines()[0]) from error

    def read_all(
        self, table: str, row: Row, chosen: tuple[str, Collection[str]] | None = None
    ) -> Iterator[Any]:
        """Records of all shards in order, one shard in memory at a time; `chosen` as in `read`."""
        for shard in self.shards():
            yield from self.read(table, row, shard, chosen)

    def rows(self, table: str, row: Row) -> StoredRows:
        """The same, for whoever goes through them more than once."""
        return StoredRows(self, table, row)

    def values(self, table: str, *columns: str) -> Iterator[tuple[Any, ...]]:
        """Some columns of all rows, of which no records are made, one shard in memory at a time."""
        for part in self._parts(table, columns):
            yield from zip(*(part[column].to_pylist() for column in columns), strict=True)

    def frames(self, table: str) -> Iterator[pd.DataFrame]:
        """The table as pandas reads it, one shard in memory at a time: structs are dicts, lists arrays, maps
        lists of pairs."""
        return (part.to_pandas() for part in self._parts(table))

    def _parts(self, table: str, columns: Sequence[str] | None = None) -> Iterator[pa.Table]:
        found = (self.part(table, shard, columns) for shard in self.shards())
        return (part for part in found if part is not None)

    def rejections(self) -> list[Rejection]:
        """Everything the finished stage did not pass on."""
        return self._rejections("rejected.parquet")

    def keep_rejections(self, rejections: Sequence[Rejection]) -> None:
        """Writes what a run rejected before it failed; the next run that ends well takes them away."""
        self._storage.write(self._path(FAILED), to_parquet(rejections, Rejection))

    def failed_rejections(self) -> list[Rejection] | None:
        """What the last run rejected before it failed; None where it did not fail."""
        return self._rejections(FAILED) if self._storage.exists(self._path(FAILED)) else None

    def rewrite_rejections(self, change: Callable[[Rejection], Rejection]) -> int:
        """Rewrites what was not passed on, with the digests of the manifests, and returns how many rows.

        It is there for words of people that an older version wrote in them. Killed half way, the next build
        makes the part again.
        """
        count, manifest, shards = 0, self.manifest(), []
        for shard in manifest.shards:
            before = self.read("rejected", Rejection, shard.shard)
            after = [change(row) for row in before]
            changed = sum(one != two for one, two in zip(before, after, strict=True))
            parts = shard.parts
            if changed:
                parts = {**parts, "rejected": self._write_part("rejected", shard.shard, after, Rejection)}
            shards.append(told := shard.model_copy(update={"parts": parts}))
            if changed:
                self._storage.write(self._path("shards", f"{told.shard}.json"), seal(canonical_json(told)))
            count += changed
        if count:
            self._write_manifest(manifest.model_copy(update={"shards": tuple(shards)}))
        return count

    def _rejections(self, file: str) -> list[Rejection]:
        return from_table(read_parquet(self._storage.read(self._path(file))), Rejection)

    def done(self, shard: str, shard_digest: str) -> ShardManifest | None:
        """The shard's manifest when it was finished from the same inputs and its parts are whole."""
        path = self._path("shards", f"{shard}.json")
        manifest = read_manifest(self._storage, path, ShardManifest)
        if manifest is None or manifest.digest != shard_digest:
            return None
        for table, wanted in manifest.parts.items():
            part = self._path(table, f"part-{shard}.parquet")
            if not self._storage.exists(part) or sha256(self._storage.read(part)) != wanted:
                return None
        return manifest

    def run(self, shard: str, inputs: Any, work: Callable[[], ShardOutput]) -> ShardManifest:
        """Does one shard's work unless it was done before from the same inputs.

        `inputs` are all that could change the output, as values that JSON knows.
        """
        shard_digest = digest(inputs)
        if found := self.done(shard, shard_digest):
            return found
        started, clock = datetime.now(UTC), time.monotonic()
        output = work()
        _account(self.name, shard, output)
        if self._check:
            for table, (_, rows) in output.tables.items():
                self._check(self.name, table, rows)
            self._check(self.name, "rejected", output.rejections)
        parts = {
            name: self._write_part(name, shard, rows, row) for name, (row, rows) in output.tables.items()
        }
        if output.rejections:
            parts["rejected"] = self._write_part("rejected", shard, output.rejections, Rejection)
        manifest = ShardManifest(
            shard=shard,
            digest=shard_digest,
            parts=parts,
            counts=output.counts,
            seconds=round(time.monotonic() - clock, 3),
            started=started.isoformat(timespec="microseconds"),
            format=FORMAT,
        )
        self._storage.write(self._path("shards", f"{shard}.json"), seal(canonical_json(manifest)))
        return manifest

    def finish(
        self,
        shards: Sequence[ShardManifest],
        *,
        inputs: Mapping[str, str],
        config_digest: str,
        code_version: str,
    ) -> StageManifest:
        """Writes the stage's manifest and rejections, and removes parts of shards that are no more."""
        manifest = StageManifest(
            stage=self.name,
            config_digest=config_digest,
            code_version=code_version,
            inputs=dict(inputs),
            shards=tuple(shards),
            counts=total(shard.counts for shard in shards),
            seconds=round(sum(shard.seconds for shard in shards), 3),
            peak_memory_mb=peak_memory_mb(),
            format=FORMAT,
        )
        manifest = self._write_manifest(manifest)
        self._forget_all_but({shard.shard: set(shard.parts) for shard in shards})
        if self._storage.exists(self._path(FAILED)):
            self._storage.remove(self._path(FAILED))
        return manifest

    def _write_manifest(self, manifest: StageManifest) -> StageManifest:
        rejected = self._gathered_rejections(manifest)
        manifest = manifest.model_copy(update={"rejected": sha256(rejected)})
        self._storage.write(self._path("rejected.parquet"), rejected)
        self._storage.write(
            self._path("manifest.json"),
            seal(
                orjson.dumps(
                    manifest.model_dump(mode="json"), option=orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS
                )
            ),
        )
        return manifest

    def _gathered_rejections(self, manifest: StageManifest) -> bytes:
        """The rejections of the manifest's shards as one part; as it stands where no shard has changed."""
        path = self._path("rejected.parquet")
        before = read_manifest(self._storage, self._path("manifest.json"), StageManifest)
        if before and before.shards == manifest.shards and self._storage.exists(path):
            data = self._storage.read(path)
            if sha256(data) == before.rejected:
                return data
        # Parts that an earlier run left are still there: the shards' manifests say which count.
        rejecting = [shard.shard for shard in manifest.shards if "rejected" in shard.parts]
        rejections = [row for shard in rejecting for row in self.read("rejected", Rejection, shard)]
        return to_parquet(rejections, Rejection)

    def _forget_all_but(self, kept: Mapping[str, set[str]]) -> None:
        tables = [n for n in self._storage.list(self._path()) if "." not in n and n != "shards"]
        for table in tables:
            for name in self._storage.list(self._path(table)):
                shard = name.removeprefix("part-").removesuffix(".parquet")
                if name.startswith("part-") and table not in kept.get(shard, set()):
                    self._storage.remove(self._path(table, name))
        for name in self._storage.list(self._path("shards")):
            if name.removesuffix(".json") not in kept:
                self._storage.remove(self._path("shards", name))

    def _write_part(self, table: str, shard: str, rows: Sequence[Record], row: Row) -> str:
        data = to_parquet(rows, row)
        self._storage.write(self._path(table, f"part-{shard}.parquet"), data)
        return sha256(data)

    def _path(self, *parts: str) -> str:
        return self._storage.path(self.name, *parts)


@dataclass(frozen=True)
class StoredRows:
    """All rows of a table, read anew each time somebody goes through them: one shard in memory at a time."""

    stage: Stage
    table: str
    row: Row

    def __iter__(self) -> Iterator[Any]:
        return self.stage.read_all(self.table, self.row)


def try_lock(handle: IO[str]) -> bool:
    """Takes the lock unless another process has it; the system gives it back when its holder dies."""
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _holder(handle: IO[str]) -> str:
    """Who holds the lock, as it wrote into the file; it may have taken it only just now."""
    for _ in range(10):
        handle.seek(0)
        if holder := handle.read().strip():
            return holder
        time.sleep(0.1)
    return ""


def total(counts: Iterator[ShardCounts] | Sequence[ShardCounts]) -> ShardCounts:
    """Sum of the counts of shards."""
    summed: dict[str, Any] = {name: Counter() for name in ("numbers", "reasons", "notes")}
    for one in counts:
        summed["numbers"].update(one.model_dump(exclude={"reasons", "notes"}))
        summed["reasons"].update(one.reasons)
        summed["notes"].update(one.notes)
    numbers, reasons, notes = (dict(sorted(found.items())) for found in summed.values())
    return ShardCounts(**numbers, reasons=reasons, notes=notes)


def peak_memory_mb() -> float:
    """Largest resident memory of this process or one of its finished children, in MiB."""
    return round(max(getrusage(RUSAGE_SELF).ru_maxrss, getrusage(RUSAGE_CHILDREN).ru_maxrss) / 1024, 1)


def _damaged(path: str, why: str) -> ExternalFailure:
    return ExternalFailure(
        f"{path} is damaged ({why}): run `mihakk build` of the benchmark, which makes that part again; "
        "what models and people answered is kept elsewhere"
    )


def _account(stage: str, shard: str, output: ShardOutput) -> None:
    """A record that is neither kept, rejected nor merged was lost, and that is a bug."""
    counts = output.counts
    if counts.read != counts.kept + counts.rejected + counts.merged:
        raise AssertionError(f"{stage}/{shard} lost records: {counts!r}")
    if counts.rejected + counts.merged != len(output.rejections):
        raise AssertionError(f"{stage}/{shard} rejected without saying why: {counts!r}")


def _mask(kept: Sequence[bool]) -> pa.BooleanArray:
    """As an Arrow array; `pa.array` would import pandas, a tenth of a build that has nothing to do."""
    bits = np.packbits(np.fromiter(kept, dtype=bool, count=len(kept)), bitorder="little")
    return pa.Array.from_buffers(pa.bool_(), len(kept), [None, pa.py_buffer(bits)])
