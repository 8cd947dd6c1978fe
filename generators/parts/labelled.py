"""A poem's label to be told from some of its couplets: shared by the eras and the genres."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from generators.parts.excerpts import ExcerptOptions, excerpt
from generators.parts.stems import poem_stem
from generators.parts.terms import Term, wrong_terms
from generators.task import Context, Made, Skip
from schemas.poem import Couplet, Poem


def label_choice(
    ctx: Context[ExcerptOptions],
    poem: Poem,
    label: Literal["era", "genre"],
    known: Mapping[str, Term],
    couplets: Sequence[Couplet],
) -> Made:
    """The right label among wrong ones that are as frequent; `couplets` are those that may be shown."""
    right = known.get(getattr(poem, label))
    shown = couplets[: ctx.options.couplets]
    if right is None:
        yield Skip(poem.id, f"{label}_unknown", getattr(poem, label))
        return
    if not shown:
        yield Skip(poem.id, "no_couplets")
        return
    wrong, drawn = wrong_terms(
        ctx.corpus,
        f"{poem.id}\x1f{label}",
        known,
        right,
        label=label,
        language=poem.language,
        count=ctx.options.options,
    )
    yield from ctx.choice(
        poem_stem(poem, excerpt(shown)),
        right.name,
        [term.name for term in wrong],
        more_records=drawn,
        kinds=["other_label"] * len(wrong),
        strategy="as_frequent",
    )
