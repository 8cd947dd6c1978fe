"""Trends over runs and versions, read from the records of runs and from releases."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from mihakk.pipeline.history import RunRecord, StageRun
from mihakk.releases.card.charts import SERIES, Trend
from mihakk.schemas.stages import AUDITED, CHECKED, STAGES

RUNS_SHOWN = 30
LINES = len(SERIES)
"""Lines of one chart; what is smaller is added up as `others`."""
OTHERS = "others"
GROUPS = (
    ("records", STAGES[:3]),
    ("items and rules", STAGES[3:5]),
    ("audit", STAGES[5:6]),
    ("review and release", STAGES[6:]),
)
"""Stages whose seconds are one line."""


def over_runs(newest_first: Sequence[RunRecord]) -> list[Trend]:
    """Yields, rejections, findings, agreement, cost and seconds of the newest runs, where they are known."""
    records = list(reversed(newest_first[:RUNS_SHOWN]))
    found = [
        _trend("Records read, by source", records, _yields),
        _trend("Rejected or merged, by reason", records, _reasons),
        _trend("Findings, by check", records, _findings),
        _trend("Scores on which both auditors agree, per cent", records, _alike, "{:.1f}"),
        _trend("Cost of priced models", records, lambda run: run.costs or None, "{:,.2f}"),
        _trend("Tokens read and written, by model", records, _tokens),
        _trend("Seconds, by stage", records, _seconds, "{:,.1f}"),
    ]
    return [trend for trend in found if trend is not None]


def over_versions(changes: Mapping[str, Mapping[str, int]]) -> list[Trend]:
    """Items that each version added, changed or removed, by reason.

    Args:
        changes: Version, oldest first, -> kind of change (`added`, `changed`, `removed: reason`) -> items.
    """
    if len(changes) < 2:
        return []
    columns = tuple(changes)[1:]  # the first version changed nothing
    return [
        _lines("Items changed, by version", "version", columns, [changes[one] for one in columns], "{:,.0f}")
    ]


def _trend(
    title: str,
    records: Sequence[RunRecord],
    values: Callable[[RunRecord], Mapping[str, float] | None],
    form: str = "{:,.0f}",
) -> Trend | None:
    known = [(run, found) for run in records if (found := values(run)) is not None]
    if not any(found for _, found in known):
        return None
    stamps = tuple(f"{run.started:%Y-%m-%d %H:%M}" for run, _ in known)
    return _lines(title, "run", stamps, [found for _, found in known], form)


def _lines(
    title: str, over: str, columns: tuple[str, ...], values: Sequence[Mapping[str, float]], form: str
) -> Trend:
    """A name that a column does not have counts 0 there: a reason no record met, a check that was silent."""
    size: dict[str, float] = {}
    for place, found in enumerate(values):
        for name, value in found.items():
            # The newest column decides; a name that is in older ones alone comes last.
            size[name] = max(size.get(name, 0.0), value if place == len(values) - 1 else 0)
    names = sorted(size, key=lambda name: -size[name])
    alone, rest = (names, []) if len(names) <= LINES else (names[: LINES - 1], names[LINES - 1 :])
    lines = {name: tuple(float(found.get(name, 0)) for found in values) for name in alone}
    if rest:
        lines[f"{len(rest)} {OTHERS}"] = tuple(
            float(sum(found.get(name, 0) for name in rest)) for found in values
        )
    return Trend(title, over, columns, lines, form)


def _stage(run: RunRecord, stage: str) -> StageRun | None:
    return next((one for one in run.stages if one.stage == stage), None)


def _yields(run: RunRecord) -> dict[str, float] | None:
    return {name: float(one.records) for name, one in run.sources.items()} or None


def _reasons(run: RunRecord) -> Mapping[str, float] | None:
    found: Counter[str] = Counter()
    for stage in run.stages:
        found.update(stage.counts.reasons)
    return found if run.status == "finished" and _kept_reasons(run) else None


def _kept_reasons(run: RunRecord) -> bool:
    """Whether the record holds reasons and notes; those of version 0.2 and before left them out."""
    return any(stage.counts.notes or stage.counts.reasons for stage in run.stages)


def _findings(run: RunRecord) -> Mapping[str, float] | None:
    stage = _stage(run, CHECKED)
    if stage is None or not _kept_reasons(run):
        return None
    found: Counter[str] = Counter()
    for name, count in stage.counts.notes.items():
        found[name.rpartition(".")[2]] += count
    return found


def _alike(run: RunRecord) -> dict[str, float] | None:
    stage = _stage(run, AUDITED)
    compared = stage.counts.notes.get("scores.compared", 0) if stage else 0
    return (
        {"agree": 100 * stage.counts.notes.get("scores.alike", 0) / compared} if stage and compared else None
    )


def _tokens(run: RunRecord) -> dict[str, float] | None:
    if not run.stages:
        return None
    return {name: float(one.prompt_tokens + one.completion_tokens) for name, one in run.usage.items()}


def _seconds(run: RunRecord) -> dict[str, float] | None:
    if run.status != "finished" or not run.stages:
        return None
    seconds = {stage.stage: stage.seconds for stage in run.stages}
    return {name: sum(seconds.get(stage, 0.0) for stage in group) for name, group in GROUPS}
