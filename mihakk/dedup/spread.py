"""The passes in order, on whatever runs them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from mihakk.dedup import passes
from mihakk.dedup._near import Pair
from mihakk.dedup.passes import Part
from mihakk.lake.scratch import Scratch

Run = Callable[[str, Callable[..., str], Sequence[tuple[Any, ...]]], list[str]]
"""Runs a named pass over many arguments, in any order and anywhere; gives the names of the files in order."""


class Wanted(NamedTuple):
    """A set of texts whose near duplicates are asked for."""

    parts: Sequence[Part]
    threshold: float


class DuplicatePasses:
    """Finds near duplicates of several sets side by side."""

    def __init__(self, scratch: Scratch, run: Run) -> None:
        self._scratch = scratch
        self._run = run
        self.files: set[str] = set()
        """Every file used, so that others can be removed."""

    def near_duplicates(self, wanted: Mapping[str, Wanted]) -> dict[str, list[Pair]]:
        """For each set the pairs that `near_duplicates` would find in it, in order of the texts."""
        sets = {name: want for name, want in wanted.items() if want.parts}
        one = self._over_parts(sets, "digest", passes.digests, lambda name: (len(sets[name].parts),))
        equal = self._over_buckets(one, "match", passes.equal_texts, lambda _: ())
        near = {name: want for name, want in sets.items() if want.threshold < 1}
        found = self._over_parts(near, "count", passes.counts, lambda name: (equal[name],))
        counted = {name: passes.all_counts(self._scratch, found[name]) for name in near}
        self.files.update(counted.values())
        filed = self._over_parts(
            near, "sign", passes.filings, lambda name: (equal[name], counted[name], len(near[name].parts))
        )
        pairs = self._over_buckets(filed, "compare", passes.compared, lambda name: (near[name].threshold,))
        return {
            name: sorted(
                {
                    *(Pair(a, b, 1.0) for a, b in self._rows(equal.get(name, ()), "first", "second")),
                    *(Pair(*row) for row in self._rows(pairs.get(name, ()), *Pair._fields)),
                }
            )
            for name in wanted
        }

    def run(self, title: str, work: Callable[..., str], calls: Sequence[tuple[Any, ...]]) -> list[str]:
        """Runs a pass and notes its files."""
        names = self._run(title, work, calls) if calls else []
        self.files.update(names)
        return names

    def _over_parts(
        self,
        sets: Mapping[str, Wanted],
        title: str,
        work: Callable[..., str],
        more: Callable[[str], tuple[Any, ...]],
    ) -> dict[str, list[str]]:
        calls = [(name, (self._scratch, part, *more(name))) for name in sets for part in sets[name].parts]
        return self._sorted_out(title, work, calls)

    def _over_buckets(
        self,
        files: Mapping[str, list[str]],
        title: str,
        work: Callable[..., str],
        more: Callable[[str], tuple[Any, ...]],
    ) -> dict[str, list[str]]:
        calls = [
            (name, (self._scratch, files[name], bucket, *more(name)))
            for name in files
            for bucket in range(len(files[name]))
        ]
        return self._sorted_out(title, work, calls)

    def _sorted_out(
        self, title: str, work: Callable[..., str], calls: Sequence[tuple[str, tuple[Any, ...]]]
    ) -> dict[str, list[str]]:
        """All calls of a pass at once, their files by set."""
        made = self.run(title, work, [arguments for _, arguments in calls])
        files: dict[str, list[str]] = {name: [] for name, _ in calls}
        for (name, _), file in zip(calls, made, strict=True):
            files[name].append(file)
        return files

    def _rows(self, files: Sequence[str], *columns: str) -> Iterator[tuple[Any, ...]]:
        for name in files:
            table = self._scratch.read(name)
            yield from zip(*(table[column].to_pylist() for column in columns), strict=True)
