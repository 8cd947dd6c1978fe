"""What is left of a benchmark, in its own columns and format, and what was taken out."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from mihakk.errors import UsageError
from mihakk.workbook import open_workbook
from validators.external.benchmark import ExternalBenchmark
from validators.external.table import Table


def write_clean(benchmark: ExternalBenchmark, keep: Collection[str], path: Path) -> Path:
    """Writes the rows of the kept items with the columns, order, types and format they came in.

    Args:
        benchmark: As it was read.
        keep: Ids of the items that stay.
        path: File to write, or for a dataset of several subsets and splits the folder to write
            `<subset>/<split>.parquet` into.

    Returns:
        The path written.
    """
    several = len(benchmark.tables) > 1 or (benchmark.tables[0].arrow is not None and not path.suffix)
    for place, table in enumerate(benchmark.tables):
        numbers = sorted(row for at, row in (benchmark.place[name] for name in keep) if at == place)
        target = path / f"{table.name}.parquet" if several else path
        target.parent.mkdir(parents=True, exist_ok=True)
        _write(table, numbers, target, benchmark.source)
    return path


def write_removed(benchmark: ExternalBenchmark, reasons: Mapping[str, Collection[str]], path: Path) -> Path:
    """Writes one row per removed item or unreadable row.

    Columns: `table`, `row` (counted from 0), `item` (empty for an unreadable row), `subset`, `split`,
    `reasons` (check ids or review reasons), `body` (the original row as JSON).

    Args:
        benchmark: As it was read.
        reasons: Removed item ids and why.
        path: File to write.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    items = {item.id: item for item in benchmark.items}
    lines: list[dict[str, Any]] = []
    for name in sorted(reasons, key=lambda one: benchmark.place[one]):
        place, row = benchmark.place[name]
        table = benchmark.tables[place]
        lines.append(
            {
                "table": table.name,
                "row": row,
                "item": name,
                "subset": items[name].subset,
                "split": items[name].split or table.split,
                "reasons": sorted(reasons[name]),
                "body": json.dumps(table.rows[row], ensure_ascii=False, default=str),
            }
        )
    for rejection in benchmark.rejected:
        table_name, _, number = rejection.record.rpartition("#")
        lines.append(
            {
                "table": table_name,
                "row": int(number),
                "item": "",
                "subset": "",
                "split": "",
                "reasons": [rejection.reason],
                "body": rejection.body,
            }
        )
    text = ("table", "item", "subset", "split", "body")
    schema = pa.schema(
        [(name, pa.string()) for name in text] + [("row", pa.int64()), ("reasons", pa.list_(pa.string()))]
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.Table.from_pylist(lines, schema=schema), path)
    return path


def _write(table: Table, numbers: list[int], path: Path, source: str) -> None:
    match table.format:
        case "jsonl":
            _text(table, path, "".join(f"{table.raw[number]}\n" for number in numbers))
        case "json":
            rows = [table.rows[number] for number in numbers]
            _text(table, path, json.dumps(rows, ensure_ascii=False, indent=2) + "\n")
        case "csv" | "tsv":
            out = io.StringIO()
            writer = csv.writer(out, delimiter=table.delimiter, lineterminator="\n")
            writer.writerow(table.columns)
            writer.writerows([table.rows[number][name] for name in table.columns] for number in numbers)
            _text(table, path, out.getvalue())
        case "parquet":
            import pyarrow as pa
            import pyarrow.parquet as pq

            # Typed, for a split of which nothing is left.
            pq.write_table(table.arrow.take(pa.array(numbers, pa.int64())), path)
        case "xlsx":
            _workbook(table, numbers, path, source)


def _text(table: Table, path: Path, text: str) -> None:
    path.write_bytes(text.encode(table.encoding))


def _workbook(table: Table, numbers: list[int], path: Path, source: str) -> None:
    """The original workbook with the other rows deleted, so that widths, fonts and further sheets stay."""
    if not Path(source).is_file():
        raise UsageError(f"{source} is gone: the cleaned workbook is made from it")
    book = open_workbook(source, read_only=False)
    sheet = book.active
    kept = set(numbers)
    for number in sorted(set(table.rows) - kept, reverse=True):
        sheet.delete_rows(number + 2)
    book.save(path)
