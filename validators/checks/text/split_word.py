"""TX22: words are whole."""

import re

from mihakk.machinery.languages import pack
from mihakk.machinery.text import codepoints as cp
from mihakk.validators.checks.check import Objections, check
from mihakk.validators.checks.damage import damaged
from mihakk.validators.checks.texts import Texts

_L, _M = f"[{cp.LETTERS}]", f"[{cp.MARKS}]"
_ALONE = rf"(?!{_L}|{_M})(?!\s+{_L}(?!{_L}|{_M}))"
SPLIT = re.compile(
    rf"(?<={_L} )ة{_M}*(?!{_L}|{_M}|[»\")'\]])"  # on its own behind a word
    rf"|(?<!{_L})(?<!{_M})ة{_M}*{_L}"  # first letter of a word
    rf"|(?<={_L}{_L} )ء{_ALONE}"
    # The seat of a tanwin; behind a noun with article or teh marbuta it may be a label: `النقطة ا`.
    rf"|(?<!{_L})(?<!{_M})(?!و?ال){_L}{{3,}}(?<!ة) ا{_ALONE}"
)
_NAMES = "حرف الحرف حروف الحروف تاء التاء هاء الهاء همزه الهمزه الف الالف مربوطه المربوطه"
_WRITING = "تكتب نكتب يكتب كتابه الكتابه"
LETTER_NAMES = frozenset((*_NAMES.split(), *_WRITING.split()))


@check("TX22", severity="flag", title="no word torn apart")
def split_word(texts: Texts) -> Objections:
    """No teh marbuta, hamza or alef on its own, no word that begins with teh marbuta.

    A text that speaks of letters may show them, and a row of single letters names points of a figure.
    """
    joined = texts.joined
    letters = " ة" in joined or " ء" in joined or "\nة" in joined or joined.startswith("ة")
    if not letters and not (" ا " in joined or " ا\n" in joined or " ا." in joined or " ا؟" in joined):
        return
    torn = pack(texts.language).writing.teh_marbuta == "ends_words"
    if torn and LETTER_NAMES.isdisjoint(texts.vocabulary):
        yield from damaged(texts, SPLIT, "a word torn apart")
