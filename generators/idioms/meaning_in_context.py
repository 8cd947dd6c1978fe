"""An idiom in a sentence and the options of the meaning choice (Kinayat, section 3)."""

from mihakk.generators.apart import MEANING
from mihakk.generators.parts.explanations import MeaningOptions, wrong_explanations
from mihakk.generators.parts.sentences import find_sentence
from mihakk.generators.parts.stems import idiom_stem
from mihakk.generators.task import Context, Made, task
from mihakk.schemas.idiom import Idiom


@task(
    title="Meaning of an idiom in a sentence",
    reads="idiom",
    version="5",
    options=MeaningOptions,
    uses_vectors=True,
    group=MEANING,
)
def meaning_in_context(ctx: Context[MeaningOptions], idiom: Idiom) -> Made:
    """The options of the plain meaning choice with a sentence that uses the idiom word for word: the
    source's, or one a model wrote in the dialect, which people then review."""
    wrong = wrong_explanations(ctx, idiom)
    sentence = find_sentence(ctx, idiom)
    stem = idiom_stem(idiom, sentence=sentence.text)
    stem.metadata["sentence"] = sentence.kind
    return ctx.choice(
        stem,
        wrong.right,
        wrong.texts,
        more_records=wrong.records,
        strategy=wrong.strategy,
        written=wrong.written or sentence.written,
    )
