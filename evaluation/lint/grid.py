"""Tables of figures as people publish them: CSV, TSV, Markdown or JSON; `0.85 ± 0.03`, `85 %`, `**.85**`."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple

from mihakk.machinery.errors import UsageError, no_file
from mihakk.machinery.text.digits import convert

_MARKUP: Final = re.compile(r"</?(?:b|i|u|sup|sub|strong|em)>|\\(?:mathbf|textbf|underline)\{|[*_$`{}]")
_CELL: Final = re.compile(
    r"^\(?\s*(?P<value>[+\-−]?(?:\d{1,15}(?:[.,]\d{1,15})?|[.,]\d{1,15}))\s*+%?"
    r"(?:\s*+\(?\s*+(?:±|\+/-|\+-)\s*+(?P<error>\d{1,15}(?:[.,]\d{1,15})?|[.,]\d{1,15})\s*+%?\s*+\)?)?\s*+\)?$"
)
LONGEST_CELL: Final = 1 << 17
"""Characters; the limit of the module `csv` belongs to the whole process, and readers of sources raise it."""
_BOLD: Final = re.compile(r"\*\*[^*]*\d[^*]*\*\*|__[^_]*\d[^_]*__|<(?:b|strong)>|\\(?:mathbf|textbf)\{")
_ERROR: Final = frozenset(["stderr", "std err", "std. err.", "std error", "standard error", "se", "±"])
"""Heads of a column that holds the errors of the one before it."""
_ABOUT: Final = frozenset(
    [
        *("version", "n-shot", "nshot", "num_fewshot", "shots", "shot", "rank", "#", "no", "no.", "id"),
        *("params", "#params", "parameters", "size", "size (b)", "params (b)", "#params (b)"),
        *("year", "date", "epoch", "epochs", "step", "steps"),
    ]
)
"""Heads of columns whose figures say what a row is, not how good it is."""
_CODES: Final = frozenset(["id", "no", "se"])
"""Those that may be languages: a score has decimals, and no error is as large as its figure."""
_LM_EVAL: Final = ("tasks", "task", "groups", "filter", "metric")
"""What names a row in lm-eval's own tables, which leave blank what the row above has said."""
_MISSING: Final = frozenset(["", "-", "–", "—", "n/a", "na", "nan", "none", "null", "x"])
_MEAN: Final = frozenset(
    ["average", "avg", "mean", "macro average", "macro avg", "المتوسط", "المعدل", "میانگین", "معدل"]
)
_WORDS: Final = re.compile(r"[^\w.]+|_")
"""Arrows and signs in a head, as in "Average ⬆️"."""


class Cell(NamedTuple):
    """One figure as printed."""

    text: str
    value: float
    decimals: int
    error: float | None = None
    """What stands behind ±."""
    error_decimals: int = 0
    is_bold: bool = False

    @property
    def figure(self) -> tuple[float, int, float | None, int]:
        """The figure and its error as printed, however they are set."""
        return self[1:5]


