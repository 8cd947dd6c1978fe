"""DU05: a statement and its negation are not both true."""

from schemas.item import QuestionItem
from validators.checks.check import Objection, Objections, check
from validators.checks.setindex import SetIndex


@check("DU05", severity="flag", on=QuestionItem, title="no statement and its negation have the same answer")
def negated(item: QuestionItem, index: SetIndex) -> Objections:
    """No other statement is this one with a word of negation more or less, and has its answer of one word.

    Which of the two is wrong, or whether both are matters of opinion, people say.
    """
    others = index.negated.get(item.id, ())
    if others:
        yield Objection(f"the same answer as its negation in {', '.join(others)}", "answer")
