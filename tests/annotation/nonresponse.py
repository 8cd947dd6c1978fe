"""Worlds whose truth is known and whose people leave answers out, each in another way; every figure is tried in them.

python -m tests.annotation.nonresponse 400
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Callable, Iterator
from random import Random
from typing import NamedTuple

from mihakk.annotation.campaigns.figures import figures
from mihakk.annotation.screens.ratings import Label
from mihakk.annotation.screens.tasks import question_hash
from mihakk.annotation.statistics.agreement import Judgement, agreement
from mihakk.annotation.statistics.auditor_accuracy import auditor_accuracy
from mihakk.annotation.statistics.auditor_errors import overturns
from mihakk.annotation.statistics.human_accuracy import human_accuracy
from mihakk.annotation.statistics.miss_rate import miss_rates
from mihakk.annotation.statistics.sampling import QueueEntry, stratum
from mihakk.machinery.ids import content_hash
from mihakk.schemas.campaign import Campaign, CampaignTemplate, Drawn
from mihakk.schemas.review import Review
from tests.annotation.judged import NOON, choice, review
from tests.annotation.test_auditor_accuracy import FIGURES, world

PEOPLE = ("a", "b")
ITEMS = [choice(n, language="ar" if n % 2 else "fa") for n in range(400)]
HASHES = {item.id: content_hash(item) for item in ITEMS}


class Unit(NamedTuple):
    """One thing that people are asked about."""

    place: int
    """In the queue, from 0 to 1."""
    language: str
    hard: bool
    """Defective, disputed, not known: what people may leave for later."""


Missing = Callable[[Unit, str, Random], bool]
"""Whether one person has not answered one unit."""
WORLDS: dict[str, Missing] = {
    "complete": lambda unit, person, draw: False,
    "at random": lambda unit, person, draw: draw.random() < 0.4,
    "front-loaded": lambda unit, person, draw: unit.place > 0.5,
    "easy first": lambda unit, person, draw: unit.hard and draw.random() < 0.8,
    "hard first": lambda unit, person, draw: not unit.hard and draw.random() < 0.6,
    "one stops": lambda unit, person, draw: person == "b" and unit.place > 0.4,
    "one language": lambda unit, person, draw: unit.language == "fa",
}
"""Persian is the harder half throughout."""
Held = tuple[str, bool | None]
"""Figure, and whether its interval holds the truth; None where it is withheld."""


def holds(low: float | None, truth: float, high: float | None) -> bool | None:
    """Whether an interval holds the truth."""
    return None if low is None or high is None else low - 1e-9 <= truth <= high + 1e-9


def units(draw: Random, count: int, hard: float) -> list[Unit]:
    """A queue in which one share of the Arabic units is hard and twice as many of the Persian ones."""
    languages = ["ar" if n % 2 else "fa" for n in range(count)]
    return [
        Unit(n / count, language, draw.random() < hard * (1 + (language == "fa")))
        for n, language in enumerate(languages)
    ]


def misses(missing: Missing, draw: Random) -> Iterator[Held]:
    """A benchmark of 4,000 unflagged items, of which 300 are drawn by language."""
    rates, size = {"ar": 0.02, "fa": 0.05}, 2000
    left = {language: sum(draw.random() < rate for _ in range(size)) for language, rate in rates.items()}
    lots = {language: draw.sample(range(size), 150) for language in rates}
    sample, votes = ITEMS[:300], []
    for n, item in enumerate(sample):
        bad = lots[item.language][n // 2] < left[item.language]
        unit = Unit(n / len(sample), item.language, bad)
        votes += [
            review(item, person, "discard" if bad else "keep", reason="other" if bad else None)
            for person in PEOPLE
            if not missing(unit, person, draw)
        ]
    queued = [QueueEntry(item, "sample").queued() for item in sample]
    sizes = {stratum(item): size for item in sample[:2]}
    row, *strata = miss_rates(queued, votes, 2, sizes=sizes)
    truth = sum(left.values()) / (2 * size)
    yield "miss rate, bound", row.upper >= truth
    yield "miss rate, interval", holds(row.low, truth, row.high)
    for one in strata:
        language = one.stratum.partition("/")[0]
        yield "miss rate of a stratum, bound", one.upper >= left[language] / size


def opinion(unit: Unit, draw: Random) -> str:
    """A person finds eight of ten hard items defective, and one of twelve others."""
    if draw.random() >= (0.8 if unit.hard else 0.08):
        return "keep"
    return "discard" if draw.random() < 0.6 else "fix"


def opinions(draw: Random, count: int) -> list[tuple[Unit, dict[str, str]]]:
    return [(unit, {person: opinion(unit, draw) for person in PEOPLE}) for unit in units(draw, count, 0.2)]


def _agreement_truth() -> dict[tuple[str, str], float]:
    found = {}
    for label, of in (("decision", str), ("answer_quality", _criterion)):
        judged = [
            Judgement(str(n), person, value)
            for n, (_, said) in enumerate(opinions(Random(0), 60_000))
            for person, given in said.items()
            if (value := of(given))
        ]
        (row,) = agreement("quality_review", label, judged, resamples=2)
        found |= {(label, name): getattr(row, name) for name in ("alpha", "observed", "ac1")}
    return found


def _criterion(decision: str) -> str:
    return "met" if decision == "keep" else "unmet"


TRUTH: dict[tuple[str, str], float] = {}


def agreements(missing: Missing, draw: Random) -> Iterator[Held]:
    """200 items before two people; of a criterion, who fixes an item says nothing in one of two cases."""
    TRUTH.update(TRUTH or _agreement_truth())
    told = opinions(draw, 200)
    asked = {str(n): (unit.language, "") for n, (unit, _) in enumerate(told)}
    judged: dict[str, list[Judgement]] = defaultdict(list)
    for n, (unit, said) in enumerate(told):
        for person in PEOPLE:
            hard = unit._replace(hard=len(set(said.values())) > 1)
            if missing(hard, person, draw):
                continue
            judged["decision"].append(Judgement(str(n), person, said[person], unit.language))
            if said[person] != "fix" or draw.random() < 0.5:
                value = _criterion(said[person])
                judged["answer_quality"].append(Judgement(str(n), person, value, unit.language))
    for label, given in judged.items():
        row, *_ = agreement(
            "quality_review", label, given, asked=asked, resamples=1000, seed=draw.randrange(99)
        )
        yield f"{label}, alpha", holds(row.low, TRUTH[label, "alpha"], row.high)
        yield f"{label}, raw", holds(row.observed_low, TRUTH[label, "observed"], row.observed_high)
        yield f"{label}, AC1", holds(row.ac1_low, TRUTH[label, "ac1"], row.ac1_high)


def own_answers(missing: Missing, draw: Random) -> Iterator[Held]:
    """120 sampled questions; who does not know the answer may leave it out."""
    items, truth, given = ITEMS[:120], 0.7, defaultdict(dict)
    for item, unit in zip(items, units(draw, 120, 0.2), strict=True):
        for person in PEOPLE:
            if not missing(unit, person, draw):
                given[item.id, question_hash(item)][person] = "1" if unit.hard else "0"
    queued = [QueueEntry(item, "sample").queued() for item in items]
    for row in human_accuracy(items, dict(given), queued, lambda _: 2):
        if not row.by_person:
            yield (
                f"own answers, {row.group.replace('meaning_choice', 'a task')}",
                holds(row.low, truth, row.high),
            )


def campaigns(missing: Missing, draw: Random) -> Iterator[Held]:
    """150 questions of two campaigns: ratings from 0 to 2, and sentences taken as they are or replaced."""
    for template, name, truth in (
        ("distractor_rating", "plausibility", 1.4),
        ("dialect_sentence", "verdict", 0.7),
    ):
        drawn, labels = [], []
        for n, unit in enumerate(units(draw, 150, 0.2)):
            drawn.append(_drawn(template, n, unit))
            easy, hard = ("2", "0") if name == "plausibility" else ("accept", "replace")
            labels += [
                Label(
                    subject=f"s{n}", content_hash="h", annotator=person, template=template, name=name,
                    value=hard if unit.hard else easy, decided_at=NOON,
                )
                for person in PEOPLE
                if not missing(unit, person, draw)
            ]  # fmt: skip
        rows = figures(drawn, labels, [Campaign(template=template)], 2)  # type: ignore[arg-type]
        row = next((one for one in rows if one.group == "all" and one.figure != "accepted"), None)
        accepted = next((one for one in rows if one.group == "all" and one.figure == "accepted"), None)
        if name == "plausibility":
            yield "campaign, mean", holds(row.low, truth, row.high) if row else None
        else:
            yield "campaign, share", holds(accepted.low, truth, accepted.high) if accepted else None


def _drawn(template: CampaignTemplate | str, n: int, unit: Unit) -> Drawn:
    return Drawn.model_validate(
        {"template": template, "key": f"s{n}", "subject": f"s{n}", "content_hash": "h", "record": "r",
         "strata": {"language": unit.language}}
    )  # fmt: skip


def overturned(missing: Missing, draw: Random) -> Iterator[Held]:
    """100 items to which an auditor objects: people find the criterion met on seven of ten."""
    scores, votes = {}, []
    for item, unit in zip(ITEMS[:100], units(draw, 100, 0.2), strict=True):
        scores[item.id, HASHES[item.id]] = {"strict": {"answer_quality": 0}}
        failed = ("answer_quality",) if unit.hard else ()
        votes += [
            review(item, person, "keep", failed=failed)
            for person in PEOPLE
            if not missing(unit, person, draw)
        ]
    for row in overturns(votes, scores):  # type: ignore[arg-type]
        yield "overturned scores", holds(row.low, 0.7, row.high)


def auditors(missing: Missing, draw: Random) -> Iterator[Held]:
    """The worlds of `test_auditor_accuracy`, with votes left out."""
    truth, given = world(draw.randrange(10**6), sample=150)
    bad = {one.item for one in given["reviews"] if one.decision != "keep"}
    order = {item: n for n, item in enumerate(sorted({one.item for one in given["reviews"]}))}

    def there(one: Review) -> bool:
        # Only Arabic: the half with a defect each third item stands for the language left out.
        unit = Unit(order[one.item] / len(order), "fa" if order[one.item] % 2 else "ar", one.item in bad)
        return not missing(unit, {"p": "a", "q": "b"}[one.annotator], draw)

    for row in auditor_accuracy(**given | {"reviews": [one for one in given["reviews"] if there(one)]}):
        for name in FIGURES:
            low, high = (getattr(row, f"{name}_{end}") for end in ("low", "high"))
            yield f"auditors, {name}", holds(low, truth[row.auditor, name], high)


TRIED = (misses, agreements, own_answers, campaigns, overturned, auditors)


def coverage(world: str, times: int) -> dict[str, list[bool | None]]:
    """By figure, whether its interval held the truth, time by time."""
    found: dict[str, list[bool | None]] = defaultdict(list)
    for seed in range(times):
        for tried in TRIED:
            draw = Random(f"{world} {tried.__name__} {seed}")
            for figure, held in tried(WORLDS[world], draw):
                found[figure].append(held)
    return found


def main() -> None:
    """Prints the coverage of every figure in every world; in brackets the share withheld."""
    times = int(sys.argv[1])
    tables = {world: coverage(world, times) for world in WORLDS}
    print("| figure |", " | ".join(WORLDS), "|")
    for figure in tables["complete"]:
        cells = []
        for table in tables.values():
            told = [held for held in table.get(figure, []) if held is not None]
            there = len(told) / max(1, len(table.get(figure, [])))
            cells.append(
                f"{sum(told) / len(told):.3f}" + (f" ({1 - there:.0%})" if there < 1 else "")
                if told
                else "withheld"
            )
        print(f"| {figure} |", " | ".join(cells), "|")


if __name__ == "__main__":
    main()
