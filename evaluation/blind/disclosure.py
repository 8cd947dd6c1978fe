"""What may be said of a figure over sealed golds: keyed noise, and a bound on the sum of all figures.

A figure is a noisy channel from the golds to whoever sent the answers. With a score whose spread over unknown
golds is at most s, and Gaussian noise of standard deviation d, one figure tells at most ln(1 + s^2/d^2) / 2
nats (T. Cover, J. Thomas, Elements of Information Theory, 2006, section 9.1); what is rounded or cut off at 0
and 1 tells no more. Golds that are independent for the attacker then can't be known better than by chance by
more than sqrt(I / 2n) on average over n questions, as each question's gain is bounded by its own share of the
I nats (Pinsker's inequality). Where some stand and fall in pairs and others alone, sqrt(2 I) s takes the
place of that (the Cauchy-Schwarz inequality over units of unequal size; the same where all are alike). That
sums over all teams, colluding or not, over slices and over seasons: what figures tell of some golds is no
more than what they tell of all. It takes scores to be near normal, so that what was learnt before does not
widen their spread. It is a mean over the half: of single questions it says nothing.

The noise is chosen, not the number of figures: so much that every place of a season can use its whole quota.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from math import hypot, log1p, sqrt
from statistics import NormalDist
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mihakk.machinery.errors import UsageError
from mihakk.schemas.blind import PartSize

Keyed = Callable[[str, str], str]
"""(purpose, text) -> hexadecimal digest that only who has the secret can make."""

LEAST_NOISE: Final = 0.5
"""Standard deviation of the noise, in standard errors, of any figure for which the gain would allow less."""
FINALS: Final = 0.2
"""Share of what a season may tell that is kept for the final figures."""
SLICE_GROUPS: Final = 50
"""Groups of the public half that a slice needs."""
Interval = tuple[float, float]
"""Low and high end."""


class ToldFigure(NamedTuple):
    """A figure as it was told, with all that its interval rests on."""

    figure: float
    se: float
    """Largest standard error of such a figure."""
    sd: float
    """Standard deviation of its noise."""


class Half(NamedTuple):
    """One half of the questions, or a slice of one, and how far figures on it can vary."""

    items: NDArray[np.int64]
    """Their places among all questions."""
    size: PartSize
    """`se` is the standard error of a mean of 0s and 1s at its largest: groups that stand and fall together,
    half right; `spread` that of a score over golds that nobody knows: units apart. They depend on no answer,
    so saying them tells nothing."""


def half_of(items: Sequence[int], groups: Sequence[str], units: Sequence[str]) -> Half:
    """The half that consists of these questions.

    Args:
        items: Places among all questions.
        groups: Name of the cluster of every question.
        units: Name of the pair, or of the item, of every question.
    """
    places = np.asarray(items, dtype=np.int64)

    def at_most(names: Sequence[str]) -> tuple[int, float]:
        _, counts = np.unique([names[place] for place in items], return_counts=True)
        return len(counts), sqrt(float((counts**2).sum())) / (2 * len(items))

    count, spread = at_most(units)
    clusters, se = at_most(groups)
    size = PartSize(questions=len(items), units=count, groups=clusters, se=max(se, spread), spread=spread)
    return Half(places, size)


def halves(
    groups: Sequence[str], units: Sequence[str], keyed: Keyed, drawn: str, told: Collection[str] = ()
) -> tuple[Half, Half]:
    """The questions whose figures are told during a season, and those kept for its end.

    Whole groups, drawn by the secret for `drawn`, which names the season: each has halves of its own. What
    is kept for the end holds no group that an earlier season told figures of, as answers may be fitted to it.

    Args:
        groups: Name of the cluster of every question.
        units: Name of the pair, or of the item, of every question.
        keyed: The secret's digests.
        drawn: What the halves are drawn for.
        told: Groups of which earlier seasons told figures.

    Raises:
        UsageError: Fewer than two groups are kept.
    """
    order = sorted(set(groups), key=lambda group: keyed(drawn, group))
    public = set(order[::2])
    kept = set(order[1::2]) - set(told)
    if len(kept) < 2:
        raise UsageError(
            f"{drawn}: earlier seasons told figures of all but {len(kept)} groups that final figures could "
            "rest on: seal new questions"
        )
    first = [place for place, group in enumerate(groups) if group in public]
    last = [place for place, group in enumerate(groups) if group in kept]
    return half_of(first, groups, units), half_of(last, groups, units)


def nats(size: PartSize, noise: float) -> float:
    """What one figure with so much noise tells at most."""
    return log1p((size.spread / (noise * size.se)) ** 2) / 2


def noise_for(sizes: Sequence[PartSize], most: float, least: float) -> float:
    """The least noise with which one figure of each part tells no more than `most` nats together."""
    low, high = least, least
    while sum(nats(size, high) for size in sizes) > most:
        low, high = high, high * 2
    for _ in range(60):
        middle = (low + high) / 2
        if sum(nats(size, middle) for size in sizes) > most:
            low = middle
        else:
            high = middle
    return high


def most_nats(gain: float, size: PartSize) -> float:
    """What may be told of a half before it could exceed a gain over chance."""
    return (gain / size.spread) ** 2 / 2


def most_gain(told: float, size: PartSize) -> float:
    """The most that so many nats can add to the share of a half's golds that anybody knows."""
    return min(1.0, sqrt(2 * told) * size.spread)


