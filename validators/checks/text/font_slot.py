"""TX14: letters of a language, not slots of a font."""

from mihakk.text import codepoints as cp
from mihakk.text.corruption import FINDERS
from validators.checks.check import Objections, check
from validators.checks.damage import damaged
from validators.checks.texts import Texts


@check("TX14", severity="flag", title="no letter that only a broken font has", when=cp.FONT_SLOTS)
def font_slot(texts: Texts) -> Objections:
    """No code point that text extraction takes for a letter and no language writes (`ػ`, `ؽ`)."""
    yield from damaged(texts, FINDERS["font_slot"], "a slot of a broken font, not a letter")
