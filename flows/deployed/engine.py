"""Prefect's tasks over either engine: a task per shard to look at, the work where the setting says."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from prefect import task
from prefect.cache_policies import NO_CACHE

from mihakk.flows.deployed.job import TRIED_AGAIN
from mihakk.pipeline.engines.choose import open_engine
from mihakk.pipeline.engines.engine import Engine
from mihakk.pipeline.step import Call, Tick


@task(task_run_name="{name}", cache_policy=NO_CACHE)
def shard(name: str, engine: Engine, call: Call) -> Any:  # noqa: ARG001  (the run's name)
    """One piece of work in a worker of the engine: a thread of Prefect's waits, the interpreter is free."""
    return engine.submit(call).result()


# Only what reads sources is tried again: pages already fetched are kept, and a site may answer later. Other
# work is a function of its input (a failure would come back), and the audit's client retries call by call.
fetched = shard.with_options(**TRIED_AGAIN)


@task(task_run_name="{name}", cache_policy=NO_CACHE)
def shard_here(name: str, call: Call) -> Any:  # noqa: ARG001  (the run's name)
    """One piece of work in the process of the flow; what an earlier run finished is used again."""
    return call()


class PrefectEngine:
    """Runs calls of another engine as Prefect tasks."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self.local = engine.local
        self.submit = engine.submit

    def each(self, calls: Sequence[Call], tick: Tick) -> list[Any]:
        """What the calls give, in their order; the first failure stops the rest."""
        return _results([shard.submit(call.name, self._engine, call) for call in calls], tick)

    def nearby(self, calls: Sequence[Call], tick: Tick) -> list[Any]:
        """The same in processes of this machine, tried again where the world outside failed."""
        return _results([fetched.submit(call.name, self.local, call) for call in calls], tick)

    def here(self, call: Call) -> Any:
        """One call in the process of the flow."""
        return shard_here(call.name, call)


def _results(futures: Sequence[Any], tick: Tick) -> list[Any]:
    found = []
    for future in futures:
        found.append(future.result())
        tick(1)
    return found


@contextmanager
def prefect_engine(spec: str = "") -> Iterator[Engine]:
    """The engine a setting names as Prefect's tasks, inside a flow; see `mihakk.pipeline.engines.choose`."""
    with open_engine(spec) as engine:
        yield PrefectEngine(engine)
