"""Cells that a spreadsheet would run as formulas, and cells made safe from that."""

from __future__ import annotations

_RUNS = tuple("=+-@\t\r\n＝＋－＠")
"""First characters for which a spreadsheet takes a cell for a formula, in full width too, or drops them and
looks at the next."""


def may_run(cell: str) -> bool:
    """Whether a spreadsheet might run a cell of a csv file, spaces before the sign or not."""
    return cell.lstrip(" \u00a0").startswith(_RUNS)


def guarded(cell: str) -> str:
    """The cell, with an apostrophe before it if a spreadsheet might run it."""
    return f"'{cell}" if may_run(cell) else cell
