"""TX06: no control character."""

from collections.abc import Iterator

from mihakk.text import codepoints as cp
from mihakk.text.corruption import FINDERS
from validators.checks.check import EVERYTHING, Objection, check
from validators.checks.damage import damaged
from validators.checks.texts import Texts


@check("TX06", severity="flag", on=EVERYTHING, title="no control character", when=cp.CONTROLS)
def control_character(texts: Texts) -> Iterator[Objection]:
    """No C0 or C1 control character besides white space."""
    yield from damaged(texts, FINDERS["control_character"], "a control character")
