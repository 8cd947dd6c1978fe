"""Wrong explanations of idioms: written by a model that never sees the idiom, or another idiom's own."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from typing import Literal

from mihakk.generators.corpus import Corpus
from mihakk.generators.corpus_rows import Phrase
from mihakk.generators.task import Context, Options, OptionsT, Skip, Written
from mihakk.generators.writing.replies import length_ratio, same_text, unfinished, wrong_language
from mihakk.generators.writing.writer import prose
from mihakk.machinery.text import word_keys
from mihakk.schemas.idiom import Idiom
from mihakk.schemas.record import Language, Record

NEAR_IN_MEANING = 0.90
"""Cosine from which two explanations may say the same: bundled e5 gives paraphrases .93 and more."""
NEAR_IN_WORDS = 0.34
"""Share of common words (Jaccard) from which they may say the same, where there are no vectors."""
NEAR_IN_LENGTH = (0.75, 1.33)


class MeaningOptions(Options):
    """How wrong explanations are made."""

    strategy: Literal["auto", "general", "other_explanation"] = "auto"
    """auto: written by the model where one is configured, else another idiom's explanation."""


class WrongExplanation(Record):
    """The reply asked for."""

    explanation: str = prose("A wrong explanation of about the same length, in the same language.")


@dataclass(frozen=True, slots=True)
class Wrong:
    """A wrong explanation and where it is from."""

    right: str
    """The right explanation that it stands beside."""
    text: str
    strategy: str
    records: tuple[str, ...] = ()
    written: Written | None = None
    notes: dict[str, str] = field(default_factory=dict)
    """What the metadata says of it."""


def wrong_explanation(ctx: Context[MeaningOptions], idiom: Idiom) -> Wrong:
    """One wrong explanation of the idiom; the same one for every task of a build.

    Raises:
        Skip: There is none, or no right one.
    """
    right = right_explanation(ctx, idiom)
    strategy = ctx.options.strategy
    if strategy == "general" or (strategy == "auto" and ctx.writer is not None):
        return _written(ctx, idiom, right)
    return _borrowed(ctx, idiom, right)


def right_explanation(ctx: Context[OptionsT], idiom: Idiom) -> str:
    """The idiom's meaning in words that are not its own, as an option shows it.

    Raises:
        Skip: There is none.
    """
    explained = idiom.explanation.shown
    if not word_keys(explained, idiom.language):
        raise Skip("no_explanation")
    if wrong_language(explained, idiom.language):
        raise Skip("explanation_language")
    meaning = ctx.corpus.phrases[ctx.corpus.phrase_number[idiom.id]].meaning
    if not meaning:
        # Whoever only compares words would know the right one.
        raise Skip("explanation_repeats_idiom")
    return meaning


def _written(ctx: Context[MeaningOptions], idiom: Idiom, right: str) -> Wrong:
    def rule(reply: WrongExplanation) -> str:
        copied = ctx.copies_example("meaning_choice", idiom.language, reply.explanation)
        refused = ctx.refuses(idiom.id, reply.explanation, idiom.language)
        again = "refused: people found it a poor wrong answer; give another meaning" if refused else ""
        return _objection(reply.explanation, right, idiom.language) or copied or again

    reply, written = ctx.write(
        idiom.id, "meaning_choice", idiom.language, WrongExplanation, rule, explanation=right
    )
    return Wrong(right, reply.explanation.strip(), "general", written=written)


def _objection(wrong: str, right: str, language: Language) -> str:
    """What is wrong with a wrong explanation, for the repair request."""
    if problem := wrong_language(wrong, language):
        return f"wrong_language: {problem}"
    if unfinished(wrong):
        return "unfinished: it breaks off; say what the meaning is"
    if same_text(wrong, right, language):
        return "same_text: it says the same as the right explanation; give another meaning"
    ratio = length_ratio(wrong, right)
    if not 1 / 3 <= ratio <= 3:
        return f"length: it is {ratio:.1f} times as long as the right explanation; keep to the same length"
    return ""


def _borrowed(ctx: Context[MeaningOptions], idiom: Idiom, right: str) -> Wrong:
    """Another idiom's meaning: of the same kind and length, and another meaning as far as can be told."""
    corpus = ctx.corpus
    own = corpus.phrases[corpus.phrase_number[idiom.id]]
    # Idioms of this one's meaning that stand before the wrong one's: each takes the first that fits, so this
    # one leaves as many to them. Else the set would hold one question twice, in the words of two idioms.
    alike: list[str] = []
    left = 0
    for other in chain(corpus.after(own), other_idioms(corpus, own, partial(_unlike, own))):
        if not other.meaning or ctx.refuses(idiom.id, other.meaning, idiom.language):
            continue
        if not left and _same_meaning(own, other):
            alike.append(other.id)
        elif differs(corpus, own, other) and not own.forms & other.meaning_forms:
            # It means something else, and shares no more words with the idiom than the right one does: none.
            if left == len(alike):
                return Wrong(right, other.meaning, "other_explanation", records=(other.id, *alike))
            left += 1
    raise Skip("no_other_explanation")


def _unlike(own: Phrase, other: Phrase) -> tuple[bool, ...]:
    least, most = NEAR_IN_LENGTH
    disagrees = other.agreement != own.agreement
    return other.genre != own.genre, disagrees, not least <= length_ratio(other.meaning, own.meaning) <= most


def differs(corpus: Corpus, own: Phrase, other: Phrase) -> bool:
    """Two idioms mean different things, as far as words and vectors tell."""
    cosines = corpus.phrase_similarity(corpus.phrase_number[own.id], [corpus.phrase_number[other.id]])
    if cosines is not None and cosines[0] >= NEAR_IN_MEANING:
        return False
    return _means_otherwise(own, other)


def other_idioms(
    corpus: Corpus, own: Phrase, unlike: Callable[[Phrase], tuple[bool, ...]]
) -> Iterator[Phrase]:
    """Idioms of its split and dialect that mean something else: those alike in form first, then the nearest.

    Without vectors those alike in form come in seeded order.
    """
    number = corpus.phrase_number[own.id]
    beside = [n for n in corpus.in_dialect[corpus.splits[own.id], own.language, own.dialect] if n != number]
    others = list(corpus.drawn(own.id, "phrases", beside))
    cosines = corpus.phrase_similarity(number, others)
    near = [0.0] * len(others) if cosines is None else cosines.tolist()
    order = sorted(
        range(len(others)), key=lambda place: (*unlike(corpus.phrases[others[place]]), -near[place])
    )
    for place in order:
        other = corpus.phrases[others[place]]
        if near[place] < NEAR_IN_MEANING and _means_otherwise(own, other):
            yield other


def _means_otherwise(own: Phrase, other: Phrase) -> bool:
    """As far as words tell; and the other's text may be shown under the same licence."""
    if other.licence != own.licence or other.phrase_key == own.phrase_key:
        return False
    return not _same_meaning(own, other)


def _same_meaning(own: Phrase, other: Phrase) -> bool:
    """Two idioms may mean the same, as far as words tell."""
    shared = len(own.says & other.says) / max(1, len(own.says | other.says))
    return shared >= NEAR_IN_WORDS or same_text(own.meaning, other.meaning, own.language)
