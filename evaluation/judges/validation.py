"""What people's scores say of the judges, and the systems' means corrected by them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from math import log
from typing import Final, NamedTuple

import numpy as np

from mihakk.evaluation.judges.asking import Judged
from mihakk.evaluation.judges.people import Drawn, PeopleScores
from mihakk.evaluation.judges.rubrics import rubric_digest
from mihakk.evaluation.judges.scores import Vouched
from mihakk.evaluation.statistics.agreement import (
    WEAKEST,
    Sampled,
    WithInterval,
    correlations,
    kappas,
    system_correlations,
)
from mihakk.evaluation.statistics.bootstrap import RESAMPLES, ranks
from mihakk.evaluation.statistics.bootstrap import weights as drawn_weights
from mihakk.evaluation.statistics.cluster import clustered, codes_of
from mihakk.evaluation.statistics.prediction_powered import Labelled, corrected_mean, drawn_means
from mihakk.evaluation.statistics.regression import regression
from mihakk.machinery.agreement import pearson_between
from mihakk.schemas.evaluation import Answer
from mihakk.schemas.record import Record
from mihakk.schemas.rubric import Rubric

GATE: Final = 0.6
"""Least lower end of quadratic kappa at which a judge's scores stand without a warning."""
LEAST_ANSWERS: Final = 50
"""Answers scored by people below which nobody is vouched for, whatever kappa's interval says."""
EVERYBODY: Final = "all"
MEAN: Final = "both judges"


class AgreementWithPeople(Record):
    """Agreement of one judge, or of both judges' mean, with people."""

    rubric: str
    group: str
    """`all`, `task ...`, `language ...`, or `family ...` of the judged systems."""
    judge: str
    answers: int
    """Scored by people."""
    people: int
    between_people: float | None
    """Pearson between people themselves: no judge can be asked for more."""
    exact: float
    """Share of answers with the same score, to the nearest whole number."""
    over: float
    """Share of answers that the judge scores higher."""
    under: float
    bias: float
    """Judge less people, mean."""
    bias_low: float | None
    bias_high: float | None
    kappa: float | None
    """Quadratic weights."""
    kappa_low: float | None
    kappa_high: float | None
    linear_kappa: float | None
    pearson: float | None
    pearson_low: float | None
    pearson_high: float | None
    systems: int
    system_pearson: float | None
    """Of the systems' means."""
    system_low: float | None
    system_high: float | None
    without_weakest: float | None
    """The same without the three weakest systems; None where fewer than three are left."""
    without_low: float | None
    without_high: float | None
    length_slope: float | None
    """Points that (judge - people) gains where a reply is twice as long."""
    length_low: float | None
    length_high: float | None
    unanswered: int = 0
    """Drawn answers that lack scores of people; the intervals hold whatever those are."""
    kappa_after: float | None = None
    """Quadratic kappa with the scores that people gave last, after discussion; all else is of their first."""


class CorrectedMean(Record):
    """One system's mean, the judges' corrected by people's scores."""

    rubric: str
    model: str
    judges: float | None
    """Mean of the judges alone."""
    corrected: float | None
    """None where people scored none of its answers."""
    se: float | None
    low: float | None
    high: float | None
    answers: int
    scored: int
    """By people."""
    without: int
    """Answers that neither a judge nor people could score; in no mean."""
    rank_low: int | None = None
    rank_high: int | None = None


class Scored(NamedTuple):
    """An answer with all that was said of it."""

    case: Judged
    family: str
    judges: Mapping[str, float]
    people: PeopleScores
    weight: float
    drawn: float = 0.0
    """Weight it would have if people had scored all that was drawn."""
    lacks: int = 0
    """Scores it lacks: fewer people scored it than scored others, or nobody did."""

    def with_people(self, score: float) -> Scored:
        """As it would be if people gave one score wherever they gave none."""
        filled = {f"missing {n}": score for n in range(self.lacks)}
        return self._replace(people=PeopleScores({**self.people.by, **filled}, {}), weight=self.drawn)


def weights_of(
    drawn: Mapping[tuple[str, str], Drawn], scored: Iterable[str], rubric: str
) -> dict[str, float]:
    """How many answers of its stratum each scored answer stands for; 1 for those that were not drawn."""
    found = list(scored)
    known = {name: drawn[rubric, name] for name in found if (rubric, name) in drawn}
    counts = Counter(row.stratum for row in known.values())
    return {name: known[name].size / counts[known[name].stratum] if name in known else 1.0 for name in found}


