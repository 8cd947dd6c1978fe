"""One system during a run: asked through the journal and within the suite's limits; failures are kept."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from threading import Lock
from typing import Final

from mihakk.errors import ExternalFailure, MihakkError, UsageError
from mihakk.llm.budget import Budget
from mihakk.llm.chat import Chat
from mihakk.llm.client import Refused, TimedOut
from mihakk.llm.endpoint import Stop
from mihakk.llm.journal import Entry, Journal
from mihakk.llm.model import Model
from schemas.suite import SuiteLimits, System

FILTERED: Final = ("content_filter", "content_policy", "content management policy", "responsible_ai")
"""What servers say when a filter, and not a fault, is why there is no reply."""


class Channel:
    """Everything that asks one system in one run.

    Calls that failed stand in a file beside the answers: the journal holds answered ones alone, and a resumed
    run must know which have failed.
    """

    def __init__(
        self,
        system: System,
        model: Model,
        journal: Journal,
        *,
        failures: Path,
        limits: SuiteLimits,
        answered: Callable[[], None] = lambda: None,
    ) -> None:
        self.system = system
        self.model = model
        self.journal = journal
        self.fatal: MihakkError | None = None
        """Why the run can't go on."""
        model.budget = Budget(system.name, "limits", system.price, cost=limits.cost, requests=limits.requests)
        self.budget = model.budget
        """What this run's calls cost, and how many the journal could not answer."""
        self._answered = answered
        self._failures = failures
        self._stop = Stop()
        self._lock = Lock()
        self._failed = _read(failures)

    async def ask(self, chat: Chat) -> Entry | str:
        """The journaled reply, or why this one call has none.

        Raises:
            MihakkError: The run can't go on; the same error for whoever asks after it.
        """
        key = self.model.chat_key(chat)
        if (known := self.model.known(key, self.journal)) is not None:
            self._answered()
            return known
        if self.fatal is not None:
            raise self.fatal
        try:
            found = await self.model.complete(chat, self.journal, self._stop)
        except (Refused, TimedOut) as failure:
            self._note(key, str(failure))
            self._answered()
            return str(failure)
        except (ExternalFailure, UsageError) as error:
            self.fatal = self.fatal or error
            raise
        self._answered()
        return found

    def failure(self, key: str) -> str | None:
        """Why a call failed; None where it did not."""
        return self._failed.get(key)

    def _note(self, key: str, problem: str) -> None:
        with self._lock, self._failures.open("a", encoding="utf-8") as out:
            self._failed[key] = problem
            out.write(json.dumps({"key": key, "problem": problem}, ensure_ascii=False) + "\n")


def chat_of(messages: list[tuple[str, str]], max_tokens: int, repeat: int) -> Chat:
    """What is sent; the journal's key follows from it."""
    said = [{"role": role, "content": text} for role, text in messages]
    return Chat(messages=said, max_tokens=max_tokens, variant=repeat)


def filtered(problem: str) -> bool:
    """Whether a content filter refused a call."""
    return any(word in problem.casefold() for word in FILTERED)


def _read(path: Path) -> dict[str, str]:
    """Failures noted before; a line cut short by a kill is left out."""
    found = {}
    if path.is_file():
        for line in path.read_text(encoding="utf-8").splitlines():
            try:
                one = json.loads(line)
                found[one["key"]] = one["problem"]
            except (ValueError, KeyError, TypeError):
                continue
    return found
