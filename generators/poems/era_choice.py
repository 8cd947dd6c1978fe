"""Some couplets; the era they were composed in is to be told from language and style."""

from __future__ import annotations

from generators.excerpts import ExcerptOptions, unnamed
from generators.labelled import label_choice
from generators.task import Context, Made, task
from generators.terms import eras
from schemas.poem import Poem


@task(title="Era of a poem", reads="poem", languages=("ar",), options=ExcerptOptions)
def era_choice(ctx: Context[ExcerptOptions], poem: Poem) -> Made:
    """The wrong eras stand among the options as often as they are right elsewhere; no two options overlap in
    time and place. Couplets that name the poet are not shown."""
    yield from label_choice(ctx, poem, "era", eras(), unnamed(poem))
