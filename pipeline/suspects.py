"""Items of a build that the answers of many systems speak against, kept for people."""

from __future__ import annotations

from collections.abc import Sequence

from annotation.decisions.store import add, stored
from mihakk.errors import UsageError
from mihakk.ids import content_hash
from pipeline.build import Build
from schemas.item import ITEM_ROWS
from schemas.stages import AUDITED
from schemas.suspect import Suspect


def keep_suspects(build: Build, found: Sequence[Suspect]) -> list[Suspect]:
    """Keeps suspects beside the build's decisions, and returns those that are new; the next push shows them.

    Raises:
        UsageError: None of them is an item of this build as it stands.
    """
    known = _contents(build)
    own = [
        one
        for one in found
        if any(
            known.get(item) == content for item, content in zip(one.items, one.content_hashes, strict=True)
        )
    ]
    if found and not own:
        raise UsageError(
            f"none of the {len(found)} suspects is an item of {build.config.name} as it stands: name the "
            "benchmark whose release was asked, built at that version"
        )
    return add(_store(build), Suspect, own)


def evidence(build: Build) -> dict[str, str]:
    """Item to what systems' answers say against it, for items that are still what systems were asked."""
    known = _contents(build)
    return {
        item: one.evidence
        for one in stored(_store(build), Suspect)
        for item, content in zip(one.items, one.content_hashes, strict=True)
        if known.get(item) == content
    }


def _store(build: Build) -> str:
    return f"{build.lake.url.rstrip('/')}/review/suspects"


def _contents(build: Build) -> dict[str, str]:
    return {item.id: content_hash(item) for item in build.stage(AUDITED).read_all("items", ITEM_ROWS)}
