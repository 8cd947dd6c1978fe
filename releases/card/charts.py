"""Static charts of a release as SVG text: no renderer, no fonts, the same bytes every time."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from html import escape

INK, FAINT, _PAPER = "#1f2933", "#52606d", "#ffffff"
SERIES = ("#0b6e99", "#e8a33d", "#7a9e3f", "#b3446c")
_FORBIDDEN = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_FONT = 'font-family="system-ui, sans-serif" font-size="12"'
_ROW = 22
_LABEL = 230
_BAR = 420


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
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{ink}">{_plain(words)}</text>'


def _plain(words: str) -> str:
    """Words escaped, without the characters that no XML file may hold."""
    return escape(_FORBIDDEN.sub("\ufffd", words), quote=True)


def picture(title: str, width: float, height: float, parts: Sequence[str]) -> str:
    """The whole file: the parts on paper, under the title."""
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" '
        f'height="{height:.0f}" role="img" aria-label="{_plain(title)}" {_FONT}>'
    )
    ground = f'<rect width="100%" height="100%" fill="{_PAPER}"/>'
    heading = f'<text x="12" y="24" fill="{FAINT}" font-weight="600">{_plain(title)}</text>'
    return "\n".join([head, ground, heading, *parts, "</svg>", ""])
