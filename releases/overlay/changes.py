"""What an overlay holds: `overlay.json`, which says what it is a patch of, and a line for each change."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path, PurePosixPath
from typing import Annotated, Any, Literal

import orjson
from pydantic import AfterValidator, Field, ValidationError

from mihakk.machinery.errors import UsageError
from mihakk.schemas.record import Language, Record
from mihakk.validators.external.table import Table

FORMAT = 1
"""Of the files; a program that knows only older ones refuses."""
HEAD = "overlay.json"
LINES = "changes.jsonl"
Reason = Literal[
    "blocked", "waits", "merged", "discarded", "unreadable", "corrected", "repaired", "outside"
]  # the kinds of errata, and rows that the audit was told to leave out


def _inside(path: str) -> str:
    """A path that leaves no folder it is put into: overlays come from strangers."""
    parts = PurePosixPath(path).parts
    if not parts or path.startswith("/") or "\\" in path or ":" in path or {"..", "~"} & set(parts):
        raise ValueError(f"{path!r} is no path below a folder")
    return path


class Evidence(Record):
    """Who speaks against a row."""

    by: Literal["rule", "auditor", "people", "copy", "reader"]
    name: str
    """Id of the check, name of the auditor, what people settled, the row that stands for it, or why it could
    not be read."""
    finding: str = ""
    """Of a rule: `CHECK:TABLE#ROW[:FIELD]`, a row of the audit's findings; of an auditor: the criterion,
    or in words that its reply or its own answer objects."""


class CellChange(Record):
    """One changed cell."""

    path: tuple[str | int, ...] = Field(min_length=1)
    """Column, and inside it the keys and places (from 0) of nested cells: `["options", 2]`."""
    old: str
    """Digest of the value that it must have: SHA-256 of its JSON with sorted keys, ASCII alone, no spaces."""
    new: Any
    """The value to write: the one text of the benchmark that an overlay holds."""


class RowChange(Record):
    """One row that the patched copy does not hold as it stood."""

    table: str
    row: int
    """Number of the row in its table, counted from 0, the header left out."""
    line: int = 0
    """Line of a text file or row of a sheet, counted from 1; 0 where a format has none."""
    key: str = ""
    """The row's own id, where the benchmark has ids."""
    digest: str
    """Of the whole row, as of a cell: what must stand there, in whatever order of keys or columns."""
    equal: int = 0
    """How many equal rows stand before it in its table."""
    action: Literal["exclude", "set"]
    cells: tuple[CellChange, ...] = ()
    reason: Reason
    evidence: tuple[Evidence, ...] = ()


class PatchedTable(Record):
    """One table of the benchmark."""

    name: str
    path: Annotated[str, AfterValidator(_inside)]
    """Its file below the benchmark."""
    sheet: str = ""
    split: str = ""
    rows: int
    """Readable or not."""
    digest: str
    """Of the file, as `sha256sum` gives it; of a set that `datasets` loaded, of its rows."""
    patched: str
    """SHA-256 of the patched file."""
    patched_rows: str
    """Digest of its rows, whatever writes them: of Parquet and workbooks another version of the writer gives
    other bytes."""


class Overlay(Record):
    """The patch as a whole."""

    format: int = FORMAT
    name: str
    title: str
    version: str
    dataset: str
    """`owner/name` on the Hub, or what else the benchmark is called."""
    revision: str = ""
    """Commit or tag that it is a patch of."""
    loaded: Literal["files", "datasets"]
    """Whether the benchmark is read as files, or by `datasets.load_dataset`."""
    licence: str
    exclusions_only: bool = False
    """It leaves rows out and changes none, as where no part of the benchmark may be given away."""
    mapping: str
    """Columns, as `mihakk audit --map` takes them."""
    language: Language = "ar"
    """Of rows that name none."""
    tables: tuple[PatchedTable, ...] = Field(min_length=1)
    changes: dict[str, int] = Field(default_factory=dict)
    """Rows by reason."""

    @property
    def paths(self) -> list[str]:
        """The files, each once."""
        return list(dict.fromkeys(table.path for table in self.tables))


def value_digest(value: Any) -> str:
    """SHA-256 of a cell or row as JSON with sorted keys, hexadecimal; half characters and big numbers too."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), default=str)
    return hashlib.sha256(text.encode()).hexdigest()


def row_digests(table: Table, only: Collection[int] | None = None) -> dict[int, str]:
    """Digest of every row, or of these, by its number; of one that can't be read, of what it holds."""
    wanted = table.rows if only is None else [number for number in only if number in table.rows]
    found = {number: value_digest(table.original(number)) for number in wanted}
    found |= {
        bad.number: value_digest(bad.body.strip())
        for bad in table.unreadable
        if only is None or bad.number in only
    }
    return dict(sorted(found.items()))


def rows_digest(digests: Iterable[str]) -> str:
    """Digest of all rows of a table, in their order."""
    return hashlib.sha256("\n".join(digests).encode()).hexdigest()


def write_overlay(overlay: Overlay, changes: Sequence[RowChange], folder: Path) -> None:
    """Writes both files; equal arguments give equal bytes."""
    folder.mkdir(parents=True, exist_ok=True)
    told = orjson.dumps(overlay.model_dump(mode="json"), option=orjson.OPT_INDENT_2)
    (folder / HEAD).write_bytes(told + b"\n")
    rows = (change.model_dump(mode="json", exclude_defaults=True) for change in changes)
    lines = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    (folder / LINES).write_bytes(lines.encode("utf-8", "surrogatepass"))


def read_overlay(folder: Path) -> tuple[Overlay, list[RowChange]]:
    """An overlay and its changes.

    Raises:
        UsageError: The folder holds none, a newer one, or a damaged one; the message names the line.
    """
    path = folder / HEAD
    if not path.is_file():
        raise UsageError(f"{folder} holds no overlay: name the folder that `mihakk overlay make` wrote")
    place = HEAD
    try:
        head = json.loads(path.read_bytes())
        if isinstance(head, dict) and head.get("format", 0) > FORMAT:
            raise UsageError(f"{path} is of format {head['format']}, this Mihakk reads {FORMAT}: update it")
        overlay = Overlay.model_validate(head)
        changes = []
        for place, line in _lines(folder):  # noqa: B007 - the message names the last place
            changes.append(RowChange.model_validate(json.loads(line)))
    except (ValueError, TypeError, LookupError, RecursionError) as error:
        said = error.errors()[0]["msg"] if isinstance(error, ValidationError) else error
        raise UsageError(f"{folder / place} is damaged ({said}): fetch the overlay again") from error
    strange = sorted({change.table for change in changes} - {table.name for table in overlay.tables})
    if strange:
        raise UsageError(f"{path} has no table {strange[0]!r}, which a change is of: fetch the overlay again")
    return overlay, changes


def _lines(folder: Path) -> Iterable[tuple[str, str]]:
    """The changes as they are written, each with its place."""
    if not (folder / LINES).is_file():
        raise UsageError(f"{folder} holds no {LINES}: fetch the overlay again")
    text = (folder / LINES).read_bytes().decode("utf-8", "surrogatepass")
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            yield f"{LINES}, line {number}", line
