"""Opens the engine that a setting names."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from mihakk.machinery.errors import UsageError
from mihakk.machinery.settings import settings
from mihakk.pipeline.engines.engine import Engine
from mihakk.pipeline.engines.local import local_engine

ENGINES = "`processes`, `dask` (workers of its own on this machine) or `dask:ADDRESS` (a cluster's scheduler)"


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
    from mihakk.pipeline.engines.dask import dask_engine

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
