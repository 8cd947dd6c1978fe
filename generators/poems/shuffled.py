"""The first hemistich and the second one's words out of order, to be restored."""

from mihakk.generators.apart import ASKED
from mihakk.generators.corpus_rows import Line
from mihakk.generators.parts.shuffle import permuted
from mihakk.generators.parts.stems import couplet_stem, recalled
from mihakk.generators.task import Context, Made, Options, task
from mihakk.schemas.poem import Couplet, Poem


@task(title="Shuffled hemistich, restored", reads="poem", version="3", group=ASKED)
def shuffled(ctx: Context[Options], poem: Poem) -> Made:
    """The words are a true permutation, never the original: the last word moves and at least three words
    stand elsewhere. Hemistichs under four words are left out."""

    def make(couplet: Couplet, line: Line) -> Made:
        _, shuffled = permuted(ctx, line)
        yield ctx.answer(couplet_stem(poem, couplet, first=line.first, shuffled=shuffled), line.second)

    return recalled(ctx, poem, make)
