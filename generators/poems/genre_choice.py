"""Some couplets; the genre of the poem is to be told."""

from mihakk.generators.apart import SHOWN
from mihakk.generators.parts.excerpts import ExcerptOptions
from mihakk.generators.parts.labelled import label_choice
from mihakk.generators.parts.terms import genres
from mihakk.generators.task import Context, Made, task
from mihakk.schemas.poem import Poem


@task(
    title="Genre of a poem", reads="poem", version="3", languages=("ar",), options=ExcerptOptions, group=SHOWN
)
def genre_choice(ctx: Context[ExcerptOptions], poem: Poem) -> Made:
    """The wrong genres stand among the options as often as they are right elsewhere; no two are genres that
    the same poem is filed under."""
    yield from label_choice(ctx, poem, "genre", genres(), ctx.given(poem))
