"""CH03 and CH04: options differ, and by more than a hamza."""

import unicodedata
from collections.abc import Iterator, Sequence

from mihakk.machinery.text import canonical, strip_marks
from mihakk.machinery.text.digits import convert
from mihakk.schemas.item import ChoiceItem
from mihakk.schemas.record import Language
from mihakk.validators.checks.check import Objection, Objections, check
from mihakk.validators.checks.texts import Texts, excerpt


@check("CH03", severity="block", on=ChoiceItem, title="no two options read the same")
def duplicate_option(item: ChoiceItem, texts: Texts) -> Objections:
    """No two options read the same once letter variants, spaces and closing punctuation are folded.

    Operators and digits keep their punctuation (`x-2` is not `x2`), and options that differ by harakat or a
    hamza alone are legal: a question of grammar or spelling asks for exactly that.
    """
    keys = texts.option_keys(item.options)
    if len(set(keys)) == len(keys):
        return
    for first, i in _alike([_plain(option, item.language) for option in item.options]):
        both = f"{excerpt(item.options[first])} and {excerpt(item.options[i])}"
        yield Objection(f"options {first} and {i} read the same: {both}", f"options[{i}]")


@check("CH04", severity="report", on=ChoiceItem, title="no two options differ by a hamza alone")
def letter_variants(item: ChoiceItem, texts: Texts) -> Objections:
    """No two options are one word in two spellings (`احمد`, `أحمد`); harakat make another word.

    Reported only: a question of spelling asks for exactly that.
    """
    keys = texts.option_keys(item.options)
    for first, i in _alike(keys):
        one, other = (_plain(item.options[place], item.language) for place in (first, i))
        words = len(keys[i]) > 1 and one.isalpha() and other.isalpha()
        if words and one != other and strip_marks(one) != strip_marks(other):
            both = f"{excerpt(item.options[first])} and {excerpt(item.options[i])}"
            yield Objection(f"options {first} and {i} are two spellings: {both}", f"options[{i}]")


def _alike(keys: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Places of each key that came before, and of the first like it."""
    seen: dict[str, int] = {}
    for place, key in enumerate(keys):
        if (first := seen.setdefault(key, place)) != place:
            yield first, place


def _plain(option: str, language: Language) -> str:
    """What a reader takes an option for: letters, marks, numbers; in a formula punctuation as well."""
    text = "".join(convert(canonical(option, language), "western").casefold().split())
    if any(c.isdecimal() or "a" <= c <= "z" or unicodedata.category(c) == "Sm" for c in text):
        return text.rstrip(".،؛:؟") or text
    letters = "".join(c for c in text if unicodedata.category(c)[0] in "LMNS" and c != "ـ")
    return letters or text
