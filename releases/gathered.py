"""Everything a release is written from: items in their places, tables, papers, gates, and what is sealed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from mihakk.machinery.errors import UsageError
from mihakk.releases.content.apart import keep_apart
from mihakk.releases.content.blind import SPLIT as SCORED
from mihakk.releases.content.blind import Papers, Sealed, public_items, public_papers, public_votes, seal
from mihakk.releases.content.core import Core, core_of
from mihakk.releases.content.item_tables import Placed, Renders, item_schema, item_table, released_rows
from mihakk.releases.content.placement import place
from mihakk.releases.content.secret import blind_key
from mihakk.releases.gates import Gate, gates, require
from mihakk.releases.leaks import leaks_gate
from mihakk.releases.release_facts import ReleaseFacts
from mihakk.releases.versions.diff import Contents, Signature, table_signatures
from mihakk.schemas.benchmark import BenchmarkConfig
from mihakk.schemas.item import Item
from mihakk.schemas.rejection import Rejection

_NOTHING_SEALED = (
    "no question is left that a blind split can hold: each shares its texts with another, or an earlier "
    "version printed them with their golds (a benchmark that was open can't become blind). Add sources, or "
    "publish a blind one under a name of its own, of records that were never released"
)


@dataclass(frozen=True)
class ReleaseInput:
    """Everything a release is written from, version aside."""

    config: BenchmarkConfig
    facts: ReleaseFacts
    canary: str
    placed: Mapping[str, Mapping[str, list[Placed]]]
    """Config -> split -> items sorted by id."""
    tables: Mapping[str, Mapping[str, Any]]
    """Config -> split -> Arrow table, with no version yet."""
    papers: Papers
    """What is said of the items, released or not."""
    left_out: tuple[Rejection, ...]
    """Items that no split could hold; the papers name them among the removed."""
    gates: tuple[Gate, ...]
    """How the release stands to every condition."""
    core: Core | None
    """The balanced subset, where the config asks for one."""
    sealed: Sealed | None
    """The golds of a blind release; None where they stand beside the questions."""

    @property
    def released(self) -> list[Placed]:
        """All items in their places."""
        return [one for splits in self.placed.values() for each in splits.values() for one in each]


def gather(
    items: Sequence[Item],
    papers: Papers,
    *,
    config: BenchmarkConfig,
    facts: ReleaseFacts,
    canary: str,
    renders: Renders,
    earlier: Sequence[Path] = (),
) -> ReleaseInput:
    """Place the items, part what a blind release seals, and see how the release stands to its gates.

    `earlier` are the folders of all versions before it, which whoever attacks a blind release has too.

    Raises:
        UsageError: Something can't be released, or a blind release tells its golds.
    """
    placed, left_out = place(items, papers.verdicts, papers.resolutions, config, facts)
    key = None if config.release.blind == "off" else blind_key()
    printed: list[Mapping[str, Any]] = []
    if key is not None:
        printed = [row for folder in earlier for row in released_rows(folder)]
        placed, more = keep_apart(placed, key, SCORED, printed)
        left_out = (*left_out, *more)
        if not any(SCORED in splits for splits in placed.values()):
            raise UsageError(_NOTHING_SEALED)
    stands = gates(items, papers.verdicts, config, facts)
    papers = replace(papers, removed=(*papers.removed, *left_out))
    if key is not None:
        placed = public_items(placed, key)
    tables, sealed = _tables(placed, canary, renders), None
    if key is not None:
        sealed = seal(tables, config, key)
        names = {one.item.id for splits in placed.values() for each in splits.values() for one in each}
        opened = frozenset(names) - sealed.ids
        papers = public_papers(papers, key, sealed.ids, opened)
        facts = facts.model_copy(update=public_votes(facts.reviewed, facts.votes, key, opened))
        known = {record for item in items for record in item.origin.records}
        leaks = leaks_gate(sealed.tables, sealed.answers.to_pylist(), known, printed)
        require((leaks,))
        stands = (*stands, leaks)
    return ReleaseInput(
        config=config,
        facts=facts,
        canary=canary,
        placed=placed,
        tables=tables if sealed is None else sealed.tables,
        papers=papers,
        left_out=left_out,
        gates=stands,
        core=_core(placed, config),
        sealed=sealed,
    )


def _core(placed: Mapping[str, Mapping[str, list[Placed]]], config: BenchmarkConfig) -> Core | None:
    if config.release.core is None:
        return None
    return core_of((one for splits in placed.values() for one in splits.get(SCORED, ())), config.release.core)


def _tables(
    placed: Mapping[str, Mapping[str, list[Placed]]], canary: str, renders: Renders
) -> dict[str, dict[str, Any]]:
    tables = {}
    for name, splits in placed.items():
        schema = item_schema(name, [one.item for each in splits.values() for one in each], renders.further)
        tables[name] = {split: item_table(schema, each, canary, renders) for split, each in splits.items()}
    return tables


def contents_of(matter: ReleaseInput) -> Contents:
    """What the release before is compared with."""
    signatures: dict[str, Signature] = {}
    for name, splits in matter.tables.items():
        for split, table in splits.items():
            signatures |= table_signatures(table, name, split)
    return Contents(
        signatures, lambda: (table for splits in matter.tables.values() for table in splits.values())
    )


def reasons_of(matter: ReleaseInput) -> dict[str, str]:
    """Why an item that was there before may be gone."""
    names = {"flag": "awaiting_review", "block": "blocked_by_check"}
    said = {one.item: names[one.status] for one in matter.papers.verdicts if one.status in names}
    return said | {one.record: one.reason for one in matter.papers.removed}


def is_sealed(matter: ReleaseInput, split: str) -> bool:
    """Whether the golds of a split are elsewhere."""
    return matter.sealed is not None and split == SCORED
