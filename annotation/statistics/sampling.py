"""Which items are queued beside the flagged ones: a random sample for the miss rate, and attention checks."""

from __future__ import annotations

import math
from array import array
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from pydantic import Field

from mihakk.annotation.teaching.planted import GROSS, answers_alike, plant, plantable, relabelled
from mihakk.machinery.ids import content_hash
from mihakk.machinery.seeds import rng
from mihakk.schemas.audit import Audit, Criterion, Verdict
from mihakk.schemas.item import Item
from mihakk.schemas.record import Record
from mihakk.schemas.review import Review

Why = Literal["flagged", "suspect", "sample", "attention"]
"""suspect: no rule and no auditor objects, but the answers of many systems do."""


SOUND = "sound"
"""`Queued.known` of an attention check that people should keep."""
SUBTLE = 0.75
"""Share of the planted attention checks whose defect takes reading to see."""


NEWCOMER_CHECKS = 40
"""Attention checks beside the usual ones that somebody new is to see, so that their skill is known soon: with
24 no test, even of known skills, would find six in ten of those who copy three answers in ten."""


class Queued(Record):
    """Why an item was put before people; stored locally only: the server must not know."""

    item: str
    content_hash: str
    why: Why
    stratum: str
    """`<language>/<task>`."""
    base: str = ""
    """For an attention check the item it was made from."""
    known: str = ""
    """For an attention check what is known of it: `sound`, or the defect planted in it (`planted.Defect`);
    empty in stores written before there were others than `garbled`."""
    scores: dict[str, dict[Criterion, int]] = Field(default_factory=dict)
    """Auditor to what it said of this very content; a corrected item is audited anew."""
    draw: int = 1
    """Of a sampled item: which sample it was drawn for (`review.miss_rate_draw`)."""


@dataclass(frozen=True)
class QueueEntry:
    """One item for the queue and why it is there."""

    item: Item
    why: Why
    base: str = ""
    draw: int = 1
    known: str = ""

    def queued(self, audits: Iterable[Audit] = ()) -> Queued:
        """What the store keeps of it."""
        said = {audit.auditor: audit.scores for audit in audits if audit.scores}
        return Queued(
            item=self.item.id,
            content_hash=content_hash(self.item),
            why=self.why,
            stratum=stratum(self.item),
            base=self.base,
            known=self.known,
            draw=self.draw,
            scores={} if self.why == "attention" else {name: said[name] for name in sorted(said)},
        )


