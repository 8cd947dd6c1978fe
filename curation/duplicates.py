"""Copies of one poem, couplet or idiom: which of the records is kept."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from itertools import permutations
from typing import Final, NamedTuple, Protocol

from rapidfuzz.distance import Indel

from mihakk.curation.fitness import fit
from mihakk.machinery.dedup import Pair, groups, half_key, near_duplicates, of_halves
from mihakk.machinery.errors import RecordRejected
from mihakk.machinery.ids import digest
from mihakk.schemas.benchmark import CurateConfig
from mihakk.schemas.idiom import Idiom
from mihakk.schemas.poem import Couplet, Poem
from mihakk.schemas.rejection import Cluster

SIMILAR: Final = 0.68
"""Likeness from which couplets that are not merged are reported. Of real ones at 0.85, half are versions of
one couplet; most below 0.8 only share a hemistich or a formula."""
HALF: Final = 0.9
"""Likeness of two hemistichs from which their couplets are reported as sharing it."""
SHORT: Final = 4
"""Hemistichs of a poem of two couplets, such as a quatrain: editions change their order and many words."""
SHORT_HALF: Final = 0.75
"""Likeness of two hemistichs from which their short poems are compared."""


class Comparable(NamedTuple):
    """One text to compare."""

    id: str
    owner: str
    """Record it belongs to: the couplet's poem, or the record itself."""
    halves: tuple[str, ...]
    """Matching keys of its parts: of a couplet's hemistichs, of all of a poem's."""
    labels: tuple[str, ...] = ()
    """Of a poem: its labels in the order of `LABELS`, empty where it has none."""


@dataclass(frozen=True)
class Duplicates:
    """Every record that was merged into another, and couplets that share a hemistich."""

    clusters: tuple[Cluster, ...] = ()
    """Those of method `similar` and `half` are only reported: their couplets are all kept."""
    kept_for: dict[str, Cluster] = field(default_factory=dict)
    """Id of a merged poem, couplet or idiom to its cluster."""
    concerning: dict[str, tuple[Cluster, ...]] = field(default_factory=dict)
    """Id of a poem or idiom to the clusters that it or its couplets are part of."""

    def of(self, identifier: str) -> Cluster | None:
        """The cluster a record was merged into; None when the record itself is kept."""
        return self.kept_for.get(identifier)

    @staticmethod
    def of_found(found: Iterable[DuplicateCluster]) -> Duplicates:
        """What the clusters mean for each record."""
        clusters: list[Cluster] = []
        kept_for: dict[str, Cluster] = {}
        concerning: dict[str, list[Cluster]] = defaultdict(list)
        for each in found:
            clusters.append(each.cluster)
            if each.cluster.method in ("exact", "near"):
                kept_for.update((entry.id, each.cluster) for entry in each.others)
            for owner in dict.fromkeys(entry.owner for entry in (each.kept, *each.others)):
                concerning[owner].append(each.cluster)
        return Duplicates(tuple(clusters), kept_for, {o: tuple(some) for o, some in concerning.items()})

    def digest(self, records: Sequence[str]) -> str:
        """Digest of what concerns these records: a shard runs again only when its own part changed."""
        return digest([[c.model_dump() for c in self.concerning.get(record, ())] for record in records])


class DuplicateCluster(NamedTuple):
    """A cluster and the entries it is made of."""

    cluster: Cluster
    kept: Comparable
    others: list[Comparable]


class Comparables(NamedTuple):
    """What of one record is compared."""

    poems: list[Comparable]
    couplets: list[Comparable]
    idioms: list[Comparable]


LABELS: Final = ("era", "genre", "metre")
LEVELS: Final = ("poem", "couplet", "idiom")
PARTS_OF: Final = {"half": "couplet", "short": "poem"}
"""What is compared by hemistichs, to the level of its entries."""
SLOTS: Final = {"half": 2, "short": SHORT}
"""Numbers that an entry's hemistichs take; one where the whole entry is compared."""


class Compared(Protocol):
    """A set of entries whose likenesses can be asked for, in memory or spread over an engine."""

    def pairs(self, thresholds: Mapping[str, float], gone: frozenset[str]) -> Mapping[str, Sequence[Pair]]:
        """Pairs by what is compared: `poem`, `couplet`, `idiom`, or pairs of hemistichs: `half`, `short`.

        Entries of a level are numbered in the order of the sources, hemistichs by their entry's number times
        `SLOTS`, plus their own; couplets whose owner is `gone` are left out.
        """
        ...

    def entries(self, level: str, numbers: Iterable[int]) -> Mapping[int, Comparable]:
        """The entries of those numbers."""
        ...


