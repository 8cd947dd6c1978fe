"""TX24: a line ends where it ends."""

import re

from mihakk.schemas.item import QuestionItem
from mihakk.validators.checks.check import Objections, check
from mihakk.validators.checks.damage import damaged
from mihakk.validators.checks.texts import Texts

# A backslash before n is LaTeX when letters follow (`\\nu`); two in a row, or one before Arabic, are escapes.
BREAK = re.compile(r"<(?:LF|CR|lf|cr|0x0[AaDd])>|_x000[AaDd]_|\\[nr](?![a-zA-Z])|\\u000[aAdD]")


@check("TX24", severity="report", on=QuestionItem, title="no escape left of a line break", when="<_\\")
def escaped_break(texts: Texts) -> Objections:
    """No line break stands in the text by name: `<LF>`, `\\n`, `_x000D_`."""
    yield from damaged(texts, BREAK, "a line break by name")
