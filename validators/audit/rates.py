"""Shares with their uncertainty, and agreement beyond chance."""

from collections.abc import Iterable, Sequence
from itertools import combinations

from mihakk.machinery.agreement import gwet_ac1
from mihakk.machinery.stats import wilson
from mihakk.schemas.audit import CRITERIA, Audit
from mihakk.schemas.record import Record


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


def paired_scores(audits: Iterable[Audit]) -> list[tuple[int, int]]:
    """The scores that two auditors gave to each criterion of the same item in turn, from usable audits."""
    said: dict[str, list[tuple[str, tuple[int, ...]]]] = {}
    alike: dict[tuple[int, ...], tuple[int, ...]] = {}
    for audit in audits:
        if audit.scores:
            scores = tuple(audit.scores[name] for name in CRITERIA)
            said.setdefault(audit.item, []).append((audit.auditor, alike.setdefault(scores, scores)))
    pairs = {(one, other): (one, other) for one in (0, 1) for other in (0, 1)}
    return [
        pairs[pair]
        for opinions in said.values()
        for (_, one), (_, other) in combinations(sorted(opinions, key=lambda each: each[0]), 2)
        for pair in zip(one, other, strict=True)
    ]


def agreement(first: Sequence[int], second: Sequence[int]) -> AuditorAgreement:
    """Agreement of two raters' 0/1 ratings of the same cases."""
    n = len(first)
    named = {(a, b): (str(a), str(b)) for a in {*first} for b in {*second}}
    found = gwet_ac1([named[pair] for pair in zip(first, second, strict=True)], categories=2)
    if found is None:
        return AuditorAgreement(cases=0, observed=None, kappa=None, ac1=None)
    p, q = sum(first) / n, sum(second) / n
    by_chance = p * q + (1 - p) * (1 - q)
    return AuditorAgreement(
        cases=n,
        observed=found.observed,
        kappa=None if by_chance == 1 else (found.observed - by_chance) / (1 - by_chance),
        ac1=found.ac1,
    )
