"""Runs the suites of the contracts over the stage tables of a build before a release."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from mihakk.machinery.ids import digest
from mihakk.machinery.settings import settings
from mihakk.pipeline.build import Build, code_version
from mihakk.schemas.stages import AUDITED, CHECKED, CURATED

if TYPE_CHECKING:
    import pandas as pd

    from mihakk.validators.expectations.contracts import TableName

GUARDED: tuple[tuple[str, tuple[TableName, ...]], ...] = (
    (CURATED, ("poems", "idioms")),
    (CHECKED, ("items", "findings")),
    (AUDITED, ("audits", "verdicts")),
)
"""Tables with a suite, by stage; rejections and accounts of every stage come on top."""
KEPT = 20
"""Examined states whose Data Docs stay in the cache, besides those that a run may still be reading."""
IN_USE = 3_600
"""Seconds since a run last asked for a state during which no other run clears it away."""


def guard_tables(build: Build) -> Path | None:
    """Runs every suite over the tables behind a release; returns the folder of the Data Docs that show it.

    Tables that were examined before, by the same suites, are not examined again: the earlier result is used.
    Without Great Expectations they are examined each time, and there are no Data Docs.

    Raises:
        TableViolation: A table breaks its contract, which is a bug of the stage that wrote it.
    """
    from mihakk.validators.expectations.guard import data_docs, examine, has_pages, require

    found = settings().cache / "guards" / _state(build) if has_pages() else None
    if found is not None:
        with suppress(FileNotFoundError):
            os.utime(found)
        if (found / "index.html").is_file():
            return found
    results = []
    for stage, table, frames in _frames(build):
        references = {"items": _ids(build, stage)} if table in ("findings", "audits", "verdicts") else None
        results.append(examine(table, frames, references, name=f"{stage}.{table}"))
    require(results)
    if found is None:
        return None
    found.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".new-", dir=found.parent) as scratch:
        data_docs(Path(scratch) / "docs", results)
        with suppress(OSError):  # Another run has put the same there just now.
            (Path(scratch) / "docs").rename(found)
    _clear_unused(found.parent)
    return found


def write_data_docs(build: Build, found: Path) -> Path:
    """Great Expectations' Data Docs of the run, beside its report; returns the index page."""
    target = build.run_folder / "data_docs"
    shutil.copytree(found, target, dirs_exist_ok=True)
    return target / "index.html"


def _clear_unused(folder: Path) -> None:
    """Removes the states asked for longest ago; other runs may read, add and remove some at the same time."""
    used = []
    for path in folder.glob("[0-9a-f]*"):
        with suppress(FileNotFoundError):
            used.append((path.stat().st_mtime, path))
    for last, path in sorted(used)[:-KEPT]:
        if last < time.time() - IN_USE:
            shutil.rmtree(path, ignore_errors=True)


def _state(build: Build) -> str:
    """Digest of what the results depend on: the tables' bytes, the suites, Great Expectations itself."""
    manifests = {stage: build.stage(stage).manifest().shards for stage, _ in GUARDED}
    parts = {
        stage: {one.shard: [one.parts, one.counts.model_dump()] for one in shards}
        for stage, shards in manifests.items()
    }
    return digest([parts, code_version(("validators/expectations",)), version("great-expectations")])


def _frames(build: Build) -> Iterator[tuple[str, TableName, Iterable[pd.DataFrame]]]:
    import pandas as pd

    for stage, tables in GUARDED:
        for table in tables:
            yield stage, table, build.stage(stage).frames(table)
        yield stage, "rejected", build.stage(stage).frames("rejected")
    accounts = [
        {"stage": stage, "shard": shard.shard, **shard.counts.model_dump(exclude={"reasons", "notes"})}
        for stage, _ in GUARDED
        for shard in build.stage(stage).manifest().shards
    ]
    yield "all", "accounting", [pd.DataFrame(accounts)]


def _ids(build: Build, stage: str) -> set[str]:
    return {name for (name,) in build.stage(stage).values("items", "id")}
