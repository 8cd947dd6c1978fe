"""TX05: every character has a meaning."""

import re

from validators.checks.check import Objections, check
from validators.checks.damage import damaged
from validators.checks.texts import Texts

SCREEN = re.compile("[\ud800-\uf8ff\ufdd0-\ufdef\ufffe\uffff\U000f0000-\U0010ffff]")


@check("TX05", severity="block", title="no private-use character", when=SCREEN.search)
def private_use(texts: Texts) -> Objections:
    """No private-use character, lone surrogate or non-character: only some font knew what it stood for."""
    yield from damaged(texts, SCREEN, "a character without meaning outside its font")
