"""ST03: the rhyme does not tell the answer."""

from collections.abc import Iterator

from validators.checks.chance import at_least
from validators.checks.check import Objection, check
from validators.checks.setindex import SetIndex
from validators.checks.whole.position_bias import LEAST_ITEMS, MARGIN, SURPRISE


@check("ST03", severity="flag", on=SetIndex, title="no answer is told by its rhyme")
def rhyme_baseline(index: SetIndex) -> Iterator[Objection]:
    """Among hemistichs, taking any option with the poem's rhyme does not beat chance (p < 0.001)."""
    for (subset, task, options), tally in sorted(index.tallies.items()):
        if tally.rhymed < LEAST_ITEMS or options < 2:
            continue
        chance, share = 1 / options, tally.rhyme_right / tally.rhymed
        surprise = at_least(tally.rhyme_right, tally.rhymed, chance)
        if surprise < SURPRISE and share - chance >= MARGIN:
            name = f"{task} {subset}".strip()
            yield Objection(
                f"{name}: taking any of {options} options with the rhyme gets {share:.1%} of {tally.rhymed} "
                f"items, chance {chance:.1%} (p = {surprise:.1g})",
                "options",
            )
