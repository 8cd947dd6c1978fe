"""An idiom and two explanations that differ in one semantic role (Kinayat, section 3)."""

from mihakk.generators.parts.roles import relabelled
from mihakk.generators.parts.stems import idiom_stem
from mihakk.generators.task import Context, Made, Options, task
from mihakk.schemas.idiom import Idiom


@task(title="Meaning of an idiom, one role changed", reads="idiom", version="3", needs_model=True)
def meaning_choice_srl(ctx: Context[Options], idiom: Idiom) -> Made:
    """The model lists the roles of the right explanation and fills exactly one otherwise; a rule checks that
    one role and nothing else changed."""
    wrong = relabelled(ctx, idiom)
    stem = idiom_stem(idiom)
    stem.metadata.update(wrong.notes)
    return ctx.choice(
        stem,
        wrong.right,
        wrong.texts,
        kinds=("role",),
        strategy=wrong.strategy,
        written=wrong.written,
    )
