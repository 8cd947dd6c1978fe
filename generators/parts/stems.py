"""What all questions about a couplet, a poem or an idiom share."""

from collections.abc import Callable
from typing import TypeVar

from mihakk.generators.corpus_rows import Line, usable
from mihakk.generators.task import Context, Made, Options, Skip, Stem
from mihakk.machinery.text import words
from mihakk.schemas.idiom import Idiom
from mihakk.schemas.poem import Couplet, Poem

OptionsT = TypeVar("OptionsT", bound=Options)

LEAST_WORDS = 2
"""Words a first hemistich needs to call another to mind."""


def recalled(ctx: Context[OptionsT], poem: Poem, make: Callable[[Couplet, Line], Made]) -> Made:
    """What `make` makes of each couplet of which one hemistich can be asked for from memory.

    Skipped: couplets given to other tasks (`other_task_group`), lines that are no couplets of two whole
    hemistichs (`not_two_hemistichs`, `mudawwar`), openings that go on in several ways (`ambiguous_opening`)
    or are too short to call anything to mind (`too_short`), hemistichs that answer themselves
    (`hemistichs_alike`), and couplets that `make` raises a `Skip` for.
    """
    if not poem.poet:
        raise Skip("poet_unknown")
    if not poem.couplets:
        raise Skip("no_couplets")
    given = ctx.given(poem)
    yield from (Skip("other_task_group") for _ in poem.couplets[len(given) :])
    for couplet in ctx.in_order(given, poem.id, lambda couplet: couplet.id):
        try:
            yield from make(couplet, _whole_line(ctx, couplet))
        except Skip as skip:
            yield skip


def _whole_line(ctx: Context[OptionsT], couplet: Couplet) -> Line:
    if not usable(couplet):
        raise Skip("mudawwar" if couplet.mudawwar else "not_two_hemistichs")
    line = ctx.corpus.lines[ctx.corpus.line_number[couplet.id]]
    if ctx.corpus.ambiguous(line):
        raise Skip("ambiguous_opening")
    if len(words(line.first)) < LEAST_WORDS or not line.second_key:
        raise Skip("too_short")
    if line.first_key == line.second_key:
        raise Skip("hemistichs_alike")
    return line


def poem_metadata(poem: Poem, couplet: Couplet | None = None) -> dict[str, str]:
    """Facts for slicing results."""
    section = poem.sections[couplet.section if couplet else 0]
    return {
        "poet": poem.poet,
        "era": poem.era,
        "genre": poem.genre,
        "metre": section.metre,
        "metre_from": poem.source_labels.get("metre_from", "") if section.metre else "",
        "rhyme": section.rhyme,
        "form": section.form,
    }


def couplet_stem(poem: Poem, couplet: Couplet, **fields: str) -> Stem:
    """A question about one couplet: field `poet`, and what the task shows of it (never the answer)."""
    return Stem(
        records=(couplet.id,),
        language=poem.language,
        fields={"poet": poem.poet, **fields},
        licence=poem.provenance.licence,
        attribution=poem.provenance.attribution,
        metadata=poem_metadata(poem, couplet),
    )


def with_gold_from(stem: Stem, poem: Poem, label: str) -> Stem:
    """The stem with metadata `gold_from` where our own code or tables gave the label that is asked for.

    Whoever has this repository can work such a gold out, so a blind release must not seal it.
    """
    if by := poem.source_labels.get(f"{label}_from", ""):
        stem.metadata["gold_from"] = by
    return stem


def poem_stem(poem: Poem, context: str, **more: str) -> Stem:
    """A question about a poem that stands above it; one without a title is called by its first line."""
    return Stem(
        records=(poem.id,),
        language=poem.language,
        fields={"title": poem.title or poem.couplets[0].first.shown, **more},
        licence=poem.provenance.licence,
        attribution=poem.provenance.attribution,
        metadata=poem_metadata(poem),
        context=context,
    )


def idiom_stem(idiom: Idiom, **more: str) -> Stem:
    """A question about one idiom: field `phrase`, and what the task adds."""
    return Stem(
        records=(idiom.id,),
        language=idiom.language,
        fields={"phrase": idiom.phrase.shown, **more},
        licence=idiom.provenance.licence,
        attribution=idiom.provenance.attribution,
        metadata={"genre": idiom.genre, "connotation": idiom.connotation or ""},
        dialect=idiom.dialect,
    )
