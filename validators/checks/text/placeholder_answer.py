"""TX23: no answer that reads like a missing value."""

from schemas.item import ChoiceItem, QuestionItem
from validators.checks.check import Objection, Objections, check
from validators.checks.setindex import SetIndex
from validators.checks.text.placeholder import NATURAL
from validators.checks.texts import Texts, answers, excerpt, wrong

WORDY = 0.95
"""Share of a task's right answers that are texts of three words or more from which a short one stands out."""
LEAST_WORDS = 3


@check(
    "TX23", severity="flag", on=QuestionItem, title="no answer reads like a missing value among longer ones"
)
def placeholder_answer(item: QuestionItem, texts: Texts, index: SetIndex) -> Objections:
    """No right answer is a word like `none` where the other answers are texts of several words.

    The others are the wrong options of the item, or the right answers of its task: among names and numbers
    such a word may well be the answer. In generated choices it never is.
    """
    for answer in answers(item):
        if texts.folded(answer) not in NATURAL:
            continue
        others = wrong(item)
        made = item.origin.generator != "external" and isinstance(item, ChoiceItem)
        beside = bool(others) and all(len(texts.words(other)) >= LEAST_WORDS for other in others)
        if made or beside or index.wordy.get(item.task, 0.0) >= WORDY:
            yield Objection(f"reads like a missing value: {excerpt(answer)}", "gold")
