"""Releases on the embedded Hub and what each changed."""

from __future__ import annotations

import subprocess
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import lru_cache
from io import BytesIO
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from mihakk.machinery.errors import MihakkError
from mihakk.pipeline.build import Build
from mihakk.reports.dashboard.health import Note
from mihakk.schemas.published import Published
from mihakk.schemas.stages import RELEASED

CHANGES = "errata/changes.parquet"


@dataclass(frozen=True)
class VersionRow:
    """One release."""

    version: str
    commit: str
    items: int
    changes: dict[str, int]
    """Kind of change to how many items, since the version before; empty for the first."""
    first: bool
    withdrawn: str = ""
    """Why it was withdrawn; empty while it is in use."""


@dataclass
class Versions:
    """All releases of a benchmark, newest first."""

    rows: list[VersionRow]
    notes: list[Note] = field(default_factory=list)
    by_reason: dict[str, dict[str, int]] = field(default_factory=dict)
    """As `changes_by_reason` gives them."""


def versions(build: Build) -> Versions:
    """The benchmark's releases and how they stand to the lake."""
    from mihakk.releases.hub.embedded import EmbeddedHub

    hub, name = EmbeddedHub(), build.config.name
    try:
        found = hub.versions(name)
        rows = [
            _row(hub.repository(name), v, hub.commit(name, v), place == 0) for place, v in enumerate(found)
        ]
    except MihakkError as error:
        return Versions([], [Note("bad", f"the Hub can't be read: {error}")])
    withdrawn = {one.version: one.why for one in hub.withdrawals(name)}
    rows = [replace(row, withdrawn=withdrawn.get(row.version, "")) for row in reversed(rows)]
    return Versions(rows, list(_notes(build, rows)), changes_by_reason(build))


def changes_by_reason(build: Build) -> dict[str, dict[str, int]]:
    """Version, oldest first, -> `added`, `changed` or `removed: reason` -> items; the first is empty."""
    from mihakk.releases.hub.embedded import EmbeddedHub

    hub, name = EmbeddedHub(), build.config.name
    found: dict[str, dict[str, int]] = {}
    for place, version in enumerate(hub.versions(name)):
        counted: Counter[str] = Counter()
        if place:
            for row in _changes(hub.repository(name), hub.commit(name, version)):
                removed = f"removed: {row['reason'] or 'no reason'}"
                counted[{"added": "added", "removed": removed}.get(row["kind"], "changed")] += 1
        found[version] = dict(counted)
    return found


def changes_of(build: Build, item: str) -> list[tuple[str, str]]:
    """Version -> what it did to one item (`added`, `removed: why`, …, `in it`, `not in it`), newest first."""
    from mihakk.releases.hub.embedded import EmbeddedHub

    hub, name = EmbeddedHub(), build.config.name
    known = hub.versions(name)
    if not known:
        return []
    held = _in_newest(hub.repository(name), item)
    told = []
    for place, version in reversed(list(enumerate(known))):
        kinds = [] if place == 0 else _kinds(hub.repository(name), hub.commit(name, version), item)
        said = [kind.replace("_", " ") for kind in kinds]
        told.append((version, ", ".join(said) if said else "in it" if held else "not in it"))
        if "added" in kinds:
            held = False
        elif any(kind.startswith("removed") for kind in kinds):
            held = True
    return told


def _row(repository: Path, version: str, commit: str, first: bool) -> VersionRow:
    listed = _git(repository, "ls-tree", "-r", "--name-only", commit).decode().splitlines()
    data = [path for path in listed if "-of-" in path and path.endswith(".parquet")]
    return VersionRow(
        version=version,
        commit=commit,
        items=sum(_rows_of(repository, commit, path) for path in data),
        changes={}
        if first
        else dict(Counter(row["kind"] for row in _changes(repository, commit)).most_common()),
        first=first,
    )


@lru_cache(maxsize=4096)
def _rows_of(repository: Path, commit: str, path: str) -> int:
    return int(pq.read_metadata(BytesIO(_git(repository, "show", f"{commit}:{path}"))).num_rows)


@lru_cache(maxsize=64)
def _changes(repository: Path, commit: str) -> list[dict[str, Any]]:
    """A commit's bytes never change, so what was read of one is kept."""
    try:
        file = BytesIO(_git(repository, "show", f"{commit}:{CHANGES}"))
        found: list[dict[str, Any]] = pq.read_table(file, columns=["id", "kind", "reason"]).to_pylist()
    except (OSError, pa.ArrowInvalid, subprocess.CalledProcessError):
        return []
    return found


def _kinds(repository: Path, commit: str, item: str) -> list[str]:
    return [
        f"removed: {row['reason'] or 'no reason'}" if row["kind"] == "removed" else row["kind"]
        for row in _changes(repository, commit)
        if row["id"] == item
    ]


def _in_newest(repository: Path, item: str) -> bool:
    import pyarrow.compute as pc
    import pyarrow.dataset as ds

    files = [str(path) for path in sorted(repository.glob("*/*-of-*.parquet"))]
    return bool(files) and ds.dataset(files).count_rows(filter=pc.field("id") == item) > 0


def _git(repository: Path, *arguments: str) -> bytes:
    """What git prints, as bytes; the releases' own helper gives text."""
    command = ["git", "-c", "safe.directory=*", "-C", str(repository), *arguments]
    return subprocess.run(command, capture_output=True, check=True).stdout


def _notes(build: Build, rows: list[VersionRow]) -> Iterator[Note]:
    if not rows:
        yield Note("bad", "nothing has been released")
        return
    if rows[0].withdrawn:
        yield Note("bad", f"the newest release, {rows[0].version}, is withdrawn: {rows[0].withdrawn}")
    stage = build.stage(RELEASED)
    if not stage.finished():
        yield Note("look", f"the Hub holds {rows[0].version}, but this lake has released nothing")
        return
    recorded = next(iter(stage.read_all("release", Published)), None)
    if recorded and recorded.commit != rows[0].commit:
        yield Note("look", f"the Hub's newest release is not the one this lake made ({recorded.version})")
