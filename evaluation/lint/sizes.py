"""How many items a column of figures was made of, by what its figures can be."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mihakk.evaluation.lint.grid import Cell
from mihakk.machinery.stats import binomial_tail

MOST: Final = 20_000
"""Items looked for."""
LEAST_CELLS: Final = 5
LEAST_SHARE: Final = 0.8
"""Of a column's cells that have to fit a size before it is taken for the column's."""
SURE: Final = 1e-4
"""Chance that figures of no such size would fit as well, over all sizes tried."""
_ERROR_CHANCE: Final = 0.02
"""That a standard error fits a size by chance, about."""
_SLACK: Final = 1e-9


class Size(NamedTuple):
    """How many items, and what a full score is."""

    items: int
    scale: float
    """1 for shares and for means of whole numbers, 100 for percentages."""


def multiple_fits(cell: Cell, size: Size) -> bool:
    """Whether the figure is some whole number over the items, as it is rounded."""
    return bool(_multiples(cell, np.array([size.items]), size.scale)[0])


def error_fits(cell: Cell, size: Size) -> bool:
    """Whether the error is sqrt(p (1-p) / (n-1)) of the share behind the figure, as it is rounded."""
    if cell.error is None:
        return True
    return bool(_errors(cell, cell.error, np.array([size.items]), size.scale)[0])


def standard_error(cell: Cell, size: Size) -> float:
    """sqrt(p (1-p) / (n-1)) of the nearest share the items can have, in the figure's own scale."""
    return float(_standard_errors(cell, np.array([size.items]), size.scale)[0])


def size_of(there: Sequence[Cell]) -> Size | None:
    """The size that fits a column, where one does beyond what chance would bring; the smallest such.

    Figures with errors behind them are shares; others may be means of whole numbers, as a judge's are.
    """
    if len(there) < LEAST_CELLS or len({cell.decimals for cell in there}) > 2:
        return None
    has_errors = sum(cell.error is not None for cell in there) >= LEAST_CELLS
    best: tuple[float, int, float] | None = None
    for scale in (1.0, 100.0):
        top = max(cell.value for cell in there)
        is_share = has_errors or scale > 1
        if (scale > 1 and top <= 1) or (is_share and top > scale):
            continue
        found = _best(there, scale, has_errors=has_errors)
        if found and (best is None or found < best):
            best = found
    return Size(best[1], best[2]) if best else None


def _best(cells: Sequence[Cell], scale: float, *, has_errors: bool) -> tuple[float, int, float] | None:
    """(chance, items, scale) of the size that chance explains least."""
    sizes = np.arange(2, MOST + 1)
    fits = np.stack([_multiples(cell, sizes, scale) for cell in cells])
    step = 10.0 ** -min(cell.decimals for cell in cells)
    chance = np.minimum(1.0, sizes * step / scale)
    if has_errors:
        for place, cell in enumerate(cells):
            if cell.error is not None:
                fits[place] &= _errors(cell, cell.error, sizes, scale)
        chance = chance * _ERROR_CHANCE
    hits = fits.sum(axis=0)
    unlikely = np.ones(len(sizes))
    for place in np.flatnonzero(hits >= LEAST_SHARE * len(cells)):
        unlikely[place] = binomial_tail(int(hits[place]), len(cells), float(chance[place])) * len(sizes)
    place = int(np.argmin(unlikely))
    return (float(unlikely[place]), int(sizes[place]), scale) if unlikely[place] < SURE else None


def _multiples(cell: Cell, sizes: NDArray[np.int64], scale: float) -> NDArray[np.bool_]:
    """Whether the figure is a whole number over each size, as it is rounded."""
    counts = np.round(cell.value / scale * sizes)
    fits: NDArray[np.bool_] = np.abs(counts / sizes * scale - cell.value) <= _reach(cell.decimals) + _SLACK
    return fits


def _errors(cell: Cell, error: float, sizes: NDArray[np.int64], scale: float) -> NDArray[np.bool_]:
    expected = _standard_errors(cell, sizes, scale)
    fits: NDArray[np.bool_] = np.abs(expected - error) <= _reach(cell.error_decimals) + _SLACK
    return fits


def _standard_errors(cell: Cell, sizes: NDArray[np.int64], scale: float) -> NDArray[np.float64]:
    share = np.round(cell.value / scale * sizes) / sizes
    found: NDArray[np.float64] = (
        np.sqrt(np.maximum(share * (1 - share), 0) / np.maximum(sizes - 1, 1)) * scale
    )
    return found


def _reach(decimals: int) -> float:
    """Half of the last digit."""
    return 0.5 * 10.0**-decimals
