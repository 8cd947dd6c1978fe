"""Publishing a release with all that belongs to it, on the embedded Hub or a remote one."""

from __future__ import annotations

from mihakk.errors import UsageError
from releases.assemble import AssembledRelease
from releases.hub.embedded import EmbeddedHub
from releases.hub.publication import Publication
from releases.hub.remote import RemoteHub
from schemas.benchmark import BenchmarkConfig


def publish_release(release: AssembledRelease, hub: EmbeddedHub | None = None) -> Publication:
    """Publish on the embedded Hub; the golds of a blind release first, under `<name>-answers`."""
    target = hub or EmbeddedHub()
    if release.answers is not None:
        target.publish(release.answers)
    return target.publish(release)


def push_release(
    release: AssembledRelease, config: BenchmarkConfig, endpoint: str | None = None
) -> Publication:
    """Publish on huggingface.co (or `endpoint`); the golds of a blind release first, in a private repository.

    `UsageError` where the config names no repository, or the public one for the golds.
    """
    repository = config.release.repository
    if not repository:
        raise UsageError("nothing to push to: name release.repository (owner/name) in the benchmark's config")
    if release.answers is not None:
        private = config.release.answers_repository or f"{repository}-answers"
        if private == repository:
            raise UsageError("release.answers_repository is the public one: name another, private repository")
        RemoteHub(private, endpoint, private=True).publish(release.answers)
    return RemoteHub(repository, endpoint).publish(release)
