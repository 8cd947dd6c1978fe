"""EX04: each verse has its own explanation."""

from itertools import combinations

from mihakk.schemas.item import ExplanationItem
from mihakk.schemas.poem import Poem
from mihakk.validators.checks.check import Objection, Objections, check
from mihakk.validators.checks.explained import explained
from mihakk.validators.checks.texts import Texts

SIMILAR = 0.8
LEAST_WORDS = 5


@check("EX04", severity="flag", on=Poem | ExplanationItem, title="no two verses share one explanation")
def repeated(subject: Poem | ExplanationItem, texts: Texts) -> Objections:
    """No two different verses of a poem have explanations with nearly the same words; a refrain may."""
    found = [
        (where, texts.key(text), frozenset(words))
        for where, text, explanation in explained(subject)
        if len(words := texts.words(explanation)) >= LEAST_WORDS
    ]
    for (one, verse, mine), (other, second, others) in combinations(found, 2):
        if verse == second or min(len(mine), len(others)) < SIMILAR * max(len(mine), len(others)):
            continue
        if len(mine & others) >= SIMILAR * len(mine | others):
            yield Objection(f"nearly the same as {one}", other)
