"""EX03: an explanation of the words that stand there."""

import re

from mihakk.machinery.text import words_key
from mihakk.schemas.item import ExplanationItem
from mihakk.schemas.poem import Poem
from mihakk.validators.checks.check import Objection, Objections, check
from mihakk.validators.checks.explained import explained
from mihakk.validators.checks.texts import excerpt

QUOTED = re.compile(r"[«\"“]([^»\"”\n]{2,40})[»\"”]|(?:كلمة|لفظة|واژهٔ?|کلمهٔ?)\s++[(:]?\s*+(\w+)")


@check(
    "EX03", severity="flag", on=Poem | ExplanationItem, title="words an explanation quotes stand in the poem"
)
def foreign_word(subject: Poem | ExplanationItem) -> Objections:
    """Every word or phrase that an explanation puts in quotation marks stands in the poem."""
    pairs = list(explained(subject))
    if not any(
        "«" in pair.explanation or '"' in pair.explanation or "“" in pair.explanation for pair in pairs
    ):
        return
    language = subject.language
    everything = " ".join(words_key(pair.text, language) for pair in pairs).replace(" ", "")
    for where, _, explanation in pairs:
        absent = []
        for match in QUOTED.finditer(explanation):
            quoted = next(filter(None, match.groups()))
            words = words_key(quoted, language).split()
            if words and not any(_bare(word) in everything for word in words):
                absent.append(quoted)
        if absent:
            yield Objection(f"speaks of {excerpt('، '.join(absent))}, which the poem does not have", where)


def _bare(word: str) -> str:
    """The word without its article: an explanation names a word in another form than the verse."""
    return word[2:] if word.startswith("ال") and len(word) > 4 else word
