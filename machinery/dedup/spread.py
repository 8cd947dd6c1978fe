"""The passes in order, on whatever runs them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple

from mihakk.machinery.dedup import passes
from mihakk.machinery.dedup._near import Pair
from mihakk.machinery.dedup.passes import Part
from mihakk.machinery.lake.scratch import Scratch

Run = Callable[[str, Callable[..., str], Sequence[tuple[Any, ...]]], list[str]]
"""Runs a named pass over many arguments, in any order and anywhere; gives the names of the files in order."""


Calls = dict[str, list[tuple[Any, ...]]]
"""Arguments of a pass, by set."""


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
        parts = {name: want.parts for name, want in wanted.items() if want.parts}
        near = {name: want.threshold for name, want in wanted.items() if want.parts and want.threshold < 1}
        of_part: Calls = {name: [(one, len(some)) for one in some] for name, some in parts.items()}
        digests = self._pass("digest", passes.digests, of_part)
        equal = self._pass("match", passes.equal_texts, _by_bucket(digests))
        of_part = {name: [(one, equal[name]) for one in parts[name]] for name in near}
        counts = self._pass("count", passes.counts, of_part)
        counted = {name: passes.all_counts(self._scratch, counts[name]) for name in near}
        self.files.update(counted.values())
        of_part = {
            name: [(one, equal[name], (counted[name], least), len(parts[name])) for one in parts[name]]
            for name, least in near.items()
        }
        filed = self._pass("sign", passes.filings, of_part)
        pairs = self._pass("compare", passes.compared, _by_bucket(filed, near))
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

    def _pass(self, title: str, work: Callable[..., str], calls: Calls) -> dict[str, list[str]]:
        """All calls of a pass at once, whatever set they are of; their files by set."""
        made = iter(self.run(title, work, [(self._scratch, *one) for some in calls.values() for one in some]))
        return {name: list(islice(made, len(some))) for name, some in calls.items()}

    def _rows(self, files: Sequence[str], *columns: str) -> Iterator[tuple[Any, ...]]:
        for name in files:
            table = self._scratch.read(name)
            yield from zip(*(table[column].to_pylist() for column in columns), strict=True)


def _by_bucket(files: Mapping[str, list[str]], more: Mapping[str, Any] | None = None) -> Calls:
    """Calls over the buckets of each set's files, of which there are as many as files."""
    return {
        name: [(some, bucket, *([more[name]] if more else ())) for bucket in range(len(some))]
        for name, some in files.items()
    }
