"""A sentence with a blank; which idiom belongs there (Kinayat, section 3)."""

from collections.abc import Iterator
from dataclasses import replace

from mihakk.generators.corpus import Corpus
from mihakk.generators.corpus_rows import Phrase
from mihakk.generators.parts.explanations import differs, other_idioms
from mihakk.generators.parts.sentences import Sentence, find_sentence
from mihakk.generators.parts.stems import idiom_stem
from mihakk.generators.task import Context, Made, Options, Skip, task
from mihakk.generators.writing.replies import contains
from mihakk.schemas.idiom import Idiom


@task(title="Which idiom fits the sentence", reads="idiom", version="5", uses_vectors=True)
def pragmatic_use(ctx: Context[Options], idiom: Idiom) -> Made:
    """The wrong idiom is of the same dialect and kind, agrees, means something else, and stands nowhere
    in the sentence; people confirm that it does not fit, or choose another one."""
    if idiom.id not in ctx.corpus.phrase_number:
        raise Skip("no_explanation")
    sentence = find_sentence(ctx, idiom)
    own = ctx.corpus.phrases[ctx.corpus.phrase_number[idiom.id]]
    wrong, strategy = _chosen(ctx, own, sentence)
    if wrong is None:
        raise Skip("no_other_idiom")
    # The idiom is the answer: no field of the question may hold it.
    stem = replace(idiom_stem(idiom), fields={"blanked": sentence.blanked})
    stem.metadata["sentence"] = sentence.kind
    return ctx.choice(
        stem,
        idiom.phrase.shown,
        (wrong.phrase,),
        more_records=(wrong.id,),
        kinds=("other_idiom",),
        strategy=strategy,
        written=sentence.written,
    )


def _chosen(ctx: Context[Options], own: Phrase, sentence: Sentence) -> tuple[Phrase | None, str]:
    """The wrong idiom and its strategy: people's choice for this very sentence, else the first that fits."""
    blanked, by_people = ctx.chosen.get(own.id, ("", ""))
    if blanked and blanked == sentence.blanked:
        number = ctx.corpus.phrase_number.get(by_people)
        return (None if number is None else ctx.corpus.phrases[number]), "chosen"
    fitting = (
        other
        for other in wrong_idioms(ctx.corpus, own, sentence.text)
        if not ctx.refuses(own.id, other.phrase, own.language)
    )
    return next(fitting, None), "in_turn"


def wrong_idioms(corpus: Corpus, own: Phrase, sentence: str) -> Iterator[Phrase]:
    """The next one of the idioms that are asked for so, then those that agree and are near in meaning.

    Where each takes the next, each is offered as often: else a few that are near to many would tell.
    """

    def unlike(other: Phrase) -> tuple[bool, ...]:
        disagrees = other.agreement != own.agreement
        return other.genre != own.genre, disagrees, abs(len(other.words) - len(own.words)) > 1

    def fits(other: Phrase) -> bool:
        return not contains(sentence, other.phrase, own.language)

    beside = next((one for one in corpus.after(own) if fits(one) and differs(corpus, own, one)), None)
    yield from () if beside is None else (beside,)
    yield from (other for other in other_idioms(corpus, own, unlike) if other != beside and fits(other))
