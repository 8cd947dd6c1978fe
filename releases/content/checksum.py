"""MANIFEST.sha256: the digests of a release's files, in the form `sha256sum -c` reads."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from pathlib import Path

from mihakk.machinery.errors import ExternalFailure, UsageError

MANIFEST = "MANIFEST.sha256"
FOREIGN = (".git", ".gitattributes", ".huggingface", ".cache")
"""What a Hub or a client adds beside a release's own files."""
GENERATED = ("__pycache__", ".ipynb_checkpoints", ".DS_Store", "Thumbs.db", "desktop.ini", "logs")
"""What readers' programs leave behind in a folder that they only read; no file of a release is named so."""


def file_digest(path: Path) -> str:
    """SHA-256 of a file, hexadecimal."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def release_files(folder: Path) -> Iterator[Path]:
    """Every file of a release but the manifest, sorted by path."""
    for path, foreign in _files(folder):
        if not foreign and path != folder / MANIFEST:
            yield path


def generated(folder: Path) -> list[str]:
    """Files that readers' programs left in a release's folder: no part of it, and no damage."""
    return [path.relative_to(folder).as_posix() for path, foreign in _files(folder) if foreign]


def _files(folder: Path) -> Iterator[tuple[Path, bool]]:
    """Files, sorted, each with whether a reader's program left it; without what Hubs and git add."""
    for path in sorted(folder.rglob("*")):
        parts = path.relative_to(folder).parts
        if path.is_file() and parts[0] not in FOREIGN:
            yield path, not set(GENERATED).isdisjoint(parts)


def write_manifest(folder: Path) -> dict[str, str]:
    """Write the manifest of a folder and return path -> digest."""
    digests = {path.relative_to(folder).as_posix(): file_digest(path) for path in release_files(folder)}
    (folder / MANIFEST).write_text(manifest_text(digests), encoding="utf-8", newline="\n")
    return digests


def manifest_text(digests: Mapping[str, str]) -> str:
    """The manifest's text of path -> digest, sorted by path as a folder's files are."""
    return "".join(
        f"{digests[path]}  {path}\n" for path in sorted(digests, key=lambda name: Path(name).parts)
    )


def read_manifest(folder: Path) -> dict[str, str]:
    """Path -> digest as the manifest of a folder states them.

    `UsageError` where there is no such folder, `ExternalFailure` where it has no manifest.
    """
    path = folder / MANIFEST
    if not folder.is_dir():
        raise UsageError(f"there is no folder {folder}: name that of a release, as `mihakk pull` makes it")
    if not path.is_file():
        raise ExternalFailure(f"{folder} has no {MANIFEST}: it is not a release, or it is incomplete")
    return parse_manifest(path.read_text(encoding="utf-8", errors="replace"))


def parse_manifest(text: str) -> dict[str, str]:
    """Path -> digest of a manifest's text."""
    stated = {}
    for line in text.splitlines():
        digest, _, name = line.partition("  ")
        stated[name] = digest
    return stated


def faults(folder: Path, *, fetched: bool = False) -> list[str]:
    """What in a folder differs from its manifest, one sentence each; empty when all is as stated.

    In a folder just `fetched`, which nobody has read yet, what readers' programs leave behind is a fault
    too: a compiled file that Python would run in place of the one beside it.
    """
    stated = read_manifest(folder)
    present = {path.relative_to(folder).as_posix(): path for path in release_files(folder)}
    if fetched:
        present |= {name: folder / name for name in generated(folder)}
    found = [f"{name} is missing" for name in sorted(stated.keys() - present.keys())]
    found += [f"{name} is not in the manifest" for name in sorted(present.keys() - stated.keys())]
    found += [
        f"{name} has other bytes than the manifest states"
        for name in sorted(stated.keys() & present.keys())
        if file_digest(present[name]) != stated[name]
    ]
    return found
