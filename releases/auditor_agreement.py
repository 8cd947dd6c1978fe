"""How far the two auditors agree, as a release states it."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations

from releases.release_facts import AuditorAgreementFact
from schemas.audit import CRITERIA, Audit
from validators.audit.rates import agreement

ALL = "all"
"""Name of the row over every criterion."""


def auditor_agreement(audits: Iterable[Audit]) -> tuple[AuditorAgreementFact, ...]:
    """Agreement over `all` scores, then per criterion, on items with two usable audits; else nothing."""
    said: dict[str, list[Audit]] = {}
    for audit in audits:
        if audit.scores:
            said.setdefault(audit.item, []).append(audit)
    pairs = [
        (first.scores, second.scores)
        for opinions in said.values()
        for first, second in combinations(sorted(opinions, key=lambda one: one.auditor), 2)
    ]
    if not pairs:
        return ()
    rows = [(ALL, [(one[name], other[name]) for one, other in pairs for name in CRITERIA])]
    rows += [(name, [(one[name], other[name]) for one, other in pairs]) for name in CRITERIA]
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
