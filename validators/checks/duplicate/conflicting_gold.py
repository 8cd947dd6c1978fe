"""DU03: one question, one truth."""

from schemas.item import QuestionItem
from validators.checks.check import Objection, Objections, check
from validators.checks.setindex import SetIndex


@check(
    "DU03", severity="block", on=QuestionItem, title="no other item gives the same question another answer"
)
def conflicting_gold(item: QuestionItem, index: SetIndex) -> Objections:
    """No item with the same prompt counts as right what this one offers as wrong, or the reverse.

    Two templated stems (`which of these is true?`) whose options differ are no conflict.
    """
    rivals = index.rivals.get(item.id, ())
    if rivals:
        yield Objection(f"the same question has another answer in {', '.join(rivals)}", "gold")
