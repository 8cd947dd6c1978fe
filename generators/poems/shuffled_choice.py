"""The first hemistich; the second one is to be told from the same words out of order."""

from __future__ import annotations

from generators.permuted import permuted
from generators.stems import couplet_stem
from generators.task import Context, Made, Options, Skip, task
from schemas.poem import Poem


@task(title="Shuffled hemistich against the original", reads="poem")
def shuffled_choice(ctx: Context[Options], poem: Poem) -> Made:
    """Two options of the same words, both without punctuation, which would mark the true order."""
    for found in permuted(ctx, poem):
        if isinstance(found, Skip):
            yield found
            continue
        couplet, line, mixed = found
        yield from ctx.choice(
            couplet_stem(poem, couplet, first=line.first), mixed[0], (mixed[1],), strategy="shuffled"
        )
