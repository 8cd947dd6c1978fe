"""How far the two auditors agree, as a release states it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from mihakk.releases.release_facts import AuditorAgreementFact
from mihakk.schemas.audit import Audit
from mihakk.validators.audit.rates import Pairs, agreement_of, paired_scores

ALL = "all"
"""Name of the row over every criterion."""


def auditor_agreement(audits: Iterable[Audit]) -> tuple[AuditorAgreementFact, ...]:
    """Agreement over `all` scores, then per criterion, on items with two usable audits; else nothing."""
    every = paired_scores(audits)
    rows = [(ALL, sum(every.values(), Counter())), *every.items()] if every else []
    return tuple(_fact(name, pairs) for name, pairs in rows)


def _fact(name: str, pairs: Pairs) -> AuditorAgreementFact:
    found = agreement_of(pairs)
    return AuditorAgreementFact(
        criterion=name,
        scores=found.cases,
        observed=round(found.observed or 0.0, 6),
        ac1=round(found.ac1 or 0.0, 6),
        kappa=None if found.kappa is None else round(found.kappa, 6),
    )
