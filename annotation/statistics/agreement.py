"""How far people agree with each other."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import get_args

from mihakk.annotation.decisions.first_votes import Asked, first_answers, is_edited
from mihakk.annotation.decisions.store import J
from mihakk.annotation.screens.ratings import LEVELS, SCALES, Label
from mihakk.annotation.screens.tasks import TEMPLATE
from mihakk.machinery.agreement import (
    RESAMPLES,
    Ends,
    Level,
    gwet_ac1,
    krippendorff_alpha,
    pearson_between,
    worst_ends,
)
from mihakk.machinery.groups import grouped
from mihakk.schemas.audit import CRITERIA
from mihakk.schemas.record import Record
from mihakk.schemas.review import Decision, Review


class PeopleAgreement(Record):
    """Krippendorff's alpha of one label in one group of decisions."""

    project: str
    """Template."""
    label: str
    """`decision`, a criterion, `depth`, ..."""
    group: str
    """`all`, `language:ar`, `task:completion`, or `pair:annotator-01+annotator-02`."""
    level: Level
    alpha: float | None
    """1 perfect, 0 chance; None where everybody always said the same or nothing was judged twice."""
    low: float | None
    """Ends of the 95 % interval from items drawn again, at the least and most that missing answers allow."""
    high: float | None
    observed: float | None = None
    """Raw agreement: share of pairs of values that are the same; None where nothing was judged twice."""
    observed_low: float | None = None
    observed_high: float | None = None
    ac1: float | None = None
    """Gwet's AC1, of values without an order; high where nearly all values are one and people agree on it."""
    ac1_low: float | None = None
    ac1_high: float | None = None
    least_alpha: float | None = None
    """Alpha at the least that missing answers allow; None where none are missing."""
    alpha_after: float | None = None
    """Alpha over everybody's last answers, as discussion left them; adjudicators are in neither."""
    pearson: float | None = None
    """Pearson's correlation of two people's numbers over the items both judged (BALSAM, table 3); of more
    people the mean over their pairs by Fisher's z. None where values have no order, where it is not defined,
    and where answers are missing: no interval stands beside it."""
    items: int
    """Items with at least two first values."""
    unanswered: int = 0
    """Items that were asked about and have fewer: whatever they would have, the intervals hold it."""
    edited: int = 0
    """Answers changed before they were first pulled: their first form is lost, so they are not first ones."""
    values: int
    people: int
    judged: float | None = None
    """Of a criterion: share of the items decided by two on which two judged it. Who keeps an item judges
    every criterion; who fixes or discards one judges what they name, so items whose people name
    different defects are not among those that the figures speak of."""


@dataclass(frozen=True)
class Judgement:
    """One value one person gave one unit."""

    unit: str
    person: str
    value: str
    language: str = ""
    task: str = ""
    """Of the item it speaks of; empty where nobody said."""
    edited: bool = False
    """Changed before it was first pulled."""


def agreement(
    project: str,
    label: str,
    judgements: Iterable[Judgement],
    *,
    asked: Mapping[str, tuple[str, str]] | None = None,
    after: Iterable[Judgement] = (),
    seed: int = 0,
    resamples: int = RESAMPLES,
) -> list[PeopleAgreement]:
    """Agreement on one label: over all, by language, by task where there are several, by pair of people.

    Args:
        judgements: Everybody's first answers; those changed before the first pull are counted apart.
        asked: Every unit that two people at least were asked about, to its language and task; the intervals
            hold whatever those would have said who have not. None: nobody is taken to be missing.
        after: Everybody's last answers.
    """
    told = sorted(set(judgements), key=lambda one: (one.unit, one.person, one.value))
    judged = [one for one in told if not one.edited]
    changed, last = Counter(one.unit for one in told if one.edited), grouped(after, lambda one: one.unit)
    places = dict(asked or {}) | {one.unit: (one.language, one.task) for one in told}
    rows = []
    for group in _groups(judged):
        chosen = [one for one in judged if _is_in(group, one)]
        units = grouped(chosen, lambda one: one.unit)
        wanted = sorted(unit for unit, place in places.items() if _is_of(group, place))
        lacking = [units[unit] for unit in wanted if len(units[unit]) < 2] if asked is not None else []
        row = _row(project, label, group, chosen, lacking, seed=seed, resamples=resamples)
        if not group.startswith("pair:"):
            twice = [[one.value for one in last[unit]] for unit in wanted if len(last[unit]) > 1]
            after_all = krippendorff_alpha(twice, row.level)
            edited = sum(changed[unit] for unit in wanted)
            row = row.model_copy(update={"edited": edited, "alpha_after": after_all})
        elif not row.items:
            continue
        rows.append(row)
    return rows


def _groups(judged: Sequence[Judgement]) -> list[str]:
    languages, tasks = sorted({one.language for one in judged}), sorted({one.task for one in judged} - {""})
    people = sorted({one.person for one in judged})
    return [
        "all",
        *(f"language:{name}" for name in languages if name),
        *(f"task:{name}" for name in (tasks if len(tasks) > 1 else ())),
        *(f"pair:{'+'.join(pair)}" for pair in (combinations(people, 2) if len(people) > 2 else ())),
    ]


def _is_in(group: str, one: Judgement) -> bool:
    kind, _, name = group.partition(":")
    return one.person in name.split("+") if kind == "pair" else _is_of(group, (one.language, one.task))


