"""Endpoints of one model: who may be asked now, how hard, and when one that fails is left alone."""

from __future__ import annotations

import asyncio
import random
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from urllib.parse import urlsplit

from mihakk.machinery.errors import ExternalFailure

FAILURES_TO_OPEN = 5
"""Failures in a row after which an endpoint rests; then one call at a time probes it."""
PROBES_BEFORE_ABSENT = 4
"""Probes after which an endpoint that never answered anything is taken for absent: some ten seconds."""
LONGEST_PAUSE = 30.0


def backoff(attempt: int) -> float:
    """Seconds to wait after the attempt of that number, counted from 1: doubling, with jitter."""
    return float(min(LONGEST_PAUSE, 2.0 ** (attempt - 1)) * random.uniform(0.5, 1.0))


def bare(url: str) -> str:
    """An endpoint's address without user, password, path and query: fit for messages."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.hostname or ''}" + (f":{parts.port}" if parts.port else "")


class Stop:
    """Tells calls that have not been sent yet that they needn't be."""

    def __init__(self) -> None:
        self.reason: ExternalFailure | None = None
        self._event = asyncio.Event()

    def set(self, reason: ExternalFailure) -> None:
        """From now on `check` raises `reason`."""
        self.reason = self.reason or reason
        self._event.set()

    def check(self) -> None:
        """Raises the reason if calls should no longer be sent."""
        if self.reason is not None:
            raise self.reason

    async def sleep(self, seconds: float) -> None:
        """Sleeps, but not beyond a stop."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self._event.wait(), seconds)
        self.check()


class Endpoint:
    """One server with its own concurrency, which halves when it says 429 and recovers with its successes."""

    def __init__(self, url: str, concurrency: int) -> None:
        self.url = url
        self.most = concurrency
        self.limit = float(concurrency)
        self.in_flight = 0
        self.opens_at = 0.0
        self._failures = 0
        self._tripped_at = 0.0

    def room(self) -> bool:
        """Another call may go out, the clock aside."""
        return self.in_flight < (1 if self._failures >= FAILURES_TO_OPEN else int(self.limit))

    @property
    def load(self) -> float:
        """Share of its concurrency in use, with a penalty for an endpoint that has been failing."""
        return self.in_flight / self.most + self._failures

    @property
    def absent(self) -> bool:
        """Every probe so far failed too."""
        return self._failures >= FAILURES_TO_OPEN + PROBES_BEFORE_ABSENT

    def succeeded(self) -> None:
        """A call was answered."""
        self._failures = 0
        self.limit = min(float(self.most), self.limit + 1.0 / self.limit)

    def failed(self, started: float, now: float) -> None:
        """A call met a 5xx, a time-out or a dropped connection.

        Calls sent before the last trip are not counted: they failed for the same reason.
        """
        if started < self._tripped_at:
            return
        self._failures += 1
        if self._failures >= FAILURES_TO_OPEN:
            self._tripped_at = now
            self.opens_at = now + backoff(self._failures - FAILURES_TO_OPEN + 1)

    def slowed(self, started: float, now: float, pause: float) -> None:
        """The server asked for a pause of so many seconds (429)."""
        if started >= self._tripped_at:
            self.limit = max(1.0, self.limit / 2)
            self._tripped_at = now
        self.opens_at = max(self.opens_at, now + pause)


class Dispatcher:
    """Hands each call to the least loaded endpoint that may be asked."""

    def __init__(self, urls: Sequence[str], concurrency: int) -> None:
        self.endpoints = [Endpoint(url, concurrency) for url in urls]
        self._waiting: deque[asyncio.Future[None]] = deque()

    async def acquire(self, stop: Stop) -> Endpoint:
        """An endpoint with room, once there is one; give it back with `release`."""
        loop = asyncio.get_running_loop()
        woken = False
        while True:
            stop.check()
            now = loop.time()
            free = [e for e in self.endpoints if e.room() and e.opens_at <= now]
            if free:
                best = min(free, key=lambda e: e.load)
                best.in_flight += 1
                if best.room() or len(free) > 1:
                    self.wake()
                return best
            closed = [e.opens_at - now for e in self.endpoints if e.opens_at > now]
            # Woken for a place that a newcomer took first: it stays ahead of all that came later.
            woken = await self._turn(min(closed, default=None), ahead=woken)

    async def _turn(self, longest: float | None, ahead: bool) -> bool:
        """Waits to be woken, at most so many seconds; whether it was."""
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        if ahead:
            self._waiting.appendleft(turn)
        else:
            self._waiting.append(turn)
        try:
            await asyncio.wait_for(turn, longest)
        except TimeoutError:
            return False
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self.wake()  # the turn it was given goes to the next in line
            raise
        finally:
            if not turn.done() or turn.cancelled():
                with suppress(ValueError):
                    self._waiting.remove(turn)
        return True

    def other(self, endpoint: Endpoint) -> bool:
        """Another endpoint could be asked at once, so a failed call needn't wait."""
        now = asyncio.get_running_loop().time()
        return any(e is not endpoint and e.opens_at <= now and e.room() for e in self.endpoints)

    def hopeless(self) -> bool:
        """No endpoint answers; to be asked only while none ever did: an outage is waited out longer."""
        return all(e.absent for e in self.endpoints)

    def release(self, endpoint: Endpoint) -> None:
        """Ends a call."""
        endpoint.in_flight -= 1
        self.wake()

    def wake(self, everybody: bool = False) -> None:
        """Lets the first waiting call, or all of them, look again."""
        while self._waiting:
            turn = self._waiting.popleft()
            if not turn.done():
                turn.set_result(None)
                if not everybody:
                    return
