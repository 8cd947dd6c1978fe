"""The figures and charts of a release, counted from its items and papers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from mihakk.releases.card.charts import Mark, bars, grid, scatter, spans
from mihakk.releases.card.matter import SplitSummary
from mihakk.releases.card.similarity import cluster_similarities
from mihakk.releases.release_facts import ReleaseFacts
from mihakk.schemas.audit import Audit

SHOWN = 14
"""Rows of a bar chart; the rest is summed up in a last one."""


def write_charts(
    folder: Path,
    *,
    splits: Sequence[SplitSummary],
    audits: Iterable[Audit],
    removed: Mapping[str, int],
    facts: ReleaseFacts,
) -> dict[str, str]:
    """Write the charts there is matter for into `charts/`; file -> what it shows, in the card's order."""
    pictures: dict[str, tuple[str, str]] = {}

    def draw(name: str, title: str, chart: Callable[..., str], rows: Any, *more: str) -> None:
        if rows:
            pictures[name] = title, chart(title, rows, *more)

    per_config: dict[str, dict[str, float]] = {}
    for one in splits:
        per_config.setdefault(one.config, {})[one.split] = one.rows
    draw("items.svg", "Items per config and split", bars, list(per_config.items()))
    kinds = sum((Counter(one.era_genre) for one in splits), Counter[tuple[str, str]]())
    known = {place: count for place, count in kinds.items() if all(place)}
    draw("era_genre.svg", "Items per era and genre", grid, known)
    draw("removed.svg", "Left out, by reason", bars, _top(removed))
    funnel = [
        (
            f"{row.source or 'all'} · {row.stage.partition('_')[2]}",
            {"kept": float(row.kept), "rejected": float(row.rejected), "merged": float(row.merged)},
        )
        for row in sorted(facts.funnel, key=lambda row: row.source)
        if row.read
    ]
    draw("funnel.svg", "Records of each source, stage by stage", bars, funnel)
    title = "Share of records rejected, by stage and source (%)"
    draw("discard_rate.svg", title, bars, _discard_rates(facts), "{:.2f}")
    title = "Share of records rejected or merged (%), by size of the source"
    draw("discard_size.svg", title, scatter, _discards_by_size(facts), "records read")
    title = "Groups of like records, by their lowest similarity"
    draw("near_duplicates.svg", title, bars, cluster_similarities(facts.clusters))
    title = "Wrong options: letters in common with the right one (5, 25, 50, 75, 95 % of them)"
    draw("options_letters.svg", title, spans, _spread(facts, "letters"))
    title = "Wrong options: cosine with the right one (5, 25, 50, 75, 95 % of them)"
    draw("options_cosine.svg", title, spans, _spread(facts, "cosine"))
    draw("audit_totals.svg", "Criteria met per item, by auditor", bars, _totals(audits))
    draw("agreement.svg", "Agreement beyond chance (1 full, 0 none)", spans, _agreement(facts))
    (folder / "charts").mkdir(exist_ok=True)
    for name, (_, picture) in pictures.items():
        (folder / "charts" / name).write_text(picture, encoding="utf-8")
    return {f"charts/{name}": shown for name, (shown, _) in pictures.items()}


def _top(counts: Mapping[str, int]) -> list[tuple[str, dict[str, float]]]:
    ordered = sorted(counts.items(), key=lambda one: (-one[1], one[0]))
    rows: list[tuple[str, dict[str, float]]] = [(name, {"items": count}) for name, count in ordered[:SHOWN]]
    rest = sum(count for _, count in ordered[SHOWN:])
    return [*rows, (f"{len(ordered) - SHOWN} more reasons", {"items": rest})] if rest else rows


def _discard_rates(facts: ReleaseFacts) -> list[tuple[str, dict[str, float]]]:
    return [
        (f"{row.stage} {row.source or 'all'} ({row.read:,})", {"rejected": 100 * row.rejected / row.read})
        for row in facts.funnel
        if row.read and row.rejected
    ]


def _discards_by_size(facts: ReleaseFacts) -> list[tuple[str, float, float]]:
    """(source, records read, per cent of them that made no item), where anything was left out at all."""
    first: dict[str, int] = {}
    lost: Counter[str] = Counter()
    for row in facts.funnel:
        if row.source and row.read:
            first.setdefault(row.source, row.read)
            lost[row.source] += row.rejected + row.merged
    points = [(name, float(read), 100 * lost[name] / read) for name, read in first.items()]
    return points if any(share for _, _, share in points) else []


def _spread(facts: ReleaseFacts, measure: str) -> list[tuple[str, dict[str, Mark]]]:
    return [
        (
            f"{one.config}{f', {one.strategy}' if one.strategy else ''}",
            {measure: Mark(one.median, one.p05, one.p95, (one.p25, one.p75))},
        )
        for one in facts.spreads
        if one.measure == measure
    ]


def _agreement(facts: ReleaseFacts) -> list[tuple[str, dict[str, Mark]]]:
    rows: dict[str, dict[str, Mark]] = {}
    toy = any(not one.capable for one in facts.auditors)
    name = "auditors too small to judge (AC1)" if toy else "auditors (AC1)"
    for one in facts.auditor_agreement:
        rows.setdefault(_spoken(one.criterion), {})[name] = Mark(one.ac1)
    people = [*facts.criteria_agreement, *([facts.agreement] if facts.agreement else [])]
    for said in people:
        marks = rows.setdefault(_spoken(said.label), {})
        if said.value is not None:
            marks["people (alpha)"] = Mark(said.value, said.low, said.high)
        if said.ac1 is not None:
            marks["people (AC1)"] = Mark(said.ac1)
    return list(rows.items())


def _spoken(name: str) -> str:
    return {"all": "all scores", "decision": "keep, fix or discard"}.get(name, name.replace("_", " "))


def _totals(audits: Iterable[Audit]) -> list[tuple[str, dict[str, float]]]:
    counts: Counter[tuple[str, str]] = Counter()
    for audit in audits:
        counts["no usable reply" if audit.total is None else f"{audit.total} of 10", audit.auditor] += 1
    names = sorted({name for _, name in counts})
    totals = [f"{total} of 10" for total in range(10, -1, -1)] + ["no usable reply"]
    return [
        (total, {name: float(counts[total, name]) for name in names if counts[total, name]})
        for total in totals
        if any(counts[total, name] for name in names)
    ]
