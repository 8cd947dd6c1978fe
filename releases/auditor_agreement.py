"""How far the two auditors agree, as a release states it."""

from __future__ import annotations

from collections.abc import Iterable

from mihakk.releases.release_facts import AuditorAgreementFact
from mihakk.schemas.audit import CRITERIA, Audit
from mihakk.validators.audit.rates import agreement, paired_scores

ALL = "all"
"""Name of the row over every criterion."""


def auditor_agreement(audits: Iterable[Audit]) -> tuple[AuditorAgreementFact, ...]:
    """Agreement over `all` scores, then per criterion, on items with two usable audits; else nothing."""
    every = paired_scores(audits)
    if not every:
        return ()
    rows = [(ALL, every), *((name, every[place :: len(CRITERIA)]) for place, name in enumerate(CRITERIA))]
    return tuple(_fact(name, scores) for name, scores in rows)


def _fact(name: str, scores: list[tuple[int, int]]) -> AuditorAgreementFact:
    found = agreement([one for one, _ in scores], [other for _, other in scores])
    return AuditorAgreementFact(
        criterion=name,
        scores=found.cases,
        observed=round(found.observed or 0.0, 6),
        ac1=round(found.ac1 or 0.0, 6),
        kappa=None if found.kappa is None else round(found.kappa, 6),
    )
