"""CH03 and CH04: options differ, and by more than a hamza."""

import unicodedata
from collections.abc import Iterator

from mihakk.machinery.text import canonical, strip_marks
from mihakk.machinery.text.digits import convert
from mihakk.schemas.item import ChoiceItem
from mihakk.schemas.record import Language
from mihakk.validators.checks.check import Objection, Objections, check
from mihakk.validators.checks.texts import Texts, excerpt, option_name


@check("CH03", severity="block", on=ChoiceItem, title="no two options read the same")
def duplicate_option(item: ChoiceItem, texts: Texts) -> Objections:
    """No two options read the same: in prose but for punctuation and spaces, elsewhere sign by sign.

    Options that differ by harakat or a hamza alone are legal: a question of grammar or spelling asks for
    exactly that.
    """
    for first, i in _alike(item, texts):
        one, other = item.options[first], item.options[i]
        spoken = item.language_of("options")
        if _letters(one, spoken) == _letters(other, spoken):
            both = f"{excerpt(one)} and {excerpt(other)}"
            yield Objection(f"{_named(first, i)} read the same: {both}", f"options[{i}]")


@check("CH04", severity="report", on=ChoiceItem, title="no two options differ by a hamza alone")
def letter_variants(item: ChoiceItem, texts: Texts) -> Objections:
    """No two options are one word in two spellings (`احمد`, `أحمد`); harakat make another word.

    Reported only: a question of spelling asks for exactly that.
    """
    for first, i in _alike(item, texts):
        one, other = (_letters(item.options[place], item.language_of("options")) for place in (first, i))
        words = len(one) > 1 and one.isalpha() and other.isalpha()
        if words and one != other and strip_marks(one) != strip_marks(other):
            both = f"{excerpt(item.options[first])} and {excerpt(item.options[i])}"
            yield Objection(
                f"{_named(first, i)} are two spellings: {both}",
                f"options[{i}]",
            )


def _alike(item: ChoiceItem, texts: Texts) -> Iterator[tuple[int, int]]:
    """Places of each option that is compared as one before it is, and of the first like it."""
    # Whatever is compared as one has the same letters.
    if len({folded.replace(" ", "") for folded in texts.option_folds(item.options)}) == len(item.options):
        return
    seen: dict[str, int] = {}
    for place, option in enumerate(item.options):
        if (first := seen.setdefault(texts.compared(option), place)) != place:
            yield first, place


def _named(first: int, other: int) -> str:
    return f"options {option_name(first)} and {option_name(other)}"


def _letters(option: str, language: Language) -> str:
    """The letters, marks and numbers of an option."""
    text = convert(canonical(option, language), "western").casefold()
    return "".join(c for c in text if unicodedata.category(c)[0] in "LMN" and c != "ـ")
