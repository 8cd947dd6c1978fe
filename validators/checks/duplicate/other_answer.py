"""DU03, DU05 and DU06: one question, in whatever words, has one answer."""

from mihakk.schemas.item import QuestionItem
from mihakk.validators.checks.check import Objection, Objections, check
from mihakk.validators.checks.setindex import SetIndex
from mihakk.validators.checks.texts import answers, excerpt


@check("DU03", severity="flag", on=QuestionItem, title="no other item gives the same question another answer")
def conflicting_gold(item: QuestionItem, index: SetIndex) -> Objections:
    """No item with the same prompt counts as right what this one offers as wrong, or the reverse.

    Two templated stems (`which of these is true?`) whose options differ are no conflict.
    """
    if others := index.rivals.get(item.id, ()):
        yield Objection(
            f"the same question has another answer in {', '.join(others)}: {_asked(item)}", "gold"
        )


@check(
    "DU05",
    severity="flag",
    on=QuestionItem,
    needs=("negations",),
    title="no statement and its negation have the same answer",
)
def negated(item: QuestionItem, index: SetIndex) -> Objections:
    """No other statement is this one with a word of negation more or less, and has its answer of one word.

    Which of the two is wrong, or whether both are matters of opinion, people say.
    """
    if others := index.negated.get(item.id, ()):
        yield Objection(f"the same answer as its negation in {', '.join(others)}: {_asked(item)}", "answer")


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
    if others := index.disputed.get(item.id, ()):
        yield Objection(
            f"asked in other words, with another answer, in {', '.join(others)}: {_asked(item)}", "gold"
        )


def _asked(item: QuestionItem) -> str:
    """What was compared: the question, and what this item calls right."""
    return f"{excerpt(item.question)}, here {' and '.join(map(excerpt, answers(item))) or 'nothing'}"
