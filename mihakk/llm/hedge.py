"""Hedging: a call that takes unusually long is sent to a second endpoint too, and the first answer counts."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import TypeVar

T = TypeVar("T")

LEAST_ANSWERS = 20
"""Answers after which it is known how long a call usually takes."""
KEPT = 256
"""Latest answers that say so."""
LATE = 0.95
"""Share of calls that are answered before a call counts as late."""
ASK_AGAIN = 0.25
"""Seconds after which a late call that might not be sent twice is asked about again."""
MOST = 0.1
"""Share of calls that may be hedged: where most are late the server is overloaded, and needs no more."""


class Pace:
    """How long calls of one model take."""

    def __init__(self) -> None:
        self._seconds: deque[float] = deque(maxlen=KEPT)

    def add(self, seconds: float) -> None:
        """A call was answered, counted from when it was first sent."""
        self._seconds.append(seconds)

    def wait(self, waited: float, may: bool) -> float:
        """Seconds to go on waiting before a call that was sent `waited` seconds ago is sent again; 0 for now.

        A late call that may not be sent twice is asked about again, since the allowance grows with the calls.
        """
        late = self.late()
        left = 0.0 if late is None else late - waited
        if left > 0:
            return left
        return 0.0 if may and late is not None else ASK_AGAIN

    def late(self) -> float | None:
        """Seconds after which a call is late; None while too few were answered."""
        if len(self._seconds) < LEAST_ANSWERS:
            return None
        return sorted(self._seconds)[int(LATE * len(self._seconds))]


async def first_answer(
    one: asyncio.Task[T], other: asyncio.Task[T], passing: type[Exception]
) -> tuple[T, asyncio.Task[T]]:
    """The answer that comes first, and whose it is; the other call is cancelled.

    After a failure of the kind `passing` the other call is waited for; any other failure is raised at once.
    """
    open_calls = {one, other}
    failure: BaseException | None = None
    try:
        while open_calls:
            done, open_calls = await asyncio.wait(open_calls, return_when=asyncio.FIRST_COMPLETED)
            for call in (call for call in (one, other) if call in done):
                failure = call.exception()
                if failure is None:
                    return call.result(), call
                if not isinstance(failure, passing):
                    raise failure
        assert failure is not None
        raise failure
    finally:
        for call in open_calls:
            call.cancel()
        await asyncio.gather(one, other, return_exceptions=True)
