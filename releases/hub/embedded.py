"""The embedded Hub: one local git repository per benchmark, tag = version, no account and no network."""

from __future__ import annotations

import ctypes
import errno
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import orjson
from filelock import FileLock

from mihakk.machinery.errors import UsageError, nearest
from mihakk.machinery.settings import settings
from mihakk.releases.assemble import AssembledRelease
from mihakk.releases.content.checksum import MANIFEST, parse_manifest
from mihakk.releases.content.item_tables import released_rows
from mihakk.releases.content.seals import Seals, question_digests
from mihakk.releases.hub._git import git, is_repository, objects, rotten, tags
from mihakk.releases.hub._verification import Rows, verify_folder
from mihakk.releases.hub.publication import (
    Publication,
    require_version,
    require_whole,
    sorted_versions,
    standing,
)
from mihakk.releases.hub.registry import FOLDER as REGISTRY
from mihakk.releases.hub.registry import (
    READER,
    UNREAD,
    Entry,
    Index,
    Registry,
    adopt,
    enter,
    read_again,
    require_unsealed,
    require_untold,
)
from mihakk.releases.paper_trail.gate_record import FILE as GATES
from mihakk.releases.versions.withdrawal import FILE, add, mark, of_version, parse
from mihakk.schemas.withdrawal import Withdrawal

BRANCH = "main"


def listed_withdrawals(repository: Path, branch: str) -> tuple[Withdrawal, ...]:
    """The withdrawals that a branch of a git repository lists."""
    if not git(repository, "ls-tree", "--name-only", branch, "--", FILE):
        return ()
    return parse(git(repository, "show", f"{branch}:{FILE}").encode(), f"{repository} ({branch})")


