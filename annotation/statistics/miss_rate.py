"""The miss rate: how many of the items that neither rules nor auditors objected to are defective."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from mihakk.annotation.decisions.resolution import binding, settling, votes_needed
from mihakk.annotation.statistics.sampling import Queued, wanted_changed
from mihakk.machinery.groups import grouped
from mihakk.machinery.stats import clopper_pearson
from mihakk.schemas.record import Record
from mihakk.schemas.review import Review

Soundness = Literal["open", "sound", "defective", "disputed"]
ALL = "all"
"""Name of the row over every stratum."""


class MissRate(Record):
    """Defects among a random sample of items that neither rules nor auditors objected to."""

    stratum: str
    """`all` or `<language>/<task>`."""
    decided: int
    """Sampled items with the votes they need: sound, defective or disputed."""
    missed: int
    """Of those, defective: people fix or discard them, in whatever words."""
    disputed: int = 0
    """Of those, the ones on which people differ whether they are defective."""
    waiting: int = 0
    """Sampled items without the votes they need: unknown, so sound in lower, defective in upper ends."""
    outdated: int = 0
    """Sampled items whose text is no longer in the benchmark, though nobody corrected it; what was found in
    them still counts, for to leave out either kind would move the rate."""
    rate: float | None
    """Share defective of the decided items, each stratum weighted by its items; disputed ones count as sound.
    None where nothing is decided."""
    low: float
    """Lower end of the 95 % interval; disputed and unknown items count as sound."""
    high: float
    """Upper end of the 95 % interval; disputed and unknown items count as defective."""
    upper: float
    """One-sided 95 % upper bound; disputed and unknown items count as defective. 0 of 300 gives 0.99 %."""
    covered: float = 1.0
    """Share of the unflagged items that the decided ones speak for; the rest is unknown."""


@dataclass
class _Tally:
    """The sampled items of one stratum."""

    sound: int = 0
    defective: int = 0
    disputed: int = 0
    open: int = 0
    outdated: int = 0

    @property
    def decided(self) -> int:
        return self.sound + self.defective + self.disputed

    @property
    def drawn(self) -> int:
        return self.decided + self.open


def miss_rates(
    queued: Iterable[Queued],
    reviews: Sequence[Review],
    overlap: int,
    adjudicators: Collection[str] = (),
    *,
    sizes: Mapping[str, int] | None = None,
    now: Mapping[str, str] | None = None,
) -> list[MissRate]:
    """Miss rate over the random sample of unflagged items, overall and per stratum; none without a sample.

    An item counts as it stood when it was drawn: what was found in it stays found, whatever is corrected,
    drawn or pushed later; of several samples the latest counts. The intervals are Clopper and Pearson's; over
    all strata they rest on the effective number of items under the weights (E. L. Korn and B. I. Graubard,
    1998, with L. Kish's effective size).

    Which answers are missing may depend on the items, so nothing is concluded from those that are there:
    sampled items without an answer, and strata of which nothing was drawn, are at worst all defective. Only
    an item that left the benchmark before anybody judged it is no part of what the sample speaks of.

    Args:
        sizes: Unflagged items per stratum, the weights; None weighs every sampled item the same.
        now: Item id to the hash of its content in the benchmark; None where nothing can have changed.
    """
    votes = grouped(reviews, lambda review: (review.item, review.content_hash))
    strata: dict[str, _Tally] = defaultdict(_Tally)
    for row in sampled(queued):
        mine = votes[row.item, row.content_hash]
        found = soundness(mine, row.content_hash, overlap, adjudicators)
        tally = strata[row.stratum]
        is_gone = now is not None and now.get(row.item) != row.content_hash and not wanted_changed(mine)
        tally.outdated += is_gone
        if mine or now is None or row.item in now:
            setattr(tally, found, getattr(tally, found) + 1)
    if not strata:
        return []
    weights = dict(sizes or {})
    if not any(weights.values()):
        weights = {name: tally.drawn for name, tally in strata.items()}
    names = sorted(strata.keys() | weights.keys())
    rows = [_row(name, [(1, strata[name])]) for name in names if weights.get(name) or strata[name].drawn]
    return [_row(ALL, [(weights.get(name, 0), strata[name]) for name in names]), *rows]


def sampled(queued: Iterable[Queued]) -> list[Queued]:
    """The latest draw, each item once and with the content it was first drawn with."""
    rows = [row for row in queued if row.why == "sample"]
    latest = max((row.draw for row in rows), default=1)
    first: dict[str, Queued] = {}
    for row in rows:
        if row.draw == latest:
            first.setdefault(row.item, row)
    return list(first.values())


def soundness(
    reviews: Iterable[Review], content_hash: str, overlap: int, adjudicators: Collection[str] = ()
) -> Soundness:
    """Whether people find one content defective, apart from what they would do about it.

    A keep says sound, a fix or a discard says defective. An adjudicator decides alone; else it takes
    `overlap` votes that are all alike, or more than half of three or more.
    """
    votes = binding(reviews, content_hash)
    needed = votes_needed(votes, overlap)
    won = settling(
        votes, needed, lambda vote: vote.decision != "keep", lambda vote: vote.annotator in adjudicators
    )
    if won is None:
        return "disputed" if len(votes) >= needed else "open"
    return "sound" if won[0][0].decision == "keep" else "defective"


def _row(name: str, strata: Sequence[tuple[float, _Tally]]) -> MissRate:
    """One row of the sizes of strata and of what was found in their samples."""
    whole = sum(size for size, _ in strata) or 1.0
    drawn = [(size, tally) for size, tally in strata if size and tally.drawn]
    decided = [(size, tally) for size, tally in drawn if tally.decided]
    tallies = [tally for _, tally in strata]
    known = sum(size for size, _ in drawn)
    low, high, upper = 0.0, 1.0, 1.0
    if known:
        # Kish: as many equally weighted items would tell as much.
        cases = known**2 / sum(size**2 / tally.drawn for size, tally in drawn)
        least = cases * sum(size * tally.defective / tally.drawn for size, tally in drawn) / known
        most = cases * sum(size * (1 - tally.sound / tally.drawn) for size, tally in drawn) / known
        low = clopper_pearson(least, cases).low
        high = clopper_pearson(most, cases).high
        upper = clopper_pearson(most, cases, side="upper").high
    answered = sum(size for size, _ in decided)
    return MissRate(
        stratum=name,
        decided=sum(tally.decided for tally in tallies),
        missed=sum(tally.defective for tally in tallies),
        disputed=sum(tally.disputed for tally in tallies),
        waiting=sum(tally.open for tally in tallies),
        outdated=sum(tally.outdated for tally in tallies),
        rate=sum(size * tally.defective / tally.decided for size, tally in decided) / answered
        if answered
        else None,
        low=low * known / whole,
        high=1 - (1 - high) * known / whole,
        upper=1 - (1 - upper) * known / whole,
        covered=sum(size * tally.decided / tally.drawn for size, tally in decided) / whole,
    )
