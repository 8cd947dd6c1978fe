"""TX15: each language in its own letters."""

import re

from mihakk.machinery.languages import ByLanguage, pack
from mihakk.machinery.text import codepoints as cp
from mihakk.machinery.text.script import wrong_letters
from mihakk.validators.checks.check import Objection, Objections, check
from mihakk.validators.checks.texts import Texts

WRONG = ByLanguage(
    lambda own: re.compile(
        f"[{''.join(sorted(set(cp.LETTERS) - set(own.writing.alphabet) - set(cp.FONT_SLOTS)))}]"
    )
)


@check("TX15", severity="report", needs=("writing.alphabet",), title="each language in its own letters")
def script(texts: Texts) -> Objections:
    """No Persian yeh or kaf in Arabic, no Arabic ones in Persian, no Arabic letters in English."""
    if not pack(texts.language).writing.alphabet or WRONG[texts.language].search(texts.joined) is None:
        return
    for where, text in texts.parts:
        found = wrong_letters(text, texts.language)
        if found:
            named = ", ".join(f"{letter} (U+{ord(letter):04X})" for letter in sorted(found))
            yield Objection(f"letters of another language: {named}", where)
