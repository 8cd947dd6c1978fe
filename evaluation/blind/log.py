"""The log of a season: lines that are only ever added, each with the digest of the one before.

The first line is the `Season`, then a `LoggedSubmission` for each file, at the end the `Closing`. It holds no
reply, no item's score and no address, and may be published.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import orjson
from filelock import FileLock, Timeout
from pydantic import ValidationError

from mihakk.machinery.errors import ExternalFailure, UsageError
from mihakk.machinery.ids import sha256
from mihakk.schemas.blind import Closing, LoggedSubmission, Season

Line = Season | LoggedSubmission | Closing
_KINDS: dict[str, type[Line]] = {"season": Season, "submission": LoggedSubmission, "closed": Closing}


class SubmissionLog:
    """The log of one season; its file is made with the first line."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.season: Season | None = None
        self.entries: list[LoggedSubmission] = []
        self.closing: Closing | None = None
        self.last = ""
        """SHA-256 of the last line."""
        self._size = 0
        self._lines = 0

    @property
    def nats(self) -> float:
        """All that was told, of either half."""
        final = sum(self.closing.nats.values()) if self.closing else 0.0
        return sum(entry.nats for entry in self.entries) + final

    @contextmanager
    def held(self, seconds: float = 60) -> Iterator[SubmissionLog]:
        """The log for one process alone, read anew: two submissions at once are scored one after the other.

        Raises:
            ExternalFailure: Another process holds it, or a line was changed or taken out.
            UsageError: It was written before files were signed.
        """
        self.path.parent.mkdir(parents=True, exist_ok=True)
        try:
            with FileLock(f"{self.path}.lock", timeout=seconds):
                self.read()
                yield self
        except Timeout as error:
            raise ExternalFailure(
                f"{self.path} is in use by another run: run again when it is done"
            ) from error

    def add(self, line: Line) -> None:
        """Adds a line at the end, on disk before anything else happens."""
        data = line.model_copy(update={"before": self.last}).model_dump_json().encode() + b"\n"
        with self.path.open("ab") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        self._take(line, data)

    def read(self) -> None:
        """What other processes added since the last time.

        Raises:
            ExternalFailure: A line was changed or taken out.
            UsageError: It was written before files were signed.
        """
        data = self.path.read_bytes() if self.path.is_file() else b""
        if len(data) < self._size:
            raise ExternalFailure(f"{self.path} is shorter than it was: put back the file from a copy")
        for raw in data[self._size :].splitlines(keepends=True):
            where = f"{self.path}, line {self._lines + 1}"
            try:
                found = orjson.loads(raw)
                if self._lines == 0 and "received" in found and "kind" not in found:
                    raise UsageError(
                        f"{self.path} was written before files were signed: run `mihakk evaluate migrate "
                        f"--board BOARD.yaml --store {self.path.parent.parent}` once"
                    )
                line = _KINDS[found["kind"]].model_validate_json(raw)
            except (ValidationError, ValueError, KeyError, TypeError) as error:
                raise ExternalFailure(
                    f"{where}: not a line of the log (cut while written, or changed): put back the file from "
                    "a copy, or cut the line if it is the last"
                ) from error
            if line.before != self.last or isinstance(line, Season) != (self._lines == 0) or self.closing:
                raise ExternalFailure(
                    f"{where} does not follow the line before it: a line was changed or taken out. Put back "
                    "the file from a copy; nothing is scored on a log that was rewritten"
                )
            self._take(line, raw)

    def _take(self, line: Line, data: bytes) -> None:
        if isinstance(line, Season):
            self.season = line
        elif isinstance(line, Closing):
            self.closing = line
        else:
            self.entries.append(line)
        self.last = sha256(data)
        self._size += len(data)
        self._lines += 1