def agreement_rows(
    rubric: Rubric, scored: Sequence[Scored], judges: Sequence[str], seed: int
) -> list[AgreementWithPeople]:
    """Each judge and both together, over everything and by task, language and judged family.

    Which of the drawn answers people left may depend on the score they would give. So all intervals hold
    though those had the least score, the greatest, the judge's own, or the farthest from it.
    """
    whole = [one for one in scored if len(one.judges) == len(judges)]
    groups = {EVERYBODY: whole}
    for one in whole:
        answer = one.case.answer
        for group in (f"task {answer.task}", f"language {answer.language}", f"family {one.family}"):
            groups.setdefault(group, []).append(one)
    rows = []
    for group, own in sorted(groups.items()):
        told = [one for one in own if one.people.by]
        if len(told) < 3 or (group != EVERYBODY and len(own) == len(whole)):
            continue
        for judge in (MEAN, *judges) if group == EVERYBODY else (MEAN,):
            row = _agreement(rubric, group, judge, told, seed)
            if lacking := sum(one.lacks > 0 for one in own):
                worst = [_agreement(rubric, group, judge, one, seed) for one in _filled(rubric, judge, own)]
                row = _widened(row, worst).model_copy(update={"unanswered": lacking})
            rows.append(row)
    return rows


def _filled(rubric: Rubric, judge: str, own: Sequence[Scored]) -> Iterator[list[Scored]]:
    low, high = float(rubric.low), float(rubric.high)
    said = [_judged(one, judge) for one in own]
    farthest = [low if high - one < one - low else high for one in said]
    for scores in ([low] * len(own), [high] * len(own), said, farthest):
        yield [one.with_people(score) for one, score in zip(own, scores, strict=True)]


def _widened(row: AgreementWithPeople, worst: Sequence[AgreementWithPeople]) -> AgreementWithPeople:
    """A row whose intervals hold those of others; none where one of them has none."""
    ends: dict[str, float | None] = {}
    for name in AgreementWithPeople.model_fields:
        of = {"_low": min, "_high": max}.get(name[name.rfind("_") :] if "_" in name else "")
        if of is not None:
            values = [getattr(one, name) for one in (row, *worst)]
            ends[name] = None if None in values else of(values)
    return row.model_copy(update=ends)


def _judged(one: Scored, judge: str) -> float:
    given = list(one.judges.values()) if judge == MEAN else [one.judges[judge]]
    return sum(given) / len(given)


def vouching(rubric: Rubric, rows: Iterable[AgreementWithPeople], judges: tuple[str, ...]) -> Vouched:
    """Whether people vouch for the judges: the lower end of kappa, over everything, of both together."""
    found = next((row for row in rows if (row.group, row.judge) == (EVERYBODY, MEAN)), None)
    low = found.kappa_low if found else None
    answers = found.answers if found else 0
    return Vouched(
        rubric=rubric.name,
        digest=rubric_digest(rubric),
        judges=judges,
        kappa=found.kappa if found else None,
        low=low,
        answers=answers,
        vouched=low is not None and low >= GATE and answers >= LEAST_ANSWERS,
    )


def _agreement(
    rubric: Rubric, group: str, judge: str, own: Sequence[Scored], seed: int
) -> AgreementWithPeople:
    x = np.array([_judged(one, judge) for one in own])
    y = np.array([one.people.mean for one in own])
    weights = np.array([one.weight for one in own])
    clusters = codes_of([f"{one.case.answer.release} {one.case.answer.group}" for one in own])
    both = Sampled(x, y, weights, clusters)
    name = f"{rubric.name} {group} {judge}"
    systems = codes_of([one.case.answer.model for one in own])
    count = int(systems.max()) + 1
    kappa = both.statistic(kappas, seed=seed, name=f"{name} kappa")
    linear = both.statistic(partial(kappas, weighting="linear"), seed=seed, name=f"{name} linear")
    pearson = both.statistic(correlations, seed=seed, name=f"{name} pearson")
    of_systems = rest = WithInterval(None)
    if count >= 3:
        of_systems = both.statistic(system_correlations(systems), seed=seed, name=f"{name} systems")
    if count - WEAKEST >= 3:
        rest = both.statistic(system_correlations(systems, WEAKEST), seed=seed, name=f"{name} rest")
    share = weights / weights.sum()
    rounded = np.floor(x + 0.5) - np.floor(y + 0.5)
    bias = clustered((x - y) * weights / weights.mean(), clusters)
    length = np.array([[1.0, log(len(one.case.reply), 2)] for one in own])
    _, steep = regression(length, x - y, clusters) or (None, None)
    return AgreementWithPeople(
        rubric=rubric.name,
        group=group,
        judge=judge,
        answers=len(own),
        people=len({person for one in own for person in one.people.by}),
        between_people=pearson_between(_by_person(own)),
        exact=float(share @ (rounded == 0)),
        over=float(share @ (rounded > 0)),
        under=float(share @ (rounded < 0)),
        bias=bias.mean,
        bias_low=bias.low,
        bias_high=bias.high,
        kappa=kappa.value,
        kappa_low=kappa.low,
        kappa_high=kappa.high,
        linear_kappa=linear.value,
        pearson=pearson.value,
        pearson_low=pearson.low,
        pearson_high=pearson.high,
        systems=count,
        system_pearson=of_systems.value,
        system_low=of_systems.low,
        system_high=of_systems.high,
        without_weakest=rest.value,
        without_low=rest.low,
        without_high=rest.high,
        length_slope=steep.value if steep else None,
        length_low=steep.low if steep else None,
        length_high=steep.high if steep else None,
        kappa_after=_kappa_after(judge, own),
    )


