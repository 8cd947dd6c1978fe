"""Git without the user's configuration, identity or clock, so that equal content gives equal commits."""

from __future__ import annotations

import os
import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path

from mihakk.errors import ExternalFailure

AUTHOR = "Mihakk"
EMAIL = "mihakk@localhost"
EPOCH = datetime(2000, 1, 1, tzinfo=UTC)
"""Date of a repository's first commit; each further one is a day later. Real times would make equal
releases differ, and a made-up date that looks real would mislead."""


def _environment(day: int = 0) -> dict[str, str]:
    date = (EPOCH + timedelta(days=day)).strftime("%Y-%m-%dT%H:%M:%S+00:00")
    own = {
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_TERMINAL_PROMPT": "0",
        "LC_ALL": "C",
        "GIT_AUTHOR_NAME": AUTHOR,
        "GIT_AUTHOR_EMAIL": EMAIL,
        "GIT_AUTHOR_DATE": date,
        "GIT_COMMITTER_NAME": AUTHOR,
        "GIT_COMMITTER_EMAIL": EMAIL,
        "GIT_COMMITTER_DATE": date,
    }
    outer = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return outer | own


def git(folder: Path, *arguments: str, day: int = 0) -> str:
    """Run git in a folder and return what it printed; `ExternalFailure` when it fails or is not installed."""
    command = ["git", "-c", "core.autocrlf=false", "-c", "gc.auto=0", "-C", str(folder), *arguments]
    try:
        done = subprocess.run(command, env=_environment(day), capture_output=True, text=True, check=False)
    except FileNotFoundError as missing:
        raise ExternalFailure("git is not installed: the embedded Hub needs it (package `git`)") from missing
    if done.returncode != 0:
        raise ExternalFailure(f"git {arguments[0]} failed in {folder}: {done.stderr.strip()}")
    return done.stdout.strip()


def is_repository(folder: Path) -> bool:
    """Whether a folder is the root of a git repository."""
    return (folder / ".git").is_dir()


def tags(folder: Path) -> dict[str, str]:
    """Tag -> commit it points at."""
    form = "--format=%(refname:strip=2) %(objectname) %(*objectname)"
    found = {}
    for line in git(folder, "for-each-ref", "refs/tags", form).splitlines():
        name, own, *peeled = line.split()
        found[name] = peeled[0] if peeled else own
    return found
