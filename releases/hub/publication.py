"""A version on a Hub, whichever it is: what stands there, what may come, and a tag that was moved."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import orjson
import pyarrow.parquet as pq

from mihakk.machinery.errors import ExternalFailure, UsageError
from mihakk.machinery.settings import settings
from mihakk.releases.assemble import AssembledRelease
from mihakk.releases.cleaned_record import read_cleaned
from mihakk.releases.content.checksum import MANIFEST, faults, read_manifest
from mihakk.releases.content.item_tables import data_files
from mihakk.releases.versions.diff import release_version
from mihakk.releases.versions.version import Version, is_version
from mihakk.releases.versions.withdrawal import require_carried
from mihakk.schemas.withdrawal import Withdrawal

SEEN = "tags.json"
"""Where each remote tag pointed when it was first read here."""


@dataclass(frozen=True)
class Publication:
    """A version that stands on a Hub."""

    name: str
    version: str
    commit: str
    """40 hexadecimal digits."""
    location: str
    """Folder or `owner/name` that `datasets.load_dataset` takes."""
    created: bool
    """False when the same bytes stood there already."""


def require_whole(folder: Path) -> None:
    """Raise `UsageError` where an assembled folder is not what its manifest says."""
    if wrong := faults(folder):
        raise UsageError(f"{folder} is not what its {MANIFEST} says, assemble it again: {wrong[0]}")


def sorted_versions(tags: Mapping[str, str] | Sequence[str]) -> list[str]:
    """The tags that are versions, oldest first."""
    return sorted((tag for tag in tags if is_version(tag)), key=Version.parse)


def standing(
    name: str,
    release: AssembledRelease,
    location: str,
    tags: Mapping[str, str],
    *,
    manifest_of: Callable[[str], Mapping[str, str]],
    withdrawals: Callable[[], Iterable[Withdrawal]],
) -> Publication | None:
    """The publication of a release that stands on a Hub already; None where it may be made.

    Args:
        name: What the Hub calls the benchmark.
        tags: Tag -> commit, of the Hub.
        manifest_of: Commit -> path -> digest.

    Raises:
        UsageError: The version stands on other bytes, is lower than the newest one, or hides a withdrawal.
    """
    commit = tags.get(release.version)
    if commit is not None:
        if manifest_of(commit) != dict(release.digests):
            raise refuse_other_bytes(name, release.version, commit)
        return Publication(release.name, release.version, commit, location, created=False)
    published = sorted_versions(tags)
    if published and Version.parse(release.version) < Version.parse(published[-1]):
        raise UsageError(
            f"{name} {release.version} is lower than the newest version {published[-1]}: "
            "assemble with --version auto or a higher number"
        )
    if tags:
        require_carried(name, withdrawals(), release.folder)
    return None


def refuse_other_bytes(name: str, version: str, commit: str) -> UsageError:
    """The error for a version that stands on other bytes."""
    return UsageError(
        f"{name} {version} is published with other bytes (commit {commit[:12]}): "
        "a version never changes; assemble with --version auto or a higher number"
    )


def require_version(folder: Path, name: str, version: str) -> Path:
    """The folder, if its data is of this version; else `ExternalFailure`."""
    inside = release_version(folder)
    if inside != version:
        raise moved(name, version, f"a release that says it is {inside or 'of no version'}")
    return folder


def require_same_commit(name: str, version: str, commit: str) -> str:
    """The commit, if a remote tag points where it did when first seen here; else `ExternalFailure`."""
    path = settings().cache / "releases" / name.replace("/", "__") / SEEN
    seen: dict[str, str] = orjson.loads(path.read_bytes()) if path.is_file() else {}
    before = seen.setdefault(version, commit)
    if before != commit:
        raise moved(
            name,
            version,
            f"commit {commit[:12]}, and pointed at {before[:12]} when it was first read here "
            f"(to go on with the new one, delete {path})",
        )
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(orjson.dumps(seen, option=orjson.OPT_SORT_KEYS | orjson.OPT_INDENT_2))
    return commit


def moved(name: str, version: str, target: str) -> ExternalFailure:
    """The error for a tag that was moved."""
    return ExternalFailure(f"{name}: the tag {version} points at {target}; the tag was moved")


def read_release(name: str, folder: Path) -> AssembledRelease:
    """The release in a folder; `ExternalFailure` where a file is damaged, missing or foreign."""
    if wrong := faults(folder, fetched=True):
        raise ExternalFailure(f"{folder} is not the release its manifest describes: {'; '.join(wrong[:5])}")
    cleaned = read_cleaned(folder)
    rows = cleaned.rows_by_split if cleaned else {}
    for config, split, path in data_files(folder):
        splits = rows.setdefault(config, {})
        splits[split] = splits.get(split, 0) + pq.read_metadata(path).num_rows
    return AssembledRelease(
        name=name,
        version=release_version(folder),
        folder=folder,
        rows=rows,
        digests=read_manifest(folder),
        diff=None,
    )
