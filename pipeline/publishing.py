"""Publishes a version of the embedded Hub to the repository of the config."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from mihakk.machinery.errors import UsageError
from mihakk.pipeline.build import Build

if TYPE_CHECKING:
    from mihakk.releases.hub.publication import Publication


def publish_version(
    opened: Build, version: str = "", repository: str = "", endpoint: str = ""
) -> Publication:
    """Pushes a version of a benchmark (the newest when empty) to where its config says: `publish_stored`."""
    config = opened.config
    wanted = repository or config.release.repository
    return publish_stored(config.name, version, wanted, endpoint, answers=config.release.answers_repository)


def publish_stored(
    name: str, version: str, repository: str, endpoint: str = "", *, answers: str = ""
) -> Publication:
    """Pushes a version of the embedded Hub (the newest when empty) to a repository.

    Args:
        answers: Repository of the golds of a blind release; `<repository>-answers` when empty.

    Raises:
        UsageError: A gate is shut in the release itself, the version is withdrawn, nothing is released, or no
            repository is named.
        ExternalFailure: The Hub failed; the same call goes on where it stopped.
    """
    from mihakk.releases.hub.embedded import EmbeddedHub
    from mihakk.releases.hub.publication import read_release
    from mihakk.releases.hub.remote import push_release
    from mihakk.releases.paper_trail.gate_record import require_publishable
    from mihakk.releases.versions.withdrawal import of_version

    hub = EmbeddedHub()
    chosen = version or hub.latest(name)
    if not chosen:
        raise UsageError(f"{name} has no release yet: run `mihakk build` or `mihakk release` of it first")
    if withdrawn := of_version(hub.withdrawals(name), chosen):
        raise UsageError(
            f"{name} {chosen} is not published: it was withdrawn ({withdrawn.why}); "
            "publish a version that was not"
        )
    with tempfile.TemporaryDirectory(prefix="mihakk-publish-") as scratch:
        assembled = read_release(name, hub.checkout(name, chosen, Path(scratch) / chosen))
        require_publishable(name, assembled.folder)
        if chosen in hub.versions(f"{name}-answers"):
            golds = hub.checkout(f"{name}-answers", chosen, Path(scratch) / "answers")
            assembled = replace(assembled, answers=read_release(f"{name}-answers", golds))
        return push_release(assembled, repository, endpoint or None, answers=answers)


def withdraw_version(
    name: str, version: str, why: str, repository: str = "", endpoint: str = "", *, published: str = ""
) -> dict[str, bool]:
    """Withdraws a version on the embedded Hub, and on the repository it was published to.

    Args:
        name: The benchmark's.
        repository: Where it stands for sure.
        published: Where it stands if the version is there.

    Returns:
        Place -> whether the version was not withdrawn there before.

    Raises:
        UsageError: There is no such version, or no reason.
        ExternalFailure: The Hub failed; the same call goes on where it stopped.
    """
    from mihakk.releases.hub.embedded import EmbeddedHub
    from mihakk.releases.hub.remote import RemoteHub
    from mihakk.releases.versions.withdrawal import withdrawal

    one = withdrawal(version, why, datetime.now(UTC).date())
    places = {"the embedded Hub": EmbeddedHub().withdraw(name, one)}
    if wanted := repository or published:
        remote = RemoteHub(wanted, endpoint or None)
        if repository or version in remote.versions():
            places[f"{remote.endpoint}, {wanted}"] = remote.withdraw(one)
    return places
