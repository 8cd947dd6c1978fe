"""TX07: direction comes from the letters."""

from validators.checks.check import Objection, Objections, check
from validators.checks.texts import Texts

FORCED = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


@check("TX07", severity="flag", title="no bidirectional embedding, override or isolate", when=FORCED)
def bidi_control(texts: Texts) -> Objections:
    """No character that forces a direction (U+202A to 202E, U+2066 to 2069): a sign of text copied from PDF.

    The plain marks U+200E, U+200F and U+061C only hint at a direction: `TX18` reports them.
    """
    for where, text in texts.parts:
        found = FORCED.intersection(text)
        if found:
            named = ", ".join(f"U+{ord(char):04X}" for char in sorted(found))
            yield Objection(f"forced direction: {named}", where)
