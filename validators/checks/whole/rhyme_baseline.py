"""ST03: the rhyme does not tell the answer."""

from validators.checks.chance import beats_chance, choices
from validators.checks.check import Objection, Objections, check
from validators.checks.setindex import SetIndex


@check("ST03", severity="flag", on=SetIndex, title="no answer is told by its rhyme")
def rhyme_baseline(index: SetIndex) -> Objections:
    """Among hemistichs, taking any option with the poem's rhyme does not beat chance (p < 0.001)."""
    for name, options, tally in choices(index):
        if gets := beats_chance(tally.rhyme_right, tally.rhymed, options):
            yield Objection(f"{name}: taking any of {options} options with the rhyme {gets}", "options")
