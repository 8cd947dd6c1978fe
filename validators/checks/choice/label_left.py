"""CH15: no option carries the letter of a list."""

import re

from mihakk.schemas.item import ChoiceItem
from mihakk.validators.checks.check import Objection, Objections, check
from mihakk.validators.checks.meta_options import is_meta
from mihakk.validators.checks.texts import Texts, excerpt, is_outside

LISTS = ("abcdefghij", "ابجدهوزحطي", "ابتثجحخدذر", "123456789", "١٢٣٤٥٦٧٨٩", "۱۲۳۴۵۶۷۸۹")
_LETTER = r"(?P<letter>[A-Ja-j]|[أابجدهوزحطتث]|الف|[1-9١-٩۱-۹])"
# A bracket makes a letter a label; a point or dash only where it says its own place: `E. coli` exists.
OPENS = re.compile(
    rf"\s*+(?P<open>[(\[]?)\s*+{_LETTER}ـ?\s?(?P<close>[)\]]|[.:](?=\s)|[-–—](?=\s|[ء-ي]))\s*+(?=\S)"
)
INSIDE = re.compile(
    r"(?<=[^\s(\[،,])\s+(?P<open>[(\[]?)(?P<letter>[A-Ea-e]|[أابجده]|الف|[2-5٢-٥۲-۵])ـ?[)\]]\s*+(?=\w)"
)
_BEHIND = frozenset(".-:–—")
_WORD = re.compile(r"[^\W\d_]{2}")
_NAMED = re.compile(r"[(\[](?:[a-hA-Hivx]{1,4}|[أابجده])[)\]]")
_ENUMERATED = re.compile(r"(?:[(\[]|^|(?<=\s))(?:[a-hA-Hivx]{1,4}|[أابجده]|[1-9١-٩۱-۹])[)\]]")


@check("CH15", severity="flag", on=ChoiceItem, title="no option carries the letter of another list")
def label_left(item: ChoiceItem, texts: Texts) -> Objections:
    """No option begins with a letter that others lack, and none holds the next one (`Paris B) Rome`).

    Where all options are lettered, `CH10` looks at their order. A letter that the question names is no label.
    Before a dash stood a range or a row of numbers in each of twelve findings read: outside sets count those.
    """
    if not any(map(_may_hold, item.options)):
        return
    opened = [OPENS.match(option) for option in item.options]
    lettered = sum(match is not None for match in opened)
    folds = texts.option_folds(item.options)
    for place, (option, match) in enumerate(zip(item.options, opened, strict=True)):
        if is_meta(option, folds[place]):
            continue
        named = match and (f"{match['letter']})" in item.question or len(_ENUMERATED.findall(option)) > 1)
        if match and not named and lettered < len(item.options) and _is_label(match, place, lettered):
            note = is_outside(item) and match["close"] in "-–—"
            yield Objection(f"one of its own letter: {excerpt(option)}", f"options[{place}]", note)
            continue
        inside = INSIDE.search(option)
        if inside and not _spoken(inside, option, item.question):
            yield Objection(f"another option stands inside: {excerpt(option)}", f"options[{place}]")


def _may_hold(option: str) -> bool:
    return ")" in option or "]" in option or not _BEHIND.isdisjoint(option[:6])


def _is_label(match: re.Match[str], place: int, lettered: int) -> bool:
    letter = match["letter"].casefold().replace("أ", "ا").replace("الف", "ا")
    if match["close"] in ")]" and (match["open"] or not letter.isdigit()):
        return True
    if letter.isdigit() and match["close"] in "-–—" and sum(map(match.string.count, "-–—")) > 1:
        return False
    if letter.isdigit() and match["close"] == ":" and not _WORD.match(match.string, match.end()):
        return False  # a ratio, of numbers or to a symbol
    own = any(order.find(letter) == place for order in LISTS)
    return own or (lettered > 1 and match["close"] != ".")


def _spoken(match: re.Match[str], option: str, question: str) -> bool:
    """Whether the letter counts a paragraph, closes a bracket, or is one of the option's own enumeration."""
    before = option[: match.start()]
    if before.count("(") > before.count(")") or before.count("[") > before.count("]"):
        return True
    letter = match["letter"]
    if letter.isdigit() and before[-1:].isdigit():
        return True  # article 121 (3)
    if len(_NAMED.findall(option)) > 1:
        return True
    return f"{letter})" in question or _ENUMERATED.search(before) is not None
