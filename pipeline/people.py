"""The results of people's work on a benchmark, for its release, gates and report."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pipeline.build import Build
from schemas.audit import CRITERIA
from schemas.campaign import REPLIES, CampaignFigure
from schemas.review import HumanAccuracy

if TYPE_CHECKING:
    from annotation.decisions.stores import Stores
    from annotation.statistics.agreement import PeopleAgreement
    from annotation.statistics.review_report import ReviewReport
    from releases.release_facts import AgreementFact, MissRateFact


def review_stores(build: Build) -> Stores:
    """Where decisions are kept, and what else of the review outlives every rebuild."""
    from annotation.decisions.stores import Stores

    return Stores.under(build.lake.url)


def decisions_digest(build: Build) -> str:
    """See `counted_digest`."""
    from annotation.decisions.words import counted_digest

    return counted_digest(review_stores(build))


def agreement_facts(state: ReviewReport) -> tuple[AgreementFact, ...]:
    """Agreement on the decision, then on each criterion judged twice, over all languages and people."""
    rows = {
        row.label: row for row in state.agreement if row.project == "quality_review" and row.group == "all"
    }
    told = (rows[name] for name in ("decision", *CRITERIA) if name in rows)
    return tuple(_fact(row) for row in told if row.items)


def miss_rate_fact(state: ReviewReport) -> MissRateFact | None:
    """Defects people found in the random sample of unflagged items; None where there is no sample."""
    from releases.release_facts import MissRateFact

    unanswered = {
        row.stratum: row.waiting
        for row in state.miss_rates
        if row.stratum != "all" and (row.waiting or not row.decided)
    }
    for row in state.miss_rates:
        if row.stratum == "all":
            return MissRateFact(
                sampled=row.decided,
                defective=row.missed,
                disputed=row.disputed,
                waiting=row.waiting,
                unanswered=unanswered,
                outdated=row.outdated,
                rate=_rounded(row.rate),
                low=_rounded(row.low),
                high=_rounded(row.high),
                upper_bound=round(row.upper, 6),
                covered=round(row.covered, 6),
            )
    return None


def campaign_facts(state: ReviewReport) -> tuple[CampaignFigure, ...]:
    """Figures of campaigns about records and items; what people say of systems is no fact of a release."""
    return tuple(
        row.model_copy(
            update={
                "value": round(row.value, 6),
                "low": _rounded(row.low),
                "high": _rounded(row.high),
            }
        )
        for row in state.campaign_figures
        if row.template not in REPLIES
    )


def accuracy_facts(state: ReviewReport) -> tuple[HumanAccuracy, ...]:
    """How often people answer as the reference does: by items and tasks, nobody by pseudonym."""
    return tuple(
        row.model_copy(update={name: round(getattr(row, name), 6) for name in ("accuracy", "low", "high")})
        for row in state.human_accuracy
        if not row.by_person
    )


def _fact(row: PeopleAgreement) -> AgreementFact:
    from releases.release_facts import AgreementFact

    return AgreementFact(
        label=row.label,
        coefficient=f"Krippendorff's alpha, {row.level}",
        value=_rounded(row.alpha),
        least=_rounded(row.least_alpha),
        observed=_rounded(row.observed),
        ac1=_rounded(row.ac1),
        low=_rounded(row.low),
        high=_rounded(row.high),
        observed_low=_rounded(row.observed_low),
        observed_high=_rounded(row.observed_high),
        ac1_low=_rounded(row.ac1_low),
        ac1_high=_rounded(row.ac1_high),
        items=row.items,
        unanswered=row.unanswered,
        edited=row.edited,
        annotators=row.people,
    )


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 6)
