"""Git without the user's configuration, identity or clock, so that equal content gives equal commits."""

from __future__ import annotations

import hashlib
import os
import subprocess
from collections import defaultdict
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

from mihakk.machinery.errors import ExternalFailure

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


def _files(folder: Path, commit: str) -> Iterator[tuple[str, str]]:
    """Path and blob of each file of a commit."""
    for line in git(folder, "ls-tree", "-r", "-z", "--full-tree", commit).split("\0"):
        about, _, path = line.partition("\t")
        if path:
            yield path, about.split()[2]


def objects(folder: Path) -> Iterator[tuple[str, bytes]]:
    """Every file, commit and tag in a repository's objects: where it stands, and its bytes.

    A file of a published version stands at `<tag>:<path>`, of any other commit at `<commit>:<path>`.
    """
    at: dict[str, list[str]] = defaultdict(list)
    published = {commit: tag for tag, commit in tags(folder).items()}
    for commit in git(folder, "rev-list", "--all").splitlines():
        name = published.get(commit, commit[:12])
        for path, blob in _files(folder, commit):
            at[blob].append(f"{name}:{path}")
    listed = git(folder, "cat-file", "--batch-all-objects", "--batch-check=%(objectname) %(objecttype)")
    for name, kind in (line.split() for line in listed.splitlines()):
        if kind == "tree":
            continue
        read = ["git", "-C", str(folder), "cat-file", kind, name]
        data = subprocess.run(read, capture_output=True, check=True).stdout
        for place in at.get(name) or [f"{kind} {published.get(name, name[:12])}"]:
            yield place, data


def rotten(folder: Path) -> Iterator[tuple[str, str]]:
    """Path below `folder` and what is wrong with it; git itself looks at objects, index and refs."""
    try:
        git(folder, "fsck", "--full", "--no-dangling")
    except ExternalFailure as error:
        for line in str(error).partition(": ")[2].splitlines():
            yield ".git", line.strip()
        return
    for name, blob in _files(folder, "HEAD"):
        path = folder / name
        if not path.is_file():
            yield name, "it is missing"
        elif _blob(path.read_bytes()) != blob:
            yield name, "it has other bytes than its release"


def _blob(data: bytes) -> str:
    """The name that git gives to a file's bytes; its own hash, which is no matter of security here."""
    return hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()
