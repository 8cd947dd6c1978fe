"""How far people agree with each other."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import StatisticsError, correlation
from typing import Any, get_args

from annotation.screens.ratings import LEVELS, Label, Level
from annotation.screens.tasks import TEMPLATE
from mihakk.groups import grouped
from mihakk.seeds import rng
from mihakk.stats import fisher_mean, gwet_ac1
from schemas.audit import CRITERIA
from schemas.record import Record
from schemas.review import Decision, Review

RESAMPLES = 1000


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
    """2.5th percentile over items drawn again with replacement."""
    high: float | None
    """97.5th percentile."""
    observed: float | None = None
    """Raw agreement: share of pairs of values that are the same; None where nothing was judged twice."""
    ac1: float | None = None
    """Gwet's AC1, of values without an order; high where nearly all values are one and people agree on it."""
    pearson: float | None = None
    """Pearson's correlation of two people's numbers over the items both judged (BALSAM, table 3); of more
    people the mean over their pairs by Fisher's z. None where values have no order or it is not defined."""
    items: int
    """Items with at least two values."""
    values: int
    people: int


@dataclass(frozen=True)
class Judgement:
    """One value one person gave one unit."""

    unit: str
    person: str
    value: str
    language: str = ""
    task: str = ""
    """Of the item it speaks of; empty where nobody said."""


def krippendorff_alpha(units: Sequence[Sequence[str]], level: Level) -> float | None:
    """Krippendorff's alpha over units of two values or more, numbers unless nominal; None if undefined."""
    counts, domain = _counts(units, level)
    return _alpha(counts, domain, level)


def bootstrap(
    units: Sequence[Sequence[str]], level: Level, *, seed: int, name: str, resamples: int = RESAMPLES
) -> tuple[float | None, float | None]:
    """Percentile interval (2.5, 97.5) of alpha over units drawn again with replacement.

    Resamples on which alpha is not defined are left out; the interval is None if that is most of them.
    """
    import numpy as np

    counts, domain = _counts(units, level)
    if counts.shape[0] < 2:
        return None, None
    draws = np.random.default_rng(rng(seed, name, "bootstrap").getrandbits(63))
    size = counts.shape[0]
    weights = draws.multinomial(size, np.full(size, 1 / size), size=resamples)
    alphas = _alphas(counts, domain, level, weights)
    alphas = alphas[~np.isnan(alphas)]
    if 2 * alphas.size <= resamples:
        return None, None
    low, high = np.percentile(alphas, [2.5, 97.5])
    return float(low), float(high)


def agreement(
    project: str,
    label: str,
    judgements: Iterable[Judgement],
    *,
    seed: int = 0,
    resamples: int = RESAMPLES,
) -> list[PeopleAgreement]:
    """Agreement on one label: over all, by language, by task where there are several, by pair of people."""
    judged = sorted(set(judgements), key=lambda one: (one.unit, one.person, one.value))
    level = LEVELS[project].get(label, "nominal")
    groups = {"all": judged}
    languages = grouped(judged, lambda one: one.language)
    groups |= {f"language:{name}": languages[name] for name in sorted(languages) if name}
    tasks = grouped((one for one in judged if one.task), lambda one: one.task)
    groups |= {f"task:{name}": tasks[name] for name in sorted(tasks) if len(tasks) > 1}
    people = sorted({one.person for one in judged})
    for pair in combinations(people, 2) if len(people) > 2 else []:
        groups[f"pair:{'+'.join(pair)}"] = [one for one in judged if one.person in pair]
    rows = []
    for group, chosen in groups.items():
        units = [[one.value for one in unit] for unit in grouped(chosen, lambda one: one.unit).values()]
        twice = [values for values in units if len(values) > 1]
        raw = gwet_ac1(units, _categories(project, label, units))
        if group.startswith("pair:") and not twice:
            continue
        low, high = bootstrap(twice, level, seed=seed, name=f"{project}/{label}/{group}", resamples=resamples)
        rows.append(
            PeopleAgreement(
                project=project,
                label=label,
                group=group,
                level=level,
                alpha=krippendorff_alpha(twice, level),
                low=low,
                high=high,
                observed=raw.observed if raw else None,
                ac1=raw.ac1 if raw and level == "nominal" else None,
                pearson=None if level == "nominal" else pearson(chosen),
                items=len(twice),
                values=sum(map(len, twice)),
                people=len({one.person for one in chosen}),
            )
        )
    return rows


def pearson(judged: Iterable[Judgement]) -> float | None:
    """Pearson's correlation between people's numbers; of more than two the mean over pairs (Fisher's z).

    A pair counts that has judged three units at least and has not given all of them one number.
    """
    values: dict[str, dict[str, float]] = defaultdict(dict)
    for one in judged:
        values[one.person][one.unit] = float(one.value)
    found = []
    for first, second in combinations(sorted(values), 2):
        both = sorted(values[first].keys() & values[second].keys())
        if len(both) < 3:
            continue
        try:
            r = correlation([values[first][unit] for unit in both], [values[second][unit] for unit in both])
        except StatisticsError:  # one of them always gave the same number
            continue
        found.append(max(-1.0, min(1.0, r)))
    try:
        return fisher_mean(found)
    except ValueError:
        return None


