"""What people's work says about a benchmark, for its release, its gates and its report."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flows.context import ITEM_ROWS, Build
from mihakk.ids import digest
from schemas.audit import CRITERIA, Audit

if TYPE_CHECKING:
    from annotation.agreement import Agreement
    from annotation.pull import Stores
    from annotation.report import ReviewReport
    from releases.facts import AgreementFact, MissRateFact


def review_stores(build: Build) -> Stores:
    """Where decisions are kept, and what else of the review outlives every rebuild."""
    from annotation.pull import Stores

    return Stores.under(build.lake.url)


def review_state(build: Build) -> ReviewReport:
    """Agreement, overturned auditors, misses and annotators over everything people have decided so far."""
    from annotation.report import review_report

    audited, config = build.stage("6_audited"), build.config.review
    return review_report(
        review_stores(build),
        list(audited.read_all("items", ITEM_ROWS)),
        audited.read_all("audits", Audit),
        seed=build.config.seed,
        overlap=config.overlap,
        adjudicators=config.adjudicators,
    )


def work_so_far(build: Build) -> str:
    """Digest that any new decision changes: the names of the stores' parts hold those of their content."""
    from mihakk.lake.storage import Storage

    stores = review_stores(build)
    folders = [Storage(folder) for folder in (stores.decisions, stores.queued)]
    return digest([folder.list(folder.root) for folder in folders])


def agreement_facts(state: ReviewReport) -> tuple[AgreementFact, ...]:
    """Alpha of the decision, then of each criterion, where it is defined, over all languages and people."""
    rows = {
        row.label: row for row in state.agreement if row.project == "quality_review" and row.group == "all"
    }
    told = (rows[name] for name in ("decision", *CRITERIA) if name in rows)
    return tuple(_fact(row, row.alpha) for row in told if row.alpha is not None)


def miss_rate_fact(state: ReviewReport) -> MissRateFact | None:
    """Defects people found in the random sample of unflagged items; None before any of it is settled."""
    from releases.facts import MissRateFact

    for row in state.miss_rates:
        if row.stratum == "all":
            return MissRateFact(sampled=row.decided, defective=row.missed, upper_bound=round(row.upper, 6))
    return None


def _fact(row: Agreement, alpha: float) -> AgreementFact:
    from releases.facts import AgreementFact

    return AgreementFact(
        label=row.label,
        coefficient=f"Krippendorff's alpha, {row.level}",
        value=round(alpha, 6),
        low=None if row.low is None else round(row.low, 6),
        high=None if row.high is None else round(row.high, 6),
        items=row.items,
        annotators=row.people,
    )
