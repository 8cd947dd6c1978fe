"""A couplet's second hemistich with its words out of order."""

from generators.corpus_rows import Line
from generators.parts.shuffle import shuffled_words
from generators.task import Context, Options, Skip
from mihakk.seeds import rng
from mihakk.text import key


def permuted(ctx: Context[Options], line: Line) -> tuple[str, str]:
    """The words in their order and out of it.

    The draw is named by the couplet alone, so that both shuffled tasks show the same permutation.

    Raises:
        Skip: There is no such order, or it is a verse of the corpus.
    """
    mixed = shuffled_words(line.second, line.language, rng(ctx.build_seed, line.id, "shuffle"))
    if isinstance(mixed, str):
        raise Skip(mixed)
    if (line.language, key(mixed[1], line.language)) in ctx.corpus.line_keys:
        raise Skip("shuffled_is_a_verse")
    return mixed
