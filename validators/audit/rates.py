"""Shares with their uncertainty, and agreement beyond chance."""

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import combinations, groupby

from mihakk.machinery.agreement import gwet_ac1
from mihakk.machinery.stats import wilson
from mihakk.schemas.audit import CRITERIA, Audit, Criterion
from mihakk.schemas.record import Record

Pairs = Counter[tuple[int, int]]
"""How often two raters gave one case which two ratings."""


class Rate(Record):
    """A share of cases with its 95 % Wilson interval."""

    hits: int
    cases: int

    @property
    def value(self) -> float | None:
        """hits / cases; None without cases."""
        return self.hits / self.cases if self.cases else None

    @property
    def interval(self) -> tuple[float, float]:
        """Wilson score interval; 0 to 1 without cases."""
        return wilson(self.hits, self.cases)

    def shown(self) -> str:
        """`80 % [67, 89] of 50`, or `-`."""
        if self.value is None:
            return "-"
        low, high = self.interval
        return f"{self.value:.0%} [{low * 100:.0f}, {high * 100:.0f}] of {self.cases}".replace("%", " %")


class AuditorAgreement(Record):
    """How far two binary raters agree."""

    cases: int
    observed: float | None
    """Share of cases rated alike."""
    kappa: float | None
    """Cohen's kappa; None when chance alone would make them agree fully."""
    ac1: float | None
    """Gwet's AC1, which stays meaningful when nearly all ratings are 1 (as here), where kappa does not."""


def paired_scores(audits: Iterable[Audit]) -> dict[Criterion, Pairs]:
    """How often two auditors gave a criterion of the same item which scores, from usable audits.

    Those of an item come in a row, whichever first.
    """
    counted = Counter(
        (one, other)
        for _, together in groupby((audit for audit in audits if audit.scores), lambda audit: audit.item)
        for one, other in combinations(sorted(map(_scores, together)), 2)
    )
    found: dict[Criterion, Pairs] = {}
    for ((_, first), (_, second)), times in counted.items():
        for name, one, other in zip(CRITERIA, first, second, strict=True):
            found.setdefault(name, Counter())[one, other] += times
    return found


def _scores(audit: Audit) -> tuple[str, tuple[int, ...]]:
    return audit.auditor, tuple(audit.scores[name] for name in CRITERIA)


def agreement(first: Sequence[int], second: Sequence[int]) -> AuditorAgreement:
    """Agreement of two raters' 0/1 ratings of the same cases."""
    return agreement_of(Counter(zip(first, second, strict=True)))


def agreement_of(pairs: Pairs) -> AuditorAgreement:
    """The same of how often they gave one case which two ratings."""
    n = pairs.total()
    found = gwet_ac1([(str(one), str(other)) for one, other in pairs], 2, times=[*pairs.values()])
    if found is None:
        return AuditorAgreement(cases=0, observed=None, kappa=None, ac1=None)
    p, q = (sum(pair[rater] * times for pair, times in pairs.items()) / n for rater in (0, 1))
    by_chance = p * q + (1 - p) * (1 - q)
    return AuditorAgreement(
        cases=n,
        observed=found.observed,
        kappa=None if by_chance == 1 else (found.observed - by_chance) / (1 - by_chance),
        ac1=found.ac1,
    )
