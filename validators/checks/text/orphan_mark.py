"""TX09: marks stand on letters."""

from collections.abc import Iterator

from mihakk.text import codepoints as cp
from mihakk.text.corruption import FINDERS
from validators.checks.check import EVERYTHING, Objection, check
from validators.checks.damage import damaged
from validators.checks.texts import Texts


@check("TX09", severity="flag", on=EVERYTHING, title="no mark without its letter", when=cp.TYPED_MARKS)
def orphan_mark(texts: Texts) -> Iterator[Objection]:
    """No haraka at the start of a text or behind anything but a letter.

    A mark on a tatweel or a dotted circle shows the mark itself, as in questions of grammar; a shadda behind
    its vowel is how Unicode orders the two.
    """
    yield from damaged(texts, FINDERS["orphan_mark"], "a mark without its letter")
