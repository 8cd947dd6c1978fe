"""Paraphrases of a couplet's prose, and how far they moved from it in words and in meaning."""

from __future__ import annotations

from collections import Counter
from math import exp, log

from pydantic import Field

from generators.corpus import Line
from generators.parts.prose import Cue, ProseOptions, leaks, prose_cue
from generators.task import Context, Skip, Written
from generators.writing.replies import length_ratio, unfinished, wrong_language
from generators.writing.writer import prose
from mihakk.errors import RecordRejected
from mihakk.text import word_keys
from schemas.poem import Couplet, Poem
from schemas.record import Language, Record


class ParaphraseOptions(ProseOptions):
    """How near in meaning and how far in words a paraphrase must be (GhazalBench: .891 and 1.574)."""

    least_similarity: float = Field(default=0.88, ge=-1, le=1)
    """Cosine of the two texts' vectors; not asked for without embeddings."""
    most_overlap: float = Field(default=25.0, ge=0, le=100)
    """BLEU of the paraphrase against the prose (self-BLEU), 0 to 100."""


class Paraphrase(Record):
    """The reply asked for."""

    paraphrase: str = prose("The same meaning in other words and another order.")


def self_bleu(text: str, reference: str, language: Language) -> float:
    """BLEU-4 of one text against one other over word keys, 0 to 100; higher n-grams smoothed by halving.

    The smoothing is sacrebleu's `exp`: each n-gram order without a match counts half of the one before.
    """
    words, against = word_keys(text, language), word_keys(reference, language)
    if not words or not against:
        return 0.0
    total, halved = 0.0, 1.0
    orders = min(4, len(words))
    for size in range(1, orders + 1):
        ours, theirs = _ngrams(words, size), _ngrams(against, size)
        matched = sum((ours & theirs).values())
        if size == 1 and not matched:
            return 0.0
        if not matched:
            halved /= 2
        total += log((matched or halved) / sum(ours.values()))
    brevity = min(0.0, 1 - len(against) / len(words))
    return 100 * exp(brevity + total / orders)


def _ngrams(words: list[str], size: int) -> Counter[tuple[str, ...]]:
    return Counter(tuple(words[n : n + size]) for n in range(len(words) - size + 1))


def paraphrase_cue(ctx: Context[ParaphraseOptions], poem: Poem, couplet: Couplet, line: Line) -> Cue | Skip:
    """The prose in other words, with its similarity and self-BLEU."""
    cue = prose_cue(ctx, poem, couplet, line)
    if isinstance(cue, Skip):
        return cue
    if ctx.writer is None:
        return Skip(couplet.id, "no_model")
    request = ctx.asked(couplet.id, "paraphrase_cued", poem.language, prose=cue.text)

    def objection(reply: Paraphrase) -> str:
        copied = ctx.copies_example("paraphrase_cued", poem.language, reply.paraphrase)
        return _objection(ctx, reply.paraphrase, cue.text, line) or copied

    try:
        reply = ctx.writer.write(request, Paraphrase, objection)
    except RecordRejected as error:
        return Skip(couplet.id, error.reason, error.detail)
    text = reply.paraphrase.strip()
    measures = {"self_bleu": f"{self_bleu(text, cue.text, poem.language):.3f}"}
    similarity = ctx.meaning.similarity(text, cue.text)
    if similarity is not None:
        measures["similarity"] = f"{similarity:.3f}"
    return Cue(text, Written.by(ctx.writer, request), measures)


def _objection(ctx: Context[ParaphraseOptions], text: str, prose: str, line: Line) -> str:
    if problem := wrong_language(text, line.language):
        return f"wrong_language: {problem}"
    if leaks(text, line.second, line.language):
        return "leaks_answer: it quotes the verse; use other words"
    if unfinished(text):
        return "unfinished: it breaks off; say the whole"
    overlap = self_bleu(text, prose, line.language)
    if overlap > ctx.options.most_overlap:
        return "same_words: it repeats too many words of the text; use other words and another order"
    if not 1 / 3 <= length_ratio(text, prose) <= 3:
        return "length: keep to about the length of the text"
    similarity = ctx.meaning.similarity(text, prose)
    if similarity is not None and similarity < ctx.options.least_similarity:
        return "other_meaning: it no longer says the same; keep the whole meaning"
    return ""
