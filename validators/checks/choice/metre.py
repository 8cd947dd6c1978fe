"""CH09: hemistichs on offer share the metre."""

from mihakk.schemas.item import ChoiceItem
from mihakk.validators.checks.check import Objection, Objections, check
from mihakk.validators.checks.gathering import option_hash
from mihakk.validators.checks.hemistich import offers_hemistichs
from mihakk.validators.checks.setindex import SetIndex
from mihakk.validators.checks.texts import Texts


@check("CH09", severity="flag", on=ChoiceItem, title="no wrong option is known to have another metre")
def metre(item: ChoiceItem, texts: Texts, index: SetIndex) -> Objections:
    """A wrong hemistich whose own poem is in the set has the metre of the right one.

    Its metre is what other items say whose gold it is; one that stands in poems of two metres says nothing.
    """
    right = item.metadata.get("metre", "")
    if not right or not offers_hemistichs(item):
        return
    for i, option in enumerate(item.options):
        own = index.metres.get(option_hash(option, texts), right) if i not in item.gold else right
        if own != right:
            yield Objection(
                f"its metre is {own!r}, the poem's {right!r}: the ear alone excludes it", f"options[{i}]"
            )
