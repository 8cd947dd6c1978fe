"""SE01: no sensitive wording unseen by people."""

from mihakk.validators.checks.check import Checked, Objection, Objections, check
from mihakk.validators.checks.lexicon import sensitive_words
from mihakk.validators.checks.texts import Texts, excerpt, is_outside

LONGEST_REST = 2
"""Letters of a word's second half at the head of a second hemistich (`شخ / صا`)."""


@check("SE01", severity="flag", needs=("sensitive",), title="no sensitive or offensive wording")
def wording(subject: Checked, texts: Texts) -> Objections:
    """No word of the sensitive lexicon but as somebody's name (`Laqit ibn Malik`) or as a word's first half.

    People decide: literature may use any of them with good reason. In an outside benchmark it is only
    counted: there they stand in questions of law and of what is offensive, and names are spelt like them.
    """
    for mine in texts.by_language():
        for kind, phrase in sensitive_words(mine.language).spoken(mine.vocabulary, mine.whole):
            if f" {phrase} بن " in mine.whole or f" بن {phrase} " in mine.whole:
                continue
            places = [
                (number, name)
                for number, (name, text) in enumerate(mine.parts)
                if f" {phrase} " in f" {mine.folded(text)} "
            ]
            if places and all(_broken(phrase, number, mine) for number, _ in places):
                continue
            where = places[0][1] if places else ""
            yield Objection(f"sensitive wording ({kind}): {excerpt(phrase)}", where, is_outside(subject))


def _broken(phrase: str, number: int, texts: Texts) -> bool:
    """Whether the phrase is the beginning of a word that a verse divides between its hemistichs."""
    name, text = texts.parts[number]
    if (
        not name.endswith(".first")
        or not texts.folded(text).endswith(phrase)
        or number + 1 == len(texts.parts)
    ):
        return False
    rest = texts.words(texts.parts[number + 1][1])
    return bool(rest) and len(rest[0]) <= LONGEST_REST
