"""TX20: a text is in the language it is said to be in."""

from mihakk.machinery.text.comparison import holds_signs
from mihakk.machinery.text.script import script_shares
from mihakk.schemas.item import Item
from mihakk.validators.checks.check import Objection, Objections, check
from mihakk.validators.checks.texts import excerpt

LEAST_LETTERS = 12
SHARE = 0.3


@check("TX20", severity="flag", on=Item, title="the question is in the script of its language")
def language(item: Item) -> Objections:
    """Three letters in ten of a question, at least, are of the script its language is written in.

    Formulas and code are in nobody's script and don't count.
    """
    text = item.question
    # Letters of the Arabic script take two bytes: too rough a count to accuse, good enough to acquit.
    beyond = len(text.encode(errors="replace")) - len(text)
    if 2 * beyond > len(text) if item.language != "en" else not beyond:
        return
    if sum(map(str.isalpha, text)) < LEAST_LETTERS:
        return
    prose = " ".join(part for part in text.split() if not holds_signs(part, item.language))
    if sum(map(str.isalpha, prose)) < LEAST_LETTERS:
        return
    share = script_shares(prose)["latin" if item.language == "en" else "arabic"]
    if share < SHARE:
        yield Objection(
            f"{share:.0%} of the letters are of the language's script: {excerpt(text)}", "question"
        )
