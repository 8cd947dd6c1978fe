"""Trends over runs and versions: small line charts that fit a phone, each with its figures as a table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from pipeline.history import RunRecord, StageRun
from releases.card.charts import FAINT, SERIES, box, line, picture, text
from reports.templates import templates
from schemas.stages import AUDITED, CHECKED, STAGES

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
WIDTH, PLOT, LEFT, RIGHT = 340, 96, 56, 14
NAME = 30
"""Letters of a line's name that fit beside its value."""


@dataclass(frozen=True)
class Trend:
    """One chart: lines over runs or versions, oldest first."""

    title: str
    over: str
    """What the columns are: `run` or `version`."""
    columns: tuple[str, ...]
    lines: Mapping[str, tuple[float | None, ...]]
    """Name -> value for each column; None where it is not known. The largest newest value first."""
    form: str = "{:,.0f}"

    @property
    def svg(self) -> str:
        """The picture."""
        return drawn(self)

    def shown(self, value: float | None) -> str:
        """A value as it is written."""
        return "–" if value is None else self.form.format(value)


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


def trends_html(trends: Sequence[Trend]) -> str:
    """The charts and their tables as HTML to be put into a page."""
    return templates(Path(__file__).parent).get_template("trends.html.jinja").render(trends=trends)


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


def drawn(trend: Trend) -> str:
    """A line for each name over the columns, with its newest value and how it moved since the one before."""
    most = max((value for row in trend.lines.values() for value in row if value is not None), default=0) or 1
    top, count = 44.0, len(trend.columns)
    step = (WIDTH - LEFT - RIGHT) / max(count - 1, 1)
    parts = [
        line(LEFT, top, WIDTH - RIGHT, top, "#d5dbe4"),
        line(LEFT, top + PLOT, WIDTH - RIGHT, top + PLOT, FAINT),
        text(LEFT - 6, top + 4, trend.shown(most), anchor="end", ink=FAINT),
        text(LEFT - 6, top + PLOT + 4, trend.shown(0), anchor="end", ink=FAINT),
        text(LEFT, top + PLOT + 18, trend.columns[0][:10], ink=FAINT),
    ]
    if count > 1:
        parts.append(text(WIDTH - RIGHT, top + PLOT + 18, trend.columns[-1][:10], anchor="end", ink=FAINT))
    y = top + PLOT + 40
    for place, (name, row) in enumerate(trend.lines.items()):
        ink = SERIES[place % len(SERIES)]
        dots = [
            (LEFT + column * step, top + PLOT * (1 - value / most))
            for column, value in enumerate(row)
            if value is not None
        ]
        parts += [line(*start, *end, ink, width=2) for start, end in pairwise(dots)]
        parts += [box(x - 2.5, at - 2.5, 5, 5, ink) for x, at in dots]
        short = name if len(name) <= NAME else f"{name[: NAME - 1]}…"
        parts += [box(12, y - 10, 12, 12, ink), text(30, y, short)]
        parts.append(text(WIDTH - RIGHT, y, f"{trend.shown(row[-1])}{_moved(trend, row)}", anchor="end"))
        y += 19
    return picture(trend.title, WIDTH, y - 4, parts)


def _moved(trend: Trend, row: Sequence[float | None]) -> str:
    """How a line's last value differs from the one before it."""
    if len(row) < 2 or row[-1] is None or row[-2] is None:
        return ""
    change = row[-1] - row[-2]
    return f" ({'+' if change >= 0 else '−'}{trend.shown(abs(change))})"
