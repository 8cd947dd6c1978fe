"""TX12: no stuck key."""

import re

from validators.checks.check import Objections, check
from validators.checks.damage import damaged
from validators.checks.texts import Texts

# Speech draws out ا و ي and laughs in ه and خ; تتتابع is a word.
THREES = (*(letter * 3 for letter in "بثجحدذرزسشصضطظعغفقكلمنءپچگک"), "تتتت")
STUCK = re.compile("|".join(THREES))
SCREEN = re.compile(f"([{''.join(three[0] for three in THREES)}])\\1\\1")


@check("TX12", severity="flag", title="no run of one letter", when=SCREEN.search)
def repeated_character(texts: Texts) -> Objections:
    """No letter three times in a row, drawn-out vowels and laughter of dialects apart."""
    yield from damaged(texts, STUCK, "one letter in a row")
