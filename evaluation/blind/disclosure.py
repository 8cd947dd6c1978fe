"""What may be said of a figure over sealed golds: keyed noise, rounding, a ladder, and a bound on their sum.

A figure on the public half is a noisy channel from the golds to whoever sent the answers. With a score whose
spread over unknown golds is at most s, and Gaussian noise of standard deviation d, one figure tells at most
ln(1 + s^2/d^2) / 2 nats (T. Cover, J. Thomas, Elements of Information Theory, 2006, section 9.1); what is
rounded, or withheld by a ladder, tells no more. Golds that are independent for the attacker then can't be
known better than by chance by more than sqrt(I / 2n) on average over n questions, as each question's gain is
bounded by its own share of the I nats (Pinsker's inequality). That sums over all teams, colluding or not. It
takes scores to be near normal, so that what was learnt before does not widen their spread.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import floor, log, sqrt
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

Keyed = Callable[[str, str], str]
"""(purpose, text) -> hexadecimal digest that only who has the secret can make."""

NOISE: Final = 0.5
"""Standard deviation of the noise, and the step that figures are rounded to, in standard errors."""
LADDER: Final = 1.0
"""By how many standard errors a team's figure has to beat its last best to be shown (A. Blum and M. Hardt,
The Ladder, ICML 2015)."""
SLICE_GROUPS: Final = 50
"""Groups of the public half that a slice needs."""


class Half(NamedTuple):
    """One half of the questions, and how far figures on it can vary; known from the questions alone."""

    items: NDArray[np.int64]
    """Their places among all questions."""
    units: int
    """Golds that are independent of each other: both orders of a pair are one."""
    groups: int
    se: float
    """Standard error of a mean of 0s and 1s at its largest: groups that stand and fall together, half right.
    It depends on no answer, so saying it tells nothing."""
    spread: float
    """Standard deviation, at its largest, of a score over golds that nobody knows: units apart."""

    @property
    def nats(self) -> float:
        """What one figure on this half tells at most."""
        return log(1 + (self.spread / (NOISE * self.se)) ** 2) / 2


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
    return Half(places, count, clusters, max(se, spread), spread)


def halves(groups: Sequence[str], units: Sequence[str], keyed: Keyed, release: str) -> tuple[Half, Half]:
    """The questions whose figures are told during a season, and those kept for its end.

    Whole groups, drawn by the secret and the release's name: the same halves in every season.
    """
    order = sorted(set(groups), key=lambda group: keyed(f"half {release}", group))
    public = set(order[::2])
    told = [place for place, group in enumerate(groups) if group in public]
    kept = [place for place, group in enumerate(groups) if group not in public]
    return half_of(told, groups, units), half_of(kept, groups, units)


def blurred(value: float, se: float, keyed: Keyed, name: str) -> float:
    """A score with the noise that belongs to it, rounded; asking again gives the same.

    Args:
        value: The exact figure, 0 to 1.
        se: Largest standard error of such a figure.
        keyed: The secret's digests.
        name: What is said and of which answers: another name draws other noise.
    """
    from scipy.special import ndtri

    drawn = (int(keyed("noise", name)[:13], 16) + 0.5) / 16**13
    noisy = value + NOISE * se * float(ndtri(drawn))
    step = NOISE * se
    return round(min(1.0, max(0.0, round(noisy / step) * step)), 6)


def beats(figure: float, best: float | None, se: float) -> bool:
    """Whether a figure is shown, given the team's best so far."""
    return best is None or figure > best + LADDER * se


def figures_within(gain: float, half: Half) -> int:
    """How many figures on a half may be told before what they tell could exceed a gain over chance."""
    return floor(2 * half.units * gain**2 / half.nats)


def most_gain(figures: int, half: Half) -> float:
    """The most that this many figures can add to the share of a half's golds that anybody knows."""
    return min(1.0, sqrt(figures * half.nats / (2 * half.units)))


def half_width(half: Half) -> float:
    """Half of the 95 % interval of a told figure: sampling, noise and rounding, each at its largest."""
    return 1.96 * half.se * sqrt(1 + NOISE**2 + NOISE**2 / 12)


def interval(figure: float, half: Half) -> tuple[float, float]:
    """95 % interval of a told figure, within 0 and 1."""
    return max(0.0, figure - half_width(half)), min(1.0, figure + half_width(half))
