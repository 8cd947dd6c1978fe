"""Pushing a version of the embedded Hub to where the config says."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from mihakk.errors import UsageError
from pipeline.build import Build

if TYPE_CHECKING:
    from releases.hub.publication import Publication


def publish_version(
    opened: Build, version: str = "", repository: str = "", endpoint: str = ""
) -> Publication:
    """Pushes a version of the embedded Hub (the newest when empty) to where the config says.

    Raises:
        UsageError: A gate is shut in the release itself, nothing is released, or no repository is named.
        ExternalFailure: The Hub failed; the same call goes on where it stopped.
    """
    from releases.hub.embedded import EmbeddedHub
    from releases.hub.publishing import push_release
    from releases.hub.reload import read_release
    from releases.paper_trail.gate_record import require_publishable

    wanted = opened.config.release
    if repository:
        wanted = wanted.model_copy(update={"repository": repository})
    hub, name = EmbeddedHub(), opened.config.name
    chosen = version or hub.latest(name)
    if not chosen:
        raise UsageError(f"{name} has no release yet: run `mihakk build` of it first")
    with tempfile.TemporaryDirectory(prefix="mihakk-publish-") as scratch:
        assembled = read_release(name, hub.checkout(name, chosen, Path(scratch) / chosen))
        require_publishable(name, assembled.folder)
        if chosen in hub.versions(f"{name}-answers"):
            golds = hub.checkout(f"{name}-answers", chosen, Path(scratch) / "answers")
            assembled = replace(assembled, answers=read_release(f"{name}-answers", golds))
        settled = opened.config.model_copy(update={"release": wanted})
        return push_release(assembled, settled, endpoint or None)
