"""The place of an item in an outside benchmark, for tables, messages and pages."""

import re
from collections.abc import Iterator, Mapping

from mihakk.schemas.record import Record
from mihakk.schemas.rejection import Rejection
from mihakk.validators.external.benchmark import ExternalBenchmark

_ID = re.compile(r"\b(?:ar|fa|en)-external_(?:choice|answer)-\w+")
"""Ids of items, which say nothing to the owner of a benchmark."""


class RowPlace(Record):
    """One row of a benchmark, as its owner finds it again."""

    source: str
    """What was audited: a path, or `owner/name` on the Hub."""
    table: str
    """File, or subset and split of a dataset."""
    row: int
    """Number of the row in its table, counted from 0, the header left out."""
    line: int
    """Line of a text file or row of a sheet, counted from 1; 0 where a format has none."""
    own_id: str
    """The row's id in the benchmark; empty where the mapping names no such column."""
    subset: str
    split: str

    @property
    def name(self) -> str:
        """What a reader calls the row: its own id, or table and row number, with its split."""
        own = self.own_id or f"{self.table}, row {self.row + 1}"
        return f"{own} ({self.split})" if self.split else own


def row_places(benchmark: ExternalBenchmark) -> dict[str, RowPlace]:
    """The place of each item, by its id."""
    found = {}
    for item in benchmark.items:
        at, row = benchmark.place[item.id]
        table = benchmark.tables[at]
        found[item.id] = RowPlace(
            source=benchmark.source,
            table=table.name,
            row=row,
            line=table.line(row),
            own_id=item.metadata.get("id", ""),
            subset=item.subset,
            split=item.split or item.metadata.get("split", ""),
        )
    return found


def rejected_places(benchmark: ExternalBenchmark) -> Iterator[tuple[Rejection, RowPlace]]:
    """Rows that could not be read, each with its place."""
    tables = {table.name: table for table in benchmark.tables}
    for bad in benchmark.rejected:
        name, _, number = bad.record.rpartition("#")
        table = tables[name]
        yield (
            bad,
            RowPlace(
                source=benchmark.source,
                table=name,
                row=int(number),
                line=table.line(int(number)),
                own_id="",
                subset=table.subset,
                split=table.split,
            ),
        )


def with_names(text: str, places: Mapping[str, RowPlace]) -> str:
    """The text with the name of its row in place of each item's id."""

    def name(found: re.Match[str]) -> str:
        place = places.get(found[0])
        return place.name if place else found[0]

    return _ID.sub(name, text)
