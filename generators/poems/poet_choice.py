"""Some couplets; their poet is to be recognised."""

from mihakk.generators.apart import SHOWN
from mihakk.generators.parts.excerpts import ExcerptOptions, excerpt, unnamed
from mihakk.generators.parts.stems import poem_stem
from mihakk.generators.task import Context, Made, Skip, task
from mihakk.machinery.text import key
from mihakk.schemas.poem import Poem


@task(title="Poet of a poem", reads="poem", options=ExcerptOptions, group=SHOWN)
def poet_choice(ctx: Context[ExcerptOptions], poem: Poem) -> Made:
    """The wrong poets are of the same language, those of the same era first, drawn as often as they have
    poems. Couplets that name the poet are not shown."""
    if not poem.poet:
        raise Skip("poet_unknown")
    shown = unnamed(poem, ctx.given(poem))[: ctx.options.couplets]
    if not shown:
        raise Skip("no_couplets")
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
    return ctx.choice(
        poem_stem(poem, excerpt(shown)),
        poem.poet,
        [other.poet for other in wrong],
        more_records=[other.id for other in wrong],
        kinds=["other_poet"] * len(wrong),
        strategy="same_era" if all(other.era == poem.era for other in wrong) else "same_language",
    )


def _same(one: str, other: str, poem: Poem) -> bool:
    """One name inside the other may be the same poet: المعري and أبو العلاء المعري."""
    a, b = key(one, poem.language), key(other, poem.language)
    return a in b or b in a
