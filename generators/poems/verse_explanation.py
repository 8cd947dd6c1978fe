"""A poem to be explained verse by verse and as a whole (Fann or Flop, figure 7)."""

from mihakk.generators.apart import WHOLE
from mihakk.generators.parts.excerpts import shown
from mihakk.generators.parts.stems import poem_stem
from mihakk.generators.task import Context, Made, Options, Skip, task
from mihakk.generators.writing.replies import same_text, wrong_language
from mihakk.schemas.poem import Poem


@task(title="Explanation of a poem, verse by verse", reads="poem", group=WHOLE)
def verse_explanation(ctx: Context[Options], poem: Poem) -> Made:
    """One reference explanation per verse. Poems that lack some are left out, never stitched together; so are
    explanations in another language, and ones that only repeat their verse."""
    if not poem.poet:
        raise Skip("poet_unknown")
    given = [couplet for couplet in poem.couplets if couplet.explanation.strip()]
    if not given:
        raise Skip("no_explanations")
    if len(given) < len(poem.couplets):
        raise Skip("explanations_unaligned")
    if len(ctx.given(poem)) < len(poem.couplets):
        raise Skip("other_task_group")
    for couplet in given:
        if wrong_language(couplet.explanation, poem.language):
            raise Skip("explanation_language")
        if same_text(couplet.explanation, shown(couplet), poem.language):
            raise Skip("explanation_repeats_verse")
    yield ctx.explanation(
        poem_stem(poem, "", poet=poem.poet),
        verses=[shown(couplet) for couplet in given],
        explanations=[couplet.explanation.strip() for couplet in given],
        overall=poem.explanation.strip(),
    )
