"""ST01, ST02 and ST03: neither place nor length nor rhyme tells the answer."""

from collections.abc import Iterator, Sequence
from math import erfc, sqrt

from mihakk.machinery.stats import chi_square_tail
from mihakk.validators.checks.check import Objection, Objections, check
from mihakk.validators.checks.gathering import Tally
from mihakk.validators.checks.setindex import SetIndex

LEAST_ITEMS = 30
SURPRISE = 0.001
MARGIN = 0.05
"""How far a share must lie above chance: in a large set the least unevenness is no chance."""


@check("ST01", severity="flag", on=SetIndex, title="no answer position is favoured")
def position_bias(index: SetIndex) -> Objections:
    """Within a task and number of options, golds stand evenly over the positions (chi-square, p < 0.001)."""
    for name, options, tally in _choices(index):
        if tally.items < LEAST_ITEMS:
            continue
        counts = [tally.positions[i] for i in range(options)]
        best, surprise = max(counts) / tally.items, uniform(counts)
        if surprise < SURPRISE and best - 1 / options >= MARGIN:
            yield Objection(
                f"{name}: of {tally.items} golds {counts} stand at the {options} positions; always answering "
                f"the {counts.index(max(counts)) + 1}. gets {best:.1%} (p = {surprise:.1g})",
                "gold",
            )


@check("ST02", severity="flag", on=SetIndex, title="no answer is told by its length")
def length_baseline(index: SetIndex) -> Objections:
    """Always taking the longest, or the shortest, option does not beat chance (one-sided, p < 0.001)."""
    for name, options, tally in _choices(index):
        for word, hits in (("longest", tally.longest_right), ("shortest", tally.shortest_right)):
            if gets := _beats_chance(hits, tally.items, options):
                yield Objection(f"{name}: always answering the {word} of {options} options {gets}", "options")


@check("ST03", severity="flag", on=SetIndex, title="no answer is told by its rhyme")
def rhyme_baseline(index: SetIndex) -> Objections:
    """Among hemistichs, taking any option with the poem's rhyme does not beat chance (p < 0.001)."""
    for name, options, tally in _choices(index):
        if gets := _beats_chance(tally.rhyme_right, tally.rhymed, options):
            yield Objection(f"{name}: taking any of {options} options with the rhyme {gets}", "options")


def _choices(index: SetIndex) -> Iterator[tuple[str, int, Tally]]:
    """Name, number of options and tally of each group of choice items."""
    for (subset, task, options), tally in sorted(index.tallies.items(), key=lambda pair: pair[0]):
        if options >= 2:
            yield f"{task} {subset}".strip(), options, tally


def _beats_chance(hits: float, items: int, options: int) -> str:
    """What somebody with so many hits gets, in words, where it is far more than chance; else empty."""
    if items < LEAST_ITEMS:
        return ""
    chance, share = 1 / options, hits / items
    surprise = at_least(hits, items, chance)
    if surprise >= SURPRISE or share - chance < MARGIN:
        return ""
    return f"gets {share:.1%} of {items} items, chance {chance:.1%} (p = {surprise:.1g})"


def uniform(counts: Sequence[int]) -> float:
    """Probability of counts at least this uneven (chi-square against equal shares)."""
    total = sum(counts)
    if not total or len(counts) < 2:
        return 1.0
    expected = total / len(counts)
    return chi_square_tail(sum((n - expected) ** 2 for n in counts) / expected, len(counts) - 1)


def at_least(hits: float, trials: int, chance: float) -> float:
    """Probability of this many hits or more (normal approximation; give it 30 trials or more)."""
    deviation = sqrt(trials * chance * (1 - chance))
    return 0.5 * erfc((hits - trials * chance) / deviation / sqrt(2)) if deviation else 1.0
