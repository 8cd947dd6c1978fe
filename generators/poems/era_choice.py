"""Some couplets; the era they were composed in is to be told from language and style."""

from __future__ import annotations

from generators.parts.excerpts import ExcerptOptions, unnamed
from generators.parts.labelled import label_choice
from generators.parts.terms import eras
from generators.task import Context, Made, task
from schemas.poem import Poem


@task(title="Era of a poem", reads="poem", version="2", languages=("ar",), options=ExcerptOptions)
def era_choice(ctx: Context[ExcerptOptions], poem: Poem) -> Made:
    """The wrong eras stand among the options as often as they are right elsewhere; no two options share
    years. Couplets that name the poet are not shown."""
    yield from label_choice(ctx, poem, "era", eras(), unnamed(poem))
