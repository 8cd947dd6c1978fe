"""What is left of a benchmark, in its own columns and format."""

import csv
import io
import json
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

from mihakk.machinery.errors import UsageError
from mihakk.machinery.spreadsheet import may_run
from mihakk.machinery.workbook import open_workbook, save_workbook
from mihakk.validators.external.benchmark import ExternalBenchmark
from mihakk.validators.external.table import Table


def write_clean(benchmark: ExternalBenchmark, keep: Collection[str], path: Path) -> Path:
    """Writes the rows of the kept items with the columns, order, types and format they came in.

    Args:
        benchmark: As it was read.
        keep: Ids of the items that stay.
        path: File to write, or the folder to write into: a folder's files keep their places in it, a dataset
            of the Hub gets `<subset>/<split>.parquet`.

    Returns:
        The path written.
    """
    kept: dict[int, list[int]] = {place: [] for place in range(len(benchmark.tables))}
    for place, number in sorted(benchmark.place[name] for name in keep):
        kept[place].append(number)
    books: dict[Path, list[tuple[Table, list[int]]]] = {}
    for place, table in enumerate(benchmark.tables):
        target = _target(benchmark, table, path)
        target.parent.mkdir(parents=True, exist_ok=True)
        if table.format == "xlsx":
            books.setdefault(target, []).append((table, kept[place]))
        else:
            _write(table, kept[place], target)
    for target, sheets in books.items():
        _workbook(sheets, target)
    return path


def formula_cells(benchmark: ExternalBenchmark, keep: Collection[str]) -> int:
    """Cells of the cleaned csv and tsv files that a spreadsheet might run as formulas.

    The cleaned copy keeps the benchmark's own texts, so they are counted and not changed.
    """
    places = [benchmark.place[name] for name in keep]
    return sum(
        may_run(str(cell))
        for at, row in places
        if benchmark.tables[at].format in ("csv", "tsv")
        for cell in benchmark.tables[at].rows[row].values()
        if cell is not None
    )


def place_of(benchmark: ExternalBenchmark, table: Table) -> Path:
    """The file of a table below its benchmark: `<subset>/<split>.parquet` for a dataset of the Hub."""
    if table.file is None:
        return Path(f"{table.name}.parquet")
    folder = Path(benchmark.source)
    return table.file.relative_to(folder) if folder.is_dir() else Path(table.file.name)


def _target(benchmark: ExternalBenchmark, table: Table, path: Path) -> Path:
    """Where a table goes: the path itself, or below it the place that it has in its folder."""
    single = table.file is not None and not Path(benchmark.source).is_dir()
    return path if single else path / place_of(benchmark, table)


def _write(table: Table, numbers: list[int], path: Path) -> None:
    match table.format:
        case "jsonl":
            _text(table, path, "".join(f"{_line(table, number)}\n" for number in numbers))
        case "json":
            rows = [table.rows[number] for number in numbers]
            held = {name: [row[name] for row in rows] for name in table.columns} if table.by_column else rows
            _text(table, path, json.dumps(held, ensure_ascii=False, indent=2) + "\n")
        case "csv" | "tsv":
            out = io.StringIO()
            writer = csv.writer(out, delimiter=table.delimiter, lineterminator="\n")
            if table.header:
                writer.writerow(table.header)
            writer.writerows([table.rows[number][name] for name in table.columns] for number in numbers)
            _text(table, path, out.getvalue())
        case "parquet":
            import pyarrow as pa
            import pyarrow.parquet as pq

            # Typed, for a split of which nothing is left.
            pq.write_table(_arrow(table).take(pa.array(numbers, pa.int64())), path)


def _line(table: Table, number: int) -> str:
    """A line of jsonl: as it stood, unless a cell of it was changed."""
    raw = table.raw[number]
    if number not in table.before:
        return raw
    return json.dumps(table.rows[number], ensure_ascii=raw.isascii())


def _arrow(table: Table) -> Any:
    """The Arrow table with its changed cells, types unchanged."""
    import pyarrow as pa

    arrow = table.arrow
    for name in sorted({column for cells in table.before.values() for column in cells}):
        place = arrow.column_names.index(name)
        values = [table.rows[number][name] for number in sorted(table.rows)]
        arrow = arrow.set_column(place, arrow.field(place), pa.array(values, arrow.field(place).type))
    return arrow


def _text(table: Table, path: Path, text: str) -> None:
    path.write_bytes(text.encode(table.encoding))


def _workbook(sheets: Sequence[tuple[Table, list[int]]], path: Path) -> None:
    """The original workbook with the other rows deleted, so that widths, fonts and further sheets stay."""
    source = sheets[0][0].file
    if source is None or not source.is_file():
        raise UsageError(f"{source} is gone: the cleaned workbook is made from it")
    book = open_workbook(source, read_only=False)
    for table, numbers in sheets:
        sheet = book[table.sheet]
        for number, cells in table.before.items():
            for name in cells:
                sheet.cell(number + 2, table.header.index(name) + 1).value = table.rows[number][name]
        for number in sorted(set(table.rows) - set(numbers), reverse=True):
            sheet.delete_rows(number + 2)
    save_workbook(book, path)