def blurred(value: float, sd: float, keyed: Keyed, name: str, *, clipped: bool = True) -> float:
    """A score with the noise that belongs to it, between 0 and 1; asking again gives the same.

    Args:
        value: The exact figure, 0 to 1.
        sd: Standard deviation of the noise.
        keyed: The secret's digests.
        name: What is said and of which answers: another name draws other noise.
        clipped: Whether it is cut off at 0 and 1.
    """
    drawn = (int(keyed("noise", name)[:13], 16) + 0.5) / 16**13
    found = value + sd * NormalDist().inv_cdf(drawn)
    return round(min(1.0, max(0.0, found)) if clipped else found, 4)


def interval(figure: float, se: float, sd: float, figures: int = 1, gain: float = 0.0) -> Interval:
    """95 % interval of a told figure: all p that are no more than z errors away from it.

    The variance at p is that of the sampling, 4 p (1 - p) se^2, and of the noise (E. Wilson, JASA 1927, with
    the noise added). It rests on the told figure alone.

    Args:
        figure: As told.
        se: Largest standard error of such a figure.
        sd: Standard deviation of the noise.
        figures: Of how many it is the best: the interval holds for all of them at once (Bonferroni).
        gain: What whoever made the answers may know of the golds beyond what they know of others.
    """
    z = NormalDist().inv_cdf(1 - 0.025 / figures)
    wide = 4 * (z * se) ** 2
    middle = 2 * figure + wide
    root = sqrt(max(0.0, middle**2 - 4 * (1 + wide) * (figure**2 - (z * sd) ** 2)))
    low, high = (middle - root) / (2 + 2 * wide), (middle + root) / (2 + 2 * wide)
    return max(0.0, low - gain), min(1.0, high + gain)


def chosen_interval(figure: float, se: float, sd: float, figures: int) -> Interval:
    """95 % interval of a told figure that may be chosen twice: by luck with the questions and with the noise.

    Who sends the luckiest of many answers again, altered in a question each, keeps the luck of the questions
    and draws noise anew. So both are allowed for apart, each for all figures at half the error (Bonferroni);
    a figure that is the only one was not chosen.

    Args:
        figure: As told.
        se: Largest standard error of such a figure.
        sd: Standard deviation of the noise.
        figures: Among how many it is.
    """
    if figures < 2:
        return interval(figure, se, sd)
    noise = sd * NormalDist().inv_cdf(1 - 0.025 / (2 * figures))
    low, _ = interval(max(0.0, figure - noise), se, 0.0, 2 * figures)
    _, high = interval(min(1.0, figure + noise), se, 0.0, 2 * figures)
    return low, high


def difference(first: float, of_first: Interval, second: float, of_second: Interval) -> Interval:
    """95 % interval of a difference of two figures, from theirs (R. Newcombe, Stat. Med. 1998, method 10)."""
    down = hypot(first - of_first[0], of_second[1] - second)
    up = hypot(of_first[1] - first, second - of_second[0])
    return first - second - down, first - second + up


def largest_error(differs: NDArray[np.bool_], half: Half, groups: Sequence[str]) -> float:
    """Largest standard error of a difference of two figures, as far as answers tell: it depends on no gold.

    Answers that agree are right or wrong together; others differ by one at most, in a group all one way.

    Args:
        differs: Whether two systems answered a question differently, of every question.
        half: What the figures are of.
        groups: Name of the cluster of every question.
    """
    _, counts = np.unique([groups[place] for place in half.items if differs[place]], return_counts=True)
    return sqrt(float((counts**2).sum())) / len(half.items)


def rank_ranges(
    told: Sequence[ToldFigure], errors: Sequence[Sequence[float]], gain: float = 0.0
) -> list[tuple[int, int]]:
    """The best and worst rank of each, all of which hold at once in 95 % of seasons.

    Two figures share ranks unless they differ beyond doubt, with all pairs allowed for (Bonferroni): by the
    two intervals, as if what is told of one said nothing of the other, and by what their answers allow, as
    one may be right just where the other is wrong.

    Args:
        told: The figures.
        errors: Of each two the largest standard error of their difference (`largest_error`).
        gain: As of `interval`; who is ahead by no more may owe it to that alone.
    """
    pairs = max(1, len(told) * (len(told) - 1) // 2)
    z = NormalDist().inv_cdf(1 - 0.025 / pairs)

    def beats(first: int, second: int) -> bool:
        one, other = told[first], told[second]
        upper, lower = (interval(*two, figures=pairs) for two in (one, other))
        most = gain + z * hypot(errors[first][second], one.sd, other.sd)
        least, _ = difference(one.figure, upper, other.figure, lower)
        return least > gain and one.figure - other.figure > most

    places = range(len(told))
    return [
        (1 + sum(beats(two, one) for two in places), len(told) - sum(beats(one, two) for two in places))
        for one in places
    ]
