"""Some couplets; their poet is to be recognised."""

from collections.abc import Sequence

from mihakk.generators.apart import SHOWN
from mihakk.generators.corpus_rows import CorpusFacts
from mihakk.generators.parts.excerpts import ExcerptOptions, excerpt, unnamed
from mihakk.generators.parts.stems import poem_stem
from mihakk.generators.parts.together import companions
from mihakk.generators.task import Context, Made, Skip, task
from mihakk.machinery.text import key
from mihakk.schemas.poem import Poem


@task(title="Poet of a poem", reads="poem", options=ExcerptOptions, group=SHOWN)
def poet_choice(ctx: Context[ExcerptOptions], poem: Poem) -> Made:
    """The wrong poets are of the same language, those of the same era first, drawn as often as they have
    poems. Couplets that name the poet are not shown, nor of a sealed question those that name a wrong one."""
    if not poem.poet:
        raise Skip("poet_unknown")
    couplets = unnamed(poem, ctx.given(poem))
    if not couplets:
        raise Skip("no_couplets")
    wrong = _companions(ctx, poem) if ctx.corpus.sealed else _drawn(ctx, poem)
    if ctx.corpus.sealed and not (couplets := unnamed(poem, couplets, *(other.poet for other in wrong))):
        raise Skip("no_couplets")
    shown = couplets[: ctx.options.couplets]
    return ctx.choice(
        poem_stem(poem, excerpt(shown)),
        poem.poet,
        [other.poet for other in wrong],
        more_records=[other.id for other in wrong],
        kinds=["other_poet"] * len(wrong),
        strategy="same_era" if all(other.era == poem.era for other in wrong) else "same_language",
    )


def _drawn(ctx: Context[ExcerptOptions], poem: Poem) -> Sequence[CorpusFacts]:
    drawn = [
        ctx.corpus.poems[n]
        for n in ctx.corpus.drawn(f"{poem.id}\x1fpoet", "poems", ctx.corpus.in_language[poem.language])
    ]
    taken = [poem.poet]
    wrong = []
    for other in sorted(drawn, key=lambda other: other.era != poem.era):
        if len(taken) == ctx.options.options:
            break
        if other.poet and not any(_same(other.poet, name, poem) for name in taken):
            taken.append(other.poet)
            wrong.append(other)
    if len(taken) < ctx.options.options:
        raise Skip("too_few_poets")
    return wrong


def _companions(ctx: Context[ExcerptOptions], poem: Poem) -> Sequence[CorpusFacts]:
    """Of one era alone: among poets of several the one who is alone in his era would be told apart."""

    def label(row: CorpusFacts) -> tuple[str, str] | None:
        return (row.era, row.poet) if row.poet else None

    def apart(one: tuple[str, str], other: tuple[str, str]) -> bool:
        return one[0] == other[0] and not _same(one[1], other[1], poem)

    rows = [ctx.corpus.poems[n] for n in ctx.corpus.in_language[poem.language]]
    return companions(ctx, poem.id, rows, count=ctx.options.options, label=label, apart=apart)


def _same(one: str, other: str, poem: Poem) -> bool:
    """One name inside the other may be the same poet: المعري and أبو العلاء المعري."""
    a, b = key(one, poem.language), key(other, poem.language)
    return a in b or b in a
