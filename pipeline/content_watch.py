"""What a release would change of the content, and whether it is held until a person releases it.

Items are compared with those of the newest version on the embedded Hub, rows run by run in the ledger.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pyarrow.compute as pc
from pydantic import Field

from mihakk.machinery.errors import Held
from mihakk.machinery.lake.ledger import Ledger
from mihakk.pipeline.build import Build, whole_input
from mihakk.pipeline.ledger import ledger_of
from mihakk.pipeline.sealed import sides
from mihakk.pipeline.sign_off import standing_sign_off
from mihakk.schemas.item import ITEM_ROWS
from mihakk.schemas.record import Record
from mihakk.schemas.rejection import Cluster
from mihakk.schemas.review import Resolution
from mihakk.schemas.stages import CURATED, RELEASED, SCRAPED

if TYPE_CHECKING:
    from mihakk.releases.content.packed import PackedItems

BY_PEOPLE = ("fix", "discard", "defective")
"""Outcomes of review: each such change is a person's own, and holds nothing."""


class ContentChange(Record):
    """What a release of the reviewed tables would change against the newest version."""

    before: str
    """That version."""
    items: int
    """It has."""
    removed: int = 0
    changed: int = 0
    moved: int = 0
    """To another split."""
    vanished: dict[str, tuple[int, int]] = Field(default_factory=dict)
    """Source to its rows that vanished since that version, and how many it had."""


def content_change(build: Build, items: PackedItems | None = None) -> ContentChange | None:
    """What a release would change, people's own decisions aside; None before the first version."""
    from mihakk.releases.content.item_tables import data_files, read_items
    from mihakk.releases.content.packed import PackedItems
    from mihakk.releases.content.secret import as_released, blind_key, public_id
    from mihakk.releases.content.split import split_items
    from mihakk.releases.hub.embedded import EmbeddedHub

    hub, name = EmbeddedHub(), build.config.name
    version = hub.latest(name)
    if version is None:
        return None
    old: dict[str, tuple[str, str]] = {}
    for _, split, path in data_files(hub.repository(name)):
        table = read_items(path, ["id", "content_hash"])
        for row in table.to_pylist():
            old[row["id"]] = split, row["content_hash"]
    reviewed = build.before(RELEASED)
    decided = {one.item for one in reviewed.read_all("resolutions", Resolution) if one.outcome in BY_PEOPLE}
    standing = (PackedItems(reviewed.read_all("items", ITEM_ROWS)) if items is None else items).by_id()
    clusters = tuple(build.stage(CURATED).read_all("clusters", Cluster))
    counts: Counter[str] = Counter()
    secret = None if build.config.release.blind == "off" else blind_key()
    placed = sides(build)
    places = split_items(standing, build.config.release.test_share, clusters, placed.of if placed else None)
    stay, theirs = set(), {public_id(secret, item) if secret else item for item in decided}
    for item in standing:
        if item.id in places.left_out:
            continue
        public, contents = as_released(secret, item)
        stay.add(public)
        if public not in old:
            continue
        split, content = old[public]
        counts["changed"] += content not in contents and item.id not in decided
        counts["moved"] += split != places.places[item.id][0]
    counts["removed"] = len(old.keys() - stay - theirs)
    return ContentChange(
        before=version, items=len(old), vanished=dict(_vanished(ledger_of(build), version)), **counts
    )


def _vanished(ledger: Ledger, version: str) -> Iterator[tuple[str, tuple[int, int]]]:
    """Source to rows that stood when a version was made and are gone, and how many stood then."""
    made = next((note.run for note in ledger.notes(RELEASED) if note.version == version), "")
    had: dict[str, int] = {}
    for note in ledger.notes(SCRAPED):
        if note.run <= made:
            had = {source: moves.seen for source, moves in note.moves.items()}
    stood: set[str] = set()
    gone: dict[str, str] = {}
    for note, line in ledger.lines(pc.field("event").cast("string") == "in", SCRAPED):
        name = line["id"]
        if note.run <= made:
            (stood.discard if line["mark"] is None else stood.add)(name)
        elif line["mark"] is None and name in stood:
            gone[name] = line["shard"].rpartition("-")[0]
        else:
            gone.pop(name, None)
    for source, count in sorted(Counter(gone.values()).items()):
        yield source, (count, had.get(source, count))


def excess(build: Build, change: ContentChange | None) -> list[str]:
    """Where a change is more than the config's `release.hold` lets pass, one sentence each."""
    if change is None or not change.items:
        return []
    hold, found = build.config.release.hold, []
    for what in ("removed", "changed", "moved"):
        count, most = getattr(change, what), getattr(hold, what)
        if count > hold.fewest and count / change.items > most:
            said = f"{what} to another split" if what == "moved" else what
            found.append(
                f"{count:,} of {change.items:,} items {said} ({count / change.items:.1%}, allowed {most:.1%})"
            )
    for source, (count, had) in change.vanished.items():
        if count > hold.fewest and count > hold.vanished * had:
            found.append(
                f"{count:,} of {had:,} rows of source {source} vanished "
                f"({count / max(1, had):.1%}, allowed {hold.vanished:.1%})"
            )
    return found


def held(build: Build, items: PackedItems | None = None) -> str:
    """Why a release of the reviewed tables waits for a person's word; empty where it does not.

    Args:
        build: Its reviewed tables are finished.
        items: The reviewed ones, where they are at hand.
    """
    stage = build.stage(RELEASED)
    if stage.finished() and stage.manifest().inputs.get("*") == whole_input(build, RELEASED):
        return ""
    word = standing_sign_off(build)
    if word is not None and word.decision == "approve":
        return ""
    change = content_change(build, items)
    found = excess(build, change)
    if change is None or not found:
        return ""
    refused = f" {word.name} rejected these tables." if word else ""
    return (
        f"more changed since version {change.before} than passes unseen: {'; '.join(found)}. It would "
        f"remove {change.removed:,} of {change.items:,} items, change {change.changed:,} and move "
        f"{change.moved:,} to another split.{refused}"
    )


def require_released(build: Build, items: PackedItems) -> None:
    """Lets a release pass that changes little, or that a person released.

    Raises:
        Held: It changes more than `release.hold` of the config allows.
    """
    if said := held(build, items):
        name = build.config.name
        raise Held(
            f"{name} is held: {said} See `mihakk why ID -b {name}` for the reason of each. If it is right, "
            f"release it by name: `mihakk release {name} --sign-off NAME`; if not, mend the source and build "
            "again. The shares are `release.hold` in the config"
        )
