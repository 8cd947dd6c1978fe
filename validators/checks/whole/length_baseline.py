"""ST02: length does not tell the answer."""

from collections.abc import Iterator

from validators.checks.chance import at_least
from validators.checks.check import Objection, check
from validators.checks.setindex import SetIndex
from validators.checks.whole.position_bias import LEAST_ITEMS, MARGIN, SURPRISE


@check("ST02", severity="flag", on=SetIndex, title="no answer is told by its length")
def length_baseline(index: SetIndex) -> Iterator[Objection]:
    """Always taking the longest, or the shortest, option does not beat chance (one-sided, p < 0.001)."""
    for (subset, task, options), tally in sorted(index.tallies.items()):
        if tally.items < LEAST_ITEMS or options < 2:
            continue
        chance = 1 / options
        for word, hits in (("longest", tally.longest_right), ("shortest", tally.shortest_right)):
            share, surprise = hits / tally.items, at_least(hits, tally.items, chance)
            if surprise < SURPRISE and share - chance >= MARGIN:
                name = f"{task} {subset}".strip()
                yield Objection(
                    f"{name}: always answering the {word} of {options} options gets {share:.1%} of "
                    f"{tally.items} items, chance {chance:.1%} (p = {surprise:.1g})",
                    "options",
                )
