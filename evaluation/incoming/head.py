"""The beginning of a file of results, from which its format is told."""

from __future__ import annotations

import codecs
import json
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any, Final, Literal

from mihakk.machinery.errors import UsageError, no_file
from mihakk.machinery.unpacked import archive_at

Kind = Literal["zip", "parquet", "json", "lines", "text"]
_LOOKED_AT: Final = 100
"""Lines of which one has to be a JSON object for a file to be JSON lines."""


class Head:
    """What kind of file it is, and its first record."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            with path.open("rb") as file:
                self._start = file.read(1 << 16)
        except FileNotFoundError as error:
            raise no_file(path) from error
        except OSError as error:
            raise UsageError(f"{path} can't be read: {error.strerror}; name another file") from error

    @cached_property
    def kind(self) -> Kind:
        """`json` is one document, `lines` an object a line."""
        if self._start.startswith(b"PK\x03\x04"):
            return "zip"
        if self._start.startswith(b"PAR1"):
            return "parquet"
        if self._start.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] not in (b"{", b"["):
            return "text"
        if self._object(next(self.lines(), (0, b""))[1]) is not None:
            return "lines"
        if self.path.suffix.lower() in (".jsonl", ".ndjson"):
            return "lines"
        return "json" if self.document is not None else "lines" if self.first else "text"

    @cached_property
    def names(self) -> frozenset[str]:
        """Columns of a parquet file, or entries of an archive."""
        if self.kind == "parquet":
            import pyarrow.parquet as pq

            from mihakk.machinery.parquet import readable

            with readable(self.path):
                return frozenset(pq.read_schema(self.path).names)
        if self.kind == "zip":
            with archive_at(self.path) as archive:
                return frozenset(archive.namelist())
        return frozenset()

    @cached_property
    def document(self) -> Any:
        """The whole file as one JSON value; None where it is none."""
        try:
            return json.loads(self.path.read_bytes().removeprefix(codecs.BOM_UTF8))
        except (ValueError, RecursionError):
            return None

    @property
    def whole(self) -> dict[str, Any]:
        """The file as one object.

        Raises:
            UsageError: It is not one JSON document.
        """
        if not isinstance(self.document, dict):
            raise UsageError(f"{self.path} holds several documents: give each a file of its own")
        return self.document

    @cached_property
    def first(self) -> dict[str, Any]:
        """The first object: of the lines, of a list, or the document itself; empty where there is none."""
        if self.kind == "json":
            found = self.document[0] if isinstance(self.document, list) and self.document else self.document
            return found if isinstance(found, dict) else {}
        for _, line in zip(range(_LOOKED_AT), self.lines(), strict=False):
            if found := self._object(line[1]):
                return found
        return {}

    @cached_property
    def is_list(self) -> bool:
        """Whether it is one document that is a list."""
        return self.kind == "json" and isinstance(self.document, list)

    def lines(self) -> Iterator[tuple[int, bytes]]:
        """Lines that hold anything, numbered from 1."""
        with self.path.open("rb") as file:
            for number, raw in enumerate(file, 1):
                line = raw.removeprefix(codecs.BOM_UTF8) if number == 1 else raw
                if line.strip():
                    yield number, line.removesuffix(b"\n")

    @staticmethod
    def _object(line: bytes) -> dict[str, Any] | None:
        try:
            found = json.loads(line)
        except (ValueError, RecursionError):
            return None
        return found if isinstance(found, dict) else None
