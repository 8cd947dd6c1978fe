"""Wrong explanations of idioms: written by a model that never sees the idiom, or another idiom's own."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from typing import Literal

from pydantic import Field

from mihakk.generators.corpus import Corpus
from mihakk.generators.corpus_rows import Phrase
from mihakk.generators.neighbours import NEAR_IN_MEANING, WRONG, is_variant, length_class, same_meaning
from mihakk.generators.task import Context, Options, OptionsT, Skip, Written
from mihakk.generators.writing.replies import length_ratio, same_text, unfinished, wrong_language
from mihakk.generators.writing.writer import prose
from mihakk.machinery.text import word_keys
from mihakk.schemas.idiom import Idiom
from mihakk.schemas.record import Language, Record


class MeaningOptions(Options):
    """How wrong explanations are made."""

    strategy: Literal["auto", "general", "other_explanation"] = "auto"
    """auto: written by the model where one is configured, else other idioms' meanings."""
    wrong: int = Field(default=WRONG, ge=1, le=WRONG)
    """Wrong meanings beside the right one, where they are other idioms'; a model writes one."""


class WrongExplanation(Record):
    """The reply asked for."""

    explanation: str = prose("A wrong explanation of about the same length, in the same language.")


@dataclass(frozen=True, slots=True)
class Wrong:
    """Wrong explanations and where they are from."""

    right: str
    """The right explanation that they stand beside."""
    texts: tuple[str, ...]
    strategy: str
    records: tuple[str, ...] = ()
    written: Written | None = None
    notes: dict[str, str] = field(default_factory=dict)
    """What the metadata says of it."""


def wrong_explanations(ctx: Context[MeaningOptions], idiom: Idiom, most: int = WRONG) -> Wrong:
    """Wrong explanations of the idiom: one that the model writes, the same for every task, or other idioms'.

    Args:
        ctx: Of the task.
        idiom: The idiom.
        most: So many at most.

    Raises:
        Skip: There is none, or no right one.
    """
    right = right_explanation(ctx, idiom)
    strategy = ctx.options.strategy
    if strategy == "general" or (strategy == "auto" and ctx.writer is not None):
        return _written(ctx, idiom, right)
    # Where the model writes for some idioms, all questions of the task have as many options.
    written_for_some = strategy == "auto" and ctx.options.written is not None
    return _borrowed(ctx, idiom, right, min(most, 1 if written_for_some else ctx.options.wrong))


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
    own = ctx.corpus.phrases[ctx.corpus.phrase_number[idiom.id]]
    if own.lacks:
        raise Skip(f"no_meaning_{own.lacks}")
    if not own.meaning:
        # Whoever only compares words would know the right one.
        raise Skip("explanation_repeats_idiom")
    return own.meaning


def _written(ctx: Context[MeaningOptions], idiom: Idiom, right: str) -> Wrong:
    def rule(reply: WrongExplanation) -> str:
        copied = ctx.copies_example("meaning_choice", idiom.language, reply.explanation)
        refused = ctx.refuses(idiom.id, reply.explanation, idiom.language)
        again = "refused: people found it a poor wrong answer; give another meaning" if refused else ""
        return _objection(reply.explanation, right, idiom.language) or copied or again

    reply, written = ctx.write(
        idiom.id, "meaning_choice", idiom.language, WrongExplanation, rule, explanation=right
    )
    return Wrong(right, (reply.explanation.strip(),), "general", written=written)


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


def _borrowed(ctx: Context[MeaningOptions], idiom: Idiom, right: str, most: int) -> Wrong:
    """Other idioms' meanings, as the corpus shares them out; what people refused is left out."""
    corpus = ctx.corpus
    shared_out = corpus.wrong_meanings[idiom.id]
    if most < len(shared_out):
        first = corpus.one_wrong_meaning[idiom.id]
        shared_out = tuple(sorted(shared_out, key=lambda other: other.id != first))
    kept = [one for one in shared_out if not ctx.refuses(idiom.id, one.meaning, idiom.language)][:most]
    if len(kept) < min(most, len(shared_out)):
        own = corpus.phrases[corpus.phrase_number[idiom.id]]
        kept += islice(_others(ctx, own, [*shared_out]), most - len(kept))
    if len(kept) < most:
        raise Skip("no_other_explanation")
    return Wrong(
        right,
        tuple(one.meaning for one in kept),
        "other_explanation",
        records=tuple(one.id for one in kept),
    )


def _others(ctx: Context[MeaningOptions], own: Phrase, taken: list[Phrase]) -> Iterator[Phrase]:
    """More idioms whose meanings are wrong, in place of those that people refused."""
    for other in other_idioms(ctx.corpus, own, partial(_unlike, own)):
        if (
            not other.meaning
            or ctx.refuses(own.id, other.meaning, own.language)
            or own.forms & other.meaning_forms
        ):
            continue
        if not is_variant(own, other) and all(differs(ctx.corpus, one, other) for one in taken):
            taken.append(other)
            yield other


def _unlike(own: Phrase, other: Phrase) -> tuple[bool, ...]:
    return (
        other.genre != own.genre,
        other.agreement != own.agreement,
        length_class(other) != length_class(own),
    )


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
    return not same_meaning(own, other)
