"""TX19: one vowel a letter."""

from collections.abc import Iterator

from mihakk.text import codepoints as cp
from mihakk.text.corruption import FINDERS
from validators.checks.check import EVERYTHING, Objection, check
from validators.checks.damage import damaged
from validators.checks.texts import Texts


@check("TX19", severity="flag", on=EVERYTHING, title="no two vowel signs on one letter", when=cp.VOWEL_SIGNS)
def competing_marks(texts: Texts) -> Iterator[Objection]:
    """No letter carries two vowel signs, or one of them twice; shadda with a vowel is fine."""
    yield from damaged(texts, FINDERS["competing_marks"], "two vowel signs on one letter")
