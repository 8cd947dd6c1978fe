"""A version's tag that no longer points at that version: noticed by every reader, in the same words."""

from __future__ import annotations

from pathlib import Path

import orjson

from mihakk.errors import ExternalFailure
from mihakk.settings import settings
from releases.versions.diff import release_version

SEEN = "tags.json"


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
