"""What a shell offers after Tab: names of benchmarks, tables, checks, gates and versions."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import typer

from mihakk.errors import MihakkError

BENCHMARKS = "configs/benchmarks"


def benchmarks(incomplete: str) -> list[str]:
    """Names in configs/benchmarks/, here and in the checkout; configs and folders as the shell names them."""
    from mihakk.settings import ROOT

    folders = {Path(BENCHMARKS).resolve(), ROOT / BENCHMARKS}
    names = {path.stem for folder in folders for path in folder.glob("*.yaml")}
    start = Path(incomplete).parent if "/" in incomplete else Path()
    beside = (path for path in start.glob("*") if path.is_dir() or path.suffix in (".yaml", ".yml"))
    return sorted(names | {f"{path}/" if path.is_dir() else str(path) for path in beside if incomplete})


def checks(incomplete: str) -> list[tuple[str, str]]:
    """Ids of checks and what each guards."""
    from validators.checks.check import CHECKS

    return [(one.id, one.title) for _, one in CHECKS if one.id.startswith(incomplete.upper())]


def gates() -> list[str]:
    """Gates that may be overridden."""
    from releases.gates import GATES, NEVER_OVERRIDDEN

    return [name for name in GATES if name not in NEVER_OVERRIDDEN]


def tables(ctx: typer.Context) -> list[str]:
    """`stages`, and the tables of the lake's finished stages."""
    from schemas.stages import STAGES

    names = ["stages", *STAGES]
    with suppress(MihakkError, OSError):  # no lake yet: the stages' own names are offered all the same
        names += _tables(Path(str(ctx.params.get("config") or "demo")), ctx.params.get("lake"))
    return names


def _tables(config: Path, lake: str | None) -> Iterator[str]:
    from pipeline.build import open_build
    from schemas.stages import STAGES

    opened = open_build(config, Path("runs"), lake)
    for stage in map(opened.stage, STAGES):
        if stage.finished():
            yield from (f"{stage.name}/{table}" for table in ("rejected", *stage.tables()))


def versions(ctx: typer.Context) -> list[str]:
    """Versions of the named benchmark on the embedded Hub."""
    from pipeline.build import open_build
    from releases.hub.embedded import EmbeddedHub

    named = ctx.params.get("config") or ctx.params.get("name") or ""
    try:
        name = open_build(Path(str(named)), Path("runs")).config.name
    except (MihakkError, OSError):  # `pull` names a release, which need not have a config here
        name = str(named)
    try:
        return EmbeddedHub().versions(name) if name else []
    except (MihakkError, OSError):
        return []
