"""The log of all submissions: lines that are only ever added, each with the digest of the one before."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout
from pydantic import ValidationError

from mihakk.machinery.errors import ExternalFailure
from mihakk.machinery.ids import sha256
from mihakk.schemas.blind import LoggedSubmission


class SubmissionLog:
    """The log of one board; its file is made with the first entry."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.entries: list[LoggedSubmission] = []
        self._last = ""
        self._size = 0

    @contextmanager
    def held(self, seconds: float = 60) -> Iterator[SubmissionLog]:
        """The log for one process alone, read anew: two submissions at once are scored one after the other.

        Raises:
            ExternalFailure: Another process holds it, or a line was changed or taken out.
        """
        self.path.parent.mkdir(parents=True, exist_ok=True)
        try:
            with FileLock(f"{self.path}.lock", timeout=seconds):
                self._read()
                yield self
        except Timeout as error:
            raise ExternalFailure(
                f"{self.path} is in use by another run: run again when it is done"
            ) from error

    def add(self, entry: LoggedSubmission) -> None:
        """Adds an entry at the end, on disk before anything else happens."""
        line = entry.model_copy(update={"before": self._last}).model_dump_json().encode() + b"\n"
        with self.path.open("ab") as file:
            file.write(line)
            file.flush()
            os.fsync(file.fileno())
        self._size += len(line)
        self._last = sha256(line)
        self.entries.append(entry)

    def _read(self) -> None:
        """What other processes added since the last time."""
        data = self.path.read_bytes() if self.path.is_file() else b""
        if len(data) < self._size:
            raise ExternalFailure(f"{self.path} is shorter than it was: put back the file from a copy")
        first = len(self.entries) + 1
        for number, line in enumerate(data[self._size :].splitlines(keepends=True), first):
            try:
                entry = LoggedSubmission.model_validate_json(line)
            except ValidationError as error:
                raise ExternalFailure(
                    f"{self.path}, line {number}: not a line of the log (cut while written, or changed): "
                    "put back the file from a copy, or cut the line if it is the last"
                ) from error
            if entry.before != self._last:
                raise ExternalFailure(
                    f"{self.path}: line {number} does not follow the line before it: a line was changed or "
                    "taken out. Put back the file from a copy; nothing is scored on a log that was rewritten"
                )
            self.entries.append(entry)
            self._last = sha256(line)
            self._size += len(line)
