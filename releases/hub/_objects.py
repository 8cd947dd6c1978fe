"""Everything a repository of the embedded Hub holds, in history and apart from it."""

from __future__ import annotations

import subprocess
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from releases.hub._git import git, tags


def objects(folder: Path) -> Iterator[tuple[str, bytes]]:
    """Every file, commit and tag in a repository's objects: where it stands, and its bytes.

    A file of a published version stands at `<tag>:<path>`, of any other commit at `<commit>:<path>`.
    """
    at: dict[str, list[str]] = defaultdict(list)
    published = {commit: tag for tag, commit in tags(folder).items()}
    for commit in git(folder, "rev-list", "--all").splitlines():
        name = published.get(commit, commit[:12])
        for line in git(folder, "ls-tree", "-r", "-z", "--full-tree", commit).split("\0"):
            about, _, path = line.partition("\t")
            if path:
                at[about.split()[2]].append(f"{name}:{path}")
    listed = git(folder, "cat-file", "--batch-all-objects", "--batch-check=%(objectname) %(objecttype)")
    for name, kind in (line.split() for line in listed.splitlines()):
        if kind == "tree":
            continue
        read = ["git", "-C", str(folder), "cat-file", kind, name]
        data = subprocess.run(read, capture_output=True, check=True).stdout
        for place in at.get(name) or [f"{kind} {published.get(name, name[:12])}"]:
            yield place, data
