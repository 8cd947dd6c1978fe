"""A Dask cluster as an engine: sends the same calls to the workers of a scheduler."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from mihakk.machinery.errors import ExternalFailure, UsageError
from mihakk.machinery.settings import install_command, settings
from mihakk.pipeline.engines.engine import Engine
from mihakk.pipeline.engines.local import LocalEngine
from mihakk.pipeline.step import CORE, Call, Tick

if TYPE_CHECKING:
    from distributed import Client, Future

PACKAGES = (*CORE, "curation", "generators", "validators", "annotation", "pipeline")
"""What a worker's checkout must have in the run's own version, or shards would differ with their worker."""
ANSWER_SECONDS = 20


class DaskEngine:
    """Calls on a cluster's workers; what belongs to this machine stays on it.

    Args:
        client: Connected to the scheduler.
        local: Processes of this machine, for calls that read its files.
    """

    def __init__(self, client: Client, local: LocalEngine) -> None:
        self._client = client
        self.local = local

    def each(self, calls: Sequence[Call], tick: Tick) -> list[Any]:
        """What the calls give, in their order; the first failure stops the rest.

        A worker that dies has its calls done again by another.

        Raises:
            ExternalFailure: Worker after worker died of one call, or the scheduler went away.
        """
        from distributed import CancelledError, KilledWorker, as_completed
        from distributed.comm import CommClosedError

        futures = [self.submit(call) for call in calls]
        try:
            for future in as_completed(futures):
                future.result()
                tick(1)
            return [future.result() for future in futures]
        except KilledWorker as error:
            raise ExternalFailure(
                f"the workers die of {calls[0].name.split()[0]}, usually for lack of memory: "
                "give each more (`dask worker --memory-limit`), then run again; finished shards are kept"
            ) from error
        except (CommClosedError, CancelledError) as error:
            raise ExternalFailure(
                "the Dask scheduler is gone: start it, then run again; finished shards are kept"
            ) from error
        finally:
            self._client.cancel(futures)

    def submit(self, call: Call) -> Future:
        """Hands one call to a worker of the cluster."""
        return self._client.submit(call, key=f"{call.name} {os.urandom(4).hex()}")

    def nearby(self, calls: Sequence[Call], tick: Tick) -> list[Any]:
        """The same in processes of this machine."""
        return self.local.each(calls, tick)

    def here(self, call: Call) -> Any:
        """One call in this process."""
        return call()


@contextmanager
def dask_engine(address: str = "", workers: int | None = None) -> Iterator[Engine]:
    """An engine on the cluster at an address, or on a scheduler and workers of its own on this machine.

    Raises:
        UsageError: Dask is not installed, or the workers run other code than this.
        ExternalFailure: No scheduler answers.
    """
    try:
        from distributed import Client, LocalCluster
    except ImportError as error:
        command = install_command("cluster")
        raise UsageError(f"the engine `dask` needs its packages: run `{command}`") from error
    local = LocalEngine(workers)
    if not address:
        with LocalCluster(**_own(workers or 0)) as cluster, Client(cluster) as client:
            yield DaskEngine(client, local)
        return
    try:
        client = Client(address, timeout=ANSWER_SECONDS)
    except (OSError, ValueError) as error:
        raise ExternalFailure(
            f"no Dask scheduler answers at {address}: start one (`dask scheduler`), or correct MIHAKK_ENGINE"
        ) from error
    try:
        check_workers(client)
        yield DaskEngine(client, local)
    finally:
        local.close()
        client.close()


def check_workers(client: Any) -> None:
    """Refuses workers that could make other shards than this checkout would.

    Raises:
        UsageError: A worker runs other code.
        ExternalFailure: The scheduler has no worker.
    """
    try:
        client.wait_for_workers(1, timeout=ANSWER_SECONDS)
    except TimeoutError as error:
        raise ExternalFailure(
            "the Dask scheduler has no worker: start some (`dask worker ADDRESS`), then run again"
        ) from error
    mine = worker_code()
    for worker, code in client.run(worker_code).items():
        if code != mine:
            raise UsageError(
                f"the worker {worker} runs other code ({code}) than this checkout ({mine}): "
                "bring both to one commit and restart the worker"
            )


def worker_code() -> str:
    """Digest of the code in this process's checkout."""
    from mihakk.pipeline.build import code_version

    return code_version(PACKAGES)


def _own(workers: int) -> dict[str, Any]:
    count = workers or settings().workers or os.cpu_count() or 1
    # The dashboard would listen on a fixed port, which another run may hold.
    return {"n_workers": count, "threads_per_worker": 1, "dashboard_address": None}
