"""Decisions as a table for a spreadsheet, in which nothing that people or samples wrote can run."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Collection, Iterable
from datetime import datetime
from pathlib import Path
from typing import Any

from mihakk.annotation.decisions.store import decision_id
from mihakk.annotation.screens.ratings import Label
from mihakk.machinery.spreadsheet import guarded
from mihakk.machinery.whole import write_whole
from mihakk.schemas.record import Record
from mihakk.schemas.review import Review


def write_csv(
    path: Path, rows: Iterable[Record], kind: type[Record], first: Collection[str] | None = None
) -> int:
    """Writes records as CSV, a column per field, decisions after their ids, and returns how many.

    Every cell is quoted, so that no separator of whatever locale splits it; one that a spreadsheet would take
    for a formula starts with an apostrophe, which the spreadsheet doesn't show. People are the pseudonyms the
    store holds. UTF-8 with a byte order mark, without which Excel garbles Arabic.

    Args:
        first: Ids of the decisions that are first independent answers: a column `first` says which are.
    """
    names = list(kind.model_fields)
    table = [
        [
            *([decision_id(row)] if isinstance(row, Review | Label) else ()),
            *(guarded(_cell(getattr(row, name))) for name in names),
            *(() if first is None or not isinstance(row, Review | Label) else [decision_id(row) in first]),
        ]
        for row in rows
    ]
    text = io.StringIO()
    writer = csv.writer(text, quoting=csv.QUOTE_ALL, lineterminator="\r\n")
    head = [
        *(["decision_id"] if kind in (Review, Label) else ()),
        *names,
        *([] if first is None else ["first"]),
    ]
    writer.writerows([head, *table])
    write_whole(path, text.getvalue().encode("utf-8-sig"))
    return len(table)


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, tuple):
        return " ".join(map(str, value))
    if isinstance(value, dict):
        return json.dumps(value, ensure_ascii=False, sort_keys=True) if value else ""
    return str(value)