@dataclass(frozen=True)
class Grid:
    """One table of figures."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[str, ...]
    cells: tuple[tuple[Cell | None, ...], ...]
    """Rows x columns; None where there is no figure."""

    @property
    def mean_rows(self) -> list[int]:
        """Places of the rows that say they are means of the others."""
        return [place for place, name in enumerate(self.rows) if is_mean(name)]

    @property
    def plain_rows(self) -> list[int]:
        """Places of all other rows."""
        return [place for place, name in enumerate(self.rows) if not is_mean(name)]

    @property
    def mean_columns(self) -> list[int]:
        """Places of the columns that say they are means of the others."""
        return [place for place, name in enumerate(self.columns) if is_mean(name)]

    @property
    def plain_columns(self) -> list[int]:
        """Places of all other columns."""
        return [place for place, name in enumerate(self.columns) if not is_mean(name)]

    def column(self, place: int) -> dict[int, Cell]:
        """The figures of a column that are no means of others, by the place of their row."""
        return {row: cell for row in self.plain_rows if (cell := self.cells[row][place])}


def is_mean(name: str) -> bool:
    """Whether a row or column says that it is the mean of the others."""
    return _WORDS.sub(" ", _MARKUP.sub(" ", name)).strip(" .").casefold() in _MEAN


def read_grids(path: Path) -> list[Grid]:
    """The tables of a file, by its ending: `.csv`, `.tsv`, `.md`, `.json`.

    A JSON table is a list of objects, or an object of objects by row name.

    Raises:
        UsageError: The file can't be read, or holds no table with figures.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError as error:
        raise no_file(path) from error
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} can't be read as UTF-8 text: {error}; name another file") from error
    match path.suffix.lower():
        case ".csv" | ".tsv" | ".txt":
            tables = [(path.name, _delimited(text, path))]
        case ".md" | ".markdown":
            tables = list(_markdown(text))
        case ".json":
            tables = [(path.name, _json(text, path))]
        case other:
            raise UsageError(f"{path}: a table ends in .csv, .tsv, .md or .json, not {other or 'nothing'}")
    grids = [grid for title, rows in tables if (grid := grid_of(title, rows))]
    if not grids:
        raise UsageError(
            f"{path} holds no table of figures: a head, names in the first column, figures beside them"
        )
    return grids


def grid_of(title: str, rows: Sequence[Sequence[str]]) -> Grid | None:
    """A table from its head and lines; None where no column holds figures.

    Columns of words and of what a row is (its version, its size) are left out, a column of errors belongs to
    the one before it. A line shorter than the head lacks its last cells.
    """
    if len(rows) < 2:
        return None
    rows = _with_errors(_lm_eval(rows))
    head, lines = rows[0], [row for row in rows[1:] if row and any(cell.strip() for cell in row)]
    kept: list[int] = []
    parsed: dict[int, list[Cell | None]] = {}
    for place in range(1, len(head)):
        texts = [row[place] if place < len(row) else "" for row in lines]
        cells = [cell_of(text) for text in texts]
        is_code = _head(head[place]) in _CODES and any(cell.decimals for cell in cells if cell)
        if _head(head[place]) in _ABOUT and not is_code:
            continue
        told = sum(not _is_missing(text) for text in texts)
        if told and sum(cell is not None for cell in cells) * 2 > told:
            kept.append(place)
            parsed[place] = cells
    if not kept:
        return None
    return Grid(
        title=title,
        columns=tuple(_name(head[place]) for place in kept),
        rows=tuple(_name(row[0]) for row in lines),
        cells=tuple(tuple(parsed[place][number] for place in kept) for number in range(len(lines))),
    )


def cell_of(text: str) -> Cell | None:
    """One figure with its error; None where the text is no figure."""
    match = _CELL.match(_bare(text))
    if match is None:
        return None
    value, decimals = _number(match["value"])
    error, error_decimals = _number(match["error"]) if match["error"] else (None, 0)
    return Cell(text.strip(), value, decimals, error, error_decimals, _BOLD.search(text) is not None)


def _head(text: str) -> str:
    return _bare(text).strip(" ↑↓⬆⬇️").casefold()


def _lm_eval(rows: Sequence[Sequence[str]]) -> Sequence[Sequence[str]]:
    """lm-eval's own table as names and figures; any other as it is."""
    heads = [_head(one) for one in rows[0]]
    if not {"metric", "value"} <= set(heads):
        return rows
    named, value = [place for place, one in enumerate(heads) if one in _LM_EVAL], heads.index("value")
    found: list[list[str]] = [[rows[0][named[0]], *rows[0][value:]]]
    above = [""] * len(heads)
    for row in rows[1:]:
        # The task alone is left blank where it goes on; a filter or metric is told anew.
        cells = [*row, *[""] * (len(heads) - len(row))]
        cells[named[0]] = above[named[0]] = cells[named[0]].strip() or above[named[0]]
        name = ", ".join(one for place in named if (one := cells[place].strip()) and one != "none")
        found.append([name, *cells[value:]])
    return found


