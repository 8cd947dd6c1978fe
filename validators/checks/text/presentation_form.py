"""TX08: letters, not their shapes."""

import re

from mihakk.text import codepoints as cp
from validators.checks.check import Objections, check
from validators.checks.damage import damaged
from validators.checks.texts import Texts

_FORMS = {*cp.FORM_LETTERS, *cp.FORM_MARKS} - {cp.ALLAH_LIGATURE}
_FORM = re.compile(f"[{''.join(sorted(_FORMS))}]+")


@check("TX08", severity="flag", title="no presentation form in place of a letter", when=_FORMS)
def presentation_form(texts: Texts) -> Objections:
    """No Arabic presentation form but the word Allah and signs that no letters spell, as honorifics."""
    yield from damaged(texts, _FORM, "the shape of a letter, not the letter")
