"""The poet and the first hemistich; the second one is to be recalled."""

from generators.corpus_rows import Line
from generators.parts.stems import couplet_stem, recalled
from generators.task import Context, Made, Options, task
from schemas.poem import Couplet, Poem


@task(title="Canonical continuation, completed from memory", reads="poem")
def continuation(ctx: Context[Options], poem: Poem) -> Made:
    """A first hemistich that opens several couplets of the poet is left out."""

    def make(couplet: Couplet, line: Line) -> Made:
        yield ctx.answer(couplet_stem(poem, couplet, first=line.first), line.second)

    return recalled(ctx, poem, make)
