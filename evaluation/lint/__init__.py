"""Anybody's table of results, checked for what can't be."""

from evaluation.lint.checks import lint
from evaluation.lint.grid import Grid, read_grids

__all__ = ["Grid", "lint", "read_grids"]