def review_judgements(
    reviews: Iterable[Review], languages: Mapping[str, str], overlap: int = 2
) -> dict[str, list[Judgement]]:
    """Judgements per label of the quality review: the decision, and each criterion a person judged.

    Only votes that nothing called for count: the first of each person on a content, and of those as many as
    every item is given. Further people are asked where the first disagree, so their votes would tell how far
    people agree on the hard items alone.
    """
    by_content = grouped(reviews, lambda review: (review.item, review.content_hash))
    judged: dict[str, list[Judgement]] = defaultdict(list)
    for (item, content), votes in by_content.items():
        unit, language = f"{item}@{content}", languages.get(item, "")
        for vote in independent(votes, overlap):
            judged["decision"].append(Judgement(unit, vote.annotator, vote.decision, language))
            for criterion, met in vote.judged.items():
                value = "met" if met else "unmet"
                judged[criterion].append(Judgement(unit, vote.annotator, value, language))
    return {label: judged[label] for label in ("decision", *CRITERIA) if label in judged}


def independent(votes: Iterable[Review], overlap: int) -> list[Review]:
    """Of the votes on one content, in the order of the store, the first of each of the first people asked."""
    first: dict[str, Review] = {}
    for vote in votes:
        first.setdefault(vote.annotator, vote)
    return list(first.values())[: max(2, overlap)]


def label_judgements(
    labels: Iterable[Label], languages: Mapping[str, str], tasks: Mapping[str, str] | None = None
) -> dict[tuple[str, str], list[Judgement]]:
    """Judgements per template and label; the last of a person on the same content counts."""
    latest: dict[tuple[str, str, str, str, str], Label] = {}
    for label in labels:
        if label.name in LEVELS.get(label.template, {}):
            latest[label.template, label.name, label.subject, label.content_hash, label.annotator] = label
    judged: dict[tuple[str, str], list[Judgement]] = defaultdict(list)
    for (template, name, subject, content, person), label in latest.items():
        item = subject.partition("@")[0].partition("#")[0]
        language = languages.get(item, "")
        task = (tasks or {}).get(item, "")
        judged[template, name].append(Judgement(f"{subject}@{content}", person, label.value, language, task))
    return dict(judged)


def _categories(project: str, label: str, units: Iterable[Sequence[str]]) -> int:
    """Values a label can take, at least two; where its vocabulary is open, those it took."""
    if project == TEMPLATE:
        return len(get_args(Decision)) if label == "decision" else 2
    return max(2, len({value for values in units for value in values}))


def _counts(units: Sequence[Sequence[str]], level: Level) -> tuple[Any, list[Hashable]]:
    """How often each value was given to each unit, and the values in order."""
    import numpy as np

    texts = {value for values in units for value in values}
    domain: list[Any] = sorted(texts) if level == "nominal" else sorted({float(text) for text in texts})
    place = {value: index for index, value in enumerate(domain)}
    counts = np.zeros((len(units), len(domain)), dtype=int)
    for row, values in enumerate(units):
        for value in values:
            counts[row, place[value if level == "nominal" else float(value)]] += 1
    return counts, domain


def _alpha(counts: Any, domain: Sequence[Hashable], level: Level) -> float | None:
    import krippendorff

    used = counts.sum(axis=0) > 0
    if counts.shape[0] == 0 or used.sum() < 2:
        return None
    values = [value for value, is_used in zip(domain, used, strict=True) if is_used]
    return float(
        krippendorff.alpha(value_counts=counts[:, used], value_domain=values, level_of_measurement=level)
    )


def _alphas(counts: Any, domain: Sequence[Any], level: Level, weights: Any) -> Any:
    """Alpha of many resamples at once; NaN where all values are the same.

    A unit's share of the coincidence matrix doesn't depend on the other units, so a resample's matrix is a
    weighted sum of them (Krippendorff 2011, "Computing Krippendorff's alpha-reliability").

    Args:
        weights: Resamples x units: how often each unit was drawn.
    """
    import numpy as np

    size = len(domain)
    pairs = counts[:, :, None] * counts[:, None, :] - counts[:, :, None] * np.eye(size, dtype=int)
    shares = pairs / (counts.sum(axis=1) - 1)[:, None, None]
    observed = (weights @ shares.reshape(len(counts), -1)).reshape(-1, size, size)
    totals = observed.sum(axis=2)
    if level == "nominal":
        distance = np.broadcast_to(1.0 - np.eye(size), observed.shape)
    elif level == "interval":
        distance = np.broadcast_to(np.subtract.outer(domain, domain) ** 2.0, observed.shape)
    else:
        middle = np.cumsum(totals, axis=1) - totals / 2
        distance = (middle[:, :, None] - middle[:, None, :]) ** 2
    expected = (totals[:, :, None] * totals[:, None, :] * distance).sum(axis=(1, 2))
    disagreement = (observed * distance).sum(axis=(1, 2)) * (totals.sum(axis=1) - 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(expected > 0, 1 - disagreement / expected, np.nan)
