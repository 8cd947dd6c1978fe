"""What is impossible in a table of results, by its figures alone.

| check | finds |
|---|---|
| RT01 | a figure that no whole number of items gives |
| RT02 | a standard error that does not follow from the figure and the number of items |
| RT03 | a stated number of items that the figures don't fit, though they fit another |
| RT04 | a row called mean that is not the mean of its column |
| RT05 | a column called mean that is not the mean of its row |
| RT06 | a mean over what is there, where a cell of the row is missing |
| RT07 | two columns that are equal, or rows that share more cells than chance would bring |
| RT08 | one value that stands in a column more often than chance would bring |
| RT09 | an error of 0 behind a figure that is neither 0 nor full, where no rounding explains it |
| RT10 | a system that stands in the table twice |
| RT11 | a figure in bold that is not the best of its column or row, where bold marks the best elsewhere |
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from math import comb
from typing import Final, NamedTuple

from mihakk.evaluation.lint.grid import Cell, Grid, is_mean
from mihakk.evaluation.lint.sizes import (
    LEAST_SHARE,
    MOST,
    Size,
    error_fits,
    multiple_fits,
    size_of,
    standard_error,
)
from mihakk.machinery.errors import UsageError
from mihakk.schemas.finding import Finding

CHANCE: Final = 1e-3
"""Expected coincidences in a table below which they are reported."""
_LEAST_ROWS: Final = 5
_LEAST_SHARED: Final = 3
_LEAST_REPEATS: Final = 3
_SLACK: Final = 1e-9
_FULL: Final = (1.0, 5.0, 10.0, 100.0)
"""What a full score may be: of a share, of a judge's scale, of a percentage."""


def lint(grid: Grid, sizes: Mapping[str, int] | None = None) -> list[Finding]:
    """Everything about a table that does not fit together, in the order of the checks.

    Args:
        grid: The table.
        sizes: Number of items by column name; under the empty name, of every other column. Where none is
            stated, it is worked out from the figures if they give it away.

    Raises:
        UsageError: `sizes` names a column that the table does not have.
    """
    stated = dict(sizes or {})
    unknown = sorted(set(stated) - {"", *grid.columns})
    if unknown:
        raise UsageError(f"the table has no column {unknown[0]!r}; it has: {', '.join(grid.columns)}")
    found: list[Finding] = []
    known: dict[int, Size] = {}
    for place in grid.plain_columns:
        size, objections = _size(grid, place, stated.get(grid.columns[place], stated.get("")))
        found += objections
        if size:
            known[place] = size
            found += _figures(grid, place, size)
    found += [*_mean_rows(grid), *_mean_columns(grid)]
    equal = _equal_rows(grid, known)
    found += [*_equal_columns(grid), *(_told(grid, pair) for pair in equal), *_repeated(grid, known, equal)]
    found += [
        *_no_error(grid),
        *(_finding(check, grid, where, detail) for check, where, detail in (*twice(grid), *bold(grid))),
    ]
    return sorted(found, key=lambda one: one.check)


def inferred_sizes(grid: Grid) -> dict[str, Size]:
    """The number of items of every column that gives it away."""
    sizes = {grid.columns[place]: size_of([*grid.column(place).values()]) for place in grid.plain_columns}
    return {name: size for name, size in sizes.items() if size}


def _finding(check: str, grid: Grid, where: str, detail: str) -> Finding:
    return Finding(check=check, severity="report", subject=grid.title, where=where, detail=detail)


def _size(grid: Grid, place: int, stated: int | None) -> tuple[Size | None, list[Finding]]:
    """The size a column is checked against."""
    there = [*grid.column(place).values()]
    likely = size_of(there)
    if stated is None:
        return likely, []
    scale = (
        100.0 if there and max(cell.value for cell in there) > 1 and (not likely or likely.scale > 1) else 1.0
    )
    own = Size(stated, scale)
    fit = sum(multiple_fits(cell, own) and error_fits(cell, own) for cell in there)
    if not likely or likely.items == stated or fit >= LEAST_SHARE * len(there):
        return own, []
    detail = f"{fit} of {len(there)} figures fit {stated} items; {likely.items} items fit those of the column"
    return likely, [_finding("RT03", grid, grid.columns[place], detail)]


