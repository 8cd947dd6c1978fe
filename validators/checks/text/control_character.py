"""TX06: no control character."""

from mihakk.text import codepoints as cp
from mihakk.text.corruption import FINDERS
from validators.checks.check import Objections, check
from validators.checks.damage import damaged
from validators.checks.texts import Texts


@check("TX06", severity="flag", title="no control character", when=cp.CONTROLS)
def control_character(texts: Texts) -> Objections:
    """No C0 or C1 control character besides white space."""
    yield from damaged(texts, FINDERS["control_character"], "a control character")
