"""How often auditors are right, from people's decisions and from what systems answered."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Final, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mihakk.annotation.statistics.auditor_errors import Scores
from mihakk.annotation.statistics.miss_rate import soundness
from mihakk.annotation.statistics.sampling import Queued
from mihakk.annotation.statistics.vote_rows import judged
from mihakk.machinery.groups import grouped
from mihakk.machinery.ids import content_hash
from mihakk.schemas.audit import Verdict
from mihakk.schemas.item import ChoiceItem, Item
from mihakk.schemas.record import Record
from mihakk.schemas.review import Review

Values = NDArray[np.float64]
Content = tuple[str, str]
"""Item and content hash."""
Band = Literal["flagged", "suspect", "against", "for", "unanswered"]
"""What put a question before people, or what answers say of it. flagged: rules or auditors. suspect: kept for
people because of the answers. Of the rest, which people see by chance alone: against, for: what the answers
say of its gold; unanswered: no system was asked, or it has no one right answer."""
_Fill = Literal["sound", "defective"]
VERDICT: Final = "verdict"
"""Name of the row of what rules and auditors decide together."""
LEAST: Final = 10
"""Decided questions under which a figure is not given."""
DRAWS: Final = 10_000


class AuditorAccuracy(Record):
    """How often one auditor was right, over the questions it gave an opinion of; shares, 95 % intervals."""

    auditor: str
    """Name, or `verdict` for what rules and auditors came to together."""
    questions: int
    """Both orders of a pair are one."""
    objected: int
    """Of those, the ones in which it found a criterion unmet."""
    decided: int
    """Of the objections, those whose question people found sound or defective."""
    right: float | None
    """Share of the objections whose question is defective; None where too few are decided."""
    right_low: float | None
    right_high: float | None
    sampled: int
    """Decided questions among those it found nothing in that people saw by chance alone."""
    found: float | None
    """Share of all defective questions that it objected to; None where too few passes or objections are
    decided."""
    found_low: float | None
    found_high: float | None
    false_alarms: float | None
    """Share of all sound questions that it objected to."""
    false_alarms_low: float | None
    false_alarms_high: float | None
    missed: int
    """Defective questions it found nothing in that people have seen."""


class _Question(NamedTuple):
    """One question as people saw it first."""

    band: Band
    state: Literal["open", "sound", "defective"]
    asked: bool
    """Put before people: if it is open, nothing is known of it."""
    objected: Mapping[str, bool]
    """By auditor that gave an opinion."""


class _Cell(NamedTuple):
    """Questions of one band on which an auditor says the same."""

    size: int
    decided: int
    defective: int


def auditor_accuracy(
    items: Iterable[Item],
    verdicts: Iterable[Verdict],
    scores: Scores,
    queued: Sequence[Queued],
    reviews: Sequence[Review],
    *,
    odds: Mapping[Content, float],
    suspects: Collection[Content],
    overlap: int = 2,
    adjudicators: Collection[str] = (),
) -> list[AuditorAccuracy]:
    """Share of each auditor's objections that are right, and of all defects that it found.

    People see what was flagged, what answers speak against, and a random sample of the rest. So questions are
    weighed by why people saw them and, in the rest, by what answers say (post-stratification; W. G. Cochran,
    Sampling Techniques, 5A.9): the more of the defects stand among the suspects, the less hangs on
    the sample. In each stratum, apart for objections and passes, the share of defects among the questions
    that nobody decided has Jeffreys' prior (L. D. Brown, T. T. Cai and A. DasGupta, 2001); what people
    decided is known. Figures are medians, intervals quantiles, of what follows. It takes those whom people
    saw by chance for a simple random sample, which the draw by language and task nearly is. Which of the
    questions put before people lack an answer may depend on what it would be: the intervals hold though all
    of those were sound among the objections and defective among the passes, or the other way round.

    A question counts as it stood when people first saw it: what was corrected since was a defect. Questions
    on which people differ count as not decided.

    Args:
        scores: What auditors said of each content (`vote_rows.scored_contents`).
        odds: What answers say against each content they were given to.
    """
    first: dict[str, Queued] = {}
    for row in queued:
        if row.why != "attention":
            first.setdefault(row.item, row)
    sampled = {row.item for row in queued if row.why == "sample"}
    votes = grouped(judged(reviews, queued), lambda review: (review.item, review.content_hash))
    passed = {one.item: one.status == "pass" for one in verdicts}
    units: dict[str, list[tuple[Item, Content]]] = defaultdict(list)
    for item in items:
        seen = first.get(item.id)
        content = item.id, seen.content_hash if seen else content_hash(item)
        pair = item.pair_id if isinstance(item, ChoiceItem) else ""
        units[pair or item.id].append((item, content))
    questions = []
    for orders in units.values():
        contents = [content for _, content in orders]
        why = {first[item.id].why for item, _ in orders if item.id in first}
        is_flagged = "flagged" in why or not (why or all(passed.get(item.id, False) for item, _ in orders))
        band = _band(contents, is_flagged, odds, suspects)
        by_chance = any(item.id in sampled for item, _ in orders)
        states = [soundness(votes[one], one[1], overlap, adjudicators) for one in contents]
        objected: dict[str, bool] = {VERDICT: is_flagged}
        for content in contents:
            for name, said in scores.get(content, {}).items():
                objected[name] = objected.get(name, False) or 0 in said.values()
        if len(objected) > 1:
            is_asked = by_chance or band in ("flagged", "suspect")
            questions.append(_Question(band, _state(states) if is_asked else "open", is_asked, objected))
    names = {name for one in questions for name in one.objected} - {VERDICT}
    return [_row(name, questions) for name in (*sorted(names), VERDICT)] if names else []


def _band(
    contents: Sequence[Content],
    is_flagged: bool,
    odds: Mapping[Content, float],
    suspects: Collection[Content],
) -> Band:
    if is_flagged:
        return "flagged"
    if any(one in suspects for one in contents):
        return "suspect"
    said = [odds[one] for one in contents if one in odds]
    return "unanswered" if not said else "against" if max(said) > 0 else "for"


def _state(states: Sequence[str]) -> Literal["open", "sound", "defective"]:
    """Of a question what people found in either order."""
    if "defective" in states:
        return "defective"
    return "sound" if "sound" in states and "disputed" not in states else "open"


def _row(name: str, questions: Iterable[_Question]) -> AuditorAccuracy:
    """The figures of one auditor."""
    own = [one for one in questions if name in one.objected]
    chance = [one for one in own if not one.objected[name] and one.band not in ("flagged", "suspect")]
    decided = sum(one.state != "open" for one in own if one.objected[name])
    sampled = sum(one.state != "open" for one in chance)
    worlds = [_totals(name, own)]
    if any(one.asked and one.state == "open" for one in own):
        ends: tuple[_Fill, ...] = ("sound", "defective")
        worlds += [_totals(name, own, {True: one, False: other}) for one in ends for other in ends]
    right: tuple[float | None, ...] = (None, None, None)
    found, alarms = right, right
    if decided >= LEAST:
        right = _figure([(bad[True], bad[True] + good[True]) for bad, good in worlds])
        # Where people saw all that the auditor passed, or nothing is left to chance, no sample is needed.
        if sampled >= LEAST or not chance:
            found = _figure([(bad[True], bad[True] + bad[False]) for bad, _ in worlds])
            alarms = _figure([(good[True], good[True] + good[False]) for _, good in worlds])
    return AuditorAccuracy(
        auditor=name,
        questions=len(own),
        objected=sum(one.objected[name] for one in own),
        decided=decided,
        right=right[0],
        right_low=right[1],
        right_high=right[2],
        sampled=sampled,
        found=found[0],
        found_low=found[1],
        found_high=found[2],
        false_alarms=alarms[0],
        false_alarms_low=alarms[1],
        false_alarms_high=alarms[2],
        missed=sum(one.state == "defective" for one in own if not one.objected[name]),
    )


def _totals(
    name: str, own: Sequence[_Question], fill: Mapping[bool, _Fill] | None = None
) -> tuple[dict[bool, Values], dict[bool, Values]]:
    """How many of an auditor's objections and passes are defective, and how many sound, as often as drawn.

    `fill`: what all those are, among objections and passes, that people were asked about without an answer.
    """

    def state(one: _Question) -> str:
        return fill[one.objected[name]] if fill and one.asked and one.state == "open" else one.state

    draw = np.random.default_rng(0)
    bad, good = {}, {}
    for said in (True, False):
        bands = grouped((one for one in own if one.objected[name] is said), lambda one: one.band)
        cells = [_cell([state(one) for one in bands[band]]) for band in sorted(bands)]
        bad[said] = sum((_drawn(cell, draw) for cell in cells), np.zeros(DRAWS))
        good[said] = sum(cell.size for cell in cells) - bad[said]
    return bad, good


def _cell(states: Sequence[str]) -> _Cell:
    return _Cell(len(states), len(states) - states.count("open"), states.count("defective"))


def _drawn(cell: _Cell, draw: np.random.Generator) -> Values:
    """How many of a cell's questions are defective, as often as it is drawn."""
    share = draw.beta(cell.defective + 0.5, cell.decided - cell.defective + 0.5, DRAWS)
    found: Values = cell.defective + draw.binomial(cell.size - cell.decided, share).astype(np.float64)
    return found


def _figure(worlds: Sequence[tuple[Values, Values]]) -> tuple[float | None, float | None, float | None]:
    """Median of a share in the first world, and the 95 % interval over all.

    None where there may be nothing to have a share in.
    """
    shares = []
    for part, whole in worlds:
        there = whole > 0
        if there.mean() < 0.95:
            return None, None, None
        shares.append(np.quantile(part[there] / whole[there], (0.5, 0.025, 0.975)))
    return (
        float(shares[0][0]),
        float(min(low for _, low, _ in shares)),
        float(max(high for *_, high in shares)),
    )
