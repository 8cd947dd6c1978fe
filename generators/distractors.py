"""Wrong options that form alone does not give away: lines in the same metre and rhyme, nearest in meaning."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeVar

import numpy as np
from rapidfuzz import fuzz

from generators.corpus import ENDING, Corpus, Line, Numbers
from generators.stems import recalled
from generators.task import Context, Options, Skip
from schemas.poem import Couplet, Poem

NONE: Numbers = np.empty(0, dtype=np.int64)
NEAR_DUPLICATE = 80.0
"""Similarity of two keys (0-100) from which one line is a variant of the other and no distractor for it."""


@dataclass(frozen=True, slots=True)
class Distractors:
    """Two wrong lines for one couplet."""

    same_poem: Line
    other_poem: Line
    """Of the same poem, too, where no other shares the rhyme and the task was told so."""
    strategy: str
    """How near it is in form: `same_metre_rhyme`, `_ending`, `_same_poem` or `same_metre` alone."""

    @property
    def records(self) -> tuple[str, str]:
        """Ids of the couplets the lines come from."""
        return self.same_poem.id, self.other_poem.id


@dataclass(frozen=True, slots=True)
class Side:
    """Which hemistich of a couplet is the option."""

    text: Callable[[Line], str]
    key: Callable[[Line], str]
    taken: Callable[[Corpus, Line], frozenset[str]]
    """Keys of all lines that truly stand there."""


SECOND = Side(
    text=lambda line: line.second,
    key=lambda line: line.second_key,
    taken=lambda corpus, line: corpus.continuations[line.language, line.first_key],
)
FIRST = Side(
    text=lambda line: line.first,
    key=lambda line: line.first_key,
    taken=lambda corpus, line: corpus.openings[line.language, line.second_key],
)


class LineOptions(Options):
    """What to do where no line of another poem shares the rhyme."""

    rhyme: Literal["prefer", "same_poem", "require"] = "same_poem"
    """same_poem: take a second line of the same poem, which shares the rhyme; prefer: take the longest ending
    that is shared; require: leave the couplet out (`no_line_in_rhyme`)."""


LinesT = TypeVar("LinesT", bound=LineOptions)


def with_wrong_continuations(
    ctx: Context[LinesT], poem: Poem
) -> Iterator[tuple[Couplet, Line, Distractors] | Skip]:
    """Couplets whose second hemistich is asked for, each with its wrong ones; a skip for every other one."""
    for found in recalled(ctx, poem):
        if isinstance(found, Skip):
            yield found
            continue
        couplet, line = found
        wrong = find_distractors(ctx.corpus, line, SECOND, ctx.options.rhyme)
        yield Skip(couplet.id, wrong) if isinstance(wrong, str) else (couplet, line, wrong)


def find_distractors(
    corpus: Corpus, line: Line, side: Side, rhyme: Literal["prefer", "same_poem", "require"] = "prefer"
) -> Distractors | str:
    """One line of the same poem and one of another poem in the same metre and, where it can be, rhyme.

    Both are the nearest in meaning among the lines that fit (by seed without embeddings), and neither is a
    true alternative: another text that really stands there, a refrain, or a variant of either line.

    Returns:
        The distractors, or the reason why there are none.
    """
    number = corpus.line_number[line.id]
    if not line.metre:
        return "metre_unknown"
    same_poem = [n for n in corpus.in_poem[line.poem] if n != number and corpus.lines[n].metre == line.metre]
    if not same_poem:
        return "single_couplet"
    here = _nearest(corpus, number, same_poem, side)
    if here is None:
        return "no_line_in_poem"
    shared = _shared_ending(line.second_key, corpus.lines[here].second_key)
    for size in range(shared, -1 if rhyme == "prefer" else shared - 1, -1):
        group = (
            corpus.with_ending.get((line.language, line.metre, line.second_key[-size:]), NONE)
            if size
            else corpus.in_metre[line.language, line.metre]
        )
        there = _nearest(corpus, number, group, side, here, elsewhere=True)
        if there is not None:
            strategy = "same_metre_rhyme" if size == shared else "same_metre_ending" if size else "same_metre"
            return Distractors(corpus.lines[here], corpus.lines[there], strategy)
    if rhyme == "same_poem":
        again = _nearest(corpus, number, [n for n in same_poem if n != here], side, here)
        return (
            "no_line_in_rhyme"
            if again is None
            else Distractors(corpus.lines[here], corpus.lines[again], "same_metre_same_poem")
        )
    return "no_line_in_metre" if rhyme == "prefer" else "no_line_in_rhyme"


def _nearest(
    corpus: Corpus,
    number: int,
    candidates: Sequence[int] | Numbers,
    side: Side,
    *avoid: int,
    elsewhere: bool = False,
) -> int | None:
    """The candidate nearest in meaning that is no true alternative; a rank depends on its candidate alone.

    Args:
        corpus: All lines.
        number: The line that needs a distractor.
        candidates: Numbers of lines, ascending.
        side: Which hemistich is the option.
        avoid: Lines that it must not be a variant of.
        elsewhere: Leave the line's own poem out.
    """
    line = corpus.lines[number]
    taken = side.taken(corpus, line)
    # The other hemistich of the couplet stands in the question: an option that repeats it gives itself away.
    shown = {line.first_key, line.second_key}
    against = [side.key(line), *(side.key(corpus.lines[n]) for n in avoid)]
    for n in _ranked(corpus, number, candidates):
        other = corpus.lines[n]
        other_key = side.key(other)
        if elsewhere and other.poem == line.poem:
            continue
        if not other_key or other_key in taken or other_key in shown or other.refrain:
            continue
        if other.licence != line.licence:
            continue
        if all(fuzz.ratio(other_key, one) < NEAR_DUPLICATE for one in against):
            return n
    return None


def _ranked(corpus: Corpus, number: int, candidates: Sequence[int] | Numbers) -> Iterable[int]:
    similarity = corpus.line_similarity(number, candidates)
    own = corpus.lines[number].id
    if similarity is None:
        return corpus.drawn(own, "lines", candidates)
    # Lines are numbered by id, so of equally near ones the first by id comes first.
    order = np.argsort(-similarity, kind="stable")
    ranked: list[int] = np.asarray(candidates, dtype=np.int64)[order].tolist()
    return ranked


def _shared_ending(one: str, other: str) -> int:
    """Letters that both keys end in, at most `ENDING`."""
    for size in range(1, ENDING + 1):
        if size > min(len(one), len(other)) or one[-size] != other[-size]:
            return size - 1
    return ENDING
