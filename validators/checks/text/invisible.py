"""TX18: what is there can be seen."""

from mihakk.text import codepoints as cp
from validators.checks.check import Objection, Objections, check
from validators.checks.texts import Texts

INVISIBLE = frozenset(cp.ZERO_WIDTH + cp.SOFT_HYPHEN + "\u061c\u200e\u200f")
IN_ARABIC = INVISIBLE | {cp.ZWNJ}


@check("TX18", severity="report", title="no invisible character", when=IN_ARABIC)
def invisible(texts: Texts) -> Objections:
    """No zero-width space, word joiner, byte order mark, soft hyphen or direction mark.

    The zero-width non-joiner of Persian spelling is no such character; in Arabic it is one.
    """
    signs = IN_ARABIC if texts.language == "ar" else INVISIBLE
    for where, text in texts.parts:
        found = signs.intersection(text)
        if found:
            yield Objection(f"invisible: {', '.join(f'U+{ord(char):04X}' for char in sorted(found))}", where)
