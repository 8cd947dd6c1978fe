"""CH01: golds point at options."""

from mihakk.schemas.item import ChoiceItem
from mihakk.validators.checks.check import Objection, Objections, check
from mihakk.validators.checks.texts import option_name


@check("CH01", severity="block", on=ChoiceItem, title="the gold names options that exist, each once")
def gold_range(item: ChoiceItem) -> Objections:
    """At least one gold, every one an index of an option, ascending and each once."""
    if not item.gold:
        said = item.metadata.get("gold", "")
        yield Objection(f"no option is right: {said!r} names none" if said else "no option is right", "gold")
    for gold in item.gold:
        if not 0 <= gold < len(item.options):
            detail = f"the gold is option {option_name(gold)}, and there are {len(item.options)} options"
            yield Objection(detail, "gold")
    if list(item.gold) != sorted(set(item.gold)):
        said = ", ".join(map(option_name, item.gold))
        yield Objection(f"the golds are options {said}: not ascending, or one twice", "gold")
