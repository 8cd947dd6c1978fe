"""A couplet; its metre is to be told by scanning."""

from pydantic import Field

from mihakk.generators.apart import SHOWN
from mihakk.generators.parts.excerpts import names_any, shown
from mihakk.generators.parts.stems import couplet_stem, with_gold_from
from mihakk.generators.parts.terms import Draw, contested, metres, wrong_labels
from mihakk.generators.task import Context, Made, Options, Skip, task
from mihakk.machinery.text import words
from mihakk.schemas.poem import Poem

LEAST_WORDS = 4


class MetreOptions(Options):
    """Among how many metres to choose."""

    options: int = Field(default=4, ge=2)


@task(
    title="Metre of a couplet",
    reads="poem",
    version="2",
    languages=("ar", "fa"),
    options=MetreOptions,
    group=SHOWN,
)
def metre_choice(ctx: Context[MetreOptions], poem: Poem) -> Made:
    """The wrong metres stand among the options as often as they are right elsewhere; never two that one
    couplet could scan as, nor a shortened form of another. A pattern never stands beside a name."""
    known = metres(poem.language)
    for couplet in ctx.in_order(ctx.given(poem), poem.id, lambda couplet: couplet.id):
        right = known.get(poem.metre(couplet))
        if right is None:
            yield Skip("metre_unknown")
        elif contested(poem, "metre"):
            yield Skip("metre_contested")
        elif couplet.kind != "couplet":
            yield Skip("not_two_hemistichs")
        elif len(words(shown(couplet))) < LEAST_WORDS:
            yield Skip("too_short")
        else:
            draw = Draw(ctx.corpus, "metre", poem.language, known)
            wrong, drawn = wrong_labels(
                ctx, draw, poem, f"{couplet.id}\x1fmetre", right=right, count=ctx.options.options
            )
            names = [term.name for term in (right, *wrong)]
            if ctx.corpus.sealed and names_any(shown(couplet), names, poem.language):
                yield Skip("option_named")
                continue
            yield from ctx.choice(
                with_gold_from(couplet_stem(poem, couplet, verse=shown(couplet)), poem, "metre"),
                right.name,
                [term.name for term in wrong],
                more_records=drawn,
                kinds=["other_label"] * len(wrong),
                strategy="as_frequent",
            )
