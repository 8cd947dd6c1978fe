"""huggingface.co, or any server that speaks its API: one commit for all files, tag last, loaded back."""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from mihakk.machinery.errors import ExternalFailure, UsageError, nearest
from mihakk.releases.assemble import AssembledRelease
from mihakk.releases.content.checksum import FOREIGN, MANIFEST, parse_manifest
from mihakk.releases.hub._verification import Rows, verify_folder
from mihakk.releases.hub.client import StaleParent, Unavailable, asking, hub_api
from mihakk.releases.hub.publication import (
    Publication,
    refuse_other_bytes,
    require_version,
    require_whole,
    sorted_versions,
    standing,
)
from mihakk.releases.versions.withdrawal import (
    CARD,
    CHANGELOG,
    MARKED,
    add,
    mark,
    of_version,
    parse,
)
from mihakk.releases.versions.withdrawal import FILE as WITHDRAWN
from mihakk.schemas.withdrawal import Withdrawal

if TYPE_CHECKING:
    from huggingface_hub import CommitOperationAdd, CommitOperationDelete

Done = TypeVar("Done")
ATTEMPTS = 6
"""How often a publication goes on from what stands there, after a race or a failure that may pass."""


class RemoteHub:
    """One benchmark's repository on a Hub.

    Args:
        repository: `owner/name`.
        endpoint: Address of the Hub; the client's own (`HF_ENDPOINT`, huggingface.co) when None.
        patience: Seconds to wait before the second attempt; doubled each time.
    """

    def __init__(
        self, repository: str, endpoint: str | None = None, *, private: bool = False, patience: float = 0.5
    ) -> None:
        if repository.count("/") != 1:
            raise UsageError(f"{repository!r} is not a repository on the Hub: write owner/name")
        self.repository = repository
        self._api = hub_api(endpoint)
        self._private = private
        self._patience = patience
        self.endpoint = self._api.endpoint

    def tags(self) -> dict[str, str]:
        """Tag -> commit; empty where the repository is not there yet."""
        from huggingface_hub.errors import RepositoryNotFoundError

        with asking(self.endpoint, f"reading the versions of {self.repository}"):
            try:
                refs = self._api.list_repo_refs(self.repository, repo_type="dataset")
            except RepositoryNotFoundError:
                return {}
        return {tag.name: tag.target_commit for tag in refs.tags}

    def versions(self) -> list[str]:
        """Versions published, oldest first."""
        return sorted_versions(self.tags())

    def commit(self, version: str) -> str:
        """Commit that a version's tag points at."""
        tags = self.tags()
        if version not in tags:
            have = nearest(version, sorted_versions(tags), "published are") if tags else "none is published"
            raise UsageError(f"{self.repository} has no version {version} on {self.endpoint}: {have}")
        return tags[version]

    def withdrawals(self) -> tuple[Withdrawal, ...]:
        """Versions of the repository that were withdrawn, as its main branch lists them."""
        # By the list of files: of a file that is not there, some mirrors say that the repository is not.
        with asking(self.endpoint, f"listing {self.repository}"):
            info = self._api.dataset_info(self.repository, revision="main")
        if WITHDRAWN not in {one.rfilename for one in info.siblings or ()}:
            return ()
        with tempfile.TemporaryDirectory(prefix="mihakk-withdrawn-") as scratch:
            found = self._file(WITHDRAWN, "main", Path(scratch))
            return parse(found.read_bytes(), self.repository) if found else ()

    def withdraw(self, one: Withdrawal) -> bool:
        """Say in a commit on the main branch that a version is withdrawn; its tag and bytes stay.

        Safe to repeat after any failure; the parent of the commit is checked, so that a publication that
        runs at the same time loses nothing.

        Returns:
            Whether it was not withdrawn before.

        Raises:
            UsageError: There is no such version, or the token may not write.
            ExternalFailure: The Hub failed.
        """
        self.commit(one.version)
        return self._patiently(lambda: self._withdraw(one))

    def _withdraw(self, one: Withdrawal) -> bool:
        from huggingface_hub import CommitOperationAdd

        known = self.withdrawals()
        if of_version(known, one.version):
            return False
        with (
            tempfile.TemporaryDirectory(prefix="mihakk-withdrawing-") as scratch,
            asking(self.endpoint, f"withdrawing {self.repository} {one.version}"),
        ):
            folder, head = Path(scratch), self._head()
            for name in (CARD, CHANGELOG, MANIFEST):
                if self._file(name, head, folder) is None:
                    raise ExternalFailure(f"{self.repository} has no {name} on main; publish it again")
            mark(folder, self.versions()[-1], add(known, one))
            self._api.create_commit(
                self.repository,
                [CommitOperationAdd(name, folder / name) for name in (*MARKED, MANIFEST)],
                repo_type="dataset",
                commit_message=f"{one.version} withdrawn",
                parent_commit=head,
            )
        return True

    def _head(self) -> str:
        head = self._api.repo_info(self.repository, repo_type="dataset", revision="main").sha
        if head is None:
            raise ExternalFailure(f"{self.endpoint} names no commit for {self.repository}; run it again")
        return head

    def _file(self, name: str, revision: str, folder: Path) -> Path | None:
        """One file of a revision, written into a folder; None where the revision has none."""
        from huggingface_hub.errors import RemoteEntryNotFoundError

        with asking(self.endpoint, f"reading {name} of {self.repository}"):
            try:
                return Path(
                    self._api.hf_hub_download(
                        self.repository, name, repo_type="dataset", revision=revision, local_dir=folder
                    )
                )
            except RemoteEntryNotFoundError:
                return None

    def fetch(self, commit: str, folder: Path) -> Path:
        """Write the files of a commit into a folder, past every cache."""
        with asking(self.endpoint, f"fetching {self.repository}"):
            self._api.snapshot_download(
                self.repository,
                repo_type="dataset",
                revision=commit,
                local_dir=folder,
                force_download=True,
            )
        shutil.rmtree(folder / ".cache", ignore_errors=True)  # the client's own notes
        return folder

    def publish(self, release: AssembledRelease) -> Publication:
        """Make a release visible under its version; safe to repeat after any failure.

        All files go in one commit whose parent is checked; the commit is loaded back and compared; only
        then the tag is set, and read back. Whatever dies on the way leaves no version behind, and the next
        call goes on from the commit that is there.

        Raises:
            UsageError: The version stands on other bytes, is too low, or the token may not write.
            ExternalFailure: The Hub failed, or gave back other bytes than it was sent.
        """
        require_whole(release.folder)
        return self._patiently(lambda: self._publish(release))

    def _patiently(self, step: Callable[[], Done]) -> Done:
        """Take a step again after a race or a failure that may pass."""
        failure: Exception | None = None
        for attempt in range(ATTEMPTS):
            try:
                return step()
            except (StaleParent, Unavailable) as passing:
                failure = passing
                time.sleep(self._patience * 2**attempt)
        if isinstance(failure, ExternalFailure):
            raise failure
        raise ExternalFailure(f"{self.repository} was busy {ATTEMPTS} times in a row; run it again later")

    def _publish(self, release: AssembledRelease) -> Publication:
        self._create()
        there = standing(
            self.repository,
            release,
            self.repository,
            self.tags(),
            manifest_of=self._manifest,
            withdrawals=self.withdrawals,
        )
        if there is not None:
            return there
        commit = self._committed(release)
        self._check(commit, release)
        self._tag(release, commit)
        return Publication(release.name, release.version, commit, self.repository, created=True)

    def verify(self, version: str, expected: Path | None = None) -> Rows:
        """Fetch a published version and compare it with its manifest and the assembled folder."""
        with tempfile.TemporaryDirectory(prefix="mihakk-verify-") as scratch:
            folder = self.fetch(self.commit(version), Path(scratch))
            return verify_folder(require_version(folder, self.repository, version), version, expected)

    def _create(self) -> None:
        with asking(self.endpoint, f"creating {self.repository}"):
            if not self._api.repo_exists(self.repository, repo_type="dataset"):
                self._api.create_repo(
                    self.repository,
                    repo_type="dataset",
                    exist_ok=True,
                    visibility="private" if self._private else "public",
                )

    def _manifest(self, commit: str) -> dict[str, str]:
        """The manifest of a commit; empty where it has none."""
        with tempfile.TemporaryDirectory(prefix="mihakk-manifest-") as scratch:
            found = self._file(MANIFEST, commit, Path(scratch))
            return parse_manifest(found.read_text(encoding="utf-8")) if found else {}

    def _committed(self, release: AssembledRelease) -> str:
        """The commit that holds exactly this release: the newest one if it does already, else a new one."""
        with asking(self.endpoint, f"publishing {self.repository}"):
            head = self._head()
            if self._manifest(head) == dict(release.digests):
                return head
            made = self._api.create_commit(
                self.repository,
                self._operations(release, head),
                repo_type="dataset",
                commit_message=f"{release.name} {release.version}",
                parent_commit=head,
            )
        return made.oid

    def _operations(
        self, release: AssembledRelease, head: str
    ) -> list[CommitOperationAdd | CommitOperationDelete]:
        from huggingface_hub import CommitOperationAdd, CommitOperationDelete

        wanted = [*release.digests, MANIFEST]
        there = self._api.list_repo_files(self.repository, repo_type="dataset", revision=head)
        gone = sorted(path for path in set(there) - set(wanted) if path.split("/")[0] not in FOREIGN)
        return [
            *(CommitOperationDelete(path) for path in gone),
            *(CommitOperationAdd(path, release.folder / path) for path in wanted),
        ]

    def _check(self, commit: str, release: AssembledRelease) -> None:
        with tempfile.TemporaryDirectory(prefix="mihakk-verify-") as scratch:
            verify_folder(self.fetch(commit, Path(scratch)), release.version, release.folder)

    def _tag(self, release: AssembledRelease, commit: str) -> None:
        """Set the tag and read it back: the client's `exist_ok` would leave another commit's tag in place."""
        from huggingface_hub.errors import HfHubHTTPError

        with asking(self.endpoint, f"tagging {self.repository} {release.version}"):
            try:
                self._api.create_tag(
                    self.repository,
                    tag=release.version,
                    tag_message=f"{release.name} {release.version}",
                    revision=commit,
                    repo_type="dataset",
                )
            except HfHubHTTPError as error:
                if error.response.status_code != 409:
                    raise
        target = self.tags().get(release.version)
        if target == commit:
            return
        if target is not None and self._manifest(target) == dict(release.digests):
            raise StaleParent
        raise refuse_other_bytes(self.repository, release.version, target or "none")


def push_release(
    release: AssembledRelease, repository: str, endpoint: str | None = None, *, answers: str = ""
) -> Publication:
    """Publish on huggingface.co (or `endpoint`); the golds of a blind release first, in a private repository.

    Args:
        answers: Repository of the golds; `<repository>-answers` when empty.

    Raises:
        UsageError: No repository is named, or the golds would go to the public one.
    """
    if not repository:
        raise UsageError(
            "nothing to push to: give --repository owner/name, or name it in the config (release.repository; "
            "`repository` in audited.json)"
        )
    if release.answers is not None:
        private = answers or f"{repository}-answers"
        if private == repository:
            raise UsageError("release.answers_repository is the public one: name another, private repository")
        RemoteHub(private, endpoint, private=True).publish(release.answers)
    return RemoteHub(repository, endpoint).publish(release)
