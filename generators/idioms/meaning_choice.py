"""An idiom and two explanations, one of them wrong (Kinayat, section 3)."""

from mihakk.generators.apart import MEANING
from mihakk.generators.parts.explanations import MeaningOptions, wrong_explanation
from mihakk.generators.parts.stems import idiom_stem
from mihakk.generators.task import Context, Made, task
from mihakk.schemas.idiom import Idiom


@task(
    title="Meaning of an idiom",
    reads="idiom",
    version="4",
    options=MeaningOptions,
    uses_vectors=True,
    group=MEANING,
)
def meaning_choice(ctx: Context[MeaningOptions], idiom: Idiom) -> Made:
    """The right explanation is the clause that says the meaning in words that are not the idiom's own. The
    model that writes the wrong one sees only that, never the idiom. Without a model it is another idiom's, of
    the same kind and length, each taken once, and not too near in meaning."""
    wrong = wrong_explanation(ctx, idiom)
    return ctx.choice(
        idiom_stem(idiom),
        wrong.right,
        (wrong.text,),
        more_records=wrong.records,
        strategy=wrong.strategy,
        written=wrong.written,
    )
