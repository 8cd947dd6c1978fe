"""TX01: no field is blank."""

from collections.abc import Iterator

from validators.checks.check import EVERYTHING, Objection, check
from validators.checks.texts import Texts


@check("TX01", severity="block", on=EVERYTHING, title="no field is blank")
def empty_field(texts: Texts) -> Iterator[Objection]:
    """Every text of the subject holds at least one character other than white space."""
    if all(texts.folds):
        return
    for where, text in texts.parts:
        if not text or text.isspace():
            yield Objection("blank", where)
