"""The interface of an engine: it runs independent calls."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

from mihakk.pipeline.step import Call, Tick

if TYPE_CHECKING:
    from mihakk.pipeline.engines.local import LocalEngine


class Running(Protocol):
    """A call that a worker has."""

    def result(self) -> Any:
        """What it gives, once it is done."""
        ...


class Engine(Protocol):
    """Runs calls that know nothing of each other."""

    @property
    def local(self) -> LocalEngine:
        """Processes of the run's machine."""
        ...

    def submit(self, call: Call) -> Running:
        """Hands one call to a worker."""
        ...

    def each(self, calls: Sequence[Call], tick: Tick) -> list[Any]:
        """What the calls give, in their order; the first failure stops the rest."""
        ...

    def nearby(self, calls: Sequence[Call], tick: Tick) -> list[Any]:
        """The same, on the machine of the run: for calls that read its files and secrets."""
        ...

    def here(self, call: Call) -> Any:
        """One call in the process of the run, for what shares an open server with it."""
        ...
