"""The results of people's work on a benchmark, for its release, gates and report."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from mihakk.annotation.decisions.stores import Stores
from mihakk.annotation.decisions.words import counted_digest
from mihakk.annotation.statistics.review_report import ReviewReport
from mihakk.pipeline.build import Build
from mihakk.releases.release_facts import AgreementFact, MissRateFact
from mihakk.schemas.audit import CRITERIA
from mihakk.schemas.campaign import REPLIES, CampaignFigure
from mihakk.schemas.record import Record
from mihakk.schemas.review import HumanAccuracy

F = TypeVar("F", bound=Record)


def review_stores(build: Build) -> Stores:
    """Where decisions are kept, and what else of the review outlives every rebuild."""
    return Stores.under(build.lake.url)


def decisions_digest(build: Build) -> str:
    """See `counted_digest`."""
    return counted_digest(review_stores(build))


def agreement_facts(state: ReviewReport) -> tuple[AgreementFact, ...]:
    """Agreement on the decision, then on each criterion judged twice, over all languages and people."""
    rows = {
        row.label: row for row in state.agreement if row.project == "quality_review" and row.group == "all"
    }
    told = (rows[name] for name in ("decision", *CRITERIA) if name in rows)
    return tuple(
        _fact(
            AgreementFact,
            row,
            {
                "coefficient": f"Krippendorff's alpha, {row.level}",
                "value": row.alpha,
                "least": row.least_alpha,
                "annotators": row.people,
            },
        )
        for row in told
        if row.items
    )


def miss_rate_fact(state: ReviewReport) -> MissRateFact | None:
    """Defects people found in the random sample of unflagged items; None where there is no sample."""
    unanswered = {
        row.stratum: row.waiting
        for row in state.miss_rates
        if row.stratum != "all" and (row.waiting or not row.decided)
    }
    for row in state.miss_rates:
        if row.stratum == "all":
            told = {"sampled": row.decided, "defective": row.missed, "upper_bound": row.upper}
            return _fact(MissRateFact, row, told | {"unanswered": unanswered})
    return None


def campaign_facts(state: ReviewReport) -> tuple[CampaignFigure, ...]:
    """Figures of campaigns about records and items; what people say of systems is no fact of a release."""
    return tuple(_fact(CampaignFigure, row) for row in state.campaign_figures if row.template not in REPLIES)


def accuracy_facts(state: ReviewReport) -> tuple[HumanAccuracy, ...]:
    """How often people answer as the reference does: by items and tasks, nobody by pseudonym."""
    return tuple(_fact(HumanAccuracy, row) for row in state.human_accuracy if not row.by_person)


def _fact(kind: type[F], row: Record, named: Mapping[str, Any] | None = None) -> F:
    """What a release states of a figure, floats to six digits; `named`: fields it calls otherwise."""
    told = {name: getattr(row, name) for name in kind.model_fields if hasattr(row, name)} | dict(named or {})
    return kind(
        **{name: round(value, 6) if isinstance(value, float) else value for name, value in told.items()}
    )
