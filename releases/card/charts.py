"""Charts as SVG text, for the card and for pages: no renderer, no fonts, the same bytes every time."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from itertools import pairwise
from math import ceil, floor, log10

INK, FAINT, _PAPER = "#1f2933", "#52606d", "#ffffff"
SERIES = ("#0b6e99", "#e8a33d", "#7a9e3f", "#b3446c")
_FORBIDDEN = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_FONT = 'font-family="system-ui, sans-serif" font-size="12"'
_ROW = 22
_LABEL = 230
_BAR = 420
_RULE = "#e4e7eb"
_NAME = 300
WIDTH, _PLOT, _LEFT, _RIGHT = 340, 96, 56, 14
"""Of a trend; its width fits a telephone."""
_LETTERS = 30
"""Letters of a line's name that fit beside its value."""


def bars(title: str, rows: Sequence[tuple[str, Mapping[str, float]]], form: str = "{:,.0f}") -> str:
    """Horizontal bars, stacked by series; `rows` are (name, series -> value), `form` writes a row's sum."""
    series = list(dict.fromkeys(name for _, values in rows for name in values))
    most = max((sum(values.values()) for _, values in rows), default=0) or 1
    parts, y = legend(series, 44), 60 if len(series) > 1 else 44
    for name, values in rows:
        parts.append(text(_LABEL - 8, y + 14, name, anchor="end"))
        x = float(_LABEL)
        for place, one in enumerate(series):
            width = _BAR * values.get(one, 0) / most
            if width > 0:
                parts.append(box(x, y + 3, width, _ROW - 6, SERIES[place % len(SERIES)]))
            x += width
        parts.append(text(x + 6, y + 14, form.format(sum(values.values()))))
        y += _ROW
    return picture(title, _LABEL + _BAR + 80, y + 12, parts)


