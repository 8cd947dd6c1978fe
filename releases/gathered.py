"""Everything a release is written from: items in their places, tables, papers, gates, and what is sealed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from mihakk.machinery.errors import UsageError
from mihakk.machinery.groups import components
from mihakk.machinery.settings import REFERENCE, SAMPLES
from mihakk.releases.content.apart import Places, keep_apart, not_held, without
from mihakk.releases.content.blind import SPLIT as SCORED
from mihakk.releases.content.blind import Papers, public_items, public_papers, seal, told_items
from mihakk.releases.content.core import Core, core_of
from mihakk.releases.content.item_tables import (
    BATCH_ROWS,
    Placed,
    Renders,
    item_schema,
    item_table,
    released_rows,
    with_ability,
)
from mihakk.releases.content.placement import LIKE_TEST, place
from mihakk.releases.content.seals import WAITS, Seals, row_tells
from mihakk.releases.content.secret import blind_key, public_id
from mihakk.releases.content.split import alike, set_of
from mihakk.releases.gates import Gate, gates, require
from mihakk.releases.leaks import Elsewhere, leaks_gate
from mihakk.releases.lookups import look_up
from mihakk.releases.printed import printed_digests, rows_of
from mihakk.releases.release_facts import Before, ReleaseFacts
from mihakk.releases.told import beside_seals, told_facts, told_gates
from mihakk.releases.versions.diff import Contents, Signature, table_signatures
from mihakk.schemas.benchmark import BenchmarkConfig
from mihakk.schemas.blind import RANKED
from mihakk.schemas.item import ChoiceItem, Item
from mihakk.schemas.rejection import Rejection

_NOTHING_SEALED = (
    "no question is left that a blind split can hold: each shares its texts with another, or an earlier "
    "version, another benchmark of this hub or this repository's data printed them with their golds (what "
    "was open can't become blind). Add sources whose records were never released"
)


@dataclass(frozen=True)
class ReleaseInput:
    """Everything a release is written from, version aside."""

    config: BenchmarkConfig
    facts: ReleaseFacts
    canary: str
    placed: Places
    """Config -> split -> items sorted by id, as all may see them: sealed ones without what is sealed."""
    tables: Mapping[str, Mapping[str, Any]]
    """Config -> split -> Arrow table, with no version yet; of an open release made each time it is read."""
    papers: Papers
    """What is said of the items, released or not; of a blind release, of those with open golds."""
    reasons: Mapping[str, str]
    """Why an item that was there before may be gone."""
    left_out: tuple[Rejection, ...]
    """Items that no split could hold; the papers name them among the removed."""
    gates: tuple[Gate, ...]
    """How the release stands to every condition."""
    core: Core | None
    """The balanced subset, where the config asks for one."""
    answers: Any | None
    """The golds of a blind release; None where they stand beside the questions."""
    ranked_groups: int
    """Groups of its test split that a blind board would rank."""
    hub: Seals
    """What the benchmarks of the hub have sealed."""
    seals: frozenset[str] = frozenset()
    """Fingerprints of the sealed texts."""
    poems: frozenset[str] = frozenset()
    """What stands for the poems whose labels the open items show."""

    @property
    def released(self) -> Iterator[Placed]:
        """All items in their places."""
        return (one for splits in self.placed.values() for each in splits.values() for one in each)


def gather(
    items: Sequence[Item],
    papers: Papers,
    *,
    config: BenchmarkConfig,
    facts: ReleaseFacts,
    canary: str,
    renders: Renders,
    earlier: Sequence[Path] = (),
    siblings: Sequence[Path] = (),
    seals: Seals | None = None,
) -> ReleaseInput:
    """Place the items, part what a blind release seals, and see how the release stands to its gates.

    `earlier` are the folders of all versions before it, and `siblings` those of other benchmarks, which
    whoever attacks a blind release has too. `seals` says what is sealed and printed elsewhere.

    Raises:
        UsageError: Something can't be released, or a blind release tells its golds.
    """
    placed: Places
    key = None if config.release.blind == "off" else blind_key()
    versions = [list(released_rows(folder)) for folder in earlier] if key else []
    printed = [row for rows in versions for row in rows]
    sealed = any(row["sealed"] for row in printed)
    placed, left_out = place(items, papers.verdicts, papers.resolutions, config, facts)
    seals = seals or Seals(key=key or b"")
    placed, waiting = _without_waiting(
        placed, seals, lambda: _tables(_as_told(placed, config, key), canary, renders), key
    )
    left_out = (*left_out, *waiting)
    marks = frozenset[str]()
    if key is not None:
        own = Seals(printed=(printed_digests(earlier),))
        before = facts.before if sealed else Before()
        near = alike(facts.clusters)
        placed, more = keep_apart(placed, key, SCORED, versions, seals, own=own, before=before, alike=near)
        left_out = (*left_out, *more)
        test = [one.item for splits in placed.values() for one in splits.get(SCORED, ())]
        marks = marks.union(*map(seals.marks, test))
        like = _telling(
            placed, seals, marks, lambda some: _tables(some, canary, renders), config=config, key=key
        )
        placed, left_out = without(placed, like), (*left_out, *not_held(like))
        if not any(SCORED in splits for splits in placed.values()):
            raise UsageError(_NOTHING_SEALED)
    shown = [
        each for splits in placed.values() for split, each in splits.items() if key is None or split != SCORED
    ]
    poems = frozenset[str]().union(*(seals.poem(one.item) for each in shown for one in each))
    stands = gates(items, papers.verdicts, config, facts)
    papers = replace(papers, removed=(*papers.removed, *left_out))
    reasons = _reasons(papers, key)
    answers, ranked = None, frozenset[str]()
    if key is None and seals.others:
        papers, facts = beside_seals(papers, facts, frozenset(one.item.id for each in shown for one in each))
    if key is not None:
        placed = public_items(placed, key)
        answers = seal(_tables(placed, canary, renders), config)
        groups = _groups(placed)
        # What is told is made of these, which lack what is sealed.
        placed = told_items(placed, config, key)
        opened = [
            one.item for splits in placed.values() for each in splits.values() for one in each if not one.seal
        ]
        papers = public_papers(papers, key, frozenset(one.id for one in opened))
        facts = told_facts(facts, [one.item for each in shown for one in each], papers, key)
        stands = told_gates(stands, opened, papers, config, facts)
    tables = _tables(placed, canary, renders)
    if answers is not None:
        tables = {name: dict(splits) for name, splits in tables.items()}
        known = {record for item in items for record in item.origin.records}
        elsewhere = _elsewhere(tables, siblings, [Path(name) for name in config.release.lookups])
        leaks, abilities = leaks_gate(tables, answers.to_pylist(), known, printed, elsewhere)
        require((leaks,))
        tables, stands = with_ability(tables, abilities), (*stands, leaks)
        skill = [
            name
            for name, ability in abilities.items()
            if ability == "skill" and _kind(placed, name) in RANKED
        ]
        ranked = ranked.union(*(groups[name] for name in skill))
    return ReleaseInput(
        config=config,
        facts=facts,
        canary=canary,
        placed=placed,
        tables=tables,
        papers=papers,
        reasons=reasons,
        left_out=left_out,
        gates=stands,
        core=_core(placed, config),
        answers=answers,
        ranked_groups=len(ranked),
        hub=seals,
        seals=marks,
        poems=poems,
    )


def _groups(placed: Places) -> dict[str, set[str]]:
    """Config -> what its sealed questions hang together by: works that are alike, labels asked together."""
    asked = [(name, one) for name, splits in placed.items() for one in splits.get(SCORED, ())]
    linked = components(
        (one.group, set_of(getattr(one.item, "option_kinds", ()), one.item.origin.records) or one.group)
        for _, one in asked
    )
    found: dict[str, set[str]] = defaultdict(set)
    for (name, _), group in zip(asked, linked, strict=True):
        found[name].add(group)
    return found


def _kind(placed: Mapping[str, Mapping[str, Sequence[Placed]]], config: str) -> str:
    return next(one.item.kind for each in placed[config].values() for one in each)


def _reasons(papers: Papers, key: bytes | None) -> dict[str, str]:
    """Why an item that was there before may be gone, by its id in a release."""
    names = {"flag": "awaiting_review", "block": "blocked_by_check"}
    said = {one.item: names[one.status] for one in papers.verdicts if one.status in names}
    said |= {one.record: one.reason for one in papers.removed}
    return said if key is None else {public_id(key, name): reason for name, reason in said.items()}


def _elsewhere(
    tables: Mapping[str, Mapping[str, Any]], siblings: Sequence[Path], sources: Sequence[Path]
) -> Elsewhere:
    """What attackers find beside the versions of a release."""
    rows = [
        row for splits in tables.values() for row in (splits[SCORED].to_pylist() if SCORED in splits else ())
    ]
    return Elsewhere(
        siblings=[row for folder in siblings for row in rows_of(folder)],
        own_data=look_up(rows, (SAMPLES, REFERENCE)),
        lookups=look_up(rows, sources),
    )


def _as_told(placed: Places, config: BenchmarkConfig, key: bytes | None) -> Places:
    return placed if key is None else told_items(public_items(placed, key), config, key)


def _with_rows(
    placed: Places, tables: Mapping[str, Mapping[str, Any]], key: bytes | None
) -> Iterator[tuple[Item, Mapping[str, Any]]]:
    """Items with their rows as published, where cells beside each other may make a sealed text."""
    every = {
        one.item.id if key is None else public_id(key, one.item.id): one.item
        for splits in placed.values()
        for each in splits.values()
        for one in each
    }
    for splits in tables.values():
        for table in splits.values():
            for batch in table.to_batches(BATCH_ROWS):
                for row in batch.to_pylist():
                    yield every[row["id"]], row


def _telling(
    placed: Places,
    seals: Seals,
    marks: frozenset[str],
    tables: Callable[[Places], Mapping[str, Mapping[str, Any]]],
    *,
    config: BenchmarkConfig,
    key: bytes,
) -> dict[str, str]:
    """Open items that tell of what this benchmark seals, now (`marks`) or before, in any of their orders."""
    opened: Places = {
        name: some
        for name, splits in placed.items()
        if (some := {split: each for split, each in splits.items() if split != SCORED})
    }
    found, orders = set[str](), defaultdict[str, set[str]](set)
    for item, row in _with_rows(opened, tables(_as_told(opened, config, key)), key):
        name = (isinstance(item, ChoiceItem) and item.pair_id) or item.id
        orders[name].add(item.id)
        shows = row_tells(row) | seals.poem(item)
        if not marks.isdisjoint(shows) or seals.has_sealed(shows):
            found.add(name)
    return {one: LIKE_TEST for name in found for one in orders[name]}


def _without_waiting(
    placed: Places, seals: Seals, tables: Callable[[], Mapping[str, Mapping[str, Any]]], key: bytes | None
) -> tuple[Places, list[Rejection]]:
    """The items without those whose texts a blind release of the hub keeps sealed."""
    if not seals.others:
        return placed, []
    waiting = seals.waiting(_with_rows(placed, tables(), key))
    every = sum(len(each) for splits in placed.values() for each in splits.values())
    if len(waiting) == every:
        raise UsageError(
            f"nothing can be released: all {every} items wait for the end of a seal "
            f"({', '.join(sorted(set(waiting.values())))}; `mihakk seal end` when its golds may be told)"
        )
    return without(placed, waiting), [
        Rejection(record=item, reason=WAITS, detail=f"its text is sealed by {other}")
        for item, other in sorted(waiting.items())
    ]


def _core(placed: Places, config: BenchmarkConfig) -> Core | None:
    if config.release.core is None:
        return None
    return core_of((one for splits in placed.values() for one in splits.get(SCORED, ())), config.release.core)


def _tables(placed: Places, canary: str, renders: Renders) -> Mapping[str, Mapping[str, Any]]:
    return {name: _Tables(name, splits, canary, renders) for name, splits in placed.items()}


class _Tables(Mapping[str, Any]):
    """Split -> table of one config, made whenever it is asked for: only one need be in memory."""

    def __init__(
        self, config: str, splits: Mapping[str, Sequence[Placed]], canary: str, renders: Renders
    ) -> None:
        items = (one.item for each in splits.values() for one in each)
        self._schema = item_schema(config, items, renders.further)
        self._splits, self._canary, self._renders = splits, canary, renders

    def __getitem__(self, split: str) -> Any:
        return item_table(self._schema, self._splits[split], self._canary, self._renders)

    def __iter__(self) -> Iterator[str]:
        return iter(self._splits)

    def __len__(self) -> int:
        return len(self._splits)


def contents_of(matter: ReleaseInput) -> Contents:
    """What the release before is compared with."""
    signatures: dict[str, Signature] = {}
    for name, splits in matter.tables.items():
        for split, table in splits.items():
            signatures |= table_signatures(table, name, split)
    return Contents(
        signatures, lambda: (table for splits in matter.tables.values() for table in splits.values())
    )
