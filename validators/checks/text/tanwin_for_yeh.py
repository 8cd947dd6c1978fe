"""TX11: tanwin ends a word."""

import re

from mihakk.text import codepoints as cp
from mihakk.text.corruption import FINDERS
from validators.checks.check import Objections, check
from validators.checks.damage import damaged
from validators.checks.texts import Texts

FOLLOWED = re.compile(f"[\u064b-\u064d][{cp.MARKS}]{{0,9}}[{cp.LETTERS}]")


@check("TX11", severity="flag", title="no tanwin inside a word", when=FOLLOWED.search)
def tanwin_for_yeh(texts: Texts) -> Objections:
    """No tanwin with a letter after it: broken fonts give it in place of yeh (`الخاصٌة`)."""
    yield from damaged(texts, FINDERS["tanwin_for_yeh"], "tanwin inside a word, perhaps for yeh")
