"""Loading a release by version so that what comes is that version or an error, never another one's cache."""

from __future__ import annotations

import shutil
import tempfile
import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from mihakk.machinery.configs import load_text
from mihakk.machinery.errors import ExternalFailure, MihakkWarning, UsageError
from mihakk.machinery.settings import install_command, settings
from mihakk.releases.content.checksum import MANIFEST, faults, read_manifest
from mihakk.releases.hub._git import git, is_repository, tags
from mihakk.releases.hub._verification import HAS_DATASETS, listed, load_all
from mihakk.releases.hub.embedded import EmbeddedHub, listed_withdrawals
from mihakk.releases.hub.publication import moved, require_same_commit, require_version, sorted_versions
from mihakk.releases.hub.remote import RemoteHub
from mihakk.releases.versions.withdrawal import of_version, read, warning
from mihakk.schemas.withdrawal import Withdrawal

BRANCHES = ("origin/main", "main")
"""Where a clone knows of withdrawals: what it fetched last, else its own branch."""


def load(
    name: str,
    version: str,
    config: str | None = None,
    split: str | None = None,
    *,
    commit: str | None = None,
    endpoint: str | None = None,
    as_frames: bool = False,
) -> Any:
    """A release as `datasets.load_dataset` gives it, or as pandas frames.

    A version that was withdrawn comes with a `MihakkWarning` that says why, unless a commit is named.
    The version's tag is resolved to a commit once, the files are fetched by the commit into a folder named by
    it, and manifest and version are checked before anything is read.

    Args:
        name: `owner/name` on a Hub, or the name of a benchmark on the embedded Hub.
        config: One config; all of them, as a dict, when None.
        split: One split of the config.
        commit: Load this commit and do not ask the Hub what the tag points at. A commit fetched before is
            then read without any network.
        as_frames: Frames in place of datasets, for which the package `datasets` is not needed.

    Raises:
        UsageError: There is no such version, config or split, or `datasets` is not installed.
        ExternalFailure: The Hub can't be reached, or what came is not the version asked for.
    """
    if not (as_frames or HAS_DATASETS):
        raise UsageError(f"this needs datasets: run `{install_command('hub')}`, or load it `as_frames=True`")
    folder = release_folder(name, version, commit=commit, endpoint=endpoint)
    if as_frames:
        return _frames(name, version, folder, config, split)
    import datasets

    if config is None:
        return load_all(folder, split=split)
    datasets.disable_progress_bars()
    configs = datasets.get_dataset_config_names(str(folder))
    if config not in configs:
        raise _lacks(f"{name} {version}", "config", config, configs)
    return datasets.load_dataset(str(folder), config, split=split)  # nosec B615 # checked local files


def _frames(name: str, version: str, folder: Path, config: str | None, split: str | None) -> Any:
    """Config -> split -> frame; without the level that is named."""
    found: dict[str, Any] = listed(folder)
    if config is not None and config not in found:
        raise _lacks(f"{name} {version}", "config", config, found)
    for one, splits in found.items() if config is None else [(config, found[config])]:
        if split is not None and split not in splits:
            raise _lacks(f"{one} of {name} {version}", "split", split, splits)
        frames = {part: table.to_pandas() for part, table in splits.items() if split in (None, part)}
        found[one] = frames if split is None else frames[split]
    return found if config is None else found[config]


def _lacks(what: str, kind: str, named: str, there: Iterable[str]) -> UsageError:
    return UsageError(f"{what} has no {kind} {named!r}: it has {', '.join(there)}")


def release_folder(
    name: str, version: str, *, commit: str | None = None, endpoint: str | None = None
) -> Path:
    """Folder with the checked files of a release, fetched if not in the cache; arguments as for `load`."""
    if commit is None:
        commit = _commit(name, version, endpoint)
    folder = settings().cache / "releases" / name.replace("/", "__") / commit
    if not folder.is_dir():
        _fetch(name, version, commit, endpoint, folder)
    _check(folder, name, version)
    return folder


