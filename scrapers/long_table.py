"""Long tables: many rows make one poem, told by columns that its rows share."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from mihakk.machinery.errors import RecordRejected
from mihakk.scrapers.labels import number as stated_number
from mihakk.scrapers.table_signs import over_rows
from mihakk.scrapers.tables import Row

_VERSE = ("couplets", "hemistichs", "lines", "first", "second")
_LISTS = ("prose", "explanations")


def filled(rows: Iterable[Row], columns: Iterable[str]) -> Iterator[Row]:
    """Rows whose blank cells of these columns, merged ones too, hold what stands above them; not a heading,
    which is one cell over several columns."""
    names = tuple(columns)
    above: dict[str, Any] = {}
    for row in rows:
        for name in names:
            if name in row.merged and not over_rows(row.merged[name]):
                continue
            if row.fields.get(name) not in (None, ""):
                above[name] = row.fields[name]
            elif name in row.fields and name in above:
                row.fields[name] = above[name]
            row.merged.pop(name, None)
        yield row


def put_together(rows: Iterable[Row], columns: Iterable[str]) -> Iterator[Row]:
    """Rows over which cells are merged as one, with the texts of these columns one below the other."""
    names = tuple(columns)
    whole: Row | None = None
    held: set[str] = set()
    for row in rows:
        over = {cells for name, cells in row.merged.items() if name not in names and over_rows(cells)}
        if names and whole is not None and over & held:
            for name in names:
                whole.fields[name] = "\n".join(filter(None, (_text(whole, name), _text(row, name))))
            continue
        if whole is not None:
            yield whole
        whole, held = row, over
        if names:
            for name in [name for name, cells in row.merged.items() if over_rows(cells)]:
                del row.merged[name]
    if whole is not None:
        yield whole


def poem_of(rows: list[Row], columns: Mapping[str, str], order: str) -> dict[str, Any]:
    """Field to value of the poem that these rows make.

    Args:
        rows: Of one poem, as the table has them.
        columns: Field to column.
        order: Column with the place of a row in its poem; empty: the table's own order.

    Raises:
        RecordRejected: `order_missing`, `order_repeated`; `rows_differ` where two rows disagree on what they
            share: what was taken for one poem is two, or the column belongs to `ignore`.
    """
    halves = [columns[name] for name in ("first", "second") if name in columns]
    if halves:  # A row with nothing but what heads the poem is no verse of it.
        rows = [row for row in rows if any(_text(row, one).strip() for one in (*halves, order))] or rows
    if order:
        rows = _in_order(rows, order)
    found: dict[str, Any] = {}
    for field, column in columns.items():
        if field in (*_VERSE, *_LISTS):
            continue
        values = {str(value): value for row in rows if (value := row.fields.get(column)) not in (None, "")}
        if len(values) > 1:
            shown = ", ".join(map(repr, list(values)[:3]))
            raise RecordRejected(
                "rows_differ",
                f"rows {rows[0].number} to {rows[-1].number} are one poem by `group_by` and differ in "
                f"{column!r}: {shown}; add the column to `group_by`, or name it under `ignore`",
            )
        if values:
            found[field] = next(iter(values.values()))
    if "first" in columns:
        second = columns.get("second", "")
        found["couplets"] = [
            [_text(row, columns["first"]), *([_text(row, second)] if second else [])] for row in rows
        ]
    for field in ("hemistichs", "lines"):
        if field in columns:
            found[field] = [line for row in rows for line in _text(row, columns[field]).splitlines()]
    for field in _LISTS:
        if field in columns:
            found[field] = [_text(row, columns[field]) for row in rows]
    return found


def _text(row: Row, column: str) -> str:
    value = row.fields.get(column)
    return "" if value is None else str(value)


def _in_order(rows: list[Row], order: str) -> list[Row]:
    places: dict[int, Row] = {}
    for row in rows:
        place = stated_number(row.fields.get(order, ""))
        if place is None:
            raise RecordRejected("order_missing", f"row {row.number} has no number in its column {order!r}")
        if place in places:
            raise RecordRejected(
                "order_repeated",
                f"rows {places[place].number} and {row.number} of one poem are both its {place} in {order!r}:"
                " `group_by` takes two poems for one, or a row stands twice",
            )
        places[place] = row
    return [places[place] for place in sorted(places)]


def group_key(row: Row, columns: Iterable[str]) -> tuple[str, ...]:
    """What names the poem of a row."""
    return tuple(_text(row, name).strip() for name in columns)
