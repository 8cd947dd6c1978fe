"""Continuation with a cue beside the first hemistich: shared by the prose and paraphrase tasks."""

from collections.abc import Callable
from typing import TypeVar

from generators.corpus_rows import Line
from generators.parts.distractors import SECOND, find_distractors
from generators.parts.prose import Cue, ProseOptions
from generators.parts.stems import couplet_stem, recalled
from generators.task import Context, Made, Stem
from schemas.poem import Couplet, Poem

OptionsT = TypeVar("OptionsT", bound=ProseOptions)
FindCue = Callable[[Context[OptionsT], Poem, Couplet, Line], Cue]


def cued_completion(ctx: Context[OptionsT], poem: Poem, find: FindCue[OptionsT]) -> Made:
    """The second hemistich, asked for with its cue."""

    def make(couplet: Couplet, line: Line) -> Made:
        cue = find(ctx, poem, couplet, line)
        yield ctx.answer(_stem(poem, couplet, line, cue), line.second, written=cue.written)

    return recalled(ctx, poem, make)


def cued_choice(ctx: Context[OptionsT], poem: Poem, find: FindCue[OptionsT]) -> Made:
    """The second hemistich, to be chosen with its cue among the options of the plain continuation."""

    def make(couplet: Couplet, line: Line) -> Made:
        wrong = find_distractors(ctx, line, SECOND)
        cue = find(ctx, poem, couplet, line)
        return ctx.choice(
            _stem(poem, couplet, line, cue),
            line.second,
            (wrong.same_poem.second, wrong.other_poem.second),
            more_records=wrong.records,
            kinds=wrong.kinds,
            strategy=wrong.strategy,
            written=cue.written,
        )

    return recalled(ctx, poem, make)


def _stem(poem: Poem, couplet: Couplet, line: Line, cue: Cue) -> Stem:
    stem = couplet_stem(poem, couplet, first=line.first, prose=cue.text)
    stem.metadata.update(cue.measures)
    return stem
