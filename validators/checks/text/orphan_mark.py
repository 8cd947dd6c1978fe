"""TX09: marks stand on letters."""

from mihakk.text.corruption import orphan_mark as finder
from validators.checks.check import Objections, check
from validators.checks.damage import damaged
from validators.checks.texts import Texts


@check("TX09", severity="flag", title="no mark without its letter", when=finder.search)
def orphan_mark(texts: Texts) -> Objections:
    """No haraka at the start of a text or behind anything but a letter.

    A mark on a tatweel or a dotted circle shows the mark itself, as in questions of grammar; a shadda behind
    its vowel is how Unicode orders the two.
    """
    yield from damaged(texts, finder, "a mark without its letter")
