"""What calls of models cost, written down before each is sent: one ledger for all runs and processes.

A folder of the ledger belongs to one benchmark. `<month>.jsonl` in it has two sealed lines a request: one
with the most it can cost, before it is sent, and one with what it cost, once that is known. A request without
its second line is in flight, or its process was killed and the provider may have charged it: it counts at its
most. So a killed process hides nothing that was paid, and blocks no more than its requests could have cost,
until the month ends. Which of the two it is, the lock on the file tells, which dies with its process.
"""

from __future__ import annotations

import fcntl
import os
import threading
import time
import uuid
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import orjson

from mihakk.machinery.errors import ExternalFailure
from mihakk.machinery.lake.mirror import Mirror
from mihakk.machinery.lake.seal import seal, unsealed
from mihakk.machinery.llm.journal import FSYNC_SECONDS, now, own_file
from mihakk.schemas.record import Record

FOLDER: Final = "spending"
"""Of the ledger, beside the journals of the benchmark."""
_DIGITS: Final = 12
"""Decimals that sums of costs are rounded to: a token costs a millionth and less."""


class Spent(Record):
    """What one model was asked and cost in one month (UTC)."""

    month: str
    model: str
    """Its short name."""
    currency: str
    """Of its price; empty where it has none."""
    calls: int = 0
    """Requests sent, repeated tries counted."""
    cost: float = 0.0
    """Of those whose cost is known."""
    unsettled: int = 0
    """Requests in flight, or of killed processes."""
    reserved: float = 0.0
    """The most that the unsettled ones can cost."""

    @property
    def at_most(self) -> float:
        """With the unsettled ones."""
        return self.cost + self.reserved


@dataclass(frozen=True)
class _Open:
    key: tuple[str, str]
    most: float
    path: Path | None


class _Month:
    """One month's requests as the folder's files tell them."""

    def __init__(self, folder: Path | None, month: str) -> None:
        self.name = month
        self.sums: dict[tuple[str, str], Spent] = {}
        """Model and currency to what they took."""
        self.open: dict[str, _Open] = {}
        """Id of a request to what is known of it until it is settled."""
        self.places: dict[Path, int] = {}
        """Up to where each file is read."""
        self._folder = folder

    def of(self, model: str, currency: str) -> Spent:
        """What one model took."""
        known = self.sums.get((model, currency))
        return known or Spent(month=self.name, model=model, currency=currency)

    def catch_up(self) -> None:
        """Reads the whole lines that have been written since."""
        for path in sorted(self._folder.glob(f"{self.name}*.jsonl")) if self._folder else ():
            place = self.places.get(path, 0)
            if path.stat().st_size <= place:
                continue
            with path.open("rb") as lines:
                lines.seek(place)
                for line in lines:
                    if not line.endswith(b"\n"):
                        break
                    place += len(line)
                    with suppress(ValueError, KeyError, TypeError):  # a line that rotted
                        self.take(unsealed(line), path)
            self.places[path] = place

    def take(self, line: dict[str, Any], path: Path | None) -> None:
        """Counts one line."""
        key = str(line["model"]), str(line["currency"])
        before = self.of(*key)
        if "call" in line:
            most = float(line["most"])
            self.open[str(line["call"])] = _Open(key, most, path)
            changed = {
                "calls": before.calls + 1,
                "unsettled": before.unsettled + 1,
                "reserved": round(before.reserved + most, _DIGITS),
            }
        else:
            settled = self.open.pop(str(line["paid"]), None)
            changed = {"cost": round(before.cost + float(line["cost"]), _DIGITS)}
            if settled:
                changed |= {
                    "unsettled": before.unsettled - 1,
                    "reserved": round(before.reserved - settled.most, _DIGITS),
                }
            else:  # the line before it rotted
                changed["calls"] = before.calls + 1
        self.sums[key] = before.model_copy(update=changed)


