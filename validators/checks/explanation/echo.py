"""EX06: an explanation says more than its text."""

from mihakk.schemas.idiom import Idiom
from mihakk.schemas.item import ExplanationItem
from mihakk.schemas.poem import Poem
from mihakk.validators.checks.check import Objection, Objections, check
from mihakk.validators.checks.explained import explained
from mihakk.validators.checks.texts import Texts, excerpt


@check("EX06", severity="flag", on=Idiom | Poem | ExplanationItem, title="no explanation repeats its text")
def echo(subject: Idiom | Poem | ExplanationItem, texts: Texts) -> Objections:
    """No explanation is the verse or phrase itself, or holds nothing beyond it."""
    for where, text, explanation in explained(subject):
        own, said = texts.key(text), texts.key(explanation)
        if said and (said in own or (own and own in said and len(said) < 1.2 * len(own))):
            yield Objection(f"repeats what it should explain: {excerpt(explanation)}", where)
