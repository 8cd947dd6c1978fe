"""EX05: an explanation stands beside its own verse."""

from collections.abc import Sequence

from mihakk.schemas.item import ExplanationItem
from mihakk.schemas.poem import Poem
from mihakk.validators.checks.check import Objection, Objections, check
from mihakk.validators.checks.explained import explained
from mihakk.validators.checks.texts import Texts

LEAST_SHARED = 4
"""Words that explanations must share with the neighbouring verses, over the whole poem."""


@check("EX05", severity="flag", on=Poem | ExplanationItem, title="explanations stand beside their own verses")
def shifted(subject: Poem | ExplanationItem, texts: Texts) -> Objections:
    """The explanations do not share far more words with the verse before or after their own: a row shift."""
    pairs = list(explained(subject))
    if len(pairs) < 2:
        return
    verses = [_stems(texts.words(pair.text)) for pair in pairs]
    meanings = [_stems(texts.words(pair.explanation)) for pair in pairs]
    own = sum(len(verse & meaning) for verse, meaning in zip(verses, meanings, strict=True))
    for step, side in ((1, "after"), (-1, "before")):
        there = sum(
            len(verses[i + step] & meaning)
            for i, meaning in enumerate(meanings)
            if 0 <= i + step < len(verses)
        )
        if there >= LEAST_SHARED and there > 3 * own:
            yield Objection(
                f"explanations share {own} words with their own verses and {there} with the ones {side}",
                "explanations",
            )


def _stems(words: Sequence[str]) -> frozenset[str]:
    """Words of some weight without article and conjunction, so that inflected forms of one word can meet."""
    bare = (word.removeprefix("و").removeprefix("ال") for word in words)
    return frozenset(word for word in bare if len(word) >= 4)
