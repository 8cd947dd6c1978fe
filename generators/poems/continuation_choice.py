"""The poet and the first hemistich; the second one is to be recognised among three in the same metre."""

from mihakk.generators.apart import CHOSEN
from mihakk.generators.parts.cued import continuation_among_lines
from mihakk.generators.parts.distractors import LineOptions
from mihakk.generators.task import Context, Made, task
from mihakk.schemas.poem import Poem


@task(
    title="Canonical continuation, chosen among three",
    reads="poem",
    version="4",
    options=LineOptions,
    uses_vectors=True,
    group=CHOSEN,
)
def continuation_choice(ctx: Context[LineOptions], poem: Poem) -> Made:
    """One wrong line is from the same poem, one from another poem in the same metre and rhyme or, where the
    corpus has none, again from the same; both are nearest in meaning and neither truly continues the line."""
    return continuation_among_lines(ctx, poem)
