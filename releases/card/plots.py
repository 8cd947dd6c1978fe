"""Static plots of a release along an axis: spreads per row, and size against share. SVG as in `charts`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil, floor, log10

from releases.card.charts import FAINT, SERIES, box, legend, line, picture, text

_LABEL = 300
_WIDTH = 420
_ROW = 22
_RULE = "#e4e7eb"


@dataclass(frozen=True)
class Mark:
    """A value with what lies around it: a box for the middle half, a line for the rest, or neither."""

    value: float
    low: float | None = None
    high: float | None = None
    box: tuple[float, float] | None = None


def spans(title: str, rows: Sequence[tuple[str, Mapping[str, Mark]]]) -> str:
    """One row a name, one mark a series, on an axis from 0 to 1 that is widened where a mark lies outside.

    `rows` are (name, series -> mark), drawn in this order.
    """
    series = list(dict.fromkeys(name for _, marks in rows for name in marks))
    values = [
        one
        for _, marks in rows
        for mark in marks.values()
        for one in (mark.value, mark.low, mark.high)
        if one is not None
    ]
    start, end = floor(min([0.0, *values]) * 4) / 4, ceil(max([1.0, *values]) * 4) / 4

    def place(value: float) -> float:
        return _LABEL + _WIDTH * (value - start) / (end - start)

    top = 62 if len(series) > 1 else 46
    height = _ROW * max(1, len(series) * 2 // 3)
    bottom = top + height * len(rows)
    parts = legend(series, 44, _LABEL)
    for quarter in range(round((end - start) * 4) + 1):
        tick = start + quarter / 4
        parts.append(line(place(tick), top, place(tick), bottom, _RULE))
        parts.append(text(place(tick), bottom + 16, f"{tick:g}", anchor="middle", ink=FAINT))
    for row, (name, marks) in enumerate(rows):
        y = top + row * height
        parts.append(text(_LABEL - 8, y + height / 2 + 4, name, anchor="end"))
        for lane, one in enumerate(series):
            if one in marks:
                middle = y + height * (lane + 0.5) / len(series)
                parts += _mark(marks[one], place, middle, SERIES[lane % len(SERIES)])
        shown = " / ".join(f"{marks[one].value:.2f}" for one in series if one in marks)
        parts.append(text(_LABEL + _WIDTH + 14, y + height / 2 + 4, shown))
    return picture(title, _LABEL + _WIDTH + 110, bottom + 26, parts)


def _mark(mark: Mark, place: Callable[[float], float], y: float, ink: str) -> list[str]:
    parts = []
    if mark.low is not None and mark.high is not None:
        parts.append(line(place(mark.low), y, place(mark.high), y, ink, width=1.5))
    if mark.box is not None:
        left, right = map(place, mark.box)
        parts.append(box(left, y - 5, max(1.0, right - left), 10, ink, opacity=0.35))
        parts.append(box(place(mark.value) - 1.5, y - 6, 3, 12, ink))
    else:
        parts.append(f'<circle cx="{place(mark.value):.1f}" cy="{y:.1f}" r="4" fill="{ink}"/>')
    return parts


def scatter(title: str, points: Sequence[tuple[str, float, float]], across: str) -> str:
    """Points (name, size of 1 or more, per cent) over a logarithmic size, each named beside it."""
    left, top, width, height = 60, 46, 560, 240
    decades = max(1, ceil(log10(max([10.0, *(size for _, size, _ in points)]))))
    most = max([1.0, *(share for _, _, share in points)])
    parts = []
    for decade in range(decades + 1):
        x = left + width * decade / decades
        parts.append(line(x, top, x, top + height, _RULE))
        parts.append(text(x, top + height + 18, f"{10**decade:,}", anchor="middle", ink=FAINT))
    for quarter in range(5):
        y = top + height * (1 - quarter / 4)
        parts.append(line(left, y, left + width, y, _RULE))
        parts.append(text(left - 8, y + 4, f"{most * quarter / 4:.1f}", anchor="end", ink=FAINT))
    parts.append(text(left + width / 2, top + height + 38, across, anchor="middle", ink=FAINT))
    taken: list[tuple[float, float]] = []
    for name, size, share in sorted(points, key=lambda point: (point[2], point[0])):
        x = left + width * log10(max(1.0, size)) / decades
        y = top + height * (1 - share / most)
        parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="5" fill="{SERIES[0]}" fill-opacity="0.8"/>')
        parts.append(text(x + 9, _free(x, y - 4, taken), f"{name} {share:.1f}"))
    return picture(title, left + width + 180, top + height + 50, parts)


def _free(x: float, y: float, taken: list[tuple[float, float]]) -> float:
    """A height for a label, above those that stand there already."""
    while any(abs(y - other) < 14 and abs(x - beside) < 180 for beside, other in taken):
        y -= 14
    taken.append((x, y))
    return y
