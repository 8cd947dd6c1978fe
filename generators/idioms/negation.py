"""The options of the meaning choice, but the wrong explanation is asked for (Kinayat, section 3)."""

from mihakk.generators.apart import MEANING
from mihakk.generators.parts.explanations import MeaningOptions, wrong_explanation
from mihakk.generators.parts.stems import idiom_stem
from mihakk.generators.task import Context, Made, task
from mihakk.schemas.idiom import Idiom


@task(
    title="Which explanation is wrong",
    reads="idiom",
    version="4",
    options=MeaningOptions,
    uses_vectors=True,
    group=MEANING,
)
def negation(ctx: Context[MeaningOptions], idiom: Idiom) -> Made:
    """The same two options as in the meaning choice; the gold is the wrong one."""
    wrong = wrong_explanation(ctx, idiom)
    return ctx.choice(
        idiom_stem(idiom),
        wrong.text,
        (wrong.right,),
        more_records=wrong.records,
        kinds=("true_explanation",),
        strategy=wrong.strategy,
        written=wrong.written,
    )
