"""Agreement of raters: Krippendorff's alpha, raw, AC1, Pearson; intervals hold whatever is missing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import combinations
from math import atanh, tanh
from statistics import StatisticsError, correlation
from typing import Any, Literal, NamedTuple

import numpy as np

from mihakk.machinery.seeds import rng
from mihakk.machinery.stats import Interval, clopper_pearson, fisher_mean, t_quantile

Level = Literal["nominal", "ordinal", "interval"]
RESAMPLES = 1000
COEFFICIENTS = ("alpha", "observed", "ac1")


def krippendorff_alpha(units: Sequence[Sequence[str]], level: Level) -> float | None:
    """Krippendorff's alpha over units of two values or more, numbers unless nominal; None if undefined."""
    counts, domain = _counts(units, level)
    (alpha,) = _alphas(counts, domain, level, np.ones((1, len(units)))) if units else (np.nan,)
    return None if np.isnan(alpha) else float(alpha)


class ChanceCorrected(NamedTuple):
    """Agreement of raters, raw and beyond chance."""

    observed: float
    """Share of the pairs of values of one unit that are the same, averaged over units."""
    ac1: float
    """Gwet's AC1, which holds where nearly all values are one, as kappa and alpha do not."""


def gwet_ac1(
    units: Sequence[Sequence[str]], categories: int, times: Sequence[int] | None = None
) -> ChanceCorrected | None:
    """Raw agreement and AC1 of any number of raters; None where no unit has two values (K. L. Gwet, 2008).

    Args:
        units: Values per unit, of raters who may differ from unit to unit. Units with one value tell how
            common the values are.
        categories: Values there are to choose from, used or not; at least two.
        times: How often each unit stands there; once by default.
    """
    weights = [times[place] if times else 1 for place, values in enumerate(units) if values]
    counts, _ = _counts([values for values in units if values], "nominal")
    if not (counts.sum(axis=1) > 1).any():
        return None
    observed, ac1 = _beyond_chance(counts, np.array([weights], dtype=float), categories)
    return ChanceCorrected(float(observed[0]), float(ac1[0]))


def pearson_between(scores: Mapping[str, Mapping[str, float]]) -> float | None:
    """Pearson's correlation between people; of more than two the mean over their pairs by Fisher's z.

    A pair counts that has judged three units at least and has not given all of them one number.

    Args:
        scores: Person to what they gave each unit.
    """
    found = []
    for first, second in combinations(sorted(scores), 2):
        both = sorted(scores[first].keys() & scores[second].keys())
        if len(both) < 3:
            continue
        try:
            r = correlation([scores[first][unit] for unit in both], [scores[second][unit] for unit in both])
        except StatisticsError:  # one of them always gave the same number
            continue
        found.append(max(-1.0, min(1.0, r)))
    try:
        return fisher_mean(found)
    except ValueError:
        return None


class Ends(NamedTuple):
    """Ends of the 95 % intervals of the coefficients; None where one is not defined."""

    alpha: Interval | None
    observed: Interval | None
    ac1: Interval | None
    least_alpha: float | None = None
    """Alpha itself at the least that missing answers allow."""


def bootstrap(
    units: Sequence[Sequence[str]],
    level: Level,
    *,
    seed: int,
    name: str,
    resamples: int = RESAMPLES,
    categories: int = 2,
) -> Ends:
    """95 % intervals over units drawn again with replacement; raw agreement's is Clopper and Pearson's.

    Resamples on which a coefficient is not defined are left out; if that is most of them, it has no interval.
    """
    counts, domain = _counts(units, level)
    if counts.shape[0] < 2:
        return Ends(None, None, None)
    draws = np.random.default_rng(rng(seed, name, "bootstrap").getrandbits(63))
    size = counts.shape[0]
    # The last row is the units as they are.
    weights = np.vstack([draws.multinomial(size, np.full(size, 1 / size), size=resamples), np.ones(size)])
    twice = counts.sum(axis=1) > 1
    alphas = _alphas(counts[twice], domain, level, weights[:, twice])
    observed, ac1 = _beyond_chance(counts, weights, categories)
    judged = int(twice.sum())
    raw = clopper_pearson(float(observed[-1]) * judged, judged) if judged else None
    return Ends(_fisher(alphas, size), raw, _fisher(ac1, size))


