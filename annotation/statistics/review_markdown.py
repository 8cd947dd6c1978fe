"""The report of a review as Markdown: what `mihakk review report` prints and a flow shows as an artifact."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from mihakk.annotation.campaigns.figures import CampaignProgress
from mihakk.annotation.statistics.agreement import PeopleAgreement
from mihakk.annotation.statistics.auditor_errors import Annotator, Overturn
from mihakk.annotation.statistics.miss_rate import MissRate
from mihakk.annotation.statistics.review_report import ReviewReport
from mihakk.machinery.markdown import Columns, Row, table_of
from mihakk.schemas.calibration import Standing
from mihakk.schemas.campaign import CampaignFigure
from mihakk.schemas.review import HumanAccuracy


def markdown(report: ReviewReport) -> str:
    """The report for people."""
    parts = ["# Review", _counts("Outcome", report.outcomes), _counts("Settled by", report.settled_by)]
    if report.discards:
        parts.append(_counts("Discarded because", report.discards))
    if report.rejected:
        parts.append(_counts("Annotation not used because", report.rejected))
    overturns = [row for row in report.overturns if row.zeros or row.missed or row.not_judged]
    parts += [
        "## Agreement (Krippendorff's alpha, 95 % bootstrap interval over items)",
        "Over the first votes on each item; adjudicators, and people asked because others disagreed, are "
        "left out. After discussion: alpha over everybody's last votes. Raw: share of pairs of votes that "
        "are the same. AC1: Gwet's, which holds where nearly all votes are one. Intervals hold whatever the "
        "votes are that unanswered items lack. Edited: votes changed before the first pull; what was said "
        "first is lost, so they count after discussion only. Judged: of a criterion, the share of the items "
        "decided by two on which two judged it; who fixes or discards an item judges only what they name. "
        "Pearson: of two people's numbers; of more, the mean over pairs; none where answers are missing.",
        _table(AGREEMENT, report.agreement),
        "## Auditors overturned by people",
        _table(OVERTURNED, overturns),
        "## Missed by rules and auditors (random sample of unflagged items)",
        _table(MISSED, report.miss_rates),
        "Clopper-Pearson, the overall row weighted by stratum; at most: one-sided 95 %. Disputed items count "
        "as sound in the rate and as defective in the upper ends; so do waiting ones and strata without a "
        "sample, which are unknown.",
    ]
    if report.campaigns:
        figures = _table(FIGURES, report.campaign_figures)
        parts += ["## Campaigns", _table(CAMPAIGNS, report.campaigns), figures]
    if report.calibration or report.withheld:
        parts += ["## Calibration", _table(CALIBRATION, report.calibration)]
    if report.withheld:
        kept = ", ".join(f"{person} {count}" for person, count in report.withheld.items())
        parts.append(f"Answers kept that don't count, made before passing: {kept}.")
    if report.human_accuracy:
        parts += [
            "## Own answers, given before the reference was shown",
            _table(OWN_ANSWERS, report.human_accuracy),
            "Clopper-Pearson, as if all answers to a question were one. Sampled: drawn at random of what "
            "nothing flags.",
        ]
    if report.doubted:
        parts.append(_table(DOUBTED, sorted(report.doubted.items())))
    parts += ["## People", _table(PEOPLE, report.annotators)]
    return "\n\n".join(parts) + "\n"


def _counts(title: str, counts: Mapping[str, int]) -> str:
    columns: Columns[tuple[str, int]] = {title: lambda row: row[0], "items": lambda row: row[1]}
    return _table(columns, counts.items())


def _table(columns: Columns[Row], rows: Iterable[Row]) -> str:
    known = list(rows)
    return table_of(columns, known) if known else "Nothing yet."


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"


def _percent(value: float | None) -> str:
    return "–" if value is None else f"{value:.2%}"


def _interval(low: float | None, high: float | None) -> str:
    return "–" if low is None or high is None else f"{low:.2f} to {high:.2f}"


AGREEMENT: Columns[PeopleAgreement] = {
    "project": lambda row: row.project,
    "label": lambda row: row.label,
    "group": lambda row: row.group,
    "level": lambda row: row.level,
    "alpha": lambda row: _number(row.alpha),
    "interval": lambda row: _interval(row.low, row.high),
    "after discussion": lambda row: _number(row.alpha_after),
    "raw": lambda row: _percent(row.observed),
    "raw 95 %": lambda row: _interval(row.observed_low, row.observed_high),
    "AC1": lambda row: _number(row.ac1),
    "AC1 95 %": lambda row: _interval(row.ac1_low, row.ac1_high),
    "Pearson": lambda row: _number(row.pearson),
    "items": lambda row: row.items,
    "judged": lambda row: _percent(row.judged),
    "unanswered": lambda row: row.unanswered,
    "edited": lambda row: row.edited,
    "people": lambda row: row.people,
}
OVERTURNED: Columns[Overturn] = {
    "auditor": lambda row: row.auditor,
    "criterion": lambda row: row.criterion,
    "zeros judged": lambda row: row.zeros,
    "overturned": lambda row: row.overturned,
    "rate": lambda row: _number(row.rate),
    "interval": lambda row: _interval(row.low, row.high),
    "missed": lambda row: row.missed,
    "zeros not judged": lambda row: row.not_judged,
}
MISSED: Columns[MissRate] = {
    "stratum": lambda row: row.stratum,
    "decided": lambda row: row.decided,
    "defective": lambda row: row.missed,
    "disputed": lambda row: row.disputed,
    "waiting": lambda row: row.waiting,
    "outdated": lambda row: row.outdated,
    "rate": lambda row: _percent(row.rate),
    "95 % interval": lambda row: f"{_percent(row.low)} to {_percent(row.high)}",
    "at most": lambda row: _percent(row.upper),
}
CAMPAIGNS: Columns[CampaignProgress] = {
    "campaign": lambda row: row.template,
    "questions": lambda row: row.drawn,
    "answered": lambda row: row.answered,
    "begun": lambda row: row.begun,
    "people differ": lambda row: row.disputed,
}
FIGURES: Columns[CampaignFigure] = {
    "campaign": lambda row: row.template,
    "of": lambda row: row.group,
    "figure": lambda row: row.figure,
    "questions": lambda row: row.questions,
    "unanswered": lambda row: row.unanswered,
    "value": lambda row: row.shown,
    "95 % interval": lambda row: row.interval,
}
CALIBRATION: Columns[Standing] = {
    "annotator": lambda row: row.annotator,
    "template": lambda row: row.template,
    "language": lambda row: row.language,
    "round": lambda row: row.round,
    "answered": lambda row: f"{row.answered}/{row.items}",
    "right": lambda row: row.right,
    "needed": lambda row: row.needed,
    "95 % interval": lambda row: _interval(row.low, row.high),
    "planted": lambda row: f"{row.found}/{row.planted}",
    "state": lambda row: row.state,
}
PEOPLE: Columns[Annotator] = {
    "annotator": lambda row: row.annotator,
    "decisions": lambda row: row.decisions,
    "median s": lambda row: _number(row.seconds),
    "kept": lambda row: f"{row.keep_rate:.0%}",
    "checks": lambda row: f"{row.attention_passed}/{row.attention}",
    "planted": lambda row: f"{row.planted_found}/{row.planted}",
    "finds": lambda row: _percent(row.finds),
    "spares": lambda row: _percent(row.spares),
    "right, 95 %": lambda row: _interval(row.right_low, row.right_high),
    "finds drift": lambda row: _number(row.finds_drift),
    "repeats": lambda row: (
        f"{row.copied_from}: {_percent(row.copied)}, likely {_percent(row.copying)}"
        if row.copied_from
        else "–"
    ),
    "pace": lambda row: _number(row.pace),
    "silent days": lambda row: row.silent,
    "alarms": lambda row: ", ".join(row.alarms) or "–",
}
OWN_ANSWERS: Columns[HumanAccuracy] = {
    "of": lambda row: row.group,
    "questions": lambda row: row.questions,
    "unanswered": lambda row: row.unanswered,
    "answers": lambda row: row.answers,
    "right": lambda row: _percent(row.accuracy),
    "95 % interval": lambda row: f"{_percent(row.low)} to {_percent(row.high)}",
    "did not know": lambda row: row.unknown,
}
DOUBTED: Columns[tuple[str, list[str]]] = {
    "item": lambda row: row[0],
    "answered otherwise than the reference": lambda row: "; ".join(row[1]),
}