def _commit(name: str, version: str, endpoint: str | None) -> str:
    """The version's commit; warns where the Hub says that the version is withdrawn."""
    if "/" not in name:
        hub = EmbeddedHub()
        commit, withdrawn = hub.commit(name, version), hub.withdrawals(name)
    else:
        remote = RemoteHub(name, endpoint)
        commit = require_same_commit(name, version, remote.commit(version))
        withdrawn = remote.withdrawals()
    warn_if_withdrawn(name, version, withdrawn)
    return commit


def require_empty(target: Path) -> None:
    """Raises UsageError where files could be written over: the folder must be empty, or not there."""
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise UsageError(f"{target} is not an empty folder: name another, or empty it")


def copy_release(name: str, version: str, target: Path, *, endpoint: str | None = None) -> int:
    """Write the checked files of a release into an empty folder and return how many; errors as for `load`."""
    require_empty(target)
    folder = release_folder(name, version, endpoint=endpoint)
    stated = [*read_manifest(folder), MANIFEST]
    for path in stated:
        (target / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(folder / path, target / path)
    return len(stated)


def moved_tag(folder: Path, inside: str) -> str:
    """What is to be said where a clone stands on the tag of another version than its data; else nothing."""
    if not is_repository(folder):
        return ""
    head, pointing = git(folder, "rev-parse", "HEAD"), tags(folder)
    here = sorted_versions([tag for tag, commit in pointing.items() if commit == head])
    wrong = [tag for tag in here if tag != inside]
    return str(moved(folder.name, wrong[0], f"a release that says it is {inside}")) if wrong else ""


def warn_of_folder(folder: Path, version: str) -> None:
    """Warn where the folder itself, its clone's main branch or the embedded Hub says it is withdrawn."""
    described = folder / "croissant.json"  # a cleaned release of somebody's benchmark has none
    name = load_text(described, "name") if described.is_file() else folder.resolve().name
    here = EmbeddedHub().withdrawals(name)
    warn_if_withdrawn(name, version, (*known_withdrawals(folder), *here))


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


def named_folder(name: str) -> tuple[Path, str]:
    """The folder of a release as commands name it, and its name where the folder does not say it.

    A folder, or NAME@VERSION on the embedded Hub or, with an owner, on a Hub; NAME@latest for the newest on
    the embedded Hub. `UsageError` where there is no such release.
    """
    folder = Path(name)
    if folder.is_dir():
        return folder, ""
    release, mark, version = name.rpartition("@")
    if not mark:
        raise UsageError(f"there is no folder {name}; a release on a Hub is written NAME@VERSION")
    if version == "latest":
        found = newest_in_use(release) if "/" not in release else None
        if found is None:
            raise UsageError(
                f"the embedded Hub has no release {release!r} that is not withdrawn: "
                f"{EmbeddedHub().meant(release, version)}"
            )
        version = found
    return release_folder(release, version), release


def newest_in_use(name: str) -> str | None:
    """The newest version on the embedded Hub that is not withdrawn."""
    hub = EmbeddedHub()
    withdrawn = {one.version for one in hub.withdrawals(name)}
    return next((version for version in reversed(hub.versions(name)) if version not in withdrawn), None)


def _fetch(name: str, version: str, commit: str, endpoint: str | None, folder: Path) -> None:
    folder.parent.mkdir(parents=True, exist_ok=True)
    scratch = Path(tempfile.mkdtemp(prefix=".fetching-", dir=folder.parent))
    try:
        if "/" in name:
            RemoteHub(name, endpoint).fetch(commit, scratch)
        else:
            EmbeddedHub().checkout_commit(name, commit, scratch)
        _check(scratch, name, version, fetched=True)
        if not folder.exists():
            scratch.rename(folder)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _check(folder: Path, name: str, version: str, *, fetched: bool = False) -> None:
    wrong = faults(folder, fetched=fetched)
    if wrong:
        raise ExternalFailure(
            f"{name} {version} is damaged ({wrong[0]}); if this lasts, delete {folder} and load it again"
        )
    require_version(folder, name, version)
