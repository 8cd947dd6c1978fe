"""ST02: length does not tell the answer."""

from validators.checks.chance import beats_chance, choices
from validators.checks.check import Objection, Objections, check
from validators.checks.setindex import SetIndex


@check("ST02", severity="flag", on=SetIndex, title="no answer is told by its length")
def length_baseline(index: SetIndex) -> Objections:
    """Always taking the longest, or the shortest, option does not beat chance (one-sided, p < 0.001)."""
    for name, options, tally in choices(index):
        for word, hits in (("longest", tally.longest_right), ("shortest", tally.shortest_right)):
            if gets := beats_chance(hits, tally.items, options):
                yield Objection(f"{name}: always answering the {word} of {options} options {gets}", "options")