class Ledger:
    """Counts requests and what they cost; safe to use from several threads, and by processes on one machine.

    Nothing is written before the first request.

    Args:
        folder: Of the benchmark's ledger; None counts this process alone and keeps nothing.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder
        self._lock = threading.RLock()
        self._known = _Month(folder, "")
        self._path: Path | None = None
        self._out: Any = None
        self._taken_over = False
        """The own file has not been looked through yet."""
        self._mirror: Mirror | None = None
        self._synced_at = time.monotonic()

    def __enter__(self) -> Ledger:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @contextmanager
    def held(self) -> Iterator[None]:
        """Keeps all others from reserving, and knows what they have spent by now.

        Raises:
            ExternalFailure: The folder can't be written.
        """
        with self._lock:
            month = _this_month()
            if self._folder is None:
                if month != self._known.name:
                    self._known = _Month(None, month)
                yield
                return
            try:
                self._folder.mkdir(parents=True, exist_ok=True)
                gate = (self._folder / ".lock").open("a")
                if month != self._known.name:
                    self._begin(self._folder, month)
            except OSError as error:
                raise self._unwritable(error) from error
            with gate:
                fcntl.flock(gate, fcntl.LOCK_EX)
                self._known.catch_up()
                self._settle_left()
                yield

    def spent(self, model: str, currency: str = "") -> Spent:
        """What a model took in this month, as of the last `held`, or as of now where there was none."""
        with self._lock:
            if not self._known.name:
                known = _Month(self._folder, _this_month())
                known.catch_up()
                return known.of(model, currency)
            return self._known.of(model, currency)

    def lost(self, models: Collection[str], currency: str) -> float:
        """The most that requests of killed processes can have cost: waiting for them is in vain."""
        with self._lock:
            wanted = [
                one for one in self._known.open.values() if one.key[0] in models and one.key[1] == currency
            ]
            alive = {path: self._is_alive(path) for path in {one.path for one in wanted}}
            return sum(one.most for one in wanted if not alive[one.path])

    def reserve(self, model: str, most: float, currency: str) -> str:
        """Writes down that a request is about to be sent, which may cost so much; its id, for `settle`.

        Raises:
            ExternalFailure: It can't be written, so that the request must not be sent.
        """
        with self._lock:
            name = uuid.uuid4().hex
            line = {"call": name, "model": model, "most": most, "currency": currency, "at": now()}
            try:
                self._write(line)
            except OSError as error:
                raise self._unwritable(error) from error
            return name

    def settle(self, name: str, cost: float) -> None:
        """Writes down what a request cost; where that can't be written, it goes on counting at its most."""
        with self._lock:
            known = self._known.open.get(name)
            if known is None:  # of a month that has ended
                return
            line = {"paid": name, "model": known.key[0], "currency": known.key[1], "cost": cost}
            with suppress(OSError):
                self._write(line)

    def close(self) -> None:
        """Syncs to disk and releases the file; safe to call twice."""
        with self._lock:
            if self._out is not None:
                with suppress(OSError):
                    self._sync()
                self._out.close()
            self._out, self._path, self._known = None, None, _Month(self._folder, "")

    def _begin(self, folder: Path, month: str) -> None:
        self.close()
        self._path, self._out = own_file(folder, month)
        self._mirror = Mirror.of(folder)
        self._known = _Month(folder, month)
        self._taken_over = True

    def _settle_left(self) -> None:
        """Counts at their most the requests that an earlier process left open in the file taken over."""
        if self._taken_over:
            for name in [name for name, one in self._known.open.items() if one.path == self._path]:
                self.settle(name, self._known.open[name].most)
            self._taken_over = False

    def _write(self, line: dict[str, Any]) -> None:
        """Appends a line to the own file, and counts it."""
        if self._out is not None and self._path is not None:
            data = seal(orjson.dumps(line)) + b"\n"
            place = self._out.seek(0, os.SEEK_END)
            try:
                written = self._out.write(data)
                while written < len(data):
                    written += self._out.write(data[written:])
            except OSError:
                with suppress(OSError):  # a piece of a line would spoil the next one
                    self._out.truncate(place)
                raise
            self._known.places[self._path] = place + len(data)
            if time.monotonic() - self._synced_at > FSYNC_SECONDS:
                self._sync()
        self._known.take(line, self._path)

    def _sync(self) -> None:
        os.fsync(self._out.fileno())
        self._synced_at = time.monotonic()
        if self._mirror and self._path:
            self._mirror.push(self._path)

    def _is_alive(self, path: Path | None) -> bool:
        if path is None or path == self._path:
            return True
        try:
            with path.open("rb") as other:
                fcntl.flock(other, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        except OSError:
            return False
        return False

    def _unwritable(self, error: OSError) -> ExternalFailure:
        return ExternalFailure(
            f"can't keep the ledger of spending in {self._folder}: {error}. Nothing was sent; free space or "
            "make the folder writable, and run again"
        )


def _this_month() -> str:
    return f"{datetime.now(UTC):%Y-%m}"


def account(folder: Path) -> list[Spent]:
    """What every model took in every month, the newest first; nothing where there is no ledger."""
    found: list[Spent] = []
    for name in sorted({path.name[:7] for path in folder.glob("????-??*.jsonl")}, reverse=True):
        month = _Month(folder, name)
        month.catch_up()
        found += [month.sums[key] for key in sorted(month.sums)]
    return found
