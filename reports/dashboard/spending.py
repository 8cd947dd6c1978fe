"""What models were asked and cost, beside the caps: plan, spent, left."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from typing import NamedTuple

from mihakk.machinery.errors import MihakkError
from mihakk.machinery.llm.spending import Spent, account
from mihakk.pipeline.build import Build
from mihakk.schemas.model import Budget

MONTHS = 6
"""Months that the page shows."""


class Spending(NamedTuple):
    """A model in a month, or models under one cap in this month."""

    month: str
    models: str
    calls: int
    spent: str
    """With its currency; empty without a price."""
    unsettled: str
    """The most that requests can cost of which nobody knows; empty where there is none."""
    plan: str
    """Cap of this month; empty where there is none."""
    left: str
    """Of the plan."""


def spending(build: Build) -> list[Spending]:
    """Every model by month, the newest first; before them the caps of this month."""
    rows = account(build.spending)
    month = f"{datetime.now(UTC):%Y-%m}"
    shown = sorted({row.month for row in rows}, reverse=True)[:MONTHS]
    caps = [
        _row(month, names, [row for row in rows if row.month == month and row.model in names], budget)
        for names, budget in _caps(build)
    ]
    return [*caps, *(_row(row.month, (row.model,), [row], None) for row in rows if row.month in shown)]


def _caps(build: Build) -> Iterator[tuple[tuple[str, ...], Budget]]:
    models = [build.config.generator] if build.config.generator else []
    with suppress(MihakkError):  # the audit stage says what is wrong with the auditors' config
        panel = build.auditors()
        models += panel.auditors
        if panel.budget:
            yield tuple(one.name for one in panel.auditors), panel.budget
    yield from (((one.name,), one.budget) for one in models if one.budget)


def _row(month: str, names: Sequence[str], rows: Sequence[Spent], budget: Budget | None) -> Spending:
    calls = sum(row.calls for row in rows)
    money = {row.currency for row in rows if row.currency}
    currency = " ".join(sorted(money))
    at_most = sum(row.at_most for row in rows)
    plan, left = [], []
    if budget and budget.cost is not None:
        plan.append(_amount(budget.cost, currency))
        left.append(_amount(max(0.0, budget.cost - at_most), currency))
    if budget and budget.calls is not None:
        plan.append(f"{budget.calls:,} requests")
        left.append(f"{max(0, budget.calls - calls):,} requests")
    open_ones = sum(row.reserved for row in rows)
    return Spending(
        month=month,
        models=" and ".join(names),
        calls=calls,
        spent=_amount(sum(row.cost for row in rows), currency) if money else "",
        unsettled=_amount(open_ones, currency) if open_ones else "",
        plan=", ".join(plan),
        left=", ".join(left),
    )


def _amount(cost: float, currency: str) -> str:
    return f"{cost:,.2f} {currency}".rstrip()
