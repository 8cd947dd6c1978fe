"""One system during a run: asked through the journal and within the suite's limits; failures are kept."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from threading import Lock
from typing import Final

from mihakk.errors import ExternalFailure, MihakkError, UsageError
from mihakk.llm.chat import Chat
from mihakk.llm.client import Refused, TimedOut
from mihakk.llm.endpoint import Stop
from mihakk.llm.journal import Entry, Journal
from mihakk.llm.model import Model
from schemas.suite import SuiteLimits, System

FILTERED: Final = ("content_filter", "content_policy", "content management policy", "responsible_ai")
"""What servers say when a filter, and not a fault, is why there is no reply."""
LETTERS_A_TOKEN: Final = 2
"""Fewest letters of a prompt that a token holds: for estimates that must not be too low."""


class Channel:
    """Everything that asks one system in one run.

    Failures of single calls stand in a file beside the answers: such a call is not answered, so the journal
    does not hold it, and a run that goes on must not forget that it was tried.
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
        self.asked = 0
        """Calls of this run that the journal could not answer."""
        self.spent = 0.0
        """What this run's calls cost, where the system has a price."""
        self._answered = answered
        self._failures = failures
        self._limits = limits
        self._stop = Stop()
        self._lock = Lock()
        self._reserved = 0.0
        self._failed = _read(failures)

    async def ask(self, chat: Chat) -> Entry | str:
        """The journaled reply, or why this one call has none.

        Raises:
            MihakkError: The run can't go on; the same error for whoever asks after it.
        """
        key = self.model.chat_key(chat)
        if (known := self.journal.get(key)) is not None:
            self._answered()
            return known
        if self.fatal is not None:
            raise self.fatal
        try:
            found = await self._within_limits(chat)
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
        """Why a call has no reply; None where none was tried in vain."""
        return self._failed.get(key)

    async def _within_limits(self, chat: Chat) -> Entry:
        most = self._reserve(chat)
        try:
            entry = await self.model.complete(chat, self.journal, self._stop)
        finally:
            with self._lock:
                self._reserved -= most
        price = self.system.price
        if price is not None:
            with self._lock:
                self.spent += price.of(entry.prompt_tokens, entry.completion_tokens, entry.cached_tokens)
        return entry

    def _reserve(self, chat: Chat) -> float:
        """Sets aside what a call can cost at most; counts it."""
        price, limits = self.system.price, self._limits
        letters = sum(len(message["content"]) for message in chat.messages)
        most = price.of(letters // LETTERS_A_TOKEN, chat.max_tokens) if price else 0.0
        with self._lock:
            if limits.requests is not None and self.asked >= limits.requests:
                raise ExternalFailure(
                    f"{self.system.name}: the suite's {limits.requests:,} requests are spent; answered calls "
                    "are kept: raise `limits.requests` or run again to go on"
                )
            if limits.cost is not None and self.spent + self._reserved + most > limits.cost:
                raise ExternalFailure(
                    f"{self.system.name}: the next call could pass `limits.cost` ({limits.cost:g}, of which "
                    f"{self.spent:.4g} is spent); answered calls are kept: raise it or run again to go on"
                )
            self._reserved += most
            self.asked += 1
        return most

    def _note(self, key: str, problem: str) -> None:
        with self._lock, self._failures.open("a", encoding="utf-8") as out:
            self._failed[key] = problem
            out.write(json.dumps({"key": key, "problem": problem}, ensure_ascii=False) + "\n")


def chat_of(messages: list[tuple[str, str]], max_tokens: int, repeat: int) -> Chat:
    """What is sent; the journal's key follows from it."""
    said = [{"role": role, "content": text} for role, text in messages]
    return Chat(messages=said, max_tokens=max_tokens, variant=repeat)


def filtered(problem: str) -> bool:
    """Whether a call failed because a content filter would not have it."""
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
