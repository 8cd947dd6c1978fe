"""TX07 and TX18: what is there can be seen, and direction comes from the letters."""

from collections.abc import Iterator

from mihakk.machinery.languages import pack
from mihakk.machinery.text import codepoints as cp
from mihakk.validators.checks.check import Objection, Objections, check
from mihakk.validators.checks.texts import Texts

FORCED = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
INVISIBLE = frozenset(cp.ZERO_WIDTH + cp.SOFT_HYPHEN + "\u061c\u200e\u200f")
IN_ARABIC = INVISIBLE | {cp.ZWNJ}


@check("TX07", severity="flag", title="no bidirectional embedding, override or isolate", when=FORCED)
def bidi_control(texts: Texts) -> Objections:
    """No character that forces a direction (U+202A to 202E, U+2066 to 2069): a sign of text copied from PDF.

    The plain marks U+200E, U+200F and U+061C only hint at a direction: `TX18` reports them.
    """
    yield from _held(texts, FORCED, "forced direction")


@check("TX18", severity="report", title="no invisible character", when=IN_ARABIC)
def invisible(texts: Texts) -> Objections:
    """No zero-width space, word joiner, byte order mark, soft hyphen or direction mark.

    The zero-width non-joiner of Persian spelling is no such character; in Arabic it is one.
    """
    joiner = pack(texts.language).writing.joiner
    yield from _held(texts, IN_ARABIC if joiner == "dropped" else INVISIBLE, "invisible")


def _held(texts: Texts, characters: frozenset[str], saying: str) -> Iterator[Objection]:
    for where, text in texts.parts:
        if found := characters.intersection(text):
            yield Objection(f"{saying}: {', '.join(f'U+{ord(char):04X}' for char in sorted(found))}", where)
