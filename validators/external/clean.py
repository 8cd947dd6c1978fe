"""What is left of a benchmark, in its own files."""

from collections import defaultdict
from collections.abc import Collection
from pathlib import Path

from mihakk.machinery.spreadsheet import may_run
from mihakk.validators.external.benchmark import ExternalBenchmark
from mihakk.validators.external.rewriting import Kept, all_rows, rewritten
from mihakk.validators.external.table import Table


def write_clean(benchmark: ExternalBenchmark, keep: Collection[str], path: Path) -> Path:
    """Writes the rows of the kept items as they stood, in the files that they came in.

    Args:
        benchmark: As it was read.
        keep: Ids of the items that stay.
        path: File to write, or the folder to write into: a folder's files keep their places in it, a dataset
            of the Hub gets `<subset>/<split>.parquet`.

    Returns:
        The path written.
    """
    kept: dict[int, set[int]] = defaultdict(set)
    for name in keep:
        at, number = benchmark.place[name]
        kept[at].add(number)
    files: dict[Path, list[Kept]] = defaultdict(list)
    for at, table in enumerate(benchmark.tables):
        files[_target(benchmark, table, path)].append(Kept(table, all_rows(table) - kept[at]))
    for target, tables in files.items():
        data = rewritten(tables)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
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
