"""Options that speak of the other options: by letter, by place, or of all of them."""

import re
from collections.abc import Sequence

# All but `_MARKED` is matched against folded options: no marks, one spelling of hamza, yeh and teh marbuta.
_LETTER = "[ابجدهa-e]"
_AROUND = r"(?:كل من|الاجابه|الاجابات|الاجابتان|الخيار|الخياران|فقط|معا|صحيحه|صحيحتان|both|only|options?)"
_LETTERS = re.compile(rf"(?:{_AROUND} )*{_LETTER}(?: ?(?:(?:و|and) ?)?{_LETTER})+(?: {_AROUND})*")
_MARK = r"(?:[أابجده]|[A-Ea-e])\s*+[)\]]*+"
_MARKED = re.compile(rf"{_MARK}\s*+(?:[و&+,،/-]|and)\s*+[(\[]*+\s*+{_MARK}")
_PLACE = re.compile(
    "ما سبق|ماسبق|ما ذكر|سبق ذكره|الاجابات السابقه|الخيارات السابقه|المذكور اعلاه|الاجابتان السابقتان"
    "|(?:اول|اخر) (?:اجابتين|خيارين|اختيارين)|of the above|(?:موارد|گزينه ?هاي) (?:بالا|فوق)"
)
_ORDINAL = "(?:الاولي|الثانيه|الثالثه|الرابعه|الاول|الثاني|الثالث|الرابع)"
_ORDINALS = re.compile(
    rf"(?:الاجابتان |الاجابه )?{_ORDINAL}(?: ?و ?{_ORDINAL})+(?: (?:معا|فقط|صحيحتان|صحيحه))*"
)
_ONE_ORDINAL = re.compile(rf"(?<!\w){_ORDINAL}(?!\w)")
_ALL = re.compile(
    "(?:جميع|كل) (?:الاجابات|العبارات)|لا ?توجد اجابه|لا شيء|لا شي|ليس ايا|كلاهما|جميعهم|كلها"
    "|همه موارد|هيچ ?كدام|همه گزينه ?ها"
)
_LEAST_OTHERS = 2
"""Options without an ordinal beside which one of two ordinals (`the first and the second`) names them."""


def names_others(option: str, folded: str) -> bool:
    """Whether the option names others by letter or place: `أ و ب معا`, `كل ما سبق`, `all of the above`.

    Args:
        option: As it stands.
        folded: Its matching form, one space between words.
    """
    spaces = folded.count(" ")
    if spaces > 7:
        return False
    if spaces <= 5 and ("of the above" in folded if folded.isascii() else _PLACE.search(folded)):
        return True
    # A word such as `جود` is spelt like three of these letters joined by `and`.
    return spaces > 0 and _LETTERS.fullmatch(folded) is not None and _MARKED.search(option) is not None


def name_others(options: Sequence[str], folds: Sequence[str]) -> list[int]:
    """Places of the options that name others, `the first and the second` among options that are none such."""
    found = [place for place, both in enumerate(zip(options, folds, strict=True)) if names_others(*both)]
    pairs = [
        place for place, folded in enumerate(folds) if not folded.isascii() and _ORDINALS.fullmatch(folded)
    ]
    if pairs and sum(not _ONE_ORDINAL.search(folded) for folded in folds) >= _LEAST_OTHERS:
        found = sorted({*found, *pairs})
    return found


def is_meta(option: str, folded: str) -> bool:
    """Whether the option speaks of the others and says nothing of its own."""
    return names_others(option, folded) or (folded.count(" ") <= 4 and _ALL.match(folded) is not None)
