"""The poet and the first hemistich; the second one is to be recognised among three in the same metre."""

from generators.corpus_rows import Line
from generators.parts.distractors import SECOND, LineOptions, find_distractors
from generators.parts.stems import couplet_stem, recalled
from generators.task import Context, Made, task
from schemas.poem import Couplet, Poem


@task(
    title="Canonical continuation, chosen among three",
    reads="poem",
    version="4",
    options=LineOptions,
    uses_vectors=True,
)
def continuation_choice(ctx: Context[LineOptions], poem: Poem) -> Made:
    """One wrong line is from the same poem, one from another poem in the same metre and rhyme or, where the
    corpus has none, again from the same; both are nearest in meaning and neither truly continues the line."""

    def make(couplet: Couplet, line: Line) -> Made:
        wrong = find_distractors(ctx, line, SECOND)
        return ctx.choice(
            couplet_stem(poem, couplet, first=line.first),
            line.second,
            (wrong.same_poem.second, wrong.other_poem.second),
            more_records=wrong.records,
            kinds=wrong.kinds,
            strategy=wrong.strategy,
        )

    return recalled(ctx, poem, make)
