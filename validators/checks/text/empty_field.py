"""TX01: no field is blank."""

from mihakk.validators.checks.check import Objection, Objections, check
from mihakk.validators.checks.texts import Texts


@check("TX01", severity="block", title="no field is blank")
def empty_field(texts: Texts) -> Objections:
    """Every text of the subject holds at least one character other than white space."""
    if all(texts.folds):
        return
    for where, text in texts.parts:
        if not text or text.isspace():
            yield Objection("blank", where)
