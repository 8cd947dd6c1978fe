"""Checks of anybody's table of results for impossible figures."""

from mihakk.evaluation.lint.checks import lint
from mihakk.evaluation.lint.grid import Grid, read_grids

__all__ = ["Grid", "lint", "read_grids"]
