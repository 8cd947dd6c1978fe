"""Everything people's work says about a benchmark, as one record."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence

from pydantic import Field

from annotation.campaigns.figures import CampaignProgress, figures, progress
from annotation.decisions.first_votes import withdrawn
from annotation.decisions.own_answers import own_answers
from annotation.decisions.resolution import resolve, votes_needed
from annotation.decisions.store import decisions, labels, stored
from annotation.decisions.stores import Stores
from annotation.screens.ratings import Label
from annotation.statistics.agreement import PeopleAgreement
from annotation.statistics.agreement_report import Work
from annotation.statistics.auditor_errors import Annotator, Overturn, annotators, overturns
from annotation.statistics.human_accuracy import answered_items, human_accuracy, wrong_answers
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
from schemas.review import HumanAccuracy


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
    human_accuracy: tuple[HumanAccuracy, ...] = ()
    """Of own answers given before the reference was shown (`review.hide_gold`)."""
    doubted: dict[str, list[str]] = Field(default_factory=dict)
    """By item, who answered its question otherwise than the reference, in English."""
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
    """The report over everything in the stores; `sizes`, unflagged items per stratum, weigh the miss rate."""
    reviews = decisions(stores.decisions)
    queued = stored(stores.queued, Queued)
    real = judged_items(reviews, queued)
    now = {item.id: content_hash(item) for item in items}
    judged_content = {review.item: review.content_hash for review in real}
    resolutions = resolve(real, judged_content, overlap, adjudicators=adjudicators)
    scores = scored_contents(audits, queued, items)
    drawn, ratings = stored(stores.campaigns, Drawn), labels(stores.labels)
    work = Work(stores, items, queued, real, drawn, ratings, campaigns, overlap, adjudicators)
    back = withdrawn(stores.labels, Label, stores.voided)
    own = own_answers(ratings, reviews)
    needs = {row.item: votes_needed([row], overlap) for row in real}
    return ReviewReport(
        outcomes=_tally(row.outcome for row in resolutions),
        stale=sum(
            row.outcome != "fix" and now.get(row.item, judged_content[row.item]) != judged_content[row.item]
            for row in resolutions
        ),
        settled_by=_tally(row.by for row in resolutions if row.by),
        discards=_tally(row.reason or "other" for row in resolutions if row.outcome == "discard"),
        agreement=tuple(work.agreements(seed)),
        overturns=tuple(overturns(real, scores, overlap)),
        miss_rates=tuple(miss_rates(queued, real, overlap, adjudicators, sizes=sizes, now=now)),
        annotators=tuple(annotators(reviews, queued)),
        rejected=_tally(row.reason for row in stored(stores.rejected, Rejection)),
        campaigns=tuple(progress(drawn, ratings, campaigns, overlap, adjudicators)),
        campaign_figures=tuple(figures(drawn, ratings, campaigns, overlap, adjudicators, withdrawn=back)),
        calibration=tuple(calibration_state(stores)),
        human_accuracy=tuple(human_accuracy(items, own, queued, lambda item: needs.get(item, overlap))),
        doubted=wrong_answers(answered_items(items, own), "en"),
        withheld=dict(sorted(withheld(stores).items())),
    )


def _tally(names: Iterable[str]) -> dict[str, int]:
    return dict(sorted(Counter(names).items()))
