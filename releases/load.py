"""Loading a release by version so that what comes is that version or an error, never another one's cache."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Any

from mihakk.errors import ExternalFailure, UsageError
from mihakk.settings import settings
from releases.checksum import faults
from releases.diff import release_version
from releases.hub.embedded import EmbeddedHub
from releases.hub.remote import RemoteHub


def load(
    name: str,
    version: str,
    config: str | None = None,
    split: str | None = None,
    *,
    commit: str | None = None,
    endpoint: str | None = None,
) -> Any:
    """A release as `datasets.load_dataset` gives it.

    The version's tag is resolved to a commit once, the files are fetched by the commit into a folder named by
    it, and manifest and version are checked before anything is read.

    Args:
        name: `owner/name` on a Hub, or the name of a benchmark on the embedded Hub.
        version: MAJOR.MINOR.PATCH.
        config: One config; all of them, as a dict, when None.
        split: One split of the config.
        commit: Load this commit and do not ask the Hub what the tag points at. A commit fetched before is
            then read without any network.
        endpoint: Address of the Hub.

    Raises:
        UsageError: There is no such version or config.
        ExternalFailure: The Hub can't be reached, or what came is not the version asked for.
    """
    import datasets

    folder = release_folder(name, version, commit=commit, endpoint=endpoint)
    datasets.disable_progress_bars()
    configs = datasets.get_dataset_config_names(str(folder))
    if config is None:
        return {
            each: datasets.load_dataset(str(folder), each, split=split)  # nosec B615 # checked local files
            for each in configs
        }
    if config not in configs:
        raise UsageError(f"{name} {version} has no config {config!r}: it has {', '.join(configs)}")
    return datasets.load_dataset(str(folder), config, split=split)  # nosec B615 # checked local files


def release_folder(
    name: str, version: str, *, commit: str | None = None, endpoint: str | None = None
) -> Path:
    """Folder with the checked files of a release, fetched if not in the cache; arguments as for `load`."""
    if commit is None:
        commit = (
            RemoteHub(name, endpoint).commit(version) if "/" in name else EmbeddedHub().commit(name, version)
        )
    folder = settings().cache / "releases" / name.replace("/", "__") / commit
    if not folder.is_dir():
        _fetch(name, version, commit, endpoint, folder)
    _check(folder, name, version)
    return folder


def _fetch(name: str, version: str, commit: str, endpoint: str | None, folder: Path) -> None:
    folder.parent.mkdir(parents=True, exist_ok=True)
    scratch = Path(tempfile.mkdtemp(prefix=".fetching-", dir=folder.parent))
    try:
        if "/" in name:
            RemoteHub(name, endpoint).fetch(commit, scratch)
        else:
            EmbeddedHub().checkout_commit(name, commit, scratch)
        _check(scratch, name, version)
        if not folder.exists():
            scratch.rename(folder)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _check(folder: Path, name: str, version: str) -> None:
    wrong = faults(folder)
    if wrong:
        raise ExternalFailure(
            f"{name} {version} is damaged ({wrong[0]}); if this lasts, delete {folder} and load it again"
        )
    inside = release_version(folder)
    if inside != version:
        raise ExternalFailure(
            f"{name}: the tag {version} points at a release that says it is {inside}; the tag was moved"
        )
