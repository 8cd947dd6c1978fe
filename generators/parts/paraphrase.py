"""Paraphrases of a couplet's prose, and how far they moved from it in words and in meaning."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from math import exp, log

from pydantic import Field

from mihakk.generators.corpus_rows import Line
from mihakk.generators.parts.prose import Cue, ProseOptions, leaks, prose_cue
from mihakk.generators.task import Context
from mihakk.generators.writing.replies import length_ratio, unfinished, wrong_language
from mihakk.generators.writing.writer import prose
from mihakk.machinery.text import word_keys
from mihakk.schemas.poem import Couplet, Poem
from mihakk.schemas.record import Language, Record

MOST_OVERLAP = 25.0
"""BLEU of the paraphrase against the prose (self-BLEU), 0 to 100."""


class ParaphraseOptions(ProseOptions):
    """How near in meaning and how far in words a paraphrase must be (GhazalBench: .891 and 1.574)."""

    least_similarity: float = Field(default=0.88, ge=-1, le=1)
    """Cosine of the two texts' vectors; not asked for without embeddings."""


class Paraphrase(Record):
    """The reply asked for."""

    paraphrase: str = prose("The same meaning in other words and another order.")


@dataclass(frozen=True, slots=True)
class Overlap:
    """What BLEU-4 of texts against one other each is made of: it adds up, so that a corpus has one figure."""

    numbers: tuple[int, ...]
    """Groups of one to four words that both have, those of the text, its words, words of the other text."""

    def __add__(self, other: Overlap) -> Overlap:
        return Overlap(tuple(a + b for a, b in zip(self.numbers, other.numbers, strict=True)))

    def __str__(self) -> str:
        return " ".join(map(str, self.numbers))

    def bleu(self) -> float:
        """0 to 100; orders without a match count half of the one before, which is sacrebleu's `exp`."""
        matches, totals, (words, against) = self.numbers[:4], self.numbers[4:8], self.numbers[8:]
        if not words or not against or not matches[0]:
            return 0.0
        total, halved = 0.0, 1.0
        orders = min(4, words)
        for matched, groups in zip(matches[:orders], totals[:orders], strict=True):
            if not matched:
                halved /= 2
            total += log((matched or halved) / groups)
        return 100 * exp(min(0.0, 1 - against / words) + total / orders)


def overlap_of(text: str) -> Overlap:
    """The overlap that an item's metadata holds."""
    return Overlap(tuple(map(int, text.split())))


def overlap(text: str, reference: str, language: Language) -> Overlap:
    """What one text shares with another, by word keys."""
    words, against = word_keys(text, language), word_keys(reference, language)
    ours, theirs = ([_ngrams(one, size) for size in range(1, 5)] for one in (words, against))
    matched = [(one & other).total() for one, other in zip(ours, theirs, strict=True)]
    return Overlap((*matched, *(one.total() for one in ours), len(words), len(against)))


def self_bleu(text: str, reference: str, language: Language) -> float:
    """BLEU-4 of one text against one other over word keys, 0 to 100."""
    return overlap(text, reference, language).bleu()


def _ngrams(words: list[str], size: int) -> Counter[tuple[str, ...]]:
    return Counter(tuple(words[n : n + size]) for n in range(len(words) - size + 1))


def paraphrase_cue(ctx: Context[ParaphraseOptions], poem: Poem, couplet: Couplet, line: Line) -> Cue:
    """The prose in other words, with its similarity and self-BLEU.

    Raises:
        Skip: There is no prose, or no usable paraphrase of it.
    """
    cue = prose_cue(ctx, poem, couplet, line)

    def objection(reply: Paraphrase) -> str:
        copied = ctx.copies_example("paraphrase_cued", poem.language, reply.paraphrase)
        return _objection(ctx, reply.paraphrase, cue.text, line) or copied

    reply, written = ctx.write(
        couplet.id, "paraphrase_cued", poem.language, Paraphrase, objection, prose=cue.text
    )
    text = reply.paraphrase.strip()
    shared = overlap(text, cue.text, poem.language)
    measures = {"self_bleu": f"{shared.bleu():.3f}", "overlap": str(shared)}
    similarity = ctx.meaning.similarity(text, cue.text)
    if similarity is not None:
        measures["similarity"] = f"{similarity:.3f}"
    return Cue(text, written, measures)


def _objection(ctx: Context[ParaphraseOptions], text: str, prose: str, line: Line) -> str:
    if problem := wrong_language(text, line.language):
        return f"wrong_language: {problem}"
    if leaks(text, line.second, line.language):
        return "leaks_answer: it quotes the verse; use other words"
    if unfinished(text):
        return "unfinished: it breaks off; say the whole"
    if self_bleu(text, prose, line.language) > MOST_OVERLAP:
        return "same_words: it repeats too many words of the text; use other words and another order"
    if not 1 / 3 <= length_ratio(text, prose) <= 3:
        return "length: keep to about the length of the text"
    similarity = ctx.meaning.similarity(text, prose)
    if similarity is not None and similarity < ctx.options.least_similarity:
        return "other_meaning: it no longer says the same; keep the whole meaning"
    return ""
