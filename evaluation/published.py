"""Published figures shown beside a suite's own; `data/reference/published/` has a file per table."""

from __future__ import annotations

from typing import Final

from mihakk.evaluation.lint import read_grids
from mihakk.machinery.errors import UsageError
from mihakk.machinery.settings import ROOT
from mihakk.schemas.suite import PublishedFigures

FOLDER: Final = ROOT / "data" / "reference" / "published"


def figures_of(one: PublishedFigures) -> dict[str, float]:
    """System to figure, as printed; rows that are means of the others are no systems.

    Raises:
        UsageError: There is no such table or column.
    """
    if one.column is None:
        return dict(one.figures)
    file, column = one.column
    path = FOLDER / f"{file}.csv"
    if not path.is_file():
        known = ", ".join(sorted(path.stem for path in FOLDER.glob("*.csv")))
        raise UsageError(f"published: there is no table {file!r}; there are: {known}")
    (grid,) = read_grids(path)
    if column not in grid.columns:
        raise UsageError(f"published: {file} has no column {column!r}; it has: {', '.join(grid.columns)}")
    place = grid.columns.index(column)
    cells = {grid.rows[row]: grid.cells[row][place] for row in grid.plain_rows}
    return {name: cell.value for name, cell in cells.items() if cell is not None}
