"""A sentence with a blank; which idiom belongs there (Kinayat, section 3)."""

from __future__ import annotations

from dataclasses import replace

from generators.corpus import Phrase, form_text
from generators.parts.explanations import other_idioms
from generators.parts.sentences import Sentence, find_sentence
from generators.parts.stems import idiom_stem
from generators.task import Context, Made, Options, Skip, task
from generators.writing.replies import contains
from schemas.idiom import Idiom


@task(title="Which idiom fits the sentence", reads="idiom", uses_vectors=True)
def pragmatic_use(ctx: Context[Options], idiom: Idiom) -> Made:
    """The wrong idiom is of the same dialect and kind, near in meaning but not the same, and stands nowhere
    in the sentence; people confirm that it does not fit."""
    if idiom.id not in ctx.corpus.phrase_number:
        yield Skip(idiom.id, "no_explanation")
        return
    sentence = find_sentence(ctx, idiom)
    if isinstance(sentence, Skip):
        yield sentence
        return
    wrong = _wrong_idiom(ctx, idiom, sentence)
    if wrong is None:
        yield Skip(idiom.id, "no_other_idiom")
        return
    # The idiom is the answer: no field of the question may hold it.
    stem = replace(idiom_stem(idiom), fields={"blanked": sentence.blanked})
    stem.metadata["sentence"] = sentence.kind
    yield from ctx.choice(
        stem,
        form_text(idiom.phrase),
        (wrong.phrase,),
        more_records=(wrong.id,),
        kinds=("other_idiom",),
        strategy="near_meaning" if ctx.corpus.phrase_vectors is not None else "drawn",
        written=sentence.written,
    )


def _wrong_idiom(ctx: Context[Options], idiom: Idiom, sentence: Sentence) -> Phrase | None:
    """One of the same kind and length, near in meaning, that stands nowhere in the sentence."""
    own = ctx.corpus.phrases[ctx.corpus.phrase_number[idiom.id]]

    def unlike(other: Phrase) -> tuple[bool, bool]:
        return other.genre != own.genre, abs(len(other.words) - len(own.words)) > 1

    for other in other_idioms(ctx.corpus, own, unlike):
        refused = ctx.refuses(own.id, other.phrase, own.language)
        if not refused and not contains(sentence.text, other.phrase, own.language):
            return other
    return None
