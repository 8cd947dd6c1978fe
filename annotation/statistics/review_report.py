"""Everything people's work says about a benchmark, as one record and as Markdown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from pydantic import Field

from annotation.campaigns.figures import CampaignProgress, figures, progress
from annotation.decisions.resolution import resolve
from annotation.decisions.store import decisions, labels, stored
from annotation.decisions.stores import Stores
from annotation.screens.tasks import TEMPLATE
from annotation.statistics.agreement import PeopleAgreement, agreement, label_judgements, review_judgements
from annotation.statistics.auditor_errors import Annotator, Overturn, annotators, overturns
from annotation.statistics.miss_rate import MissRate, miss_rates
from annotation.statistics.sampling import Queued
from annotation.statistics.vote_rows import judged as judged_items
from annotation.statistics.vote_rows import scored_contents
from annotation.teaching.state import calibration_state, withheld
from mihakk.ids import content_hash
from schemas.audit import Audit
from schemas.calibration import Standing
from schemas.campaign import Campaign, CampaignFigure, Drawn
from schemas.item import Item
from schemas.record import Record
from schemas.rejection import Rejection


class ReviewReport(Record):
    """The state of a benchmark's review."""

    outcomes: dict[str, int]
    """Items per outcome of the decisions on the content people saw last."""
    stale: int
    """Of those, not fixed ones whose content has changed since: their decisions no longer bind."""
    settled_by: dict[str, int]
    discards: dict[str, int]
    """Discarded items per reason."""
    agreement: tuple[PeopleAgreement, ...]
    overturns: tuple[Overturn, ...]
    miss_rates: tuple[MissRate, ...]
    annotators: tuple[Annotator, ...]
    rejected: dict[str, int]
    """Annotations that could not be used, per reason."""
    campaigns: tuple[CampaignProgress, ...] = ()
    campaign_figures: tuple[CampaignFigure, ...] = ()
    calibration: tuple[Standing, ...] = ()
    """Where each person stands with each round of calibration."""
    withheld: dict[str, int] = Field(default_factory=dict)
    """By person, answers that are kept and don't count: made before passing."""


def review_report(
    stores: Stores,
    items: Sequence[Item],
    audits: Iterable[Audit],
    *,
    seed: int,
    sizes: Mapping[str, int] | None = None,
    overlap: int = 2,
    adjudicators: Collection[str] = (),
    campaigns: Sequence[Campaign] = (),
) -> ReviewReport:
    """The report over everything in the stores.

    Args:
        stores: Of the benchmark.
        items: Items as they stand.
        audits: Opinions of the auditors on these items; what they said of content pushed earlier is in the
            store.
        seed: The build seed, for the bootstrap.
        sizes: Unflagged items per stratum, which weigh the miss rate; None weighs sampled items the same.
        overlap: Votes an item needs.
        adjudicators: Pseudonyms whose decision settles an item.
        campaigns: As the config lists them.
    """
    reviews = decisions(stores.decisions)
    queued = stored(stores.queued, Queued)
    real = judged_items(reviews, queued)
    now = {item.id: content_hash(item) for item in items}
    judged_content = {review.item: review.content_hash for review in real}
    languages: dict[str, str] = {item.id: item.language for item in items}
    resolutions = resolve(real, judged_content, overlap, adjudicators=adjudicators)
    scores = scored_contents(audits, queued, items)
    rows: list[PeopleAgreement] = []
    for label, judged in review_judgements(real, languages, overlap).items():
        rows += agreement(TEMPLATE, label, judged, seed=seed)
    drawn, ratings = stored(stores.campaigns, Drawn), labels(stores.labels)
    languages |= {row.subject.partition("#")[0]: row.strata.get("language", "") for row in drawn}
    for (template, label), judged in sorted(label_judgements(ratings, languages).items()):
        rows += agreement(template, label, judged, seed=seed)
    return ReviewReport(
        outcomes=_tally(row.outcome for row in resolutions),
        stale=sum(
            row.outcome != "fix" and now.get(row.item, judged_content[row.item]) != judged_content[row.item]
            for row in resolutions
        ),
        settled_by=_tally(row.by for row in resolutions if row.by),
        discards=_tally(row.reason or "other" for row in resolutions if row.outcome == "discard"),
        agreement=tuple(rows),
        overturns=tuple(overturns(real, scores)),
        miss_rates=tuple(miss_rates(queued, real, overlap, adjudicators, sizes=sizes, now=now)),
        annotators=tuple(annotators(reviews, queued)),
        rejected=_tally(row.reason for row in stored(stores.rejected, Rejection)),
        campaigns=tuple(progress(drawn, ratings, campaigns, overlap, adjudicators)),
        campaign_figures=tuple(figures(drawn, ratings, campaigns, overlap, adjudicators)),
        calibration=tuple(calibration_state(stores)),
        withheld=dict(sorted(withheld(stores).items())),
    )


