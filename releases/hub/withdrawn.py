"""Versions that a repository's main branch lists as withdrawn, and the warning for their readers."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from pathlib import Path

from mihakk.errors import ExternalFailure, MihakkWarning
from releases.hub._git import git, is_repository
from releases.versions.withdrawal import FILE, of_version, parse, read, warning
from schemas.withdrawal import Withdrawal

BRANCHES = ("origin/main", "main")
"""Where a clone knows of withdrawals: what it fetched last, else its own branch."""


def listed_withdrawals(repository: Path, branch: str) -> tuple[Withdrawal, ...]:
    """The withdrawals that a branch of a git repository lists."""
    if not git(repository, "ls-tree", "--name-only", branch, "--", FILE):
        return ()
    return parse(git(repository, "show", f"{branch}:{FILE}").encode(), f"{repository} ({branch})")


def known_withdrawals(folder: Path) -> tuple[Withdrawal, ...]:
    """The withdrawals that a release folder knows of: its own, and those of a clone's main branch."""
    found = {one.version: one for one in read(folder)}
    if is_repository(folder):
        for branch in BRANCHES:
            try:
                found |= {one.version: one for one in listed_withdrawals(folder, branch)}
            except ExternalFailure:  # a clone need not have that branch
                continue
    return tuple(found.values())


def warn_if_withdrawn(name: str, version: str, withdrawals: Iterable[Withdrawal]) -> None:
    """Warn (`MihakkWarning`) where a version is withdrawn."""
    found = of_version(withdrawals, version)
    if found is not None:
        warnings.warn(warning(name, found), MihakkWarning, stacklevel=3)
