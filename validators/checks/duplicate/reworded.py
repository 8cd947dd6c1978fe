"""DU06: one question in two wordings, one truth."""

from schemas.item import QuestionItem
from validators.checks.check import Objection, Objections, check
from validators.checks.setindex import SetIndex


@check(
    "DU06",
    severity="flag",
    on=QuestionItem,
    title="no other item asks the same in other words and has another answer",
)
def reworded(item: QuestionItem, index: SetIndex) -> Objections:
    """No item of an outside benchmark asks this with words in another order or form and calls another right.

    Options may be reworded too; the same question word for word is `DU03`'s. One may have words more, none
    of them a negation, where both have one list of options. Which one is right, people say.
    """
    others = index.disputed.get(item.id, ())
    if others:
        yield Objection(f"asked in other words, with another answer, in {', '.join(others)}", "gold")
