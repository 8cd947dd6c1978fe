"""TX10: lam stands before its alef."""

from mihakk.text.corruption import reversed_lam_alef as finder
from validators.checks.check import Objections, check
from validators.checks.damage import damaged
from validators.checks.texts import Texts


@check("TX10", severity="flag", title="lam and alef in their order", when=finder.search)
def reversed_lam_alef(texts: Texts) -> Objections:
    """No word in which PDF extraction put the alef of a lam-alef ligature first: `األرض` for `الأرض`."""
    yield from damaged(texts, finder, "the alef of a lam-alef stands first")
