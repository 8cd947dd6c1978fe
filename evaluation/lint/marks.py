"""What a table says beside its figures and they deny: systems told twice, a bold that is not the best."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from mihakk.evaluation.lint.grid import Cell, Grid, is_mean

_LEAST_LINES: Final = 3
_CONVENTION: Final = 0.75
"""Share of the lines with bold figures in which they are the best, from which bold means the best."""
_LOWER: Final = ("↓", "⬇", "perplexity", "ppl", "loss", "wer", "cer", "error", "latency", "time")
_HIGHER: Final = ("↑", "⬆")
"""What says in a head that less is better, or more."""


class _Line(NamedTuple):
    """A column or a row."""

    name: str
    cells: list[tuple[str, Cell]]

    @property
    def bold(self) -> list[tuple[str, Cell]]:
        return [one for one in self.cells if one[1].is_bold]

    def is_best(self, cell: Cell) -> bool:
        """Whether nothing is better; where the head does not say, less may be better as well as more."""
        values, name = [other.value for _, other in self.cells], self.name.casefold()
        ends = min(values), max(values)
        if any(one in name for one in _LOWER):
            ends = ends[:1] * 2
        elif any(one in name for one in _HIGHER):
            ends = ends[1:] * 2
        return cell.value in ends


def twice(grid: Grid) -> Iterator[tuple[str, str, str]]:
    """Findings RT10."""
    seen: dict[str, int] = {}
    for row, name in enumerate(grid.rows):
        told = " ".join(name.casefold().split())
        if not told or is_mean(name):
            continue
        if told not in seen:
            seen[told] = row
            continue
        pairs = [
            (column, one, other)
            for column, one, other in zip(grid.columns, grid.cells[seen[told]], grid.cells[row], strict=True)
            if one and other
        ]
        other = [
            f"{column} {one.text} and {two.text}" for column, one, two in pairs if one.figure != two.figure
        ]
        if pairs:
            said = f"with other figures: {other[0]}" if other else f"with the same {len(pairs)} figures"
            yield "RT10", name, f"stands in the table twice, {said}"


def bold(grid: Grid) -> Iterator[tuple[str, str, str]]:
    """Findings RT11, along the lines in which bold mostly marks the best figure."""
    rows = [grid.rows[row] for row in grid.plain_rows]
    columns = [
        _Line(name, [(grid.rows[row], cell) for row, cell in grid.column(place).items()])
        for place, name in enumerate(grid.columns)
    ]
    across = [
        _Line(
            grid.rows[row],
            [(grid.columns[place], cell) for place in grid.plain_columns if (cell := grid.cells[row][place])],
        )
        for row in grid.plain_rows
    ]
    for lines in (columns, across):
        marked = [line for line in lines if 0 < 2 * len(line.bold) <= len(line.cells) > 2]
        # Near the best others may be bold, too: a line is wrong where the best is not.
        missed = [line for line in marked if not any(line.is_best(cell) for _, cell in line.bold)]
        is_own = len({name for line in marked for name, _ in line.bold}) == 1  # a system bold throughout
        is_rare = len(missed) <= (1 - _CONVENTION) * len(marked)
        if len(marked) >= _LEAST_LINES and is_rare and not is_own:
            yield from _told(missed, rows)
            return


def _told(missed: Sequence[_Line], rows: Sequence[str]) -> Iterator[tuple[str, str, str]]:
    for line in missed:
        at, cell = line.bold[0]
        is_lower = any(one in line.name.casefold() for one in _LOWER)
        best = (min if is_lower else max)(line.cells, key=lambda one: one[1].value)
        where = f"{at}, {line.name}" if at in rows else f"{line.name}, {at}"
        yield "RT11", where, f"{cell.text} is in bold, but {best[0]} has {best[1].text}"
