"""TX03: nothing was lost in decoding."""

from mihakk.text import codepoints as cp
from mihakk.text.corruption import FINDERS
from validators.checks.check import Objections, check
from validators.checks.damage import damaged
from validators.checks.texts import Texts


@check("TX03", severity="block", title="no replacement character", when=cp.REPLACEMENT)
def replacement_character(texts: Texts) -> Objections:
    """No U+FFFD: a decoder puts it where it could not read the bytes."""
    yield from damaged(texts, FINDERS["replacement_character"], "characters lost in decoding")
