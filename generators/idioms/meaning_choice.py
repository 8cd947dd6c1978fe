"""An idiom and two explanations, one of them wrong (Kinayat, section 3)."""

from __future__ import annotations

from generators.corpus import form_text
from generators.explanations import MeaningOptions, wrong_explanation
from generators.stems import idiom_stem
from generators.task import Context, Made, Skip, task
from schemas.idiom import Idiom


@task(title="Meaning of an idiom", reads="idiom", options=MeaningOptions, uses_vectors=True)
def meaning_choice(ctx: Context[MeaningOptions], idiom: Idiom) -> Made:
    """The model that writes the wrong explanation sees only the right one, never the idiom. Without a model
    it is another idiom's explanation, alike in length and opening and not too near in meaning."""
    wrong = wrong_explanation(ctx, idiom)
    if isinstance(wrong, Skip):
        yield wrong
        return
    yield from ctx.choice(
        idiom_stem(idiom),
        form_text(idiom.explanation),
        (wrong.text,),
        more_records=wrong.records,
        strategy=wrong.strategy,
        written=wrong.written,
    )