def choose(
    items: Sequence[Item],
    verdicts: Iterable[Verdict],
    *,
    seed: int,
    sample: int = 0,
    draw: int = 1,
    queued: Iterable[Queued] = (),
    corrected: Collection[str] = (),
    suspects: Collection[str] = (),
    agreed: Collection[str] = (),
    attention_every: int = 20,
    newcomer_checks: int = 0,
) -> list[QueueEntry]:
    """All flagged items, suspects, `sample` unflagged ones by stratum, and an attention check per so many.

    An item's place in the draw depends on the seed and its own id alone, so a few items more or less change
    few draws. A sample is drawn once: who was drawn stays drawn, and is no longer among the entries where the
    content has changed since; only strata that lack their share are topped up.

    Args:
        sample: Unflagged items that people see too; all of them if there are fewer.
        draw: Number of the sample; another one is drawn from all that no earlier one holds.
        corrected: Ids of items that people wanted to correct (`wanted_changed`); none of them is drawn.
        suspects: Ids of items that systems' answers speak against. They are drawn for the sample as
            any other, so that the miss rate does not lose them; one that is drawn is there once.
        agreed: Ids of items that people agreed to keep as they stand. Flagged ones among them look odd
            and are sound: up to half of the attention checks are copies of them.
        attention_every: One attention check per so many other entries; 0 for none.
        newcomer_checks: Checks beside these, for people of whom little is known yet; one per two other
            entries at most.
    """
    status = {verdict.item: verdict.status for verdict in verdicts}
    before = [row for row in queued if row.why == "sample"]
    mine = {row.item: row for row in reversed(before) if row.draw == draw}
    known = {(row.item, row.content_hash) for row in before if row.draw != draw}
    purpose = "miss_rate" if draw == 1 else f"miss_rate {draw}"
    flagged, drawn, doubted = list[QueueEntry](), list[Item](), list[Item]()
    passed, free = _Line(), defaultdict[str, _Line](_Line)
    for place, item in enumerate(items):
        if status.get(item.id) == "flag":
            flagged.append(QueueEntry(item, "flagged"))
        if status.get(item.id) != "pass":
            continue
        passed.add(place, rng(seed, item.id, "attention").random())
        if item.id in suspects:
            doubted.append(item)
        if item.id in mine:
            drawn += [item] if content_hash(item) == mine[item.id].content_hash else []
        elif sample and item.id not in corrected and not (known and (item.id, content_hash(item)) in known):
            free[stratum(item)].add(place, rng(seed, item.id, purpose).random())
    drawn += (items[place] for place in _new(free, Counter(row.stratum for row in mine.values()), sample))
    chosen = {item.id for item in drawn}
    entries = [*flagged, *(QueueEntry(item, "suspect") for item in doubted if item.id not in chosen)]
    real = len(entries) + len(drawn)
    wanted = math.ceil(real / attention_every) + min(newcomer_checks, real // 2) if attention_every else 0
    odd = [entry.item for entry in flagged if entry.item.id in agreed]
    checks = _checks(items, passed, odd, wanted, seed) if wanted else []
    return [*entries, *(QueueEntry(item, "sample", draw=draw) for item in drawn), *checks]


class _Line:
    """Places of items that wait for a draw, and their turns."""

    def __init__(self) -> None:
        self._places, self._turns = array("Q"), array("d")

    def add(self, place: int, turn: float) -> None:
        """One more item."""
        self._places.append(place)
        self._turns.append(turn)

    def __len__(self) -> int:
        return len(self._places)

    def first(self, count: int) -> list[int]:
        """Places of the first so many."""
        return [self._places[n] for n in np.argsort(self._turns, kind="stable")[: max(0, count)]]


def _checks(
    items: Sequence[Item], passed: _Line, odd: Iterable[Item], wanted: int, seed: int
) -> list[QueueEntry]:
    """Attention checks: planted defects, one in four of them plain garbage, and sound items that look odd."""
    in_line = sorted(odd, key=lambda item: rng(seed, item.id, "attention").random())
    sound = [
        QueueEntry(relabelled(item, "attention sound"), "attention", item.id, known=SOUND)
        for item in in_line[: wanted // 2]
    ]
    answers = answers_alike(items)
    planted = []
    for item in (items[place] for place in passed.first(wanted - len(sound))):
        draw = rng(seed, item.id, "defect")
        kinds = plantable(item) if draw.random() < SUBTLE else ()
        made = plant(item, draw.choice(kinds), draw, answers[item.task, item.language]) if kinds else None
        made = made or plant(item, GROSS, draw)
        assert made is not None, "every item can be garbled"
        planted.append(QueueEntry(made.item, "attention", item.id, known=made.defect))
    return [*planted, *sound]


def unflagged(
    items: Iterable[Item], verdicts: Iterable[Verdict], corrected: Collection[str] = ()
) -> Iterator[Item]:
    """Items that neither rules, auditors nor people's corrections touched: what the miss rate speaks of."""
    passed = {verdict.item for verdict in verdicts if verdict.status == "pass"}.difference(corrected)
    return (item for item in items if item.id in passed)


def wanted_changed(reviews: Iterable[Review]) -> set[str]:
    """Ids of items that somebody wanted to correct: a corrected item is not one that nobody touched."""
    return {review.item for review in reviews if review.decision == "fix"}


def _new(free: Mapping[str, _Line], held: Mapping[str, int], sample: int) -> Iterator[int]:
    """Places of the items that strata lack of their shares.

    `free` are those in no sample, by stratum; `held` counts those that this draw holds already.
    """
    names = sorted({*free, *held})
    shares = allocate({name: len(free.get(name, ())) + held.get(name, 0) for name in names}, sample)
    for name in names:
        if name in free:
            yield from free[name].first(shares[name] - held.get(name, 0))


def allocate(sizes: Mapping[str, int], total: int) -> dict[str, int]:
    """Shares of a sample by stratum: one each where the total allows it, the rest in proportion to size."""
    shares = dict.fromkeys(sorted(sizes), 0)
    total = min(total, sum(sizes.values()))
    for name in sorted(sizes, key=lambda name: (-sizes[name], name))[:total]:
        shares[name] = min(1, sizes[name])
    everything = sum(sizes.values())
    for _ in range(total - sum(shares.values())):
        open_strata = [name for name in shares if shares[name] < sizes[name]]
        behind = max(open_strata, key=lambda name: (total * sizes[name] / everything - shares[name], name))
        shares[behind] += 1
    return shares


def stratum(item: Item) -> str:
    """Stratum of the sample: language and task."""
    return f"{item.language}/{item.task}"
