"""TX19: one vowel a letter."""

from mihakk.text.corruption import competing_marks as finder
from validators.checks.check import Objections, check
from validators.checks.damage import damaged
from validators.checks.texts import Texts


@check("TX19", severity="flag", title="no two vowel signs on one letter", when=finder.search)
def competing_marks(texts: Texts) -> Objections:
    """No letter carries two vowel signs, or one of them twice; shadda with a vowel is fine."""
    yield from damaged(texts, finder, "two vowel signs on one letter")