def grid(title: str, counts: Mapping[tuple[str, str], int]) -> str:
    """A heat map: (row, column) -> count, darker for more, the count written in every cell."""
    rows = sorted({row for row, _ in counts})
    columns = sorted({column for _, column in counts})
    most = max(counts.values(), default=1)
    side, top, left = 58, 130, 170
    parts = [
        f'<g transform="translate({left + place * side + side / 2 + 4:.1f},{top - 8}) rotate(-45)">'
        f"{text(0, 0, column)}</g>"
        for place, column in enumerate(columns)
    ]
    for i, row in enumerate(rows):
        y = top + i * 26
        parts.append(text(left - 8, y + 17, row, anchor="end"))
        for j, column in enumerate(columns):
            count = counts.get((row, column), 0)
            share = count / most
            fill = _blend(share) if count else "#f5f7fa"
            parts.append(box(left + j * side, y, side - 2, 24, fill))
            if count:
                ink = _PAPER if share > 0.55 else INK
                parts.append(
                    text(left + j * side + side / 2 - 1, y + 16, f"{count:,}", anchor="middle", ink=ink)
                )
    return picture(title, left + len(columns) * side + 70, top + len(rows) * 26 + 14, parts)


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
        return _NAME + _BAR * (value - start) / (end - start)

    top = 62 if len(series) > 1 else 46
    height = _ROW * max(1, len(series) * 2 // 3)
    bottom = top + height * len(rows)
    parts = legend(series, 44, _NAME)
    for quarter in range(round((end - start) * 4) + 1):
        tick = start + quarter / 4
        parts.append(line(place(tick), top, place(tick), bottom, _RULE))
        parts.append(text(place(tick), bottom + 16, f"{tick:g}", anchor="middle", ink=FAINT))
    for row, (name, marks) in enumerate(rows):
        y = top + row * height
        parts.append(text(_NAME - 8, y + height / 2 + 4, name, anchor="end"))
        for lane, one in enumerate(series):
            if one in marks:
                middle = y + height * (lane + 0.5) / len(series)
                parts += _mark(marks[one], place, middle, SERIES[lane % len(SERIES)])
        shown = " / ".join(f"{marks[one].value:.2f}" for one in series if one in marks)
        parts.append(text(_NAME + _BAR + 14, y + height / 2 + 4, shown))
    return picture(title, _NAME + _BAR + 110, bottom + 26, parts)


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


Point = tuple[str, float, float]
"""A name, a size of 1 or more, and per cent."""
NAMED = 14
"""Points up to which each is named beside it; of more the names show where they are pointed at."""


def scatter(title: str, points: Sequence[Point], across: str, beside: Sequence[Point] = ()) -> str:
    """Points over a logarithmic size, each named; those to compare with are rings, named when pointed at."""
    left, top, width, height = 60, 46, 560, 240
    everything = [*points, *beside]
    decades = max(1, ceil(log10(max([10.0, *(size for _, size, _ in everything)]))))
    most = max([1.0, *(share for _, _, share in everything)])
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
    own = sorted(points, key=lambda point: (point[2], point[0]))
    for name, size, share in (*beside, *own):
        x = left + width * log10(max(1.0, size)) / decades
        y = top + height * (1 - share / most)
        place = f'cx="{x:.1f}" cy="{y:.1f}"'
        ring = (name, size, share) in beside
        look = (
            f'r="4" fill="none" stroke="{FAINT}"' if ring else f'r="5" fill="{SERIES[0]}" fill-opacity="0.8"'
        )
        if ring or len(points) > NAMED:
            said = f"<title>{plain(f'{name}: {share:.2f} % of {size:,.0f}')}</title>"
            parts.append(f"<circle {place} {look}>{said}</circle>")
        else:
            parts.append(f"<circle {place} {look}/>")
            parts.append(text(x + 9, _free(x, y - 4, taken), f"{name} {share:.1f}"))
    return picture(title, left + width + 180, top + height + 50, parts)


def _free(x: float, y: float, taken: list[tuple[float, float]]) -> float:
    """A height for a label, above those that stand there already."""
    while any(abs(y - other) < 14 and abs(x - beside) < 180 for beside, other in taken):
        y -= 14
    taken.append((x, y))
    return y


@dataclass(frozen=True)
class Trend:
    """One small chart, which fits a telephone: lines over runs or versions, oldest first."""

    title: str
    over: str
    """What the columns are: `run` or `version`."""
    columns: tuple[str, ...]
    lines: Mapping[str, tuple[float | None, ...]]
    """Name -> value for each column; None where it is not known. The largest newest value first."""
    form: str = "{:,.0f}"

    @property
    def svg(self) -> str:
        """A line for each name, with its newest value and how it moved since the one before."""
        every = [value for row in self.lines.values() for value in row if value is not None]
        most, top, count = max(every, default=0) or 1, 44.0, len(self.columns)
        step = (WIDTH - _LEFT - _RIGHT) / max(count - 1, 1)
        parts = [
            line(_LEFT, top, WIDTH - _RIGHT, top, "#d5dbe4"),
            line(_LEFT, top + _PLOT, WIDTH - _RIGHT, top + _PLOT, FAINT),
            text(_LEFT - 6, top + 4, self.shown(most), anchor="end", ink=FAINT),
            text(_LEFT - 6, top + _PLOT + 4, self.shown(0), anchor="end", ink=FAINT),
            text(_LEFT, top + _PLOT + 18, self.columns[0][:10], ink=FAINT),
        ]
        if count > 1:
            last = self.columns[-1][:10]
            parts.append(text(WIDTH - _RIGHT, top + _PLOT + 18, last, anchor="end", ink=FAINT))
        y = top + _PLOT + 40
        for place, (name, row) in enumerate(self.lines.items()):
            ink = SERIES[place % len(SERIES)]
            dots = [
                (_LEFT + column * step, top + _PLOT * (1 - value / most))
                for column, value in enumerate(row)
                if value is not None
            ]
            parts += [line(*start, *end, ink, width=2) for start, end in pairwise(dots)]
            parts += [box(x - 2.5, at - 2.5, 5, 5, ink) for x, at in dots]
            short = name if len(name) <= _LETTERS else f"{name[: _LETTERS - 1]}…"
            parts += [box(12, y - 10, 12, 12, ink), text(30, y, short)]
            parts.append(text(WIDTH - _RIGHT, y, f"{self.shown(row[-1])}{self._moved(row)}", anchor="end"))
            y += 19
        return picture(self.title, WIDTH, y - 4, parts)

    def shown(self, value: float | None) -> str:
        """A value as it is written."""
        return "–" if value is None else self.form.format(value)

    def _moved(self, row: Sequence[float | None]) -> str:
        """How a line's last value differs from the one before it."""
        if len(row) < 2 or row[-1] is None or row[-2] is None:
            return ""
        change = row[-1] - row[-2]
        return f" ({'+' if change >= 0 else '−'}{self.shown(abs(change))})"


def _blend(share: float) -> str:
    low, high = (222, 238, 245), (11, 110, 153)
    mixed = [round(a + (b - a) * share) for a, b in zip(low, high, strict=True)]
    return "#" + "".join(f"{part:02x}" for part in mixed)


def legend(series: Sequence[str], y: int, x: float = _LABEL) -> list[str]:
    """Names of the series beside their colours; nothing for one alone."""
    if len(series) < 2:
        return []
    parts = []
    for place, name in enumerate(series):
        parts.append(box(x, y - 10, 12, 12, SERIES[place % len(SERIES)]))
        parts.append(text(x + 18, y, name))
        x += 34 + 7 * len(name)
    return parts


def box(x: float, y: float, width: float, height: float, fill: str, *, opacity: float = 1) -> str:
    """A filled rectangle."""
    faint = "" if opacity == 1 else f' fill-opacity="{opacity:g}"'
    return f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" fill="{fill}"{faint}/>'


def line(x: float, y: float, to_x: float, to_y: float, ink: str, *, width: float = 1) -> str:
    """A straight line."""
    ends = f'x1="{x:.1f}" y1="{y:.1f}" x2="{to_x:.1f}" y2="{to_y:.1f}"'
    return f'<line {ends} stroke="{ink}" stroke-width="{width:g}"/>'


def text(x: float, y: float, words: str, *, anchor: str = "start", ink: str = INK) -> str:
    """A line of text."""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{ink}">{plain(words)}</text>'


def plain(words: str) -> str:
    """Words escaped, without the characters that no XML file may hold."""
    return escape(_FORBIDDEN.sub("\ufffd", words), quote=True)


def picture(title: str, width: float, height: float, parts: Sequence[str]) -> str:
    """The whole file: the parts on paper, under the title."""
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" '
        f'height="{height:.0f}" role="img" aria-label="{plain(title)}" {_FONT}>'
    )
    ground = f'<rect width="100%" height="100%" fill="{_PAPER}"/>'
    heading = f'<text x="12" y="24" fill="{FAINT}" font-weight="600">{plain(title)}</text>'
    return "\n".join([head, ground, heading, *parts, "</svg>", ""])
