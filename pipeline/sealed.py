"""What a blind benchmark sealed, carried over as it was: no record that is added later changes any of it.

Whoever may add records could else ask for a gold: a copy of a sealed poem with a guessed era makes the era
contested if the guess is wrong, and the question would leave; a poet of a guessed era joins the wrong options
of questions with that era. So the items of a sealed work are made once. They stay, with what the checks said
of them, as long as their own record stands as it was and people settle nothing about it; records that are
added and found to be the same work are not curated.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from mihakk.machinery.errors import UsageError
from mihakk.machinery.ids import content_hash, digest
from mihakk.pipeline.build import Build
from mihakk.pipeline.campaigns import amendments_of
from mihakk.pipeline.step import prepared
from mihakk.releases.content.split import source_work, work
from mihakk.schemas.finding import Finding
from mihakk.schemas.idiom import Idiom
from mihakk.schemas.item import ITEM_ROWS, Item
from mihakk.schemas.poem import Poem
from mihakk.schemas.published import SealedItem
from mihakk.schemas.rejection import Cluster
from mihakk.schemas.stages import CHECKED, CURATED, GENERATED, NORMALIZED, RELEASED

LIKE_SEALED = "like_sealed"
"""Why a record is not curated: it was found to be the same work as one that a version has sealed."""
KEPT, ITEMS, FINDINGS = TABLES = ("sealed", "sealed_items", "sealed_findings")
"""Tables of the last stage."""


def kept_of(build: Build) -> dict[str, SealedItem]:
    """Item id -> what the newest version kept of it; nothing of open benchmarks."""
    stage = build.stage(RELEASED)
    if build.config.release.blind == "off" or not stage.finished():
        return {}
    return {row.item: row for row in stage.read_all(KEPT, SealedItem)}


def sealed_works(build: Build) -> dict[str, SealedItem]:
    """Work -> what was kept of one of its items, for the sealed works whose record stands as it was."""
    works = {row.work: row for row in kept_of(build).values()}
    states = states_of(build, works) if works else {}
    return {name: row for name, row in works.items() if states.get(name) == row.state}


def added_copies(
    build: Build, works: Mapping[str, SealedItem], clusters: Iterable[Cluster]
) -> frozenset[str]:
    """Ids of records found to be the same work as a sealed one that were not there then, or not as they are.

    What they say of the work would change or contest its labels, and they are not curated.
    """
    same: dict[str, dict[str, str]] = {}
    for cluster in clusters:
        members = {*map(work, (cluster.kept, *cluster.merged))}
        if cluster.level != "couplet" and (sealed := members & works.keys()):
            known = {name: state for one in sealed for name, state in works[one].same.items()}
            for name in members - sealed:
                same.setdefault(name, {}).update(known)
    states = states_of(build, same) if same else {}
    return frozenset(name for name, known in same.items() if known.get(name) != states.get(name))


def carried_by_shard(build: Build) -> dict[str, frozenset[str]]:
    """Shard -> the works whose items it carries over; shards without any are not named."""
    works = sealed_works(build)
    normalized = build.stage(NORMALIZED)
    found = {}
    for shard in normalized.shards() if works else ():
        names = {*normalized.ids("poems", shard), *normalized.ids("idioms", shard)}
        if mine := names & works.keys():
            found[shard] = frozenset(mine)
    return found


def carried_items(build: Build, works: frozenset[str]) -> list[Item]:
    """The items of these works as they were made, but those of tasks that the config no longer names."""
    from mihakk.generators.task import TASKS

    if not works:
        return []
    tasks = {TASKS.get(use.use).name for use in build.config.tasks}
    # Read once per process: every shard takes its own of them.
    items = prepared("sealed items", _state(build), lambda: _made(build))
    return [item for item in items if item.task in tasks and source_work(item) in works]


def _made(build: Build) -> list[Item]:
    return list(build.stage(RELEASED).read_all(ITEMS, ITEM_ROWS))


def carried_inputs(build: Build, works: frozenset[str]) -> dict[str, Any]:
    """What the items of a shard depend on; nothing where none are carried over."""
    return {"carried": [sorted(works), _state(build)]} if works else {}


def states_of(build: Build, works: Iterable[str]) -> dict[str, str]:
    """Work -> digest of its record and of what people settled about it; works that are gone are not named.

    Where the record stands is no part of it: a line more in a file moves all others.
    """
    wanted = sorted(works)
    settled: dict[str, list[Any]] = {}
    for row in amendments_of(build):
        settled.setdefault(work(row.record), []).append(row.model_dump(mode="json"))
    normalized = build.stage(NORMALIZED)
    return {
        record.id: digest([_of_record(record), settled.get(record.id, [])])
        for table, kind in (("poems", Poem), ("idioms", Idiom))
        for record in normalized.read_all(table, kind, ("id", wanted))
    }


def _of_record(record: Poem | Idiom) -> dict[str, Any]:
    said = record.model_dump(mode="json", exclude={"provenance"})
    terms = record.provenance
    return said | {"licence": terms.licence, "attribution": terms.attribution}


def said_of(build: Build, items: Iterable[Item]) -> dict[str, list[Finding]]:
    """Of the items that are as they were sealed, what the checks said of them then.

    Checks that look at the whole set would else tell of a sealed gold by what they say of a copy.
    """
    kept, found = prepared("sealed", _state(build), lambda: _kept_findings(build))
    return {
        item.id: found.get(item.id, [])
        for item in items
        if item.id in kept and content_hash(item) == kept[item.id].content_hash
    }


def _kept_findings(build: Build) -> tuple[dict[str, SealedItem], dict[str, list[Finding]]]:
    kept = kept_of(build)
    found: dict[str, list[Finding]] = {}
    for one in build.stage(RELEASED).read_all(FINDINGS, Finding) if kept else ():
        found.setdefault(one.subject, []).append(one)
    return kept, found


def _state(build: Build) -> str:
    """Digest of what the newest version kept; of nothing where the benchmark is open."""
    stage = build.stage(RELEASED)
    if build.config.release.blind == "off" or not stage.finished():
        return digest([])
    return digest([[shard.parts.get(name) for name in TABLES] for shard in stage.manifest().shards])


def sealed_tables(build: Build, works: frozenset[str]) -> dict[str, tuple[Any, list[Any]]]:
    """What the lake keeps of the works that a version asks about; nothing where it seals none.

    Raises:
        UsageError: A work's record can't be found by its id.
    """
    if not works:
        return {}
    from mihakk.releases.paper_trail.errata import CHECK

    same: dict[str, set[str]] = {name: set() for name in works}
    for cluster in build.stage(CURATED).read_all("clusters", Cluster):
        members = {*map(work, (cluster.kept, *cluster.merged))} if cluster.level != "couplet" else set()
        for name in members & works:
            same[name] |= members - {name}
    states = states_of(build, works.union(*same.values()))
    if lost := works - states.keys():
        raise UsageError(
            f"{len(lost)} sealed works have no record of their id ({min(lost)}): an id of a blind benchmark "
            "must not end in a colon and digits, as those of couplets do. Name the records otherwise"
        )
    made = build.stage(GENERATED).read_all("items", ITEM_ROWS)
    items = {item.id: item for item in made if source_work(item) in works}
    seen = build.stage(CHECKED)
    kept = [
        SealedItem(
            item=item.id,
            work=about,
            state=states[about],
            content_hash=content_hash(item),
            same={name: states[name] for name in sorted(same[about]) if name in states},
        )
        for item in seen.read_all("items", ITEM_ROWS)
        if item.id in items and (about := source_work(item))
    ]
    said = [one for one in seen.read_all("findings", Finding) if one.subject in items and one.check != CHECK]
    return {
        KEPT: (SealedItem, kept),
        ITEMS: (ITEM_ROWS, list(items.values())),
        FINDINGS: (Finding, said),
    }
