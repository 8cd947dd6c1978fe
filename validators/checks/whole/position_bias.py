"""ST01: golds are spread over the positions."""

from collections.abc import Iterator

from validators.checks.chance import uniform
from validators.checks.check import Objection, check
from validators.checks.setindex import SetIndex

LEAST_ITEMS = 30
SURPRISE = 0.001
MARGIN = 0.05
"""How far the best position must beat an even share: in a large set the least unevenness is no chance."""


@check("ST01", severity="flag", on=SetIndex, title="no answer position is favoured")
def position_bias(index: SetIndex) -> Iterator[Objection]:
    """Within a task and number of options, golds stand evenly over the positions (chi-square, p < 0.001)."""
    for (subset, task, options), tally in sorted(index.tallies.items()):
        counts = [tally.positions[i] for i in range(options)]
        if tally.items < LEAST_ITEMS or options < 2:
            continue
        best = max(counts) / tally.items
        surprise = uniform(counts)
        if surprise < SURPRISE and best - 1 / options >= MARGIN:
            name = f"{task} {subset}".strip()
            yield Objection(
                f"{name}: of {tally.items} golds {counts} stand at the {options} positions; always answering "
                f"the {counts.index(max(counts)) + 1}. gets {best:.1%} (p = {surprise:.1g})",
                "gold",
            )
