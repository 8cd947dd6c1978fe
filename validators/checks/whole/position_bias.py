"""ST01: golds are spread over the positions."""

from validators.checks.chance import LEAST_ITEMS, MARGIN, SURPRISE, choices, uniform
from validators.checks.check import Objection, Objections, check
from validators.checks.setindex import SetIndex


@check("ST01", severity="flag", on=SetIndex, title="no answer position is favoured")
def position_bias(index: SetIndex) -> Objections:
    """Within a task and number of options, golds stand evenly over the positions (chi-square, p < 0.001)."""
    for name, options, tally in choices(index):
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
