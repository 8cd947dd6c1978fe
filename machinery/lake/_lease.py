"""The lock of a lake on an object store: one object, created only where there is none, and kept alive.

A store has no locks that die with their holder. So the holder writes the object anew every few seconds, and
one that was not renewed for a minute and a half counts as left behind by a run that died. Creating, renewing
and taking over are conditional writes (If-None-Match, If-Match): of two runs that try, the store lets one.
Ages are told by the store's own clock, so a machine whose clock jumps neither loses nor steals a lock.

Stores whose fsspec driver has no conditional overwrite get the nearest thing: read, write, read again after a
moment. Even a run that lost its lock unnoticed does no damage to tables: parts are whole, and two runs of the
same inputs write the same bytes.
"""

from __future__ import annotations

import os
import socket
import threading
import time
import uuid
from datetime import UTC, datetime
from typing import Final

from mihakk.machinery.errors import ExternalFailure, UsageError
from mihakk.machinery.lake.storage import Storage

BEAT: Final = 15.0
"""Seconds between renewals."""
STALE: Final = 90.0
"""Seconds without renewal after which a lock is taken over."""


def this_process() -> str:
    """Who holds a lock, as it says to others."""
    began = datetime.now(UTC).isoformat(timespec="seconds")
    return f"process {os.getpid()} on {socket.gethostname()}, since {began}"


class Lease:
    """A lock of a lake held through conditional writes, renewed by a thread until it is released.

    Raises:
        UsageError: Another run still holds it after `wait` seconds.
    """

    def __init__(self, storage: Storage, wait: float = 0, *, beat: float = BEAT) -> None:
        self._storage = storage
        self._path = storage.path(".lock")
        self._me, self._said = uuid.uuid4().hex, this_process()
        self._beat = beat
        self._beats = 0
        self._over = threading.Event()
        self._lost = ""
        self._token = self._acquire(time.monotonic() + wait)
        self._thread = threading.Thread(target=self._renew, name="lake lock", daemon=True)
        self._thread.start()

    def check(self) -> None:
        """Raises ExternalFailure when another run has taken the lake over."""
        if self._lost:
            raise ExternalFailure(
                f"the lock of {self._storage.root} was lost ({self._lost}): another run may be working "
                "on it. Run again when none is; finished shards are kept"
            )

    def release(self) -> None:
        """Gives the lock back; safe when it was lost."""
        self._over.set()
        self._thread.join()
        if not self._lost and self._storage.stamp(self._path) == self._token:
            self._storage.remove(self._path)

    def _acquire(self, deadline: float) -> str:
        while True:
            if token := self._storage.create(self._path, self._body()):
                return token
            held = self._storage.stamp(self._path)
            if held is None:
                continue  # given back in between
            if self._age() > STALE and (token := self._storage.replace(self._path, self._body(), held)):
                return token
            if time.monotonic() >= deadline:
                raise UsageError(
                    f"another run ({self._holder()}) is working on {self._storage.root}: wait for it, "
                    f"or stop it first; the lock of one that died is taken over after {STALE:.0f} s"
                )
            time.sleep(min(1.0, self._beat))

    def _age(self) -> float:
        """Seconds since the holder last renewed, by the store's clock."""
        renewed = self._storage.modified(self._path)
        return (self._now() - renewed).total_seconds() if renewed else 0.0

    def _now(self) -> datetime:
        probe = self._storage.path(f".clock-{self._me}")
        self._storage.write(probe, b"")
        try:
            now = self._storage.modified(probe)
        finally:
            self._storage.remove(probe)
        assert now is not None, "it was written a moment ago"
        return now

    def _holder(self) -> str:
        try:
            return self._storage.read(self._path).decode().partition("\n")[0]
        except (OSError, ValueError):
            return "unknown"

    def _body(self) -> bytes:
        """Different at every renewal: the store's tag of an object is a digest of its bytes."""
        self._beats += 1
        return f"{self._said}\n{self._me} {self._beats}".encode()

    def _renew(self) -> None:
        renewed = time.monotonic()
        while not self._over.wait(self._beat):
            try:
                token = self._storage.replace(self._path, self._body(), self._token)
            except (ExternalFailure, OSError) as error:
                if time.monotonic() - renewed > STALE:
                    self._lost = f"the store did not answer for {STALE:.0f} s: {error}"
                    return
                continue
            if token is None:
                self._lost = "another run holds it"
                return
            self._token, renewed = token, time.monotonic()
