"""Continuations: the second hemistich asked for or to be chosen, with a cue beside the first or without."""

from collections.abc import Callable
from typing import TypeVar

from mihakk.generators.corpus_rows import Line
from mihakk.generators.parts.distractors import SECOND, LineOptions, Side, find_distractors
from mihakk.generators.parts.prose import Cue
from mihakk.generators.parts.stems import couplet_stem, recalled
from mihakk.generators.task import Context, Made, Options, Stem, Written
from mihakk.schemas.poem import Couplet, Poem

OptionsT = TypeVar("OptionsT", bound=Options)
LinesT = TypeVar("LinesT", bound=LineOptions)
FindCue = Callable[[Context[OptionsT], Poem, Couplet, Line], Cue]


def completion(ctx: Context[OptionsT], poem: Poem, find: FindCue[OptionsT] | None = None) -> Made:
    """The second hemistich, asked for; with its cue where one is to be found."""

    def make(couplet: Couplet, line: Line) -> Made:
        stem, written = _stem(ctx, poem, couplet, line, find)
        yield ctx.answer(stem, line.second, written=written)

    return recalled(ctx, poem, make)


def continuation_among_lines(ctx: Context[LinesT], poem: Poem, find: FindCue[LinesT] | None = None) -> Made:
    """The second hemistich, to be chosen; a cue leaves the options as they are without it."""

    def make(couplet: Couplet, line: Line) -> Made:
        return among_lines(ctx, line, SECOND, lambda: _stem(ctx, poem, couplet, line, find))

    return recalled(ctx, poem, make)


def among_lines(
    ctx: Context[LinesT], line: Line, side: Side, stem: Callable[[], tuple[Stem, Written | None]]
) -> Made:
    """One hemistich of a line among those of two others."""
    wrong = find_distractors(ctx, line, side)
    asked, written = stem()
    return ctx.choice(
        asked,
        side.text(line),
        (side.text(wrong.same_poem), side.text(wrong.other_poem)),
        more_records=wrong.records,
        kinds=wrong.kinds,
        strategy=wrong.strategy,
        written=written,
    )


def _stem(
    ctx: Context[OptionsT], poem: Poem, couplet: Couplet, line: Line, find: FindCue[OptionsT] | None
) -> tuple[Stem, Written | None]:
    if find is None:
        return couplet_stem(poem, couplet, first=line.first), None
    cue = find(ctx, poem, couplet, line)
    stem = couplet_stem(poem, couplet, first=line.first, prose=cue.text)
    stem.metadata.update(cue.measures)
    return stem, cue.written
