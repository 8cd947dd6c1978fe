"""CH05: the right option can't be told by its length."""

from mihakk.schemas.item import ChoiceItem
from mihakk.validators.checks.check import Objection, Objections, check
from mihakk.validators.checks.meta_options import is_meta
from mihakk.validators.checks.texts import Texts, is_outside

RATIO = 2.0
"""How many times as long as the longest wrong option, or as short as the shortest, gives the gold away."""
LEAST_DIFFERENCE = 20
"""Characters by which it must differ too: among short options twice as long is one word more."""


@check("CH05", severity="flag", on=ChoiceItem, title="the gold is not told by its length")
def length(item: ChoiceItem, texts: Texts) -> Objections:
    """The only gold is neither far longer nor far shorter than every wrong option.

    In an outside benchmark it is only counted: one such row is no fault, and `ST02` says when lengths tell.
    Options that speak of the others (`all of the above`) are short for another reason and are left out.
    """
    gold = item.only_gold
    if gold is None or len(item.options) < 2:
        return
    lengths = [len(option) for option in item.options]
    right = lengths.pop(gold)
    # Looked at only where there is something to say: folding all options costs most of the check.
    if right < RATIO * max(lengths) and right * RATIO > min(lengths):
        return
    if is_meta(item.options[gold], texts.folded(item.options[gold])):
        return
    lengths = [
        len(option)
        for place, option in enumerate(item.options)
        if place != gold and not is_meta(option, texts.folded(option))
    ]
    if not lengths:
        return
    where, outside = f"options[{gold}]", is_outside(item)
    shortest, longest = min(lengths), max(lengths)
    if right >= RATIO * longest and right - longest >= LEAST_DIFFERENCE:
        yield Objection(
            f"the gold has {right} characters, the longest wrong option {longest}", where, outside
        )
    elif right * RATIO <= shortest and shortest - right >= LEAST_DIFFERENCE:
        yield Objection(
            f"the gold has {right} characters, the shortest wrong option {shortest}", where, outside
        )
