"""DU03: one question, one truth."""

from collections.abc import Iterator

from schemas.item import AnswerItem, ChoiceItem
from validators.checks.check import Objection, check
from validators.checks.setindex import SetIndex


@check(
    "DU03",
    severity="block",
    on=(ChoiceItem, AnswerItem),
    title="no other item gives the same question another answer",
)
def conflicting_gold(item: ChoiceItem | AnswerItem, index: SetIndex) -> Iterator[Objection]:
    """No item with the same prompt counts as right what this one offers as wrong, or the reverse.

    Two templated stems (`which of these is true?`) whose options differ are no conflict.
    """
    rivals = index.rivals.get(item.id, ())
    if rivals:
        yield Objection(f"the same question has another answer in {', '.join(rivals)}", "gold")
