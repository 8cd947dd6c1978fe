"""The poet and the first hemistich; the second one is to be recalled."""

from mihakk.generators.apart import ASKED
from mihakk.generators.parts.cued import completion
from mihakk.generators.task import Context, Made, Options, task
from mihakk.schemas.poem import Poem


@task(title="Canonical continuation, completed from memory", reads="poem", group=ASKED)
def continuation(ctx: Context[Options], poem: Poem) -> Made:
    """A first hemistich that opens several couplets of the poet is left out."""
    return completion(ctx, poem)
