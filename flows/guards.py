"""Great Expectations suites run over the stage tables of a build, before anything is released from them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from flows.context import Build

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd

    from validators.expectations.guard import TableResult
    from validators.expectations.suites import TableName

GUARDED: tuple[tuple[str, tuple[TableName, ...]], ...] = (
    ("3_curated", ("poems", "idioms")),
    ("5_checked", ("items", "findings")),
    ("6_audited", ("audits", "verdicts")),
)
"""Tables with a suite, by stage; rejections and accounts of every stage come on top."""
RELEASE = "8_released"


def guard_tables(build: Build) -> list[TableResult]:
    """Runs every suite over the tables behind a release.

    Raises:
        TableViolation: A table breaks its contract, which is a bug of the stage that wrote it.
    """
    from validators.expectations.guard import examine, require

    results = []
    for stage, table, frame in _frames(build):
        references = {"items": _ids(build, stage)} if table in ("findings", "audits", "verdicts") else None
        results.append(examine(table, frame, references, name=f"{stage}.{table}"))
    require(results)
    return results


def write_data_docs(build: Build, results: list[TableResult]) -> Path:
    """Great Expectations' Data Docs of the run, beside its report; returns the index page."""
    from validators.expectations.guard import data_docs

    return data_docs(build.run_folder / "data_docs", results)


def _frames(build: Build) -> Iterator[tuple[str, TableName, pd.DataFrame]]:
    import pandas as pd

    for stage, tables in GUARDED:
        for table in tables:
            yield stage, table, build.stage(stage).frame(table)
        yield stage, "rejected", build.stage(stage).frame("rejected")
    accounts = [
        {"stage": stage, "shard": shard.shard, **shard.counts.model_dump(exclude={"reasons", "notes"})}
        for stage, _ in GUARDED
        for shard in build.stage(stage).manifest().shards
    ]
    yield "all", "accounting", pd.DataFrame(accounts)


def _ids(build: Build, stage: str) -> set[str]:
    return set(build.stage(stage).frame("items", columns=["id"])["id"])
