"""Damage of an embedded Hub's repository: its git objects and refs, and the files of its newest release."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

from mihakk.errors import ExternalFailure
from releases.hub._git import git


def rotten(folder: Path) -> Iterator[tuple[str, str]]:
    """Path below `folder` and what is wrong with it; git itself looks at objects, index and refs."""
    try:
        git(folder, "fsck", "--full", "--no-dangling")
    except ExternalFailure as error:
        for line in str(error).partition(": ")[2].splitlines():
            yield ".git", line.strip()
        return
    for line in git(folder, "ls-tree", "-r", "-z", "--full-tree", "HEAD").split("\0"):
        if not line:
            continue
        about, _, name = line.partition("\t")
        path = folder / name
        if not path.is_file():
            yield name, "it is missing"
        elif _blob(path.read_bytes()) != about.split()[2]:
            yield name, "it has other bytes than its release"


def _blob(data: bytes) -> str:
    """The name that git gives to a file's bytes; its own hash, which is no matter of security here."""
    return hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()
