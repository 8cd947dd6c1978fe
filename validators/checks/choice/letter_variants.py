"""CH04: options differ by more than a hamza."""

from mihakk.text import strip_marks
from schemas.item import ChoiceItem
from validators.checks.check import Objection, Objections, check
from validators.checks.choice.duplicate_option import plain
from validators.checks.texts import Texts, excerpt


@check("CH04", severity="report", on=ChoiceItem, title="no two options differ by a hamza alone")
def letter_variants(item: ChoiceItem, texts: Texts) -> Objections:
    """No two options are one word in two spellings (`احمد`, `أحمد`); harakat make another word.

    Reported only: a question of spelling asks for exactly that.
    """
    keys = texts.option_keys(item.options)
    if len(set(keys)) == len(keys):
        return
    seen: dict[str, int] = {}
    for i, (key, option) in enumerate(zip(keys, item.options, strict=True)):
        first = seen.setdefault(key, i)
        if first == i or len(key) < 2:
            continue
        one, other = plain(item.options[first], item.language), plain(option, item.language)
        if one != other and strip_marks(one) != strip_marks(other) and one.isalpha() and other.isalpha():
            both = f"{excerpt(item.options[first])} and {excerpt(option)}"
            yield Objection(f"options {first} and {i} are two spellings: {both}", f"options[{i}]")
