"""TX20: a text is in the language it is said to be in."""

from mihakk.machinery.languages import pack
from mihakk.machinery.text.comparison import holds_signs
from mihakk.machinery.text.script import own_share
from mihakk.schemas.item import Item
from mihakk.validators.checks.check import Objection, Objections, check
from mihakk.validators.checks.texts import excerpt, is_outside

LEAST_LETTERS = 12
SHARE = 0.1


@check(
    "TX20", severity="flag", on=Item, needs=("script",), title="the question is in the script of its language"
)
def language(item: Item) -> Objections:
    """One letter in ten of a question, at least, is of the script its language is written in.

    Formulas and code are in nobody's script and don't count. Short questions about a foreign term have more.
    None of four findings read in outside sets was right: there it counts.
    """
    text = item.question
    script = pack(item.language).script
    # Letters of the Arabic script take two bytes: too rough a count to accuse, good enough to acquit.
    beyond = len(text.encode(errors="replace")) - len(text)
    if not script or (script == "Arab" and 2 * beyond > len(text)) or (script == "Latn" and not beyond):
        return
    if sum(map(str.isalpha, text)) < LEAST_LETTERS:
        return
    if script not in ("Arab", "Latn") and own_share(text, item.language) >= SHARE:
        return
    prose = " ".join(part for part in text.split() if not holds_signs(part, item.language))
    if sum(map(str.isalpha, prose)) < LEAST_LETTERS:
        return
    share = own_share(prose, item.language)
    if share < SHARE:
        detail = f"{share:.0%} of the letters are of the language's script: {excerpt(text)}"
        yield Objection(detail, "question", is_outside(item))
