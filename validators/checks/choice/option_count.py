"""CH02: there is something to choose."""

from mihakk.schemas.item import ChoiceItem
from mihakk.validators.checks.check import Objection, Objections, check


@check(
    "CH02", severity="block", on=ChoiceItem, title="there are options to choose from, not all of them right"
)
def option_count(item: ChoiceItem) -> Objections:
    """At least two options, and at least one that is wrong."""
    if len(item.options) < 2:
        yield Objection(f"a choice between {len(item.options)} options", "options")
    elif len(set(item.gold)) >= len(item.options):
        yield Objection("every option is marked as right", "gold")
