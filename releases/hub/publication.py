"""What publishing returns, on any Hub."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from mihakk.errors import UsageError
from releases.content.checksum import MANIFEST, faults
from releases.versions.version import Version, is_version


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


def refuse_lower(name: str, version: str, published: Sequence[str]) -> None:
    """Raise `UsageError` where a version is lower than the newest one published."""
    if published and Version.parse(version) < Version.parse(published[-1]):
        raise UsageError(
            f"{name} {version} is lower than the newest version {published[-1]}: "
            "assemble with --version auto or a higher number"
        )


def refuse_other_bytes(name: str, version: str, commit: str) -> UsageError:
    """The error for a version that stands on other bytes."""
    return UsageError(
        f"{name} {version} is published with other bytes (commit {commit[:12]}): "
        "a version never changes; assemble with --version auto or a higher number"
    )
