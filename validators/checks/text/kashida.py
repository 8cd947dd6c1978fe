"""TX26: words are as long as they are spelt."""

import re

from mihakk.machinery.text import codepoints as cp
from mihakk.schemas.item import QuestionItem
from mihakk.validators.checks.check import Objections, check
from mihakk.validators.checks.damage import damaged
from mihakk.validators.checks.texts import Texts

_L = f"[{cp.LETTERS}]"
# A year's `هـ` and a letter shown joined (`ـه`) stand at a word's edge; a run of them is a blank to fill in.
INSIDE = re.compile(f"(?<={_L})[{cp.MARKS}]*ـ{{1,3}}(?={_L})")


@check("TX26", severity="report", on=QuestionItem, title="no kashida inside a word", when=cp.TATWEEL)
def kashida(texts: Texts) -> Objections:
    """No word is drawn out by tatweel between two of its letters: a matching answer would not match."""
    yield from damaged(texts, INSIDE, "drawn out by tatweel")
