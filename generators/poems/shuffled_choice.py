"""The first hemistich; the second one is to be told from the same words out of order."""

from mihakk.generators.corpus_rows import Line
from mihakk.generators.parts.shuffle import permuted
from mihakk.generators.parts.stems import couplet_stem, recalled
from mihakk.generators.task import Context, Made, Options, Skip, task
from mihakk.schemas.poem import Couplet, Poem


@task(title="Shuffled hemistich against the original", reads="poem", version="3")
def shuffled_choice(ctx: Context[Options], poem: Poem) -> Made:
    """Two options of the same words, both without punctuation and capitals, which would mark the true order.
    Couplets that rhyme within are left out: only the true order keeps the rhyme."""

    def make(couplet: Couplet, line: Line) -> Made:
        in_order, shuffled = permuted(ctx, line)
        if line.rhymes_within:
            raise Skip("hemistichs_rhyme")
        stem = couplet_stem(poem, couplet, first=line.first)
        return ctx.choice(stem, in_order, (shuffled,), strategy="shuffled")

    return recalled(ctx, poem, make)
