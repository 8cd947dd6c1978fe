"""The log of a season: lines that are only ever added, each with the digest of the one before.

The first line is the `Season`, then a `LoggedSubmission` for each file, and the `Closing` when it is over;
behind that one stand only files that came too late. It holds no reply, no item's score and no address, and
may be published.

Each line carries a digest of itself by the secret, so that whoever can write the file, or the published copy
that may come back in its place, can add none. Beside the season's folder lies its head: a digest by the
secret of the last line and of how many there are, so that none can be taken off the end.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import orjson
from filelock import FileLock, Timeout
from pydantic import ValidationError

from mihakk.evaluation.blind.disclosure import Keyed
from mihakk.machinery.errors import ExternalFailure, UsageError
from mihakk.machinery.ids import sha256
from mihakk.machinery.whole import append_whole, write_whole
from mihakk.schemas.blind import Closing, LoggedSubmission, Season

Line = Season | LoggedSubmission | Closing
_HEAD = ".head"
_DRAW = 3
_KINDS: dict[str, type[Line]] = {"season": Season, "submission": LoggedSubmission, "closed": Closing}


def heads(store: Path) -> list[str]:
    """The seasons whose logs have a head in the private folder of all boards."""
    return sorted(path.name[1 : -len(_HEAD)] for path in store.glob(f".*{_HEAD}"))


class SubmissionLog:
    """The log of one season; its file is made with the first line.

    Args:
        path: Of the file, in the season's folder in the store.
        keyed: Digests by the secret, for the lines and the head; without it they are not looked at.
    """

    def __init__(self, path: Path, keyed: Keyed | None = None) -> None:
        self.path = path
        self.keyed = keyed
        self.season: Season | None = None
        self.entries: list[LoggedSubmission] = []
        self.closing: Closing | None = None
        self.last = ""
        """SHA-256 of the last line."""
        self._ends: list[str] = []
        """SHA-256 of each line."""
        self._unsigned = -1
        """The last line that the secret did not sign, as an older Mihakk wrote it."""
        self._size = 0

    @property
    def first(self) -> str:
        """SHA-256 of the first line, which holds the season's rules."""
        return self._ends[0]

    @property
    def nats(self) -> float:
        """All that was told, of either half."""
        final = sum(self.closing.nats.values()) if self.closing else 0.0
        return sum(entry.nats for entry in self.entries) + final

    @property
    def told(self) -> set[str]:
        """The answers of which anybody was told a figure before the end."""
        return {entry.answers for entry in self.entries if entry.figure is not None}

    @contextmanager
    def held(self, seconds: float = 60) -> Iterator[SubmissionLog]:
        """The log for one process alone, read anew: two submissions at once are scored one after the other.

        Raises:
            ExternalFailure: Another process holds it, or a line was changed or taken out.
            UsageError: It began under rules that hold no more.
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
        line = line.model_copy(update={"before": self.last})
        line = line.model_copy(update={"mac": self._mac(line)})
        data = line.model_dump_json().encode() + b"\n"
        append_whole(self.path, data)
        self._take(line, data)
        self.check_head()

    def check_head(self) -> None:
        """Compares the log with its head, and takes a new one down where lines were added.

        A process may be killed between the two, or a folder come back from a backup with a longer log.

        Raises:
            ExternalFailure: The log was cut or written anew since a line was added last, or is lost; or the
                secret signed not all that was added.
        """
        if self.keyed is None:
            return
        path = self.path.parent.parent / f".{self.path.parent.name}{_HEAD}"
        # From the end, as a digest is worked out for each that is looked at.
        ends = (
            (number, self.keyed("head", f"{self.path.parent.name}\x1f{number}\x1f{end}"))
            for number, end in reversed([*enumerate(self._ends)])
        )
        _, now = next(ends, (0, ""))
        known = path.read_text("utf-8") if path.is_file() else ""
        if known == now:
            return
        at = next((number for number, end in ends if end == known), None)
        if known and at is None:
            raise ExternalFailure(
                f"{self.path} was cut or written anew since its last line was added, or is lost (says "
                f"{path}): put back the whole file from a copy, such as the published one; nothing is scored "
                "on another log"
            )
        if self._unsigned > (-1 if at is None else at):
            raise _not_ours(f"{self.path}, line {self._unsigned + 1}")
        write_whole(path, now.encode())

    def read(self) -> None:
        """What other processes added since the last time.

        Raises:
            ExternalFailure: A line was changed or taken out.
            UsageError: It began under rules that hold no more.
        """
        data = self.path.read_bytes() if self.path.is_file() else b""
        if len(data) < self._size:
            raise ExternalFailure(f"{self.path} is shorter than it was: put back the file from a copy")
        for raw in data[self._size :].splitlines(keepends=True):
            where = f"{self.path}, line {len(self._ends) + 1}"
            try:
                found = orjson.loads(raw)
                if not self._ends and found.get("draw") != _DRAW:
                    raise UsageError(
                        f"{self.path} began under rules that hold no more, and what it told can't be "
                        "counted: seal new questions in a release of their own, and open a season over them "
                        "in another store"
                    )
                line = _KINDS[found["kind"]].model_validate_json(raw)
            except (ValidationError, ValueError, KeyError, TypeError) as error:
                raise ExternalFailure(
                    f"{where}: not a line of the log (cut while written, or changed): put back the file from "
                    "a copy, or cut the line if it is the last"
                ) from error
            late = self.closing and not (isinstance(line, LoggedSubmission) and line.refused)
            if line.before != self.last or isinstance(line, Season) != (not self._ends) or late:
                raise ExternalFailure(
                    f"{where} does not follow the line before it: a line was changed or taken out. Put back "
                    "the file from a copy; nothing is scored on a log that was rewritten"
                )
            if self.keyed is not None and line.mac != self._mac(line):
                if line.mac:
                    raise _not_ours(where)
                self._unsigned = len(self._ends)
            # Noise is drawn by the bytes of the first line: one blank more would draw it anew.
            elif self.keyed is not None and raw.rstrip(b"\n") != line.model_dump_json().encode():
                raise _not_ours(where)
            self._take(line, raw)

    def _mac(self, line: Line) -> str:
        """The digest of a line by the secret, its own `mac` aside; empty without the secret."""
        if self.keyed is None:
            return ""
        return self.keyed("line", line.model_copy(update={"mac": ""}).model_dump_json())

    def _take(self, line: Line, data: bytes) -> None:
        if isinstance(line, Season):
            self.season = line
        elif isinstance(line, Closing):
            self.closing = line
        else:
            self.entries.append(line)
        self.last = sha256(data)
        self._ends.append(self.last)
        self._size += len(data)


def _not_ours(where: str) -> ExternalFailure:
    return ExternalFailure(
        f"{where} was not written by this board, or under another secret: nothing is scored on such a log. "
        "Set the secret that the season began with; or take that line and those behind it out of the log and "
        "its published copy, or put back older copies of them"
    )
