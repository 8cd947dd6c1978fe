"""The right explanation and a wrong one, of which the wrong one is asked for (Kinayat, section 3)."""

from mihakk.generators.apart import MEANING
from mihakk.generators.parts.explanations import MeaningOptions, wrong_explanations
from mihakk.generators.parts.stems import idiom_stem
from mihakk.generators.task import Context, Made, task
from mihakk.schemas.idiom import Idiom


@task(
    title="Which explanation is wrong",
    reads="idiom",
    version="5",
    options=MeaningOptions,
    uses_vectors=True,
    group=MEANING,
)
def negation(ctx: Context[MeaningOptions], idiom: Idiom) -> Made:
    """The right meaning of the meaning choice and one of its wrong ones, which is the gold."""
    wrong = wrong_explanations(ctx, idiom, 1)
    (text,) = wrong.texts
    return ctx.choice(
        idiom_stem(idiom),
        text,
        (wrong.right,),
        more_records=wrong.records,
        kinds=("true_explanation",),
        strategy=wrong.strategy,
        written=wrong.written,
    )