def find_duplicates(records: Iterable[Poem | Idiom], config: CurateConfig) -> Duplicates:
    """Duplicates of the whole set, see `clusters`; for sets that fit in memory."""
    return Duplicates.of_found(clusters(_InMemory(records, config), config))


def clusters(compared: Compared, config: CurateConfig) -> list[DuplicateCluster]:
    """Duplicates of a whole set: poems first, then couplets of the poems that are left, and idioms.

    The first in the order of the sources is kept; a record that curation rejects stands for nobody. Poems of
    two couplets are the same from a likeness of `SIMILAR` on, their hemistichs compared in any order. Lines
    that a poem itself repeats (refrains) are its own. Couplets less alike than the config asks, or with one
    common hemistich, become clusters of method `similar` and `half` and stay: they may be other versions,
    half lines, formulas, or one poet quoting another (tadmin).
    """
    least = config.near_duplicates
    whole = compared.pairs({"poem": least, "short": min(SHORT_HALF, least), "idiom": 1.0}, frozenset())
    couples = sorted({(pair.first // SHORT, pair.second // SHORT) for pair in whole["short"]})
    short = [Pair(first, second, 0.0) for first, second in couples if first != second]
    poems = _met(compared, "poem", [*whole["poem"], *short])
    alike = _likeness(poems, least)
    versions = [pair for pair in short if alike(pair.first, pair.second)]
    found = list(_merged(poems, "poem", [*whole["poem"], *versions], least))
    gone = frozenset(entry.id for each in found for entry in each.others)
    parts = compared.pairs({"couplet": min(SIMILAR, least), "half": HALF}, gone)
    similar, halves = parts["couplet"], list(of_halves(parts["half"]))
    left = _met(compared, "couplet", [*similar, *halves])
    found += _merged(left, "couplet", (pair for pair in similar if pair.similarity >= least), least)
    found += _merged(_met(compared, "idiom", whole["idiom"]), "idiom", whole["idiom"], 1.0)
    merged = {entry.id for each in found for entry in each.others}
    found += _reported(left, similar, merged, "similar")
    found += _reported(left, halves, merged, "half")
    return found


def _met(compared: Compared, level: str, pairs: Iterable[Pair]) -> Mapping[int, Comparable]:
    return compared.entries(level, sorted({n for pair in pairs for n in (pair.first, pair.second)}))


class _InMemory:
    """All entries in one process."""

    def __init__(self, records: Iterable[Poem | Idiom], config: CurateConfig) -> None:
        found = entries(records, config)
        self._levels = dict(zip(LEVELS, found, strict=True))

    def pairs(self, thresholds: Mapping[str, float], gone: frozenset[str]) -> dict[str, list[Pair]]:
        return {
            name: list(near_duplicates(keys(self._levels, name, gone), threshold))
            for name, threshold in thresholds.items()
        }

    def entries(self, level: str, numbers: Iterable[int]) -> dict[int, Comparable]:
        return {number: self._levels[level][number] for number in numbers}


def keys(levels: Mapping[str, Sequence[Comparable]], name: str, gone: frozenset[str]) -> list[str]:
    """The texts that are compared under a name, by number; empty for what is not compared."""
    rows = levels[PARTS_OF.get(name, name)]
    halves = [() if name in ("couplet", "half") and row.owner in gone else row.halves for row in rows]
    if name == "short":
        halves = [row if _is_short(row) else () for row in halves]
    if name in SLOTS:
        return [half_key(row, side) for row in halves for side in range(SLOTS[name])]
    return ["".join(row) for row in halves]


def entries(records: Iterable[Poem | Idiom], config: CurateConfig) -> Comparables:
    """What is compared of the records that curation does not reject."""
    found = Comparables([], [], [])
    for record in records:
        try:
            fitting = fit(record, config, contradicted=False).record
        except RecordRejected:
            continue
        if isinstance(fitting, Poem):
            halves = tuple(half for couplet in fitting.couplets for half in couplet_halves(couplet))
            labels = (fitting.era, fitting.genre, fitting.sections[0].metre)
            found.poems.append(Comparable(fitting.id, fitting.id, halves, labels))
            found.couplets.extend(
                Comparable(c.id, fitting.id, couplet_halves(c)) for c in fitting.couplets if _is_verse(c)
            )
        else:
            key = fitting.language + fitting.dialect + fitting.phrase.key
            found.idioms.append(Comparable(fitting.id, fitting.id, (key,)))
    return found


def couplet_halves(couplet: Couplet) -> tuple[str, ...]:
    """Matching keys of the one or two hemistichs."""
    return (couplet.first.key, couplet.second.key) if couplet.second else (couplet.first.key,)


def _is_verse(couplet: Couplet) -> bool:
    """Prose and bands are no couplets: a band is repeated by right."""
    return couplet.kind in ("couplet", "line")


def _merged(
    entries: Mapping[int, Comparable], level: str, pairs: Iterable[Pair], threshold: float
) -> Iterator[DuplicateCluster]:
    """Clusters of entries each of which is like the kept one, without those of the kept one's own record."""
    alike = _likeness(entries, threshold)
    for group in groups(pairs):
        for kept, merged in _stars((group.kept, *group.merged), alike):
            others = [n for n in merged if entries[n].owner != entries[kept].owner]
            if others:
                similarity = min(merged[n] for n in others)
                method = "exact" if similarity == 1 else "near"
                yield _found(entries, kept, others, level=level, method=method, similarity=similarity)


def _likeness(entries: Mapping[int, Comparable], least: float) -> Callable[[int, int], float]:
    """How like two entries are; 0 where they are not the same."""

    def alike(a: int, b: int) -> float:
        one, other = entries[a].halves, entries[b].halves
        whole: float = Indel.normalized_similarity("".join(one), "".join(other), score_cutoff=least)
        if whole or least == 1 or not (_is_short(one) and _is_short(other)):
            return whole
        # Less than 1: in another order it is no copy letter by letter.
        found = min(0.9999, in_any_order(one, other))
        return found if found >= SIMILAR else 0.0

    return alike


def _is_short(halves: Sequence[str]) -> bool:
    """Three or four hemistichs; of a single couplet, half is no version of it."""
    return SHORT - 1 <= len(halves) <= SHORT


def in_any_order(one: Sequence[str], other: Sequence[str]) -> float:
    """Mean likeness of the hemistichs of two short poems, each beside the one it is likest to."""
    fewer, more = sorted((one, other), key=len)
    table = [[Indel.normalized_similarity(a, b) for b in more] for a in fewer]
    return max(
        sum(row[place] for row, place in zip(table, places, strict=True))
        for places in permutations(range(len(more)), len(fewer))
    ) / len(more)


def _stars(
    members: Sequence[int], alike: Callable[[int, int], float]
) -> Iterator[tuple[int, dict[int, float]]]:
    """A chain of likenesses as clusters whose members are like the kept one itself, and how much."""
    waiting = list(members)
    while len(waiting) > 1:
        kept, *others = waiting
        likeness = {other: alike(kept, other) for other in others}
        merged = {other: value for other, value in likeness.items() if value}
        if merged:
            yield kept, merged
        waiting = [other for other in others if other not in merged]


def _reported(
    entries: Mapping[int, Comparable], pairs: Iterable[Pair], gone: Set[str], method: str
) -> Iterator[DuplicateCluster]:
    """Pairs of couplets of different poems that both stay, by the first of each."""
    others: dict[int, dict[int, float]] = defaultdict(dict)
    for first, second, similarity in pairs:
        stay = entries[first].id not in gone and entries[second].id not in gone
        if stay and entries[first].owner != entries[second].owner:
            others[first][second] = similarity
    for first, alike in sorted(others.items()):
        least = min(alike.values())
        yield _found(entries, first, list(alike), level="couplet", method=method, similarity=least)


def _found(
    entries: Mapping[int, Comparable],
    kept: int,
    others: Sequence[int],
    *,
    level: str,
    method: str,
    similarity: float,
) -> DuplicateCluster:
    cluster = Cluster(
        kept=entries[kept].id,
        merged=tuple(entries[n].id for n in others),
        level=level,
        method=method,
        similarity=round(similarity, 4),
        contested=_contested([entries[kept], *(entries[n] for n in others)]),
    )
    return DuplicateCluster(cluster, entries[kept], [entries[n] for n in others])


def _contested(poems: Sequence[Comparable]) -> tuple[str, ...]:
    """Labels that two editors of one poem give differently."""
    said = [{poem.labels[n] for poem in poems if poem.labels} - {""} for n in range(len(LABELS))]
    return tuple(name for name, labels in zip(LABELS, said, strict=True) if len(labels) > 1)
