"""The plan of a build on the terminal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from rich.console import Group
from rich.markup import escape
from rich.table import Table

from mihakk.pipeline.plan import BuildPlan
from mihakk.pipeline.steps.scrape import refusal
from mihakk.schemas.model import Cost
from mihakk.validators.audit.auditing import Estimate


def cost_lines(cost: Estimate) -> Iterator[str]:
    """What the auditors would cost, a sentence a line."""
    yield (
        f"{cost.calls:,} model calls to make, {cost.cached:,} answered by the journal; "
        f"about {cost.prompt_tokens:,} prompt tokens ({cost.basis})."
    )
    yield from price_lines(cost.costs, cost.unpriced)
    if not cost.costs and cost.unpriced and cost.calls:
        yield f"No price is known of {', '.join(cost.unpriced)}."
    if cost.calls:
        basis = "as the replies so far took" if cost.measured else "assumed"
        yield f"About {cost.hours:,.1f} hours ({cost.seconds:.1f} s a call, {basis})."
    if cost.cap is not None and cost.calls:
        short = sum(one.most for one in cost.costs) > cost.cap - cost.spent
        before = f", of which {cost.spent:,.2f} is spent" if cost.spent else ""
        yield (
            f"Stops before {cost.cap:g} is passed in this month{before}"
            f"{'; that may be before the end' if short else ''}."
        )


def price_lines(costs: Iterable[Cost], unpriced: Sequence[str]) -> Iterator[str]:
    """What calls would cost by currency, and what has no price beside it."""
    priced = False
    for cost in costs:
        priced = True
        yield (
            f"The prompts cost about {cost.prompts:,.2f} {cost.currency}, with replies of the greatest "
            f"length {cost.most:,.2f} {cost.currency}."
        )
    if priced and unpriced:
        yield f"No price is known of {', '.join(unpriced)}."


def show_plan(found: BuildPlan) -> Group:
    """The plan as a table and some sentences."""
    stages = Table("Stage", "Shards", "Standing", "In", "Out", "Rejected", title="Plan", title_justify="left")
    for stage in found.stages:
        numbers = (stage.shards, stage.standing, stage.records_in, stage.rows_out, stage.rejected)
        stages.add_row(stage.stage, *(f"{number:,}" for number in numbers))
    tasks = f"By task: {', '.join(f'{name} {count:,}' for name, count in found.by_task.items())}."
    if found.to_audit:
        lines = [
            f"{found.items:,} items, {found.to_audit:,} of them for two auditors.",
            tasks,
            f"{found.calls:,} model calls to make, {found.cached:,} answered by the journal; "
            f"about {found.prompt_tokens:,} prompt tokens ({found.tokens_counted}).",
        ]
    else:
        lines = [f"{found.items:,} items; no model is asked about them (0 model calls).", tasks]
    if found.sampled:
        lines.append(
            f"Estimated from {found.sampled:,} records after the first stage; duplicates across the whole "
            "set are not predicted."
        )
    if found.refused_licences:
        lines.append(f"[bold red]{escape(refusal(found.refused_licences))}[/]")
    lines += price_lines(found.costs, found.unpriced)
    if found.to_write or found.written:
        parts = ", ".join(f"{name} {count:,}" for name, count in found.to_write.items()) or "none"
        lines.append(
            f"{sum(found.to_write.values()):,} parts of items for the generator model to write ({parts}), "
            f"{found.written:,} answered by its journal; {found.writing_characters:,} characters to send."
        )
    if found.model_tasks:
        lines.append(f"Not counted, since a model writes parts of them: {', '.join(found.model_tasks)}.")
    return Group(stages, *lines)
