"""CH03: options differ."""

import unicodedata

from mihakk.text import canonical
from mihakk.text.digits import convert
from schemas.item import ChoiceItem
from schemas.record import Language
from validators.checks.check import Objection, Objections, check
from validators.checks.texts import Texts, excerpt


@check("CH03", severity="block", on=ChoiceItem, title="no two options read the same")
def duplicate_option(item: ChoiceItem, texts: Texts) -> Objections:
    """No two options read the same once letter variants, spaces and closing punctuation are folded.

    Operators and digits keep their punctuation (`x-2` is not `x2`), and options that differ by harakat or a
    hamza alone are legal: a question of grammar or spelling asks for exactly that.
    """
    keys = texts.option_keys(item.options)
    if len(set(keys)) == len(keys):
        return
    seen: dict[str, int] = {}
    for i, option in enumerate(item.options):
        first = seen.setdefault(plain(option, item.language), i)
        if first != i:
            both = f"{excerpt(item.options[first])} and {excerpt(option)}"
            yield Objection(f"options {first} and {i} read the same: {both}", f"options[{i}]")


def plain(option: str, language: Language) -> str:
    """What a reader takes an option for: letters, marks, numbers; in a formula punctuation as well."""
    text = "".join(convert(canonical(option, language), "western").casefold().split())
    if any(c.isdecimal() or "a" <= c <= "z" or unicodedata.category(c) == "Sm" for c in text):
        return text.rstrip(".،؛:؟") or text
    letters = "".join(c for c in text if unicodedata.category(c)[0] in "LMNS" and c != "ـ")
    return letters or text
