"""CH14: no mark beside an option says that it is the right one."""

import re
import unicodedata

from mihakk.machinery.text import words_key
from mihakk.machinery.text.key import is_radical
from mihakk.schemas.item import ChoiceItem
from mihakk.schemas.record import Language
from mihakk.validators.checks.check import Objection, Objections, check
from mihakk.validators.checks.lexicon import option_words
from mihakk.validators.checks.texts import excerpt

TAG = re.compile(r"</?(?:b|strong|u|em|i|mark|font|span)\b[^<>]{0,80}>", re.IGNORECASE)
_BRACKETED = re.compile(r"[(（\[{«]([^()（）\[\]{}«»]{1,40})[)）\]}»]")
_PARTED = re.compile(r"(?<!\w)-|-(?!\w)|[–—:=>،|←→⇐⇒]")
"""A hyphen inside a word parts nothing: `low-key`."""
ARROWS = ("->", "=>", "<-", "<=", ">>", "<<", "[x]", "[X]", "[v]")
_SIGN = re.compile(r"[^\w\s.,'\"!?;]")
_SIGN_AMONG_LETTERS = re.compile(r"[_✀-➿\U0001d400-\U0001d7ff]")
"""What may be a mark. Two searches are several times as fast as one of either."""
EDGE = "*#_~"
"""Signs that mark a whole option by standing at its edge."""
SYMBOLS = frozenset("°©®™√")
"""Of these categories, and parts of a text by right."""


@check("CH14", severity="flag", on=ChoiceItem, needs=("options.right",), title="no mark tells the gold")
def gold_mark(item: ChoiceItem) -> Objections:
    """The gold alone has no tick, star, bold letters or `(correct)` beside its text.

    A mark that the question or another option holds as well marks nothing.
    """
    gold = item.only_gold
    if gold is None or len(item.options) < 2:
        return
    language = item.language_of("options")
    marks = _marks(item.options[gold], language)
    if not marks:
        return
    for place, option in enumerate(item.options):
        if place != gold:
            marks -= _marks(option, language) | {mark for mark in marks if mark in option}
    marks -= {mark for mark in marks if mark in item.question}
    if marks:
        yield Objection(f"the gold alone is marked: {excerpt(item.options[gold])}", f"options[{gold}]")


def _marks(option: str, language: Language) -> set[str]:
    """The marks that stand beside what an option says, or make its letters stand out."""
    if not (_SIGN.search(option) or _SIGN_AMONG_LETTERS.search(option)):
        return set()
    text = option.strip()
    bare = text.strip(" .\u200f\u200e\ufe0f")
    found = {"bold letters"} if any("\U0001d400" <= char <= "\U0001d7ff" for char in text) else set()
    found |= {tag.casefold() for tag in TAG.findall(text)}
    if not any(map(str.isalnum, text)):
        return found
    found |= {arrow for arrow in ARROWS if bare.startswith(arrow) or bare.endswith(arrow)}
    for edge in (bare[:1], bare[-1:]):
        if edge in EDGE or (unicodedata.category(edge) == "So" and not _written(edge)) or _arrow(edge):
            found.add(edge)
    if bare.endswith(" √"):
        found.add("√")
    right = option_words(language).right
    sides = [one.group(1) for one in _BRACKETED.finditer(text) if one.start() == 0 or one.end() >= len(bare)]
    parts = _PARTED.split(text)
    sides += [parts[0], parts[-1]] if len(parts) > 1 else []
    return found | {side for side in sides if words_key(side, language) in right and side.strip() != bare}


def _written(char: str) -> bool:
    """Whether a symbol is a part of texts by right, or a radical in place of a Chinese character."""
    return char in SYMBOLS or is_radical(char)


def _arrow(char: str) -> bool:
    return "←" <= char <= "⇿" or "✀" <= char <= "➿"