def _figures(grid: Grid, place: int, size: Size) -> Iterator[Finding]:
    for row, cell in grid.column(place).items():
        where = f"{grid.rows[row]}, {grid.columns[place]}"
        if not multiple_fits(cell, size):
            nearest = round(cell.value / size.scale * size.items) / size.items * size.scale
            yield _finding(
                "RT01",
                grid,
                where,
                f"{cell.text} is no whole number of {size.items} items: the nearest gives "
                f"{nearest:.{cell.decimals}f}" + _same_beside(grid, row, place, cell),
            )
        if cell.error and not error_fits(cell, size):
            expected = standard_error(cell, size)
            yield _finding(
                "RT02",
                grid,
                where,
                f"the error of {cell.text} is {expected:.{cell.error_decimals}f} for {size.items} items"
                + _same_beside(grid, row, place, cell),
            )


def _same_beside(grid: Grid, row: int, place: int, cell: Cell) -> str:
    """Where in its row the very same figure stands."""
    others = [
        grid.columns[other]
        for other, one in enumerate(grid.cells[row])
        if other != place and one and one.figure == cell.figure
    ]
    return f"; the same stands under {others[0]}" if others else ""


def _mean_rows(grid: Grid) -> Iterator[Finding]:
    for row in grid.mean_rows:
        for place, name in enumerate(grid.columns):
            printed = grid.cells[row][place]
            values = [*grid.column(place).values()]
            if printed and len(values) > 1 and not _is_mean(printed, values):
                detail = f"{printed.text}, but the {len(values)} rows have the mean {_mean(values, printed)}"
                yield _finding("RT04", grid, f"{grid.rows[row]}, {name}", detail)


def _mean_columns(grid: Grid) -> Iterator[Finding]:
    for place in grid.mean_columns:
        over = _averaged(grid, place)
        if over is None:
            continue
        left_out = [grid.columns[one] for one in grid.plain_columns if one not in over]
        of = f"the mean of all columns but {left_out[0]}" if left_out else "the mean of the columns"
        for row, printed in grid.column(place).items():
            values = [cell for one in over if (cell := grid.cells[row][one])]
            if not values:
                continue
            where = f"{grid.rows[row]}, {grid.columns[place]}"
            if len(values) < len(over):
                if _is_mean(printed, values):
                    missing = next(grid.columns[one] for one in over if not grid.cells[row][one])
                    detail = f"{printed.text} is a mean over what is there: {missing} is missing"
                    yield _finding("RT06", grid, where, detail)
            elif not _is_mean(printed, values):
                detail = f"{printed.text}, but {of} is {_mean(values, printed)}"
                yield _finding("RT05", grid, where, detail)


def _averaged(grid: Grid, place: int) -> list[int] | None:
    """The columns that a mean column averages: all, or all but one, whichever fits most of the rows."""
    plain = grid.plain_columns
    best: tuple[int, list[int]] = (0, [])
    for over in (plain, *([one for one in plain if one != left] for left in plain)):
        if len(over) < 2:  # a single column has no mean
            continue
        parts = [grid.column(one) for one in over]
        printed = {
            row: cell for row, cell in grid.column(place).items() if all(row in part for part in parts)
        }
        fit = sum(_is_mean(cell, [part[row] for part in parts]) for row, cell in printed.items())
        if fit > best[0] and fit * 2 > len(printed):
            best = (fit, over)
    return best[1] or None


def _is_mean(printed: Cell, values: Sequence[Cell]) -> bool:
    """Whether rounding explains the difference: half a last digit of the mean, and of its parts."""
    mean = sum(cell.value for cell in values) / len(values)
    reach = 0.5 * 10.0**-printed.decimals + 0.5 * 10.0 ** -min(cell.decimals for cell in values)
    return abs(mean - printed.value) <= reach + _SLACK


def _mean(values: Sequence[Cell], printed: Cell) -> str:
    return f"{sum(cell.value for cell in values) / len(values):.{printed.decimals + 1}f}"


def _equal_columns(grid: Grid) -> Iterator[Finding]:
    for one, other in combinations(grid.plain_columns, 2):
        left, right = grid.column(one), grid.column(other)
        pairs = [(left[row], right[row]) for row in left if row in right]
        is_equal = all(first.figure == second.figure for first, second in pairs)
        if len(pairs) >= _LEAST_ROWS and is_equal and len({first.value for first, _ in pairs}) > 1:
            detail = f"equal in all {len(pairs)} rows"
            yield _finding("RT07", grid, f"{grid.columns[one]} and {grid.columns[other]}", detail)


