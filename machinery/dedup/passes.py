"""Near duplicates of a set too large for one process: what `near_duplicates` finds, by passes over parts.

Texts are numbered over the whole set and come in parts (chunks). Equal texts meet in buckets of their digest;
letter groups of the different texts are counted part by part and added up; each part then files its texts
under their rarest groups, by bucket; and each bucket compares what was filed together in it. A pass is a
function of files to files, so that it runs in any worker; nothing but counts and pairs is ever in one place.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from mihakk.machinery.dedup._grams import GRAM, count_groups, rarest, summed
from mihakk.machinery.dedup._near import filed_together, filed_under
from mihakk.machinery.lake.scratch import Scratch

Numbers = NDArray[np.int64]

_SPREAD: Final = 2654435761
"""Odd factor that sends neighbouring groups to different buckets."""
COPY: Final = pa.schema([("first", pa.int64()), ("second", pa.int64())])
PAIR: Final = pa.schema([("first", pa.int64()), ("second", pa.int64()), ("similarity", pa.float64())])
_DIGEST: Final = pa.schema([("high", pa.uint64()), ("low", pa.uint64()), ("number", pa.int64())])
_COUNT: Final = pa.schema([("group", pa.uint32()), ("count", pa.uint32())])
_FILED: Final = pa.schema([("group", pa.uint32()), ("number", pa.int64()), ("text", pa.large_string())])


class Part(NamedTuple):
    """Some texts of the set, and how to read them in whatever worker needs them."""

    name: str
    """What the texts depend on, for the names of the files made of them."""
    read: Callable[..., tuple[Numbers, list[str]]]
    """A function known by its name: the texts' numbers, ascending, and the texts, none of them empty."""
    arguments: tuple[Any, ...]

    def texts(self) -> tuple[Numbers, list[str]]:
        """Numbers and texts."""
        return self.read(*self.arguments)


def digests(scratch: Scratch, part: Part, buckets: int) -> str:
    """Digests of a part's texts by bucket."""

    def make() -> list[pa.RecordBatch]:
        numbers, texts = part.texts()
        sums = b"".join(hashlib.blake2b(text.encode(), digest_size=16).digest() for text in texts)
        words = np.frombuffer(sums, dtype="<u8").reshape(-1, 2)
        return _bucketed(
            words[:, 1] % np.uint64(buckets), buckets, _DIGEST, [words[:, 0], words[:, 1], numbers]
        )

    return scratch.made("digests", [part.name, buckets], make)


def equal_texts(scratch: Scratch, parts: Sequence[str], bucket: int) -> str:
    """Texts of one bucket of digests that equal an earlier one: rows (first, second)."""

    def make() -> list[pa.RecordBatch]:
        table = pa.concat_tables([scratch.read(name, bucket) for name in parts])
        high, low, numbers = (table[name].to_numpy() for name in ("high", "low", "number"))
        order = np.lexsort((numbers, low, high))
        high, low, numbers = high[order], low[order], numbers[order]
        new = np.ones(len(numbers), dtype=bool)
        new[1:] = (high[1:] != high[:-1]) | (low[1:] != low[:-1])
        firsts = numbers[new][np.cumsum(new) - 1] if len(new) else numbers
        return [_batch(COPY, [firsts[~new], numbers[~new]])]

    return scratch.made("equal", [list(parts), bucket], make)


def counts(scratch: Scratch, part: Part, equal: Sequence[str]) -> str:
    """How often each letter group occurs in a part's texts, copies of earlier texts left out."""

    def make() -> list[pa.RecordBatch]:
        _, texts = _distinct(scratch, part, equal)
        return [_batch(_COUNT, list(count_groups(texts)))]

    return scratch.made("counts", [part.name, list(equal)], make)


def all_counts(scratch: Scratch, parts: Sequence[str]) -> str:
    """The counts of all parts added up; groups met once are left out, for nothing is filed under them."""

    def make() -> list[pa.RecordBatch]:
        times = summed(_read_counts(scratch, name) for name in parts)
        groups = np.flatnonzero(times > 1)
        return [_batch(_COUNT, [groups, times[groups]])]

    return scratch.made("all-counts", list(parts), make)


def filings(
    scratch: Scratch, part: Part, equal: Sequence[str], counted: tuple[str, float], buckets: int
) -> str:
    """A part's different texts under their rarest groups, by bucket.

    `counted` is the file of all counts, and the likeness from which texts are wanted.
    """
    counts_of_all, threshold = counted

    def make() -> list[pa.RecordBatch]:
        numbers, texts = _distinct(scratch, part, equal)
        table = summed([_read_counts(scratch, counts_of_all)])
        filed = rarest(texts, table, partial(filed_under, threshold=threshold))
        groups, places = filed >> 32, filed & 0xFFFFFFFF
        taken = pa.array(texts, pa.large_string()).take(pa.array(places))
        bucket = ((groups * _SPREAD) & 0xFFFFFFFF) % buckets
        return _bucketed(bucket, buckets, _FILED, [groups, numbers[places], taken])

    return scratch.made("filed", [part.name, list(equal), *counted, buckets], make)


def compared(scratch: Scratch, parts: Sequence[str], bucket: int, threshold: float) -> str:
    """Pairs of texts filed together in one bucket and at least `threshold` alike."""

    def make() -> list[pa.RecordBatch]:
        table = pa.concat_tables([scratch.read(name, bucket) for name in parts])
        groups = table["group"].to_numpy().astype(np.int64)
        numbers, first, place = np.unique(table["number"].to_numpy(), return_index=True, return_inverse=True)
        texts = table["text"].take(pa.array(first)).to_pylist()
        filed = np.sort((groups << 32) | place)
        pairs = filed_together(filed, texts, threshold) if len(texts) > 1 else np.empty((0, 3))
        ends = pairs[:, :2].astype(np.int64)
        return [_batch(PAIR, [numbers[ends[:, 0]], numbers[ends[:, 1]], pairs[:, 2]])]

    return scratch.made("pairs", [list(parts), bucket, threshold], make)


def _distinct(scratch: Scratch, part: Part, equal: Sequence[str]) -> tuple[Numbers, list[str]]:
    """The part's texts of at least `GRAM` letters that equal no earlier one."""
    numbers, texts = part.texts()
    copies = [scratch.read(name)["second"].to_numpy() for name in equal]
    kept = ~np.isin(numbers, np.concatenate([np.empty(0, dtype=np.int64), *copies]))
    kept &= np.fromiter((len(text) >= GRAM for text in texts), dtype=bool, count=len(texts))
    return numbers[kept], [texts[place] for place in np.flatnonzero(kept)]


def _read_counts(scratch: Scratch, name: str) -> tuple[Numbers, Numbers]:
    table = scratch.read(name)
    return table["group"].to_numpy().astype(np.int64), table["count"].to_numpy().astype(np.int64)


def _bucketed(
    bucket: NDArray[Any], buckets: int, schema: pa.Schema, columns: Sequence[Any]
) -> list[pa.RecordBatch]:
    order = np.argsort(bucket, kind="stable")
    ends = np.searchsorted(bucket[order], np.arange(buckets + 1))
    whole = _batch(schema, columns).take(pa.array(order))
    return [whole.slice(ends[n], ends[n + 1] - ends[n]) for n in range(buckets)]


def _batch(schema: pa.Schema, columns: Sequence[Any]) -> pa.RecordBatch:
    arrays = [
        column if isinstance(column, pa.Array) else pa.array(column).cast(field.type)
        for column, field in zip(columns, schema, strict=True)
    ]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)
