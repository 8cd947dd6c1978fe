"""The digest of all benchmarks: what changed since yesterday, what waits for whom, cost, and what is late."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from statistics import median

from pydantic import Field

from mihakk.machinery.markdown import plain
from mihakk.pipeline.history import RunRecord
from mihakk.reports.dashboard.overview import OverviewFacts
from mihakk.schemas.record import Record

SPREADS = 3.0
"""A yield is unusual this many times the usual spread from the median of the earlier runs."""
SMALLEST = 0.02
"""Share of the median that no spread falls below: a source that never moved may still gain a poem."""
EARLIER = 3
"""Earlier runs without which nothing is called usual."""


class Digest(Record):
    """One benchmark since a moment."""

    benchmark: str
    title: str
    level: str
    """The worst of what a person should know: good, unknown, look, bad."""
    runs: dict[str, int]
    """State of the runs since then to their number."""
    failures: tuple[str, ...] = ()
    """How each failed run ended, newest first."""
    released: tuple[str, ...] = ()
    """Versions that were made since then, newest first."""
    waiting: int = 0
    """Items that wait for people's decisions."""
    costs: dict[str, float] = Field(default_factory=dict)
    """What priced models answered since then, by currency."""
    yields: tuple[str, ...] = ()
    """Sources whose yield moved more than it usually does."""
    notes: tuple[str, ...] = ()
    """What a person should know, the worst first."""


def digest(facts: OverviewFacts, since: datetime) -> Digest:
    """One benchmark's digest."""
    records = [(run.record, run.state) for run in facts.health.runs]
    recent = [(record, state) for record, state in records if record.seen >= since]
    older = {record.release for record, _ in records if record.seen < since}
    costs: Counter[str] = Counter()
    for record, _ in recent:
        costs.update(record.costs)
    versions = [record.release for record, _ in recent if record.release and record.release not in older]
    return Digest(
        benchmark=facts.name,
        title=facts.title,
        level=facts.level,
        runs=dict(sorted(Counter(state for _, state in recent).items())),
        failures=tuple(
            f"{record.run} in {record.stage or 'preparation'}: {record.error}"
            for record, state in recent
            if state in ("failed", "lost")
        ),
        released=tuple(dict.fromkeys(versions)),
        waiting=facts.people.waiting,
        costs=dict(sorted(costs.items())),
        yields=tuple(unusual([record for record, _ in records], since)),
        notes=tuple(f"{note.level}: {note.text}" for note in facts.notes if note.level != "good"),
    )


def unusual(records: Sequence[RunRecord], since: datetime) -> list[str]:
    """Sources whose newest yield lies further from the median of earlier runs than they usually do.

    Args:
        records: Runs, newest first.
        since: Only yields that were read since then are judged.
    """
    read = [record for record in records if record.sources]
    if not read or read[0].seen < since:
        return []
    found = []
    for name, now in sorted(read[0].sources.items()):
        before = [record.sources[name].records for record in read[1:] if name in record.sources]
        if len(before) < EARLIER:
            continue
        middle = median(before)
        # Median absolute deviation, made comparable to a standard deviation of normal draws.
        spread = max(1.4826 * median(abs(one - middle) for one in before), SMALLEST * middle)
        if abs(now.records - middle) > SPREADS * spread:
            found.append(f"{name}: {now.records:,} records, {middle:,.0f} before (usually ± {spread:,.0f})")
    return found


def markdown(digests: Sequence[Digest], since: datetime) -> str:
    """All benchmarks as one Markdown text, those that need a person first."""
    order = ("bad", "look", "unknown", "good")
    lines = [f"# Mihakk since {since:%Y-%m-%d %H:%M} UTC"]
    for one in sorted(digests, key=lambda found: (order.index(found.level), found.benchmark)):
        ran = ", ".join(f"{count} {state}" for state, count in one.runs.items()) or "none"
        cost = ", ".join(f"{amount:,.2f} {currency}" for currency, amount in one.costs.items()) or "nothing"
        lines += [
            "",
            f"## {plain(one.title)} ({plain(one.benchmark)}): {one.level}",
            "",
            f"- Runs: {ran}. Priced models cost {cost}.",
            f"- Released: {', '.join(one.released) or 'nothing'}.",
            f"- Waiting for people: {one.waiting:,} items.",
        ]
        lines += [f"- Failed: {plain(text)}" for text in one.failures]
        lines += [f"- Yield: {plain(text)}" for text in one.yields]
        lines += [f"- {plain(text)}" for text in one.notes]
    return "\n".join(lines) + "\n"
