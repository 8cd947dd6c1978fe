"""Wrong options that form alone does not give away: lines in the same metre and rhyme, nearest in meaning."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal, TypeVar

import numpy as np
from rapidfuzz import fuzz
from rapidfuzz.distance import Postfix

from mihakk.generators.corpus import ENDING, Corpus, Numbers
from mihakk.generators.corpus_rows import Line, Rhyme, may_rhyme, rhyming
from mihakk.generators.task import Context, Options, Skip
from mihakk.machinery.languages import pack

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
    """What holds of the three options: `same_metre_rhyme` (they rhyme), `same_metre_ending` (they share the
    last letter), or `same_metre` alone; `same_metre_same_poem` where all are of one poem."""

    @property
    def records(self) -> tuple[str, str]:
        """Ids of the couplets the lines come from."""
        return self.same_poem.id, self.other_poem.id

    @property
    def kinds(self) -> tuple[str, str]:
        """`same_poem` or `other_poem`, of each line."""
        return "same_poem", "same_poem" if self.other_poem.poem == self.same_poem.poem else "other_poem"


@dataclass(frozen=True, slots=True)
class Side:
    """Which hemistich of a couplet is the option."""

    text: Callable[[Line], str]
    key: Callable[[Line], str]
    rhyme: Callable[[Line], Rhyme]
    taken: Callable[[Corpus, Line], frozenset[str]]
    """Keys of all lines that truly stand there."""


SECOND = Side(
    text=lambda line: line.second,
    key=lambda line: line.second_key,
    rhyme=lambda line: line.rhyme_of_second,
    taken=lambda corpus, line: corpus.continuations[line.language, line.first_key],
)
FIRST = Side(
    text=lambda line: line.first,
    key=lambda line: line.first_key,
    rhyme=lambda line: line.rhyme_of_first,
    taken=lambda corpus, line: corpus.openings[line.language, line.second_key],
)


class LineOptions(Options):
    """What to do where no line of another poem shares the rhyme."""

    take: Literal["in_turn", "nearest"] = "in_turn"
    """in_turn: the next one that fits in seeded order, so that all lines are offered about as often;
    nearest: the nearest in meaning, which offers a few lines to many couplets."""
    rhyme: Literal["prefer", "same_poem", "require"] = "same_poem"
    """same_poem: take a second line of the same poem, which shares the rhyme; prefer: take the longest ending
    that is shared, so that the rhyme may exclude a line, as in GhazalBench; require: leave the couplet out
    (`no_line_in_rhyme`). First hemistichs, which rhyme with nothing, are taken from any poem in the metre."""


LinesT = TypeVar("LinesT", bound=LineOptions)


def find_distractors(ctx: Context[LinesT], line: Line, side: Side) -> Distractors:
    """One line of the same poem and one of another poem in the same metre and, where it can be, rhyme.

    Each is the next in turn among the lines that fit, or the nearest in meaning, and neither is a true
    alternative: another text that really stands there, a refrain, or a variant of either line; nor one that
    people refused. Both rhyme with the hemistich that is shown if and only if the right one does: else the
    rhyme would tell in a first couplet. The three options rhyme with each other or none does with another, so
    that no foreign rhyme stands alone (but for `rhyme: prefer`).

    Raises:
        Skip: There are none.
    """
    corpus, rhyme = ctx.corpus, ctx.options.rhyme
    number = corpus.line_number[line.id]
    refused = ctx.refused.get(line.id, frozenset())
    find = partial(_first_fit, corpus, number, ctx.options.take, side, refused=refused)
    if not line.metre:
        raise Skip("metre_unknown")
    same_poem = [n for n in corpus.in_poem[line.poem] if n != number and corpus.lines[n].metre == line.metre]
    if not same_poem:
        raise Skip("single_couplet")
    # Second hemistichs of a poem rhyme, first ones do not: a stray one leaves hardly a third to stand with.
    usual = [
        n for n in same_poem if rhyming(side.rhyme(line), side.rhyme(corpus.lines[n])) == (side is SECOND)
    ]
    here = find(usual)
    if here is None:
        here = find(same_poem)
    if here is None:
        raise Skip("no_line_in_rhyme" if line.rhymes_within else "no_line_in_poem")
    beside = corpus.lines[here]
    # Letters alike are no rhyme: the rawi may be another. Persian's qafiye and radif are letters.
    alike = pack(line.language).rhyme == "qafiya" or rhyming(side.rhyme(line), side.rhyme(beside))
    shared = Postfix.similarity(line.second_key, beside.second_key) if side is SECOND and alike else 0
    prefers = rhyme == "prefer" and side is SECOND
    for size in range(shared, -1 if prefers else shared - 1, -1):
        there = find(_ending_alike(corpus, line, size), here, elsewhere=True, even=not prefers)
        if there is not None:
            other = corpus.lines[there]
            return Distractors(beside, other, _strategy(side, (line, beside, other), whole=size == shared))
    if rhyme == "same_poem" and side is SECOND:
        again = find([n for n in same_poem if n != here], here)
        if again is not None:
            return Distractors(beside, corpus.lines[again], "same_metre_same_poem")
    raise Skip("no_line_in_rhyme" if side is SECOND and not prefers else "no_line_in_metre")


def _strategy(side: Side, options: Sequence[Line], *, whole: bool) -> str:
    """What holds of the options; `whole` says that all share the ending that two of one poem share."""
    first, *others = (side.rhyme(line) for line in options)
    if whole and all(rhyming(first, other) for other in others) and rhyming(*others):
        return "same_metre_rhyme"
    return "same_metre_ending" if len({side.key(line)[-1] for line in options}) == 1 else "same_metre"


def _ending_alike(corpus: Corpus, line: Line, size: int) -> Sequence[int] | Numbers:
    """Lines of the split in the metre whose second hemistichs share so many last letters, and the rhyme."""
    place = corpus.splits[line.poem], line.language, line.metre
    if not size:
        return corpus.in_metre[place]
    group = corpus.with_ending.get((*place, line.second_key[-min(size, ENDING) :]), NONE)
    if pack(line.language).rhyme == "qafiya":
        # A radif may be longer than the endings that lines are grouped by, and the qafiye stands before it.
        end = line.second_key[-size:]
        return group if size <= ENDING else [n for n in group if corpus.lines[n].second_key.endswith(end)]
    return [n for n in group if rhyming(SECOND.rhyme(corpus.lines[n]), SECOND.rhyme(line))]


def _first_fit(
    corpus: Corpus,
    number: int,
    take: Literal["in_turn", "nearest"],
    side: Side,
    candidates: Sequence[int] | Numbers,
    *avoid: int,
    refused: frozenset[str],
    elsewhere: bool = False,
    even: bool = True,
) -> int | None:
    """The first of the candidates, ascending numbers of lines, that is no true alternative to a line.

    Nor is it a variant of a line of `avoid`; `elsewhere` leaves the line's own poem out, and `even` what
    would leave one option alone in its rhyme. A rank depends on its candidate alone.
    """
    line = corpus.lines[number]
    taken = side.taken(corpus, line)
    # The other hemistich of the couplet stands in the question: an option that repeats it gives itself away.
    shown = {line.first_key, line.second_key}
    asked = (FIRST if side is SECOND else SECOND).rhyme(line)
    beside = [line, *(corpus.lines[n] for n in avoid)]
    against, rhymes = [side.key(one) for one in beside], [side.rhyme(one) for one in beside]
    pair = even and len(rhymes) > 1
    alike = pair and may_rhyme(rhymes[0], rhymes[1])
    for n in _ranked(corpus, number, take, candidates):
        other = corpus.lines[n]
        other_key = side.key(other)
        if elsewhere and other.poem == line.poem:
            continue
        if not other_key or other_key in taken or other_key in shown or side.text(other) in refused:
            continue
        if other.refrain:
            continue
        rhyme = side.rhyme(other)
        if other.licence != line.licence or rhyming(rhyme, asked) != line.rhymes_within:
            continue
        if pair and any(may_rhyme(rhyme, one) != alike for one in rhymes):
            continue
        # Its other hemistich may read like an option too: the two would show that couplet whole.
        keys = (other.first_key, other.second_key)
        if all(fuzz.ratio(key, one) < NEAR_DUPLICATE for key in keys for one in against):
            return n
    return None


def _ranked(
    corpus: Corpus, number: int, take: Literal["in_turn", "nearest"], candidates: Sequence[int] | Numbers
) -> Iterable[int]:
    if take == "in_turn":
        return corpus.in_turn(number, candidates)
    similarity = corpus.line_similarity(number, candidates)
    if similarity is None:
        return corpus.drawn(corpus.lines[number].id, "lines", candidates)
    # Lines are numbered by id, so of equally near ones the first by id comes first.
    order = np.argsort(-similarity, kind="stable")
    ranked: list[int] = np.asarray(candidates, dtype=np.int64)[order].tolist()
    return ranked