class _Equal(NamedTuple):
    """Two rows and the columns in which they are equal."""

    rows: tuple[int, int]
    columns: tuple[int, ...]


def _equal_rows(grid: Grid, known: Mapping[int, Size]) -> list[_Equal]:
    """Pairs of rows that share more figures than chance would bring anywhere in the table."""
    values = {place: _values(grid, place, known.get(place)) for place in grid.plain_columns}
    pairs = comb(len(grid.plain_rows), 2)
    found = []
    for one, other in combinations(grid.plain_rows, 2):
        shared = tuple(place for place in values if _same(grid.cells[one][place], grid.cells[other][place]))
        if len(shared) < _LEAST_SHARED:
            continue
        chance = float(pairs * comb(len(values), len(shared)))
        for place in shared:
            chance /= values[place]
        if chance < CHANCE:
            found.append(_Equal((one, other), shared))
    return found


def _same(one: Cell | None, other: Cell | None) -> bool:
    return one is not None and other is not None and one.value == other.value


def _told(grid: Grid, equal: _Equal) -> Finding:
    names = ", ".join(grid.columns[place] for place in equal.columns)
    one, other = (grid.rows[row] for row in equal.rows)
    detail = f"equal in {len(equal.columns)} of {len(grid.plain_columns)} columns: {names}"
    return _finding("RT07", grid, f"{one} and {other}", detail)


def _repeated(grid: Grid, known: Mapping[int, Size], equal: Sequence[_Equal]) -> Iterator[Finding]:
    for place in grid.plain_columns:
        cells = grid.column(place)
        values = _values(grid, place, known.get(place))
        explained = {one.rows for one in equal if place in one.columns}
        for value, count in Counter(cell.value for cell in cells.values()).items():
            rows = [row for row, cell in cells.items() if cell.value == value]
            if count < _LEAST_REPEATS or cells[rows[0]].decimals == 0:
                continue
            is_likely = comb(len(cells), count) / values ** (count - 1) >= CHANCE
            if is_likely or set(combinations(rows, 2)) <= explained:
                continue
            named = ", ".join(grid.rows[row] for row in rows)
            detail = f"{cells[rows[0]].text} stands in {count} of {len(cells)} rows: {named}"
            yield _finding("RT08", grid, grid.columns[place], detail)


def _values(grid: Grid, place: int, size: Size | None) -> float:
    """About how many different figures a column could hold between its least and its greatest."""
    there = grid.column(place).values()
    if not there:
        return 1.0
    step = 10.0 ** -max(cell.decimals for cell in there)
    if size:
        step = max(step, size.scale / size.items)
    spread = max(cell.value for cell in there) - min(cell.value for cell in there)
    return max(1.0, spread / step)


def _no_error(grid: Grid) -> Iterator[Finding]:
    """Errors of 0 that would need more items than any benchmark has to be rounded to it."""
    for place, name in enumerate(grid.columns):
        there = [row[place] for row in grid.cells]
        top = max((cell.value for cell in there if cell), default=0.0)
        full = next((scale for scale in _FULL if top <= scale), top)
        for row, cell in zip(grid.rows, there, strict=True):
            if not cell or cell.error != 0 or cell.value in (0, 1, full):
                continue
            share = cell.value / full
            if share * (1 - share) * (full / (0.5 * 10.0**-cell.error_decimals)) ** 2 > MOST:
                yield _finding(
                    "RT09", grid, f"{row}, {name}", f"{cell.text}: an error of 0 behind a figure that varies"
                )


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
            yield from _wrong_bold(missed, rows)
            return


def _wrong_bold(missed: Sequence[_Line], rows: Sequence[str]) -> Iterator[tuple[str, str, str]]:
    for line in missed:
        at, cell = line.bold[0]
        is_lower = any(one in line.name.casefold() for one in _LOWER)
        best = (min if is_lower else max)(line.cells, key=lambda one: one[1].value)
        where = f"{at}, {line.name}" if at in rows else f"{line.name}, {at}"
        yield "RT11", where, f"{cell.text} is in bold, but {best[0]} has {best[1].text}"
