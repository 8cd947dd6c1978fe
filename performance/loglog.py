"""Cost against size on logarithmic axes, as a picture."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

from releases.card.charts import FAINT, INK, SERIES, line, picture, text

LEFT, TOP, WIDTH, HEIGHT = 90, 60, 460, 300
RULE = "#e4e7eb"


def loglog(title: str, points: Sequence[tuple[float, float]], *, size: str, cost: str, slope: float) -> str:
    """The points, the line of their slope, and a line of slope 1 through the first, as SVG.

    Args:
        title: Read aloud as the picture's name.
        points: (size, cost), both above zero, by size.
        size, cost: What the axes show.
        slope: Of the line fitted to the points.
    """
    (x0, x1), (y0, y1) = (_decades([point[axis] for point in points]) for axis in (0, 1))

    def place(x: float, y: float) -> tuple[float, float]:
        across = (math.log10(x) - x0) / (x1 - x0)
        up = (math.log10(y) - y0) / (y1 - y0)
        return LEFT + WIDTH * across, TOP + HEIGHT * (1 - up)

    parts = [text(LEFT + WIDTH, TOP - 14, f"slope {slope:.2f}; grey: slope 1", anchor="end", ink=FAINT)]
    for decade in range(x0, x1 + 1):
        x, _ = place(10**decade, 10**y0)
        parts += [
            line(x, TOP, x, TOP + HEIGHT, RULE),
            text(x, TOP + HEIGHT + 18, f"{10**decade:,}", anchor="middle"),
        ]
    for decade in range(y0, y1 + 1):
        _, y = place(10**x0, 10**decade)
        parts += [
            line(LEFT, y, LEFT + WIDTH, y, RULE),
            text(LEFT - 8, y + 4, f"{10.0**decade:g}", anchor="end"),
        ]
    first, last = points[0], points[-1]
    linear = first[1] * last[0] / first[0]
    parts += [line(*place(*first), *place(last[0], min(linear, 10**y1)), FAINT)]
    parts += [line(*place(*one), *place(*other), SERIES[0], width=2) for one, other in pairwise(points)]
    for x, y in (place(*point) for point in points):
        parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{SERIES[0]}"/>')
    parts += [
        text(LEFT + WIDTH / 2, TOP + HEIGHT + 40, size, anchor="middle", ink=INK),
        text(LEFT - 60, TOP - 14, cost, ink=INK),
    ]
    return picture(title, LEFT + WIDTH + 40, TOP + HEIGHT + 54, parts)


def _decades(values: Sequence[float]) -> tuple[int, int]:
    """Whole powers of ten around the values, at least one apart."""
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    return low, max(high, low + 1)
