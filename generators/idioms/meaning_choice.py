"""An idiom and four meanings, or two where a model writes the wrong one (Kinayat, section 3)."""

from mihakk.generators.apart import MEANING
from mihakk.generators.parts.explanations import MeaningOptions, wrong_explanations
from mihakk.generators.parts.stems import idiom_stem
from mihakk.generators.task import Context, Made, task
from mihakk.schemas.idiom import Idiom


@task(
    title="Meaning of an idiom",
    reads="idiom",
    version="5",
    options=MeaningOptions,
    uses_vectors=True,
    group=MEANING,
)
def meaning_choice(ctx: Context[MeaningOptions], idiom: Idiom) -> Made:
    """The right explanation is the clause that says the meaning in words that are not the idiom's own. The
    model that writes the wrong one sees only that, never the idiom. Without a model the three wrong ones are
    other idioms' meanings, as long, near in meaning below a ceiling, of the same theme or first word where
    there are such, each offered as often as any other; none may be a second meaning of the idiom."""
    wrong = wrong_explanations(ctx, idiom)
    return ctx.choice(
        idiom_stem(idiom),
        wrong.right,
        wrong.texts,
        more_records=wrong.records,
        strategy=wrong.strategy,
        written=wrong.written,
    )
