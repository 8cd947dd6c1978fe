"""Prefect's tasks over either engine: a task per shard to look at, the work where the setting says."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from prefect import task
from prefect.cache_policies import NO_CACHE

from flows.deployed.job import TRIED_AGAIN
from mihakk.errors import ExternalFailure
from pipeline.engines.choose import engine_parts
from pipeline.engines.engine import Engine
from pipeline.engines.local import LocalEngine, local_engine
from pipeline.step import Call, Tick

if TYPE_CHECKING:
    from prefect_dask import DaskTaskRunner


@task(task_run_name="{name}", cache_policy=NO_CACHE)
def shard(name: str, call: Call) -> Any:  # noqa: ARG001  (the run's name)
    """One piece of work where Prefect's runner puts it; what an earlier run finished is used again."""
    return call()


@task(task_run_name="{name}", cache_policy=NO_CACHE)
def shard_in_pool(name: str, engine: LocalEngine, call: Call) -> Any:  # noqa: ARG001  (the run's name)
    """One piece of work in a worker process: a thread of Prefect's waits for it, the interpreter is free."""
    return engine.submit(call).result()


# Only what reads sources is tried again: pages already fetched are kept, and a site may answer later. Other
# work is a function of its input (a failure would come back), and the audit's client retries call by call.
fetched = shard_in_pool.with_options(**TRIED_AGAIN)


class PrefectEngine:
    """Runs calls as Prefect tasks.

    Args:
        local: Worker processes of this machine.
        runner: Prefect's runner on a Dask cluster; None works in the processes.
    """

    def __init__(self, local: LocalEngine, runner: DaskTaskRunner | None = None) -> None:
        self._local = local
        self._runner = runner

    def each(self, calls: Sequence[Call], tick: Tick) -> list[Any]:
        """What the calls give, in their order; the first failure stops the rest."""
        if self._runner is None:
            return _results([shard_in_pool.submit(call.name, self._local, call) for call in calls], tick)
        submitted = [self._runner.submit(shard, {"name": call.name, "call": call}) for call in calls]
        return _results(submitted, tick)

    def nearby(self, calls: Sequence[Call], tick: Tick) -> list[Any]:
        """The same in processes of this machine, tried again where the world outside failed."""
        return _results([fetched.submit(call.name, self._local, call) for call in calls], tick)

    def here(self, call: Call) -> Any:
        """One call in the process of the flow."""
        return shard(call.name, call)


def _results(futures: Sequence[Any], tick: Tick) -> list[Any]:
    found = []
    for future in futures:
        found.append(future.result())
        tick(1)
    return found


@contextmanager
def prefect_engine(spec: str = "") -> Iterator[Engine]:
    """The engine a setting names as Prefect's tasks, inside a flow; see `pipeline.engines.choose`.

    Raises:
        UsageError: The spec names no engine, or its packages are not installed.
        ExternalFailure: No scheduler answers at the address.
    """
    kind, address = engine_parts(spec)
    with local_engine() as local:
        if kind == "processes":
            yield PrefectEngine(local)
            return
        from mihakk.settings import settings
        from pipeline.engines.dask import check_workers, runner_options

        dask_runner = _dask_runner()
        options = runner_options(settings().workers) if not address else {"address": address}
        try:
            runner = dask_runner(**options).__enter__()
        except OSError as error:
            raise ExternalFailure(f"no Dask scheduler answers at {address}: {error}") from error
        try:
            check_workers(runner.client)
            yield PrefectEngine(local, runner)
        finally:
            runner.__exit__(None, None, None)


def _dask_runner() -> type[DaskTaskRunner]:
    from pipeline.engines.dask import missing_dask

    try:
        from prefect_dask import DaskTaskRunner
    except ImportError as error:
        raise missing_dask() from error
    found: type[DaskTaskRunner] = DaskTaskRunner
    return found
