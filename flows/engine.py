"""Where work runs: the processes of this machine, or a Dask cluster by its address. The work is the same."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from typing import Any, Protocol

from flows.context import Build
from flows.steps.step import Call, Step, Tick
from mihakk.errors import ExternalFailure, UsageError
from mihakk.settings import settings
from schemas.manifest import ShardManifest

ENGINES = "`processes`, `dask` (workers of its own on this machine) or `dask:ADDRESS` (a cluster's scheduler)"


class Engine(Protocol):
    """Runs calls that know nothing of each other."""

    def each(self, calls: Sequence[Call], tick: Tick) -> list[Any]:
        """What the calls give, in their order; the first failure stops the rest."""
        ...

    def nearby(self, calls: Sequence[Call], tick: Tick) -> list[Any]:
        """The same, on the machine of the run: for calls that read its files and secrets."""
        ...

    def here(self, call: Call) -> Any:
        """One call in the process of the run, for what shares an open server with it."""
        ...


def run_units(
    step: Step, build: Build, units: Sequence[str], engine: Engine, tick: Tick
) -> list[ShardManifest]:
    """A step's units on the engine: their shards in the units' order; what a failed run finished stays."""
    with step.around(build, lambda calls: engine.each(calls, lambda _: None)) as share:
        where = step.where(build)
        if where == "process":
            found = [
                engine.here(Call(f"{step.stage} {unit}", step.run, (build, unit, share(unit), tick)))
                for unit in units
            ]
        else:
            calls = [
                Call(f"{step.stage} {unit}", run_unit, (step.stage, build, unit, share(unit)))
                for unit in units
            ]
            found = engine.each(calls, tick) if where == "anywhere" else engine.nearby(calls, tick)
    return [shard for shards in found for shard in shards]


def run_unit(stage: str, build: Build, unit: str, share: Any) -> list[ShardManifest]:
    """One unit in a worker, which finds the step by its stage: a step's own functions can't be sent."""
    from flows.pipeline import step_of

    return step_of(stage).run(build, unit, share, lambda _: None)


class LocalEngine:
    """Worker processes on this machine.

    Args:
        workers: How many; as the settings say when None. One works in the process of the run itself.
    """

    def __init__(self, workers: int | None = None) -> None:
        self._workers = workers or settings().workers or os.cpu_count() or 1
        self._pool: ProcessPoolExecutor | None = None

    def each(self, calls: Sequence[Call], tick: Tick) -> list[Any]:
        """What the calls give, in their order; the first failure stops the rest.

        Raises:
            ExternalFailure: A worker process was killed (out of memory, most often).
        """
        if self._workers == 1 or len(calls) == 1:
            return [_ticked(call, tick) for call in calls]
        futures: list[Future[Any]] = []
        try:
            futures += [self.submit(call) for call in calls]
            for future in as_completed(futures):
                future.result()
                tick(1)
        except BrokenProcessPool as error:
            raise ExternalFailure(
                f"a worker died during {calls[0].name.split()[0]}, most often for lack of memory: "
                "run again, if need be with MIHAKK_WORKERS=1; finished shards are kept"
            ) from error
        finally:
            for future in futures:
                future.cancel()
        return [future.result() for future in futures]

    def nearby(self, calls: Sequence[Call], tick: Tick) -> list[Any]:
        """The same: all workers are on this machine."""
        return self.each(calls, tick)

    def here(self, call: Call) -> Any:
        """One call in this process."""
        return call()

    def submit(self, call: Call) -> Future[Any]:
        """Hands one call to a worker process."""
        if self._pool is None:
            # Spawned, not forked: a fork of a process with threads (models, progress bars) can deadlock.
            context = multiprocessing.get_context("spawn")
            self._pool = ProcessPoolExecutor(self._workers, mp_context=context, initializer=_die_with_parent)
        return self._pool.submit(call.work, *call.arguments)

    def close(self) -> None:
        """Ends the worker processes."""
        if self._pool:
            self._pool.shutdown(cancel_futures=True)
            self._pool = None


def _ticked(call: Call, tick: Tick) -> Any:
    found = call()
    tick(1)
    return found


def _die_with_parent() -> None:
    """A worker whose run was killed must not go on writing into the lake."""
    import ctypes
    import signal

    if hasattr(signal, "SIGKILL") and os.uname().sysname == "Linux":
        pr_set_pdeathsig = 1
        ctypes.CDLL(None).prctl(pr_set_pdeathsig, signal.SIGKILL)


@contextmanager
def local_engine(workers: int | None = None) -> Iterator[LocalEngine]:
    """A LocalEngine that is closed at the end."""
    engine = LocalEngine(workers)
    try:
        yield engine
    finally:
        engine.close()


@contextmanager
def open_engine(spec: str = "", workers: int | None = None) -> Iterator[Engine]:
    """The engine a setting names, for the length of a `with` block.

    Args:
        spec: `processes`, `dask` or `dask:ADDRESS`; as the settings say when empty.
        workers: Processes where the engine starts its own.

    Raises:
        UsageError: The spec names no engine, or its packages are not installed.
        ExternalFailure: No scheduler answers at the address.
    """
    kind, address = engine_parts(spec)
    if kind == "processes":
        with local_engine(workers) as engine:
            yield engine
        return
    from flows.cluster import dask_engine

    with dask_engine(address, workers) as cluster:
        yield cluster


def engine_parts(spec: str = "") -> tuple[str, str]:
    """Kind and address of an engine: `dask:tcp://host:8786` is (`dask`, `tcp://host:8786`).

    Raises:
        UsageError: The spec names no engine.
    """
    spec = spec or settings().engine
    kind, _, address = spec.partition(":")
    if kind == "dask" or spec == "processes":
        return kind, address
    raise UsageError(f"engine {spec!r} is not known: write {ENGINES}")
