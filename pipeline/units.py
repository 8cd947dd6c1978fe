"""The units of work of a step on an engine."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mihakk.pipeline.build import Build
from mihakk.pipeline.engines.engine import Engine
from mihakk.pipeline.step import Call, Step, Tick
from mihakk.schemas.manifest import ShardManifest


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
    from mihakk.pipeline.steps.order import step_of

    return step_of(stage).run(build, unit, share, lambda _: None)
