"""Stops a run when a model's first replies are largely unusable, before all of them are paid for."""

from __future__ import annotations

from math import comb
from typing import Any

import orjson

from mihakk.machinery.errors import ExternalFailure
from mihakk.machinery.llm.journal import Journal
from mihakk.machinery.llm.structured import Reply
from mihakk.schemas.model import UnusableLimit

CHANCE = 0.05
"""A stream shorter than `of_first` stops the run only where a model within the limit would hardly do so."""
QUOTED = 160


class FirstReplies:
    """Counts the first replies of one model, over all streams of a run.

    Replies that the journal held already count too: the same replies end in the same way. Who asks lets the
    journal ask again what was unusable once the calls in flight are answered (`Journal.ask_again`).
    """

    def __init__(self, name: str, limit: UnusableLimit) -> None:
        self._name = name
        self._limit = limit
        self._seen = 0
        self._bad: list[Reply[Any]] = []
        self.stopped = False

    def see(self, reply: Reply[Any], journal: Journal) -> None:
        """Counts one reply.

        Raises:
            ExternalFailure: Too many are unusable.
        """
        if self._seen >= self._limit.of_first:
            return
        self._seen += 1
        if reply.value is None:
            self._bad.append(reply)
            if len(self._bad) > self._limit.share * self._limit.of_first:
                raise self._stopped(journal)

    def end(self, journal: Journal) -> None:
        """A stream has ended, perhaps before so many replies as the limit counts.

        Raises:
            ExternalFailure: As of `see`.
        """
        n, bad, share = self._seen, len(self._bad), self._limit.share
        if n >= self._limit.of_first or bad <= share * n:
            return
        if sum(comb(n, k) * share**k * (1 - share) ** (n - k) for k in range(bad, n + 1)) < CHANCE:
            raise self._stopped(journal)

    def _stopped(self, journal: Journal) -> ExternalFailure:
        self.stopped = True
        last = self._bad[-1]
        entry = journal.get(last.key)
        quote = f": {orjson.dumps(entry.text[:QUOTED]).decode()}" if entry is not None else ""
        return ExternalFailure(
            f"{self._name}: {len(self._bad)} of its first {self._seen} replies are unusable, more than "
            f"`unusable.share` of the auditors' config allows ({self._limit.share:.0%}). Example, "
            f"{last.tag}: {last.problem}{quote}. Correct the server or the model's config and run again: "
            "these are asked again, the other answers are kept"
        )