def _beyond_chance(counts: Any, weights: Any, categories: int) -> tuple[Any, Any]:
    """Raw agreement and AC1 of many resamples at once (weights: resamples x units)."""
    given = counts.sum(axis=1)
    same = (counts * (counts - 1)).sum(axis=1) / np.maximum(given * (given - 1), 1)
    shares = weights @ (counts / given[:, None]) / weights.sum(axis=1)[:, None]
    chance = (shares * (1 - shares)).sum(axis=1) / (categories - 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        observed = (weights * (given > 1)) @ same / (weights @ (given > 1))
        return observed, (observed - chance) / (1 - chance)


def _fisher(values: Any, size: int) -> Interval | None:
    """Student's interval on Fisher's z from the spread of the resamples; the last value is the coefficient.

    None where nobody disagrees, for nothing tells then how far the coefficient would vary.
    """
    value, drawn = float(values[-1]), values[:-1][~np.isnan(values[:-1])]
    if np.isnan(value) or abs(value) >= 1 or 2 * drawn.size <= values.size - 1:
        return None
    reach = t_quantile(size - 1) * float(drawn.std()) / (1 - value**2)
    return Interval(tanh(atanh(value) - reach), tanh(atanh(value) + reach))


def worst_ends(
    units: Sequence[Sequence[str]],
    missing: Sequence[Sequence[str]],
    values: Sequence[str],
    level: Level,
    *,
    seed: int,
    name: str,
    resamples: int = RESAMPLES,
    categories: int = 2,
) -> Ends:
    """Intervals that hold whatever the missing answers would have been.

    Which answers are missing may depend on what they would be. So the missing ones are filled in to the
    least and the most agreement: pairs that differ, or agree, on the commonest values or on the rarest
    (at the ends of a scale), which moves agreement and what chance gives of it either way.

    Args:
        units: Values of units with two or more.
        missing: Values, none or one, of units that lack some.
        values: All that can be given, in order if they have one.
    """
    told = Counter(value for unit in (*units, *missing) for value in unit)
    by_count = sorted(values, key=lambda value: -told[value])
    common = (by_count[0], by_count[1])
    rare = (by_count[-1], by_count[-2])
    if level != "nominal":
        common = rare = (values[0], values[-1])
    counted = dict.fromkeys(values, 0) | told
    agreed = []
    for unit in missing:
        value = unit[0] if unit else min((*common, *rare), key=lambda one: counted[one])
        counted[value] += 2 - len(unit)
        agreed.append([value, value])
    filled = [
        agreed,
        [[*(unit or common[:1])] * 2 for unit in missing],
        *([_apart(unit, two, level) for unit in missing] for two in (common, rare)),
    ]
    ends = [
        bootstrap([*units, *some], level, seed=seed, name=name, resamples=resamples, categories=categories)
        for some in (filled if missing else [[]])
    ]
    alphas = [krippendorff_alpha([*units, *some], level) for some in filled] if missing else []
    least = min((one for one in alphas if one is not None), default=None)
    alpha, observed, ac1 = (_hull([getattr(one, name) for one in ends]) for name in COEFFICIENTS)
    return Ends(alpha, observed, ac1, least)


def _apart(unit: Sequence[str], two: tuple[str, str], level: Level) -> list[str]:
    """A unit's value, if it has one, and the one of two that is the farthest from it."""
    one = unit[0] if unit else two[0]
    if level == "nominal":
        return [one, two[1] if one == two[0] else two[0]]
    return [one, max(two, key=lambda end: abs(float(end) - float(one)))]


def _hull(ends: Sequence[Interval | None]) -> Interval | None:
    """What holds all ends; where missing answers may leave nobody who disagrees, up to full agreement."""
    there = [one for one in ends if one is not None]
    if not there:
        return None
    return Interval(min(one.low for one in there), max(one.high if one else 1.0 for one in ends))


def _counts(units: Sequence[Sequence[str]], level: Level) -> tuple[Any, list[Any]]:
    """How often each value was given to each unit, and the values in order."""
    texts = {value for values in units for value in values}
    domain: list[Any] = sorted(texts) if level == "nominal" else sorted({float(text) for text in texts})
    place = {value: index for index, value in enumerate(domain)}
    counts = np.zeros((len(units), len(domain)), dtype=int)
    for row, values in enumerate(units):
        for value in values:
            counts[row, place[value if level == "nominal" else float(value)]] += 1
    return counts, domain


def _alphas(counts: Any, domain: Sequence[Any], level: Level, weights: Any) -> Any:
    """Alpha of many resamples at once; NaN where all values are the same.

    A unit's share of the coincidence matrix doesn't depend on the other units, so a resample's matrix is a
    weighted sum of them (Krippendorff 2011, "Computing Krippendorff's alpha-reliability").

    Args:
        weights: Resamples x units: how often each unit was drawn.
    """
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