def _is_of(group: str, place: tuple[str, str]) -> bool:
    """Whether units of a language and task belong to a group; nobody knows what a pair would be asked."""
    kind, _, name = group.partition(":")
    return {"language": place[0], "task": place[1], "all": name}.get(kind) == name


def _row(
    project: str,
    label: str,
    group: str,
    chosen: Sequence[Judgement],
    lacking: Sequence[Sequence[Judgement]],
    *,
    seed: int,
    resamples: int,
) -> PeopleAgreement:
    level = LEVELS[project].get(label, "nominal")
    units = [[one.value for one in unit] for unit in grouped(chosen, lambda one: one.unit).values()]
    twice = [values for values in units if len(values) > 1]
    categories = _categories(project, label, units)
    raw = gwet_ac1(units, categories)
    ends = Ends(None, None, None)
    if twice:
        ends = worst_ends(
            twice if lacking else units,
            [[one.value for one in unit] for unit in lacking],
            _values(project, label, level, units),
            level,
            seed=seed,
            name=f"{project}/{label}/{group}",
            resamples=resamples,
            categories=categories,
        )
    nominal = level == "nominal"
    return PeopleAgreement(
        project=project,
        label=label,
        group=group,
        level=level,
        alpha=krippendorff_alpha(twice, level),
        least_alpha=ends.least_alpha,
        low=ends.alpha.low if ends.alpha else None,
        high=ends.alpha.high if ends.alpha else None,
        observed=raw.observed if raw else None,
        observed_low=ends.observed.low if ends.observed else None,
        observed_high=ends.observed.high if ends.observed else None,
        ac1=raw.ac1 if raw and nominal else None,
        ac1_low=ends.ac1.low if ends.ac1 and nominal else None,
        ac1_high=ends.ac1.high if ends.ac1 and nominal else None,
        pearson=None if nominal or lacking else _pearson(chosen),
        items=len(twice),
        unanswered=len(lacking),
        values=sum(map(len, twice)),
        people=len({one.person for one in chosen}),
    )


def _pearson(judged: Iterable[Judgement]) -> float | None:
    values: dict[str, dict[str, float]] = defaultdict(dict)
    for one in judged:
        values[one.person][one.unit] = float(one.value)
    return pearson_between(values)


def review_judgements(
    reviews: Iterable[Review],
    languages: Mapping[str, str],
    overlap: int | None = 2,
    adjudicators: Collection[str] = (),
    withdrawn: Collection[Asked] = (),
) -> dict[str, list[Judgement]]:
    """Judgements per label of the quality review: the decision, and each criterion a person judged.

    Only votes that nothing called for count: the first of each person on a content, and of those as many as
    every item is given (`overlap`; None: all). Further people are asked where the first disagree, so their
    votes would tell how far people agree on the hard items alone.
    """
    judged: dict[str, list[Judgement]] = defaultdict(list)
    for vote in independent(reviews, overlap, adjudicators, withdrawn):
        told: dict[str, str] = {"decision": vote.decision}
        told |= {name: "met" if met else "unmet" for name, met in vote.judged.items()}
        unit, language = f"{vote.item}@{vote.content_hash}", languages.get(vote.item, "")
        for name, value in told.items():
            judged[name].append(Judgement(unit, vote.annotator, value, language, edited=is_edited(vote)))
    return {label: judged[label] for label in ("decision", *CRITERIA) if label in judged}


def label_judgements(
    labels: Iterable[Label],
    languages: Mapping[str, str],
    tasks: Mapping[str, str] | None = None,
    overlap: int | None = 2,
    *,
    adjudicators: Collection[str] = (),
    withdrawn: Collection[Asked] = (),
) -> dict[tuple[str, str], list[Judgement]]:
    """Judgements per template and label, of first answers as for reviews (`review_judgements`)."""
    judged: dict[tuple[str, str], list[Judgement]] = defaultdict(list)
    for label in independent(labels, overlap, adjudicators, withdrawn):
        if label.name in LEVELS.get(label.template, {}):
            item = label.subject.partition("@")[0].partition("#")[0]
            judged[label.template, label.name].append(
                Judgement(
                    f"{label.subject}@{label.content_hash}",
                    label.annotator,
                    label.value,
                    languages.get(item, ""),
                    (tasks or {}).get(item, ""),
                    is_edited(label),
                )
            )
    return dict(judged)


def independent(
    rows: Iterable[J],
    overlap: int | None,
    adjudicators: Collection[str] = (),
    withdrawn: Collection[Asked] = (),
) -> list[J]:
    """First answers of as many people as are asked about everything, two at least."""
    people = max(2, overlap) if overlap else None
    return first_answers(rows, people=people, adjudicators=adjudicators, withdrawn=withdrawn)


def _values(project: str, label: str, level: Level, units: Iterable[Sequence[str]]) -> list[str]:
    """What can be given: the ends of a scale, else the values in order; where they are open, those seen."""
    seen = {value for values in units for value in values}
    if level != "nominal":
        ends = SCALES.get(label) or (min(map(float, seen)), max(map(float, seen)))
        return [str(end) for end in ends]
    if project == TEMPLATE:
        return [*get_args(Decision)] if label == "decision" else ["met", "unmet"]
    return sorted(seen | ({"another"} if len(seen) < 2 else set()))


def _categories(project: str, label: str, units: Iterable[Sequence[str]]) -> int:
    """Values a label can take, at least two; where its vocabulary is open, those it took."""
    if project == TEMPLATE:
        return len(get_args(Decision)) if label == "decision" else 2
    return max(2, len({value for values in units for value in values}))
