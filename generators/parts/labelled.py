"""Questions about a poem's label from some of its couplets: shared by eras and genres."""

from collections.abc import Mapping, Sequence
from typing import Literal, TypeVar

from mihakk.generators.parts.excerpts import ExcerptOptions, excerpt, names_any
from mihakk.generators.parts.stems import poem_stem, with_gold_from
from mihakk.generators.parts.terms import Draw, Term, contested, wrong_labels
from mihakk.generators.task import Context, Made, Skip
from mihakk.schemas.poem import Couplet, Poem

OptionsT = TypeVar("OptionsT", bound=ExcerptOptions)


def label_choice(
    ctx: Context[OptionsT],
    poem: Poem,
    label: Literal["era", "genre"],
    known: Mapping[str, Term],
    couplets: Sequence[Couplet],
    *,
    nearer: float = 1.0,
) -> Made:
    """The right label among wrong ones that are as frequent.

    `couplets` are those that may be shown; a neighbour of the right label is `nearer` times likelier than
    another wrong one. Of a sealed question none is shown that names an option.
    """
    right = known.get(getattr(poem, label))
    if right is None:
        raise Skip(f"{label}_unknown")
    if contested(poem, label):
        raise Skip(f"{label}_contested")
    if not couplets:
        raise Skip("no_couplets")
    draw = Draw(ctx.corpus, label, poem.language, known, nearer)
    name = f"{poem.id}\x1f{label}"
    wrong, drawn = wrong_labels(ctx, draw, poem, name, right=right, count=ctx.options.options)
    if ctx.corpus.sealed:
        names = [term.name for term in (right, *wrong)]
        couplets = [one for one in couplets if not names_any(excerpt([one]), names, poem.language)]
        if not couplets:
            raise Skip("option_named")
    shown = couplets[: ctx.options.couplets]
    yield from ctx.choice(
        with_gold_from(poem_stem(poem, excerpt(shown)), poem, label),
        right.name,
        [term.name for term in wrong],
        more_records=drawn,
        kinds=["other_label"] * len(wrong),
        strategy="as_frequent",
    )
