"""What rests on sealed golds, kept from what all may see: versions tell nothing by what changes between them.

- A work belongs to a side, dev or test, before any item is made of it, by the works alone.
- Items of each side are made and checked as if the other's works were not there.
- A version closes all works of its test side. What was made of them stays as it was, sealed or not, with what
  the checks said, as long as their own record stands and people settle nothing about it. Where these change
  they are made anew, so that what is the same stays; no other question is ever sealed.

What others can add to is no source of a blind benchmark: see `SourceUse.contributed`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from mihakk.machinery.draw import split_of
from mihakk.machinery.errors import UsageError
from mihakk.machinery.ids import content_hash, digest
from mihakk.machinery.lake.stage import Stage
from mihakk.pipeline.build import Build
from mihakk.pipeline.campaigns import amendments_of
from mihakk.pipeline.step import prepared
from mihakk.releases.content.seals import is_label, sealed_marks
from mihakk.releases.content.split import group_works, source_work, work
from mihakk.schemas.finding import Finding
from mihakk.schemas.idiom import Idiom
from mihakk.schemas.item import ITEM_ROWS, Item
from mihakk.schemas.poem import Poem
from mihakk.schemas.published import SealedItem
from mihakk.schemas.rejection import Cluster
from mihakk.schemas.stages import CHECKED, CURATED, GENERATED, NORMALIZED, RELEASED

if TYPE_CHECKING:
    from mihakk.releases.release_facts import Before

KEPT, ITEMS, FINDINGS = TABLES = ("sealed", "sealed_items", "sealed_findings")
"""Tables of the last stage."""


def kept_of(build: Build) -> list[SealedItem]:
    """What the newest version kept of the works it closed; nothing of open benchmarks."""
    stage = build.stage(RELEASED)
    if build.config.release.blind == "off" or not stage.finished():
        return []
    return list(stage.read_all(KEPT, SealedItem))


def closed_works(build: Build) -> dict[str, SealedItem]:
    """Closed work -> a row that was kept of it, where its record stands as it was."""
    works = {row.work: row for row in kept_of(build)}
    states = states_of(build, works) if works else {}
    return {name: row for name, row in works.items() if states.get(name) == row.state}


class Sides(NamedTuple):
    """Where the works of a blind benchmark belong."""

    of: dict[str, str]
    """Work -> `dev` or `test`."""
    closed: frozenset[str]
    """Works of test of which nothing is made any more."""
    earlier: frozenset[str] = frozenset()
    """Works that a version had in test, changed since or not: nothing new is asked of them."""

    @property
    def unclosed(self) -> dict[str, str]:
        """Works that are not closed -> the side beside whose works items of them are made and checked."""
        return {name: side for name, side in self.of.items() if name not in self.closed}

    @property
    def digest(self) -> str:
        """Changes with where any work belongs, and whether it is closed."""
        return digest([sorted(self.of.items()), sorted(self.closed)])


DEV, TEST = "dev", "test"
"""The sides of a blind benchmark."""


def side_names(build: Build) -> tuple[str, ...]:
    """The sides of a blind benchmark, and the one of an open benchmark, which has no name."""
    return ("",) if build.config.release.blind == "off" else (DEV, TEST)


def sides(build: Build) -> Sides | None:
    """Where every curated work belongs; None in an open benchmark, whose items are placed when all are made.

    Works that an earlier version closed stay in test, and what is of their group joins them there: works that
    were added since may have given the group another name.
    """
    if build.config.release.blind == "off":
        return None
    before = [
        [shard.digest for shard in build.stage(name).manifest().shards] for name in (NORMALIZED, CURATED)
    ]
    people = [row.model_dump(mode="json") for row in amendments_of(build)]
    # Worked out once per process: every stage from here on asks, and each closed record is read for it.
    state = digest([_state(build), before, people, build.config.release.test_share])
    return prepared("sides", state, lambda: _sides(build))


def _sides(build: Build) -> Sides:
    curated = build.stage(CURATED)
    found = {work(name) for shard in curated.shards() for name in _ids(curated, shard)}
    closed = frozenset(closed_works(build))
    groups = group_works(sorted(found | closed), tuple(curated.read_all("clusters", Cluster)))
    tested = {groups[row.work] for row in kept_of(build) if row.work in groups}
    share = build.config.release.test_share
    placed: dict[str, str] = {
        name: TEST if group in tested else split_of(group, share) for name, group in groups.items()
    }
    return Sides(placed, closed, frozenset(row.work for row in kept_of(build)))


class Part(NamedTuple):
    """What of a shard is made anew, and what is carried over."""

    of: Mapping[str, str]
    """Work that is not closed -> its side; empty in an open benchmark."""
    carried: frozenset[str] = frozenset()
    """Closed works, whose items stay as they were."""

    def on(self, side: str, items: Iterable[Item]) -> list[Item]:
        """The items of a side; all of an open benchmark, which has none."""
        if not side:
            return list(items)
        return [item for item in items if self.of.get(source_work(item), TEST) == side]


def parts(build: Build, placed: Sides | None) -> Callable[[str], Part]:
    """Gives what of each shard is made anew."""
    normalized, unclosed = build.stage(NORMALIZED), placed.unclosed if placed else {}

    def part(shard: str) -> Part:
        if placed is None:
            return Part({})
        names = {work(name) for name in _ids(normalized, shard)}
        mine = {name: unclosed[name] for name in sorted(names) if name in unclosed}
        return Part(mine, frozenset(names & placed.closed))

    return part


def _ids(stage: Stage, shard: str) -> list[str]:
    return [*stage.ids("poems", shard), *stage.ids("idioms", shard)]


def carried_items(build: Build, works: frozenset[str]) -> list[Item]:
    """The items of these works as they were made, but those of tasks that the config no longer names."""
    from mihakk.generators.task import TASKS

    if not works:
        return []
    tasks = {TASKS.get(use.use).name for use in build.config.tasks}
    return [item for item in _made(build) if item.task in tasks and source_work(item) in works]


def _made(build: Build) -> list[Item]:
    """Read once per process: every shard takes its own of them."""
    return prepared(
        "sealed items", _state(build), lambda: list(build.stage(RELEASED).read_all(ITEMS, ITEM_ROWS))
    )


def before_of(build: Build, placed: Sides | None) -> Before:
    """What a blind version heeds of those before it."""
    from mihakk.releases.release_facts import Before

    if placed is None or not placed.earlier:
        return Before()
    items = _made(build)
    corrected: dict[str, dict[str, frozenset[str]]] = {name: {} for name in placed.earlier - placed.closed}
    for item in items:
        if (about := source_work(item)) in corrected and not is_label(item):
            corrected[about][item.id] = sealed_marks(item.model_dump())
    together = {item.id: tuple(sorted(map(work, item.origin.records))) for item in items if is_label(item)}
    return Before(closed=placed.earlier, together=together, corrected=corrected)


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
    """Of the items that are as they were carried over, what the checks said of them then."""
    kept, found = prepared("sealed", _state(build), lambda: _kept_findings(build))
    return {
        item.id: found.get(item.id, [])
        for item in items
        if item.id in kept and content_hash(item) == kept[item.id].content_hash
    }


def _kept_findings(build: Build) -> tuple[dict[str, SealedItem], dict[str, list[Finding]]]:
    kept = {row.item: row for row in kept_of(build)}
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


def sealed_tables(build: Build) -> dict[str, tuple[Any, list[Any]]]:
    """What the lake keeps of the works that a version closes; nothing of an open benchmark.

    Raises:
        UsageError: A work's record can't be found by its id.
    """
    placed = sides(build)
    if placed is None:
        return {}
    from mihakk.releases.paper_trail.errata import CHECK

    works = frozenset(name for name, side in placed.of.items() if side == TEST)
    states = states_of(build, works)
    if lost := works - states.keys():
        raise UsageError(
            f"{len(lost)} works of the test split have no record of their id ({min(lost)}): an id of a blind "
            "benchmark must not end in a colon and digits, as those of couplets do. Rename the records"
        )

    made = build.stage(GENERATED).read_all("items", ITEM_ROWS)
    items = {item.id: item for item in made if source_work(item) in works}
    seen = build.stage(CHECKED)
    kept = [
        SealedItem(item=item.id, work=about, state=states[about], content_hash=content_hash(item))
        for item in seen.read_all("items", ITEM_ROWS)
        if item.id in items and (about := source_work(item))
    ]
    without = sorted(works - {row.work for row in kept})
    kept += [SealedItem(item="", work=name, state=states[name], content_hash="") for name in without]
    said = [one for one in seen.read_all("findings", Finding) if one.subject in items and one.check != CHECK]
    return {
        KEPT: (SealedItem, kept),
        ITEMS: (ITEM_ROWS, list(items.values())),
        FINDINGS: (Finding, said),
    }