def markdown(report: ReviewReport) -> str:
    """The report for people: what a flow shows as an artifact."""
    parts = ["# Review", _counts("Outcome", report.outcomes), _counts("Settled by", report.settled_by)]
    if report.discards:
        parts.append(_counts("Discarded because", report.discards))
    if report.rejected:
        parts.append(_counts("Annotation not used because", report.rejected))
    parts.append("## Agreement (Krippendorff's alpha, 95 % bootstrap interval over items)")
    parts.append(
        "Over the first votes on each item; those asked for because people disagreed are left out. Raw: "
        "share of pairs of votes that are the same. AC1: Gwet's, which holds where nearly all votes are one. "
        "Pearson: of two people's numbers; of more, the mean over their pairs."
    )
    parts.append(
        _table(
            (
                "project",
                "label",
                "group",
                "level",
                "alpha",
                "interval",
                "raw",
                "AC1",
                "Pearson",
                "items",
                "people",
            ),
            [
                (
                    row.project,
                    row.label,
                    row.group,
                    row.level,
                    _number(row.alpha),
                    _interval(row.low, row.high),
                    _percent(row.observed),
                    _number(row.ac1),
                    _number(row.pearson),
                    row.items,
                    row.people,
                )
                for row in report.agreement
            ],
        )
    )
    parts.append("## Auditors overturned by people")
    parts.append(
        _table(
            (
                "auditor",
                "criterion",
                "zeros judged",
                "overturned",
                "rate",
                "interval",
                "missed",
                "zeros not judged",
            ),
            [
                (
                    row.auditor,
                    row.criterion,
                    row.zeros,
                    row.overturned,
                    _number(row.rate),
                    _interval(row.low, row.high),
                    row.missed,
                    row.not_judged,
                )
                for row in report.overturns
                if row.zeros or row.missed or row.not_judged
            ],
        )
    )
    parts.append("## Missed by rules and auditors (random sample of unflagged items)")
    parts.append(
        _table(
            (
                "stratum",
                "decided",
                "defective",
                "disputed",
                "waiting",
                "outdated",
                "rate",
                "95 % interval",
                "at most",
            ),
            [
                (
                    row.stratum,
                    row.decided,
                    row.missed,
                    row.disputed,
                    row.waiting,
                    row.outdated,
                    _percent(row.rate),
                    f"{_percent(row.low)} to {_percent(row.high)}",
                    _percent(row.upper),
                )
                for row in report.miss_rates
            ],
        )
    )
    parts.append(
        "Clopper-Pearson, the overall row weighted by stratum; at most: one-sided 95 %. Disputed items count "
        "as sound in the rate and as defective in the upper ends."
    )
    if report.campaigns:
        parts += _campaigns(report)
    if report.calibration or report.withheld:
        parts += _calibration(report)
    parts.append("## People")
    parts.append(_people(report.annotators))
    return "\n\n".join(parts) + "\n"


def _campaigns(report: ReviewReport) -> list[str]:
    state = _table(
        ("campaign", "questions", "answered", "begun", "people differ"),
        [(row.template, row.drawn, row.answered, row.begun, row.disputed) for row in report.campaigns],
    )
    found = _table(
        ("campaign", "of", "figure", "questions", "value", "95 % interval"),
        [
            (row.template, row.group, row.figure, row.questions, row.shown, row.interval)
            for row in report.campaign_figures
        ],
    )
    return ["## Campaigns", state, found]


def _calibration(report: ReviewReport) -> list[str]:
    states = _table(
        (
            "annotator",
            "template",
            "language",
            "round",
            "answered",
            "right",
            "needed",
            "95 % interval",
            "planted",
            "state",
        ),
        [
            (
                row.annotator,
                row.template,
                row.language,
                row.round,
                f"{row.answered}/{row.items}",
                row.right,
                row.needed,
                _interval(row.low, row.high),
                f"{row.found}/{row.planted}",
                row.state,
            )
            for row in report.calibration
        ],
    )
    kept = ", ".join(f"{person} {count}" for person, count in report.withheld.items())
    told = f"Answers kept that don't count, made before passing: {kept}." if kept else ""
    return ["## Calibration", states, *([told] if told else [])]


def _people(rows: Iterable[Annotator]) -> str:
    head = (
        *(
            "annotator",
            "decisions",
            "median s",
            "kept",
            "checks",
            "95 % interval",
            "planted",
            "finds",
            "spares",
        ),
        *("speed drift", "keep drift", "finds drift", "alarms"),
    )
    return _table(
        head,
        [
            (
                row.annotator,
                row.decisions,
                _number(row.seconds),
                f"{row.keep_rate:.0%}",
                f"{row.attention_passed}/{row.attention}",
                _interval(row.attention_low, row.attention_high),
                f"{row.planted_found}/{row.planted}",
                _percent(row.finds),
                _percent(row.spares),
                _number(row.speed_drift),
                _number(row.keep_drift),
                _number(row.finds_drift),
                ", ".join(row.alarms) or "–",
            )
            for row in rows
        ],
    )


def _tally(names: Iterable[str]) -> dict[str, int]:
    return dict(sorted(Counter(names).items()))


def _counts(title: str, counts: dict[str, int]) -> str:
    return _table((title, "items"), list(counts.items()))


def _table(head: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    if not rows:
        return "Nothing yet."
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(_cell(cell) for cell in line)} |" for line in lines)


def _cell(value: Any) -> str:
    return str(value).replace("|", "\\|").replace("\n", " ")


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"


def _percent(value: float | None) -> str:
    return "–" if value is None else f"{value:.2%}"


def _interval(low: float | None, high: float | None) -> str:
    return "–" if low is None or high is None else f"{low:.2f} to {high:.2f}"
