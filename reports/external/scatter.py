"""A chart of discard rate against size, one point per subset, as SVG text in the page's own colours."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from math import ceil, floor, log10

WIDTH, HEIGHT = 760, 340
LEFT, RIGHT, TOP, BOTTOM = 58, 24, 16, 46
LETTER = 6.6
"""Width of a label's letter, pixels, on the generous side."""
LINE = 14


@dataclass(frozen=True)
class Point:
    """One subset."""

    name: str
    items: int
    rate: float
    """0 to 1."""


@dataclass(frozen=True)
class _Box:
    x: float
    y: float
    width: float
    height: float

    def meets(self, other: _Box) -> bool:
        return (
            self.x < other.x + other.width
            and other.x < self.x + self.width
            and self.y < other.y + other.height
            and other.y < self.y + self.height
        )


def size_against_rate(own: Sequence[Point], beside: Sequence[Point] = ()) -> str:
    """The chart: items on a logarithmic axis, rate on a linear one.

    Args:
        own: Drawn large, and labelled where there is room; every point says its figures when pointed at.
        beside: Drawn small and faint, to compare with.
    """
    everything = [*own, *beside]
    low = floor(log10(max(1, min(point.items for point in everything))))
    high = max(low + 1, ceil(log10(max(point.items for point in everything))))
    most = _round_up(max(0.01, *(point.rate for point in everything)))
    parts = _axes(low, high, most)
    spots = {point: (_x(point.items, low, high), _y(point.rate, most)) for point in everything}
    taken = [_Box(x - 6, y - 6, 12, 12) for x, y in spots.values()]
    for point in beside:
        x, y = spots[point]
        parts.append(_dot(x, y, 3.5, "beside", point))
    for point in sorted(own, key=lambda point: -point.items):
        x, y = spots[point]
        parts.append(_dot(x, y, 6, "own", point))
        label = _label(point.name, x, y, taken)
        if label is not None:
            taken.append(label)
            parts.append(
                f'<text x="{label.x:.1f}" y="{label.y + 11:.1f}" direction="ltr">{escape(point.name)}</text>'
            )
    said = escape("Items of each subset against the share that is blocked or flagged", quote=True)
    return "\n".join(
        [
            f'<svg class="scatter" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{said}">',
            *parts,
            "</svg>",
        ]
    )


def _x(items: int, low: int, high: int) -> float:
    return LEFT + (WIDTH - LEFT - RIGHT) * (log10(max(1, items)) - low) / (high - low)


def _y(rate: float, most: float) -> float:
    return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * rate / most


def _round_up(rate: float) -> float:
    """The least of 1, 2, 5, 10, 20, 50, 100 % that is not below the rate."""
    return next((step for step in (0.01, 0.02, 0.05, 0.1, 0.2, 0.5) if rate <= step), 1.0)


def _axes(low: int, high: int, most: float) -> list[str]:
    parts = []
    for step in range(6):
        rate = most * step / 5
        y = _y(rate, most)
        parts.append(f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>')
        parts.append(
            f'<text class="tick" x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{rate * 100:.3g} %</text>'
        )
    for power in range(low, high + 1):
        x = _x(10**power, low, high)
        parts.append(f'<line class="grid" x1="{x:.1f}" x2="{x:.1f}" y1="{TOP}" y2="{HEIGHT - BOTTOM}"/>')
        parts.append(
            f'<text class="tick" x="{x:.1f}" y="{HEIGHT - BOTTOM + 18}" text-anchor="middle">'
            f"{10**power:,}</text>"
        )
    middle = (LEFT + WIDTH - RIGHT) / 2
    parts.append(f'<text class="tick" x="{middle}" y="{HEIGHT - 6}" text-anchor="middle">items</text>')
    return parts


def _dot(x: float, y: float, radius: float, tone: str, point: Point) -> str:
    said = escape(f"{point.name}: {point.rate:.2%} of {point.items:,} items")
    return f'<circle class="{tone}" cx="{x:.1f}" cy="{y:.1f}" r="{radius}"><title>{said}</title></circle>'


def _label(name: str, x: float, y: float, taken: Sequence[_Box]) -> _Box | None:
    """Where a label fits beside, above or below its point; None where nothing is free."""
    width = LETTER * len(name)
    places = (
        (x + 10, y - LINE / 2),
        (x - 10 - width, y - LINE / 2),
        (x - width / 2, y - LINE - 8),
        (x - width / 2, y + 8),
    )
    for left, top in places:
        box = _Box(left, top, width, LINE)
        inside = left >= LEFT and left + width <= WIDTH - 2 and top >= 0 and top + LINE <= HEIGHT - BOTTOM + 4
        if inside and not any(box.meets(other) for other in taken):
            return box
    return None
