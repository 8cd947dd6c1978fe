"""CH16: no wrong option says what the gold says."""

import re
from difflib import SequenceMatcher

from mihakk.machinery.text import strip_marks
from mihakk.machinery.text.digits import convert
from mihakk.schemas.item import ChoiceItem
from mihakk.validators.checks.check import Objection, Objections, check
from mihakk.validators.checks.lexicon import option_words
from mihakk.validators.checks.texts import Texts, excerpt, is_outside

ALIKE = 0.75
"""Likeness to the gold of a third option from which the question asks for a form of words."""
ALIKE_SHORT = 0.6
"""Of words of four letters at most."""
SHORT = 4
FORM_WORDS = 3
"""Words up to which options may be forms of one word or phrase."""
SYMBOL = 3
"""Letters up to which case makes another symbol: `Na` and `NA`."""
SHORTEST = 2
"""Letters of an option below which case and article are all there is to it."""
_NUMBER = re.compile(r"\d+")
_DECIMAL = re.compile(r"\d+(?:[.,:]\d+)*+")
_THOUSANDS = re.compile(r"\d{1,3}(?:[.,]\d{3})++")
_WORD = re.compile(r"[^\W\d_]+")
_SIGNS = re.compile(
    r"[+*/^%<>=$°()\[\]{}|\\~√≤≥≠±∞×÷→⋅·‒－!#_&@]|(?<=\d)[.,:'\"-]|[.,:-](?=\d)|(?<!\w)[-–−]|[-–−](?!\w)"
)


@check(
    "CH16",
    severity="flag",
    on=ChoiceItem,
    needs=("options.numbers", "options.spellings"),
    title="no wrong option is the gold in another spelling",
)
def second_right(item: ChoiceItem, texts: Texts) -> Objections:
    """No wrong option differs from the gold by an article, a number word or the school of its spelling alone.

    `3` and `three`, `the Nile` and `Nile`, `مكتبة` and `مكتبه`. Where a third option is nearly the same as
    well, the question asks for the form, as it does where vowels are written. Signs of a formula count.
    None of five findings read in outside sets was right: there it counts.
    """
    gold = item.only_gold
    if gold is None:
        return
    said = option_words(item.language_of("options")).meanings(texts.option_folds(item.options))
    right = said[gold]
    if len(right) < SHORTEST and not right.isdigit():
        return
    same = [place for place, other in enumerate(said) if other == right and place != gold]
    if len(same) != 1:
        return
    option, written = item.options[same[0]], item.options[gold]
    if option.split() == written.split() or not _same_signs(option, written):
        return
    if any(strip_marks(one) != one for one in (option, written)):
        return
    if _symbols(option, written) or not _same_numbers(option, written):
        return
    others = [other for place, other in enumerate(said) if place not in (gold, same[0])]
    if written.count(" ") < FORM_WORDS and any(_like(other, right) for other in others):
        return
    detail = f"{excerpt(option)} is the gold {excerpt(written)} in another spelling"
    yield Objection(detail, f"options[{same[0]}]", is_outside(item))


def _same_signs(one: str, other: str) -> bool:
    return _SIGNS.findall(one.rstrip(" .")) == _SIGNS.findall(other.rstrip(" ."))


def _symbols(one: str, other: str) -> bool:
    """Whether options differ by the case of a symbol, as genotypes and formulas do."""
    if one.casefold() != other.casefold():
        return False
    pairs = zip(_WORD.findall(one), _WORD.findall(other), strict=False)
    return any(
        len(word) <= SYMBOL or not (word.islower() or word.istitle() or word.isupper())
        for pair in pairs
        if pair[0] != pair[1]
        for word in pair
    )


def _same_numbers(one: str, other: str) -> bool:
    """Whether numbers that both write in digits are the same: `12,5` is not `1,25`, `1,000` is `1000`."""
    numbers = [[_without_thousands(number) for number in _DECIMAL.findall(text)] for text in (one, other)]
    return not all(numbers) or numbers[0] == numbers[1]


def _without_thousands(number: str) -> str:
    plain = convert(number, "western")
    return re.sub("[.,]", "", plain) if _THOUSANDS.fullmatch(plain) else plain


def _like(one: str, other: str) -> bool:
    """Whether two options are nearly the same; numbers that differ make them other answers."""
    if _NUMBER.findall(one) != _NUMBER.findall(other):
        return False
    bound = ALIKE if len(other) > SHORT else ALIKE_SHORT
    return SequenceMatcher(None, one, other, autojunk=False).ratio() >= bound
