"""SE01: no sensitive wording unseen by people."""

from collections.abc import Iterator

from validators.checks.check import EVERYTHING, Objection, check
from validators.checks.lexicon import sensitive_words
from validators.checks.texts import Texts, excerpt


@check("SE01", severity="flag", on=EVERYTHING, title="no sensitive or offensive wording")
def wording(texts: Texts) -> Iterator[Objection]:
    """No word of the sensitive lexicon but as somebody's name (`Laqit ibn Malik`).

    People decide: literature may use any of them with good reason.
    """
    for kind, phrase in sensitive_words(texts.language).spoken(texts.vocabulary, texts.whole):
        if f" {phrase} بن " in texts.whole or f" بن {phrase} " in texts.whole:
            continue
        where = next((name for name, text in texts.parts if f" {phrase} " in f" {texts.folded(text)} "), "")
        yield Objection(f"sensitive wording ({kind}): {excerpt(phrase)}", where)
