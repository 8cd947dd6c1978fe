"""What one model may still be asked: limits on calls, tokens and costs, kept before the call is sent."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from typing import Any, Final

from mihakk.machinery.errors import ExternalFailure
from mihakk.machinery.llm.journal import Entry
from mihakk.schemas.model import Limits, Price

_LOOK: Final = 0.05
"""Seconds between two looks at what others have spent."""
LETTERS_A_TOKEN: Final = 2
"""Fewest letters of a prompt that a token holds: for estimates that must not be too low."""


class BudgetSpent(ExternalFailure):
    """The next call could pass the limit; what was answered is kept."""


class Purse:
    """What several models may cost together; each counts from a thread of its own."""

    def __init__(self, cost: float) -> None:
        self.cost = cost
        self.spent = 0.0
        self.reserved = 0.0
        self.lock = threading.Lock()

    def add(self, *, spent: float = 0.0, reserved: float = 0.0) -> None:
        """Counts what was spent or reserved, or is no longer."""
        with self.lock:
            self.spent += spent
            self.reserved += reserved

    def take(self, most: float) -> bool:
        """Reserves what a call may cost; False where others in flight may need it."""
        with self.lock:
            if self.spent + self.reserved + most > self.cost:
                return False
            self.reserved += most
            return True


class Budget:
    """Counts calls and their cost, those in flight at the most they can cost; for one event loop.

    Args:
        name: The model's short name, for messages.
        limits: The model's own, on every attempt of this run.
        price: None counts calls alone.
        setting: Where the further limits are written, for messages: `limits` or `judges.budget`.
        cost: Most that calls may cost together, in the price's currency.
        requests: Most calls.
        before: Calls of earlier runs that count too; None where each run has the whole budget.
        purse: What it shares with other models, besides.
    """

    def __init__(
        self,
        name: str,
        limits: Limits,
        price: Price | None = None,
        *,
        setting: str = "limits",
        cost: float | None = None,
        requests: int | None = None,
        before: Iterable[Entry] | None = None,
        purse: Purse | None = None,
    ) -> None:
        self.asked = 0
        """Calls sent, those of earlier runs counted."""
        self.spent = 0.0
        """What the answered ones cost; 0 where no price is known."""
        self.attempts = 0
        """Requests sent in this run, tries that failed counted."""
        self.tokens = 0
        """Of prompts and replies in this run."""
        self._name, self._limits, self._setting, self._price = name, limits, setting, price
        self._cost, self._requests, self._purse = cost, requests, purse
        self._reserved = 0.0
        self._settled = asyncio.Event()
        self._again = " or run again to go on" if before is None else " to go on"
        for entry in before or ():
            self.asked += 1
            self.spent += self._cost_of(entry)

    @asynccontextmanager
    async def call(self, body: Mapping[str, Any]) -> AsyncIterator[Callable[[Entry], None]]:
        """One call, counted; what it is given is the answer, if there is one.

        Waits while calls in flight could use up what this one needs.

        Raises:
            BudgetSpent: It could pass the limit whatever those cost.
        """
        letters = sum(len(message["content"]) for message in body["messages"])
        price = self._price
        most = price.of(letters // LETTERS_A_TOKEN, body["max_tokens"]) if price else 0.0
        while self._is_short_of(most):
            await self._settled.wait()
        await self._take(most)
        self._reserved += most
        self.asked += 1
        try:
            yield self._answered
        finally:
            self._reserved -= most
            if self._purse is not None:
                self._purse.add(reserved=-most)
            self._settled.set()
            self._settled.clear()

    def attempt(self) -> None:
        """One request is about to be sent.

        Raises:
            ExternalFailure: The model's own limit is used up.
        """
        for name, count in (("max_requests", self.attempts), ("max_tokens", self.tokens)):
            most = getattr(self._limits, name)
            if most is not None and count >= most:
                raise ExternalFailure(
                    f"{self._name}: `limits.{name}` ({most}) is used up; answered calls are kept: "
                    "raise it or run again to go on"
                )
        self.attempts += 1

    def _is_short_of(self, most: float) -> bool:
        """Whether the cost of a call may be there only once others are answered."""
        if self._requests is not None and self.asked >= self._requests:
            raise BudgetSpent(
                f"{self._name}: the suite's {self._requests:,} requests are spent; answered calls are "
                f"kept: raise `{self._setting}.requests`{self._again}"
            )
        if self._cost is None:
            return False
        if self.spent + most > self._cost:
            raise self._costs_too_much(self._cost, self.spent)
        return self.spent + self._reserved + most > self._cost

    def _costs_too_much(self, cost: float, spent: float) -> BudgetSpent:
        return BudgetSpent(
            f"{self._name}: the next call could pass `{self._setting}.cost` ({cost:g}, of which {spent:.4g} "
            f"is spent); answered calls are kept: raise it{self._again}"
        )

    async def _take(self, most: float) -> None:
        """Reserves what a call may cost out of what is shared; waits while others' calls could use it up."""
        while self._purse is not None and not self._purse.take(most):
            if self._purse.spent + most > self._purse.cost:
                raise self._costs_too_much(self._purse.cost, self._purse.spent)
            await asyncio.sleep(_LOOK)  # whoever else spends it does so in another thread

    def _answered(self, entry: Entry) -> None:
        self.spent += self._cost_of(entry)
        if self._purse is not None:
            self._purse.add(spent=self._cost_of(entry))
        self.tokens += entry.prompt_tokens + entry.completion_tokens

    def _cost_of(self, entry: Entry) -> float:
        price = self._price
        return price.of(entry.prompt_tokens, entry.completion_tokens, entry.cached_tokens) if price else 0.0
