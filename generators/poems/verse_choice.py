"""The poet and the second hemistich; the first one, which rhymes with nothing, is to be recognised."""

from mihakk.generators.corpus_rows import Line
from mihakk.generators.parts.cued import among_lines
from mihakk.generators.parts.distractors import FIRST, LineOptions
from mihakk.generators.parts.stems import couplet_stem, recalled
from mihakk.generators.task import Context, Made, Skip, task
from mihakk.schemas.poem import Couplet, Poem


@task(
    title="Which verse opens the couplet",
    reads="poem",
    version="4",
    options=LineOptions,
    uses_vectors=True,
)
def verse_choice(ctx: Context[LineOptions], poem: Poem) -> Made:
    """The continuation turned round: the rhyme stands in the question, so that it excludes no option. One
    wrong line is from the same poem, one from another in the metre, of the couplets nearest in meaning."""

    def make(couplet: Couplet, line: Line) -> Made:
        if len(ctx.corpus.openings[line.language, line.second_key]) > 1:
            raise Skip("ambiguous_closing")
        stem = couplet_stem(poem, couplet, second=line.second)
        return among_lines(ctx, line, FIRST, lambda: (stem, None))

    return recalled(ctx, poem, make)
