"""The poet and the first hemistich; the second one is to be recalled."""

from __future__ import annotations

from generators.parts.stems import couplet_stem, recalled
from generators.task import Context, Made, Options, Skip, task
from schemas.poem import Poem


@task(title="Canonical continuation, completed from memory", reads="poem")
def continuation(ctx: Context[Options], poem: Poem) -> Made:
    """A first hemistich that opens several couplets of the poet is left out."""
    for found in recalled(ctx, poem):
        if isinstance(found, Skip):
            yield found
            continue
        couplet, line = found
        yield ctx.answer(couplet_stem(poem, couplet, first=line.first), line.second)
