"""What the small Hub of the tests keeps, repositories as commits of whole trees, and a release changed a little."""

from __future__ import annotations

import hashlib
import json
import shutil
from dataclasses import dataclass, field, replace
from pathlib import Path

from mihakk.releases.assemble import AssembledRelease
from mihakk.releases.content.checksum import write_manifest


@dataclass
class Repository:
    """Commits by sha, each a whole tree; branches and tags point at them."""

    private: bool = False
    commits: dict[str, dict[str, bytes]] = field(default_factory=dict)
    parents: dict[str, str] = field(default_factory=dict)
    main: str = ""
    tags: dict[str, str] = field(default_factory=dict)

    def commit(self, tree: dict[str, bytes]) -> str:
        """Add a commit on main."""
        state = [self.main, sorted((path, hashlib.sha256(data).hexdigest()) for path, data in tree.items())]
        sha = hashlib.sha1(json.dumps(state).encode()).hexdigest()
        self.commits[sha] = tree
        self.parents[sha] = self.main
        self.main = sha
        return sha

    def resolve(self, revision: str) -> str | None:
        """Commit of a branch, tag or sha."""
        if revision == "main":
            return self.main
        return self.tags.get(revision) or (revision if revision in self.commits else None)


def blob_id(data: bytes) -> str:
    """Git's id of a file."""
    return hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()


def altered(release: AssembledRelease, folder: Path) -> AssembledRelease:
    """The release with one more sentence in its card and a manifest that agrees."""
    shutil.copytree(release.folder, folder)
    with (folder / "README.md").open("a", encoding="utf-8") as card:
        card.write("\nOne more sentence.\n")
    return replace(release, folder=folder, digests=write_manifest(folder))