def _with_errors(rows: Sequence[Sequence[str]]) -> Sequence[Sequence[str]]:
    """A table whose columns of errors, and of signs before them, are written behind their figures."""
    heads = [_head(one) for one in rows[0]]
    errors: dict[int, int] = {}
    for place in range(2, len(heads)):
        before = place - 1
        while before > 1 and not heads[before]:
            before -= 1
        name = heads[place].rstrip(")")
        stems = [
            name.removesuffix(end).rstrip(" _(") for end in ("stderr", "std", "se") if name.endswith(end)
        ]
        is_error = heads[place] in _ERROR or (heads[before] and heads[before] in stems)
        if is_error and not (heads[place] in _CODES and _are_figures(rows[1:], before, place)):
            errors[place] = before
    if not errors:
        return rows
    dropped = {one for place, before in errors.items() for one in range(before + 1, place + 1)}
    found = []
    for number, row in enumerate(rows):
        cells = [*row, *[""] * (len(heads) - len(row))]
        for place, before in errors.items():
            if number and not _is_missing(cells[place]) and cell_of(cells[place]):
                cells[before] = f"{cells[before]} ± {cells[place]}"
        found.append([one for place, one in enumerate(cells) if place not in dropped])
    return found


def _are_figures(rows: Sequence[Sequence[str]], before: int, place: int) -> bool:
    """Whether a column of errors would be as large as the figures before it in half of the rows."""
    pairs = [(cell_of(row[before]), cell_of(row[place])) for row in rows if len(row) > place]
    told = [one.value <= 2 * error.value for one, error in pairs if one and error]
    return 2 * sum(told) > len(told)


def _number(text: str) -> tuple[float, int]:
    text = text.replace(",", ".").replace("−", "-")
    return float(text), len(text.partition(".")[2])


def _bare(text: str) -> str:
    text = convert(text, "western").replace(r"\pm", "±").replace("&nbsp;", " ").replace("\xa0", " ")
    return " ".join(_MARKUP.sub("", text).replace("\\%", "%").split())


def _name(text: str) -> str:
    """A head without markup; a star behind it tells one column from another."""
    return " ".join(re.sub(r"</?\w+>|\*\*|`", "", text).split())


def _is_missing(text: str) -> bool:
    return _bare(text).casefold() in _MISSING


def _delimited(text: str, path: Path) -> list[list[str]]:
    first = text.partition("\n")[0]
    mark = "\t" if path.suffix.lower() == ".tsv" or "\t" in first else max(",;", key=first.count)
    try:
        rows = [row for row in csv.reader(text.splitlines(), delimiter=mark) if row]
        if any(len(cell) > LONGEST_CELL for row in rows for cell in row):
            raise csv.Error(f"a cell of more than {LONGEST_CELL:,} characters")
    except csv.Error as error:
        raise UsageError(
            f"{path} is no table of comma-separated values: {error}; correct the file"
        ) from error
    return rows


def _markdown(text: str) -> Iterator[tuple[str, list[list[str]]]]:
    """Pipe tables, each with the nearest line of words above it."""
    title, rows = "", []
    for line in [*text.splitlines(), ""]:
        stripped = line.strip()
        if stripped.startswith("|"):
            cells = [
                cell.replace("\0", "|").strip()
                for cell in stripped.replace("\\|", "\0").strip("|").split("|")
            ]
            if not all(re.fullmatch(r":?-+:?", cell) for cell in cells):
                rows.append(cells)
            continue
        if rows:
            yield title or "table", rows
            rows = []
        if stripped:
            title = stripped.lstrip("# ")


def _json(text: str, path: Path) -> list[list[str]]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:  # too many digits or levels too
        raise UsageError(f"{path} is not JSON: {error}") from error
    if isinstance(value, dict) and all(isinstance(one, dict) for one in value.values()):
        value = [{"": name, **one} for name, one in value.items()]
    if not isinstance(value, list) or not value or not all(isinstance(one, dict) for one in value):
        raise UsageError(f"{path}: a JSON table is a list of objects, or an object of objects by row name")
    head = list(dict.fromkeys(name for one in value for name in one))
    return [head, *([_text(one.get(name)) for name in head] for one in value)]


def _text(value: Any) -> str:
    return "" if value is None else str(value)
