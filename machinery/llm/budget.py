"""What models may still be asked: caps on calls and costs, kept before each request is sent."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from math import ceil
from typing import Any, Final, Protocol

import orjson

from mihakk.machinery.errors import ExternalFailure
from mihakk.machinery.llm.endpoint import Stop
from mihakk.machinery.llm.spending import Ledger
from mihakk.schemas.model import Budget, ModelConfig

_LOOK: Final = 0.05
"""Seconds between two looks at what others have spent."""
MEASURED: Final = 5
"""Answers after which the tokens of a request are reckoned from those, not from its bytes."""
MARGIN: Final = 1.25
"""How much denser than all before a prompt may be."""
LETTERS_A_TOKEN: Final = 2
"""Fewest letters of a prompt that a token usually holds: for estimates; a cap counts bytes."""


class BudgetSpent(ExternalFailure):
    """The next request could pass the cap; what was answered is kept."""


class Answered(Protocol):
    """What a server says that an answer took, in tokens."""

    @property
    def prompt_tokens(self) -> int: ...
    @property
    def completion_tokens(self) -> int: ...
    @property
    def cached_tokens(self) -> int: ...


@dataclass(frozen=True)
class Cap:
    """A budget, and the models that share it."""

    models: tuple[str, ...]
    """Their short names."""
    budget: Budget
    setting: str = "budget"
    """Where it is written, for messages."""


class Meter:
    """Asks the ledger before each request of one model, and tells it what the request cost.

    Args:
        config: The model. Its own `budget` caps it besides.
        ledger: Of the benchmark; kept in memory alone where None.
        caps: What else caps it.
    """

    def __init__(self, config: ModelConfig, ledger: Ledger | None = None, caps: Sequence[Cap] = ()) -> None:
        self.asked = 0
        """Requests sent by this process, tries that failed counted."""
        self.spent = 0.0
        """What they cost; 0 where no price is known."""
        self._name, self._price = config.name, config.price
        self._currency = config.price.currency if config.price else ""
        self._ledger = ledger or Ledger()
        own = [Cap((config.name,), config.budget)] if config.budget else []
        self._caps = (*caps, *own)
        self._answers = 0
        self._longest = 0
        """Tokens of the longest reply: some servers take no notice of a limit."""
        self._densest = 0.0
        """Most tokens that a byte of a request came to."""

    async def request(self, body: Mapping[str, Any], stop: Stop) -> Bill:
        """Reserves what a request may cost; waits while requests in flight could use up what it needs.

        Raises:
            BudgetSpent: It could pass a cap whatever those cost.
        """
        size = len(orjson.dumps(body))
        most = self._most(size, int(body.get("max_tokens") or 0))
        while True:
            with self._ledger.held():
                if all(self._has_room(cap, most) for cap in self._caps):
                    self.asked += 1
                    return Bill(self, self._ledger.reserve(self._name, most, self._currency), most, size)
            await stop.sleep(_LOOK)

    def book(self, answer: Answered) -> None:
        """Counts an answer that came by another way, such as a batch file."""
        with self._ledger.held():
            bill = Bill(self, self._ledger.reserve(self._name, 0.0, self._currency), 0.0, 0)
        with bill.settled():
            bill.answered(answer)

    def learn(self, answer: Answered, size: int) -> None:
        """Takes down how many tokens a request of so many bytes and its reply came to."""
        self._answers += 1
        self._longest = max(self._longest, answer.completion_tokens)
        if size:
            self._densest = max(self._densest, answer.prompt_tokens / size)

    def cost(self, answer: Answered) -> float | None:
        """What an answer cost; None where the server did not say what it took."""
        told = answer.prompt_tokens or answer.completion_tokens
        if self._price is None or not told:
            return None
        return self._price.of(answer.prompt_tokens, answer.completion_tokens, answer.cached_tokens)

    def settle(self, name: str, cost: float) -> None:
        """Tells the ledger what a request cost."""
        self.spent += cost
        self._ledger.settle(name, cost)

    def _most(self, size: int, reply: int) -> float:
        """The most that a request of so many bytes can cost."""
        if self._price is None:
            return 0.0
        # A token holds a byte at least, whatever the tokeniser; a chat template adds less than JSON does.
        share = min(1.0, MARGIN * self._densest) if self._answers >= MEASURED and self._densest else 1.0
        return self._price.of(ceil(share * size), max(reply, self._longest))

    def _has_room(self, cap: Cap, most: float) -> bool:
        """Whether a request fits under a cap now, requests in flight at their most."""
        spent = [self._ledger.spent(name, self._currency) for name in cap.models]
        calls, budget = sum(one.calls for one in spent), cap.budget
        if budget.calls is not None and calls >= budget.calls:
            raise BudgetSpent(
                f"{self._name}: `{cap.setting}.calls` ({budget.calls:,} a month, all sent) is used up; "
                "answered calls are kept: raise it, or run again next month to go on"
            )
        if budget.cost is None:
            return True
        left = budget.cost * (1 + 1e-9) - most
        if sum(one.at_most for one in spent) <= left:
            return True
        known = sum(one.cost for one in spent)
        if known + self._ledger.lost(cap.models, self._currency) > left:
            raise BudgetSpent(
                f"{self._name}: the next call could pass `{cap.setting}.cost` ({budget.cost:g} a month, of "
                f"which {known:.4g} is spent); answered calls are kept: raise it, or run again next month "
                "to go on"
            )
        return False


class Bill:
    """One request's place in the ledger; it counts at its most until more is known."""

    def __init__(self, meter: Meter, name: str, most: float, size: int) -> None:
        self._meter, self._name, self._cost, self._size = meter, name, most, size

    def refused(self) -> None:
        """The server said that it did not do it, or was never reached: it costs nothing."""
        self._cost = 0.0

    def answered(self, answer: Answered) -> None:
        """It costs what the server says it took; an answer that says nothing counts at its most."""
        self._meter.learn(answer, self._size)
        cost = self._meter.cost(answer)
        if cost is not None:
            self._cost = cost

    @contextmanager
    def settled(self) -> Iterator[None]:
        """Writes down at the end of the block what the request cost."""
        try:
            yield
        finally:
            self._meter.settle(self._name, self._cost)