def _by_person(own: Iterable[Scored]) -> dict[str, dict[str, float]]:
    found: dict[str, dict[str, float]] = {}
    for number, one in enumerate(own):
        for person, score in one.people.by.items():
            found.setdefault(person, {})[f"{number:09d}"] = score
    return found


def _kappa_after(judge: str, own: Sequence[Scored]) -> float | None:
    """Quadratic kappa with the scores that people gave last; None where there are none or it is undefined."""
    told = [one for one in own if one.people.after]
    if not told:
        return None
    x = np.array([_judged(one, judge) for one in told])
    y = np.array([float(np.mean(list(one.people.after.values()))) for one in told])
    (value,) = kappas(x, y, np.array([[one.weight for one in told]]))
    return None if np.isnan(value) else float(value)


class Marks(NamedTuple):
    """All marks of one system by one rubric."""

    model: str
    answers: Sequence[Answer]
    judge: Sequence[float | None]
    """Mean of the judges; None where one gave no usable reply."""
    there: Sequence[bool]
    """Whether there is an answer to judge; one that is not there has the least score by rule."""
    people: Sequence[float | None]
    weights: Sequence[float]
    filled: tuple[Marks, ...] = ()
    """The same with the least, and with the greatest score wherever people left a drawn answer."""


def corrected_means(rubric: Rubric, systems: Sequence[Marks], seed: int) -> list[CorrectedMean]:
    """Prediction-powered means of all systems, with rank intervals among those that have one.

    Where people left answers that were drawn, intervals hold whatever the scores, and nobody has a rank.
    """
    names = sorted({_cluster(answer) for one in systems for answer in one.answers})
    place = {name: number for number, name in enumerate(names)}
    rows: list[CorrectedMean] = []
    able: list[tuple[int, Labelled]] = []
    for one in systems:
        kept, found = _labelled(one, place)
        scored = sum(score is not None for score in one.people)
        row = CorrectedMean(
            rubric=rubric.name,
            model=one.model,
            judges=_mean(one.judge),
            corrected=None,
            se=None,
            low=None,
            high=None,
            answers=len(one.answers),
            scored=scored,
            without=len(one.answers) - len(kept),
        )
        if scored and len(kept):
            bounds = float(rubric.low), float(rubric.high)
            mean = corrected_mean(found, bounds)
            worst = [mean, *(corrected_mean(_labelled(some, place)[1], bounds) for some in one.filled)]
            lows, highs = [some.low for some in worst], [some.high for some in worst]
            row = row.model_copy(
                update={
                    "corrected": mean.mean,
                    "se": mean.se,
                    "low": None if None in lows else min(low for low in lows if low is not None),
                    "high": None if None in highs else max(high for high in highs if high is not None),
                }
            )
            able.append((len(rows), found))
        rows.append(row)
    if len(able) < 2 or any(one.filled for one in systems):
        return rows
    blocks = drawn_weights(len(names), seed=seed, name=f"{rubric.name} corrected", resamples=RESAMPLES)
    drawn = np.concatenate(
        [np.stack([drawn_means(found, block) for _, found in able], axis=1) for block in blocks]
    )
    degrees = max(1.0, min(corrected_mean(found).effective for _, found in able) - 1)
    places = ranks([rows[at].corrected or 0.0 for at, _ in able], drawn, degrees)
    for (at, _), rank in zip(able, places, strict=True):
        rows[at] = rows[at].model_copy(update={"rank_low": rank.low, "rank_high": rank.high})
    return rows


def _labelled(one: Marks, place: Mapping[str, int]) -> tuple[list[int], Labelled]:
    """The answers that have any mark; where only people have one, theirs stands in for the judge's."""
    kept = [
        at
        for at, (judge, people) in enumerate(zip(one.judge, one.people, strict=True))
        if judge is not None or people is not None
    ]
    judge = [one.judge[at] if one.judge[at] is not None else one.people[at] for at in kept]
    only_people = [one.judge[at] is None for at in kept]
    people = [
        np.nan if one.people[at] is None or only else one.people[at]
        for at, only in zip(kept, only_people, strict=True)
    ]
    known = [not one.there[at] or only for at, only in zip(kept, only_people, strict=True)]
    return kept, Labelled(
        judge=np.array(judge, dtype=np.float64),
        people=np.array(people, dtype=np.float64),
        weights=np.array([one.weights[at] for at in kept], dtype=np.float64),
        known=np.array(known, dtype=bool),
        clusters=np.array([place[_cluster(one.answers[at])] for at in kept], dtype=np.int64),
    )


def _cluster(answer: Answer) -> str:
    return f"{answer.release} {answer.group}"


def _mean(values: Iterable[float | None]) -> float | None:
    there = [value for value in values if value is not None]
    return sum(there) / len(there) if there else None