class EmbeddedHub:
    """Releases under one folder; what can be seen there is always whole.

    A publication is prepared in a hidden clone beside the repository and takes its place in one step; a
    process killed before leaves the old state, and its clone is swept away by the next publication.
    """

    def __init__(self, root: Path | None = None) -> None:
        self.root = (root or settings().hub).resolve()

    def repository(self, name: str) -> Path:
        """Folder of a benchmark's repository; its files are those of the newest release."""
        return self.root / name

    def versions(self, name: str) -> list[str]:
        """Versions published, oldest first."""
        folder = self.repository(name)
        if not is_repository(folder):
            return []
        return sorted_versions(tags(folder))

    def latest(self, name: str) -> str | None:
        """The highest version published, None before the first."""
        versions = self.versions(name)
        return versions[-1] if versions else None

    def commit(self, name: str, version: str) -> str:
        """Commit that a version's tag points at."""
        folder = self.repository(name)
        found = tags(folder).get(version) if is_repository(folder) else None
        if found is None:
            raise UsageError(
                f"{name} has no version {version} under {self.root}: {self.meant(name, version)}"
            )
        return found

    def meant(self, name: str, version: str = "") -> str:
        """What to write in place of a release or version that is not there."""
        if versions := self.versions(name):
            return nearest(version, versions, "published are")
        held = self.names()
        return nearest(name, held, "it holds") if held else "`mihakk build` makes the first"

    def rotten(self, name: str) -> list[tuple[str, str]]:
        """Path in a benchmark's repository and what is wrong with it; empty where all is as published."""
        folder = self.repository(name)
        return list(rotten(folder)) if is_repository(folder) else []

    def names(self) -> list[str]:
        """Benchmarks that have a repository."""
        found = self.root.iterdir() if self.root.is_dir() else ()
        # What a killed publisher left half made is hidden, and no benchmark.
        return sorted(one.name for one in found if not one.name.startswith(".") and is_repository(one))

    def objects(self, name: str) -> Iterator[tuple[str, bytes]]:
        """Every file that a benchmark's repository holds, with its place; what no version holds is removed.

        See `mihakk.releases.hub._git.objects`.
        """
        with self._locked(name):
            folder = self.repository(name)
            git(folder, "reflog", "expire", "--expire=now", "--all")
            git(folder, "prune", "--expire=now")
            yield from objects(folder)

    def copy(self, name: str, folder: Path) -> None:
        """Copies a benchmark's repository, between two publications; nothing where there is none."""
        if is_repository(self.repository(name)):
            with self._locked(name):
                shutil.copytree(self.repository(name), folder, symlinks=True)

    def take(self, name: str, folder: Path) -> None:
        """Makes the copy of a repository this Hub's own, where it has none; whole or not at all."""
        self.root.mkdir(parents=True, exist_ok=True)
        with self._locked(name):
            clone = self._clone(name)
            shutil.copytree(folder, clone, dirs_exist_ok=True, symlinks=True)
            clone.rename(self.repository(name))

    def withdrawals(self, name: str) -> tuple[Withdrawal, ...]:
        """Versions of a benchmark that were withdrawn."""
        folder = self.repository(name)
        return listed_withdrawals(folder, BRANCH) if is_repository(folder) else ()

    def withdraw(self, name: str, one: Withdrawal) -> bool:
        """Say on the main branch that a version is withdrawn; its tag and bytes stay.

        Whether it was not withdrawn before.

        Raises:
            UsageError: There is no such version; the reason tells what is sealed; or the registry is damaged.
        """
        self.commit(name, one.version)
        with self._registry() as registry, self._locked(name):
            known = self.withdrawals(name)
            if of_version(known, one.version):
                return False
            require_untold(registry.seals(name), one.why)
            repository = self.repository(name)
            clone = self._clone(name)
            shutil.copytree(repository, clone, dirs_exist_ok=True)
            git(clone, "checkout", "--quiet", "--force", BRANCH)
            mark(clone, self.versions(name)[-1], add(known, one))
            self._commit_all(clone, f"{name} {one.version} withdrawn")
            exchange(clone, repository)
            shutil.rmtree(clone)
        return True

    def checkout(self, name: str, version: str, folder: Path) -> Path:
        """Write the files of a version into a fresh folder, without the repository around them.

        `UsageError` where there is none, `ExternalFailure` where its tag was moved to another version.
        """
        files = self.checkout_commit(name, self.commit(name, version), folder)
        return require_version(files, name, version)

    def checkout_commit(self, name: str, commit: str, folder: Path) -> Path:
        """Write the files of a commit into a fresh folder."""
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".mihakk-", dir=folder.parent) as scratch:
            # No tar: unpacking one safely takes Python 3.11.4, and Debian 12 has 3.11.2.
            archive = Path(scratch) / "release.zip"
            git(self.repository(name), "archive", "--format=zip", "-0", f"--output={archive}", commit)
            shutil.unpack_archive(archive, folder)
        return folder

    def older(self, name: str, folder: Path) -> list[Path]:
        """Folders with the files of all versions but the newest, oldest first, written into a folder."""
        versions = self.versions(name)[:-1]
        return [self.checkout(name, version, folder / "older" / version) for version in versions]

    @contextmanager
    def previous(self, name: str) -> Iterator[Path | None]:
        """Folder with the files of the newest version while the context lasts; None before the first."""
        version = self.latest(name)
        if version is None:
            yield None
            return
        with tempfile.TemporaryDirectory(prefix="mihakk-previous-") as scratch:
            yield self.checkout(name, version, Path(scratch) / version)

    def seals(self, name: str, *, blind: bool = False) -> Seals:
        """What a build of a benchmark has to heed; see `mihakk.releases.hub.registry`."""
        with self._registry(blind=blind) as registry:
            return registry.seals(name, blind=blind)

    def questions(self) -> Seals:
        """What sealed questions show to everybody, which is all that contributed records are compared with.

        The registry knows what they hide, too: whoever adds records could ask it.
        """
        ended, shown = Registry(self.root).index().ended, dict[str, frozenset[bytes]]()
        with tempfile.TemporaryDirectory(prefix="mihakk-questions-") as scratch:
            for name, version in self._released():
                if f"{name}@{version}" not in ended and self._is_blind(name, version):
                    folder = self.checkout(name, version, Path(scratch) / f"{name}@{version}")
                    found = question_digests(row for row in released_rows(folder) if row["sealed"])
                    shown[name] = shown.get(name, frozenset()) | found
        return Seals(sealed=shown)

    def standing_seals(self, name: str) -> dict[str, str]:
        """Versions of other benchmarks with a standing seal -> digest of what they sealed."""
        with self._registry() as registry:
            return {
                version: one
                for version, one in registry.sealed_by().items()
                if version.partition("@")[0] != name
            }

    def end_seal(self, name: str) -> list[str]:
        """Say that the golds of a benchmark may be told; the versions whose seals end.

        Raises:
            UsageError: No version of it is sealed.
        """
        with self._registry() as registry:
            versions = [one for one in registry.sealed_by() if one.partition("@")[0] == name]
            if not versions:
                raise UsageError(f"no version of {name} is sealed under {self.root}: name a blind benchmark")
            registry.end(versions)
        return versions

    def rebuild_registry(self, identity: str = "") -> list[str]:
        """Read again from all versions what they printed and sealed; the versions.

        What only builds know, whole poems, is kept where the version's file is whole; versions that this
        Hub no longer has are lost.

        Args:
            identity: The age secret key, where golds are encrypted.
        """
        with self._registry(complete=False) as registry, tempfile.TemporaryDirectory() as scratch:
            registry.restart()
            for name, version in self._released():
                folder = self.checkout(name, version, Path(scratch) / f"{name}@{version}")
                golds = folder
                if version in self.versions(f"{name}-answers"):
                    golds = self.checkout(
                        f"{name}-answers", version, Path(scratch) / f"{name}@{version}.answers"
                    )
                read_again(registry, f"{name}@{version}", folder, golds, identity)
            return list(registry.index().versions)

    def siblings(self, name: str, folder: Path) -> list[Path]:
        """Folders with the files of all versions of other benchmarks, written into a folder."""
        return [
            self.checkout(own, version, folder / "siblings" / f"{own}@{version}")
            for own, version in self._released()
            if own != name
        ]

    def _released(self) -> Iterator[tuple[str, str]]:
        """Name and version of every release that is no table of golds, and to which nobody else added."""
        names = self.names()
        for name in names:
            if not (name.endswith("-answers") and name.removesuffix("-answers") in names):
                commits = tags(self.repository(name))
                for version in sorted_versions(commits):
                    if not _is_contributed(self.repository(name), commits[version]):
                        yield name, version

    @contextmanager
    def _registry(self, *, complete: bool = True, blind: bool = False) -> Iterator[Registry]:
        """The registry, with every version of the Hub in it, while nobody else changes it.

        What versions print is read where something is sealed, or to be.

        Raises:
            UsageError: It is damaged, or lacks a version with sealed golds.
        """
        self.root.mkdir(parents=True, exist_ok=True)
        with FileLock(self.root / f"{REGISTRY}.lock"):
            registry = Registry(self.root)
            index = registry.index() if complete else Index()
            seals = blind or index.has_sealed
            for name, version in self._released() if complete else ():
                if self._lacks(index.versions.get(f"{name}@{version}"), name, version, seals=seals):
                    with tempfile.TemporaryDirectory(prefix="mihakk-registry-") as scratch:
                        folder = self.checkout(name, version, Path(scratch) / version)
                        adopt(registry, f"{name}@{version}", folder)
            yield registry

    def _lacks(self, entry: Entry | None, name: str, version: str, *, seals: bool) -> bool:
        """Whether the registry needs to have a version read."""
        # An entry of nothing is none: a blind version seals.
        if entry is None or (not entry.sealed and self._is_blind(name, version)):
            return True
        if entry.reader == UNREAD:
            return seals
        return entry.reader != READER or not (entry.sealed or entry.printed)

    def _is_blind(self, name: str, version: str) -> bool:
        """Whether the golds of a version are apart."""
        tree = git(self.repository(name), "ls-tree", "--name-only", version, "--", "answers/")
        return bool(tree) or version in self.versions(f"{name}-answers")

    def publish(self, release: AssembledRelease) -> Publication:
        """Make a release visible under its version, whole or not at all; golds of a blind one come first.

        Raises:
            UsageError: The version stands on other bytes, is lower than the newest one, prints what is sealed
                or seals what is printed; or the registry is damaged.
        """
        with self._registry(blind=bool(release.seals)) as registry:
            if release.version not in self.versions(release.name):
                require_whole(release.folder)
                if release.contributed:
                    require_unsealed(release, self.questions())
                else:
                    enter(registry, release)
            if release.answers is not None:
                self._put(release.answers)
            return self._put(release)

    def _put(self, release: AssembledRelease) -> Publication:
        require_whole(release.folder)
        with self._locked(release.name):
            repository = self.repository(release.name)
            there = standing(
                release.name,
                release,
                str(repository),
                tags(repository) if is_repository(repository) else {},
                manifest_of=lambda commit: parse_manifest(git(repository, "show", f"{commit}:{MANIFEST}")),
                withdrawals=lambda: self.withdrawals(release.name),
            )
            if there is not None:
                return there
            clone = self._clone(release.name)
            commit = self._prepare(release, clone)
            if repository.exists():
                exchange(clone, repository)
                shutil.rmtree(clone)
            else:
                clone.rename(repository)
        return Publication(release.name, release.version, commit, str(repository), created=True)

    def verify(self, name: str, version: str, expected: Path | None = None) -> Rows:
        """Load a published version back and compare it with its manifest and the assembled folder."""
        with tempfile.TemporaryDirectory(prefix="mihakk-verify-") as scratch:
            folder = self.checkout(name, version, Path(scratch) / name)
            return verify_folder(folder, version, expected)

    def _prepare(self, release: AssembledRelease, clone: Path) -> str:
        """Build the repository with the new commit and tag in a hidden folder and return the commit."""
        repository = self.repository(release.name)
        if is_repository(repository):
            shutil.copytree(repository / ".git", clone / ".git")
        else:
            git(clone, "init", "--quiet", f"--initial-branch={BRANCH}")
        for path in [*release.digests, MANIFEST]:
            target = clone / path
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(release.folder / path, target)
        message = f"{release.name} {release.version}"
        day = self._commit_all(clone, message)
        note = f"{message}\n\n{release.items} items.\n\nSigned-off-by: Mihakk <mihakk@localhost>"
        git(clone, "tag", "--annotate", release.version, "-m", note, day=day)
        return git(clone, "rev-parse", "HEAD")

    def _clone(self, name: str) -> Path:
        """A hidden folder in which the repository's next state is prepared."""
        return Path(tempfile.mkdtemp(prefix=f".{name}.publishing-", dir=self.root))

    @staticmethod
    def _commit_all(clone: Path, message: str) -> int:
        """Commit the files of a folder as they are, a day after the commit before; that day is returned."""
        day = len(git(clone, "rev-list", "--all").splitlines())
        git(clone, "add", "--all", "--force", ".")
        git(clone, "commit", "--quiet", "--no-verify", "--signoff", "--allow-empty", "-m", message, day=day)
        return day

    @contextmanager
    def _locked(self, name: str) -> Iterator[None]:
        """Hold the right to publish a benchmark and sweep away what a killed publisher left."""
        with FileLock(self.root / f".{name}.lock"):
            for left in self.root.glob(f".{name}.publishing-*"):
                shutil.rmtree(left)
            aside = self.root / f".{name}.aside"
            if aside.exists():
                if not self.repository(name).exists():
                    aside.rename(self.repository(name))
                else:
                    shutil.rmtree(aside)
            yield


@cache
def _is_contributed(repository: Path, commit: str) -> bool:
    """Whether others could add to what a version is made of."""
    if not git(repository, "ls-tree", "--name-only", commit, "--", GATES):
        return False
    return bool(orjson.loads(git(repository, "show", f"{commit}:{GATES}")).get("contributed"))


_AT_FDCWD = -100
_RENAME_EXCHANGE = 2
_UNSUPPORTED = (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP)


def exchange(first: Path, second: Path) -> None:
    """Swap two folders of one file system.

    Where the system can't swap in one step (not Linux, some network file systems) the second is moved aside
    for the moment the first takes its place.
    """
    if _exchanged(first, second):
        return
    aside = second.with_name(f".{second.name}.aside")
    second.rename(aside)
    first.rename(second)
    aside.rename(first)


def _exchanged(first: Path, second: Path) -> bool:
    renameat2 = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if renameat2 is None:
        return False
    names = os.fsencode(first), os.fsencode(second)
    if renameat2(_AT_FDCWD, names[0], _AT_FDCWD, names[1], _RENAME_EXCHANGE) == 0:
        return True
    code = ctypes.get_errno()
    if code in _UNSUPPORTED:
        return False
    raise OSError(code, os.strerror(code), str(second))
