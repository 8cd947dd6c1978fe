"""Assembling a release folder from reviewed items."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from generators import prompts
from mihakk.errors import UsageError
from releases import changelog as changelogs
from releases import papers
from releases.blind import SPLIT as SEALED_SPLIT
from releases.blind import Sealed, seal, without_hints, write_answers
from releases.canary import canary_guid
from releases.card import CardMatter, SplitSummary, card, code_version
from releases.checksum import MANIFEST, file_digest, read_manifest, write_manifest
from releases.citation import citation
from releases.croissant import croissant
from releases.diff import (
    Contents,
    ReleaseDiff,
    Signature,
    compare,
    folder_contents,
    release_version,
    table_signatures,
)
from releases.export.tasks import ConfigFiles, write_lighteval, write_lm_eval
from releases.facts import ReleaseFacts
from releases.placement import KEPT, place
from releases.statistics import write_charts
from releases.tables import (
    AnyItem,
    Placed,
    Render,
    data_files,
    hub_features,
    item_schema,
    item_table,
    with_version,
    write_split,
)
from releases.version import Version, choose
from schemas.audit import Audit, Verdict
from schemas.benchmark import BenchmarkConfig
from schemas.finding import Finding
from schemas.rejection import Rejection
from schemas.review import Resolution


@dataclass(frozen=True)
class AssembledRelease:
    """A release folder that is whole and matches its manifest."""

    name: str
    version: str
    folder: Path
    rows: Mapping[str, Mapping[str, int]]
    """Config -> split -> rows."""
    digests: Mapping[str, str]
    """Path -> sha256."""
    diff: ReleaseDiff | None
    """Changes since the release before; None for the first."""
    unchanged: bool = False
    """Byte for byte the release before."""
    left_out: tuple[Rejection, ...] = ()
    """Items that no split could hold: dev would have shown what test asks."""
    answers: AssembledRelease | None = None
    """The golds of a blind release that go to a repository of their own."""

    @property
    def items(self) -> int:
        """Items in the release."""
        return sum(sum(splits.values()) for splits in self.rows.values())


@dataclass(frozen=True)
class _Matter:
    """Everything a release is written from, version aside."""

    config: BenchmarkConfig
    facts: ReleaseFacts
    placed: Mapping[str, Mapping[str, list[Placed]]]
    """Config -> split -> items sorted by id."""
    tables: Mapping[str, Mapping[str, Any]]
    """Config -> split -> Arrow table, with no version yet."""
    verdicts: Sequence[Verdict]
    audits: Sequence[Audit]
    findings: Sequence[Finding]
    resolutions: Sequence[Resolution]
    removed: Sequence[Rejection]
    left_out: tuple[Rejection, ...]
    """Of those, the items that no split could hold."""
    sealed: Sealed | None
    """The golds of a blind release; None where they stand beside the questions."""


def assemble(  # noqa: PLR0917 (the stage's tables, in the pipeline's order)
    items: Iterable[AnyItem],
    verdicts: Iterable[Verdict],
    audits: Iterable[Audit],
    findings: Iterable[Finding],
    resolutions: Iterable[Resolution],
    removed: Iterable[Rejection],
    config: BenchmarkConfig,
    facts: ReleaseFacts,
    folder: Path,
    *,
    previous: Path | None = None,
    render: Render | None = None,
) -> AssembledRelease:
    """Write a release into a fresh folder; equal arguments give equal bytes.

    Args:
        items: The items to release, corrections already applied.
        verdicts: Of every item made, released or not.
        audits: Both auditors' opinions.
        findings: The checks' objections.
        resolutions: What people's decisions came to.
        removed: Items made or released once and left out now, each with its reason.
        config: The benchmark; `config.release.version` may be `auto`.
        facts: How the items came to be.
        folder: Must not exist or be empty.
        previous: Folder of the release before, for version, changelog and the card's human text.
        render: Prompt of an item; the generators' own by default.

    Raises:
        UsageError: An item without a known licence, a flagged item nobody kept, two items of one id, a
            version too low for the changes, a folder that is not empty.
    """
    if folder.exists() and any(folder.iterdir()):
        raise UsageError(f"{folder} is not empty: a release is assembled into a fresh folder")
    matter = _gather(
        tuple(items),
        verdicts=tuple(verdicts),
        audits=tuple(audits),
        findings=tuple(findings),
        resolutions=tuple(resolutions),
        removed=tuple(removed),
        config=config,
        facts=facts,
        render=render or prompts.render,
    )
    if previous is None:
        version = str(choose(config.release.version, None, "none"))
        return _write(matter, version, folder, None, None)
    before = release_version(previous)
    changes = compare(folder_contents(previous), _contents(matter), _reasons(matter), (before, ""))
    level = changes.level
    if level == "none":
        same = _write(_made_with_the_code_of(previous, matter), before, folder, previous, None)
        level = "none" if same.unchanged else "patch"
        if level == "none" and config.release.version in ("auto", before):
            return same
        shutil.rmtree(folder)
    version = str(choose(config.release.version, Version.parse(before), level))
    return _write(matter, version, folder, previous, changes)


def _made_with_the_code_of(previous: Path, matter: _Matter) -> _Matter:
    """Newer code that makes the same release is no reason for a version of its own."""
    version = code_version((previous / "README.md").read_text(encoding="utf-8"))
    if version is None:
        return matter
    return replace(matter, facts=matter.facts.model_copy(update={"code_version": version}))


def _gather(
    items: Sequence[AnyItem],
    *,
    verdicts: tuple[Verdict, ...],
    audits: tuple[Audit, ...],
    findings: tuple[Finding, ...],
    resolutions: tuple[Resolution, ...],
    removed: tuple[Rejection, ...],
    config: BenchmarkConfig,
    facts: ReleaseFacts,
    render: Render,
) -> _Matter:
    placed, left_out = place(items, verdicts, resolutions, config, facts)
    tables = _tables(placed, canary_guid(config.name), render)
    sealed = None if config.release.blind == "off" else seal(tables, config)
    if sealed is not None:
        audits, findings = without_hints(audits, findings, sealed.ids)
    return _Matter(
        config=config,
        facts=facts,
        placed=placed,
        tables=tables if sealed is None else sealed.tables,
        verdicts=verdicts,
        audits=audits,
        findings=findings,
        resolutions=resolutions,
        removed=(*removed, *left_out),
        left_out=left_out,
        sealed=sealed,
    )


def _tables(
    placed: Mapping[str, Mapping[str, list[Placed]]], canary: str, render: Render
) -> dict[str, dict[str, Any]]:
    tables = {}
    for name, splits in placed.items():
        schema = item_schema(name, [one.item for each in splits.values() for one in each])
        tables[name] = {split: item_table(schema, each, canary, render) for split, each in splits.items()}
    return tables


def _contents(matter: _Matter) -> Contents:
    signatures: dict[str, Signature] = {}
    for name, splits in matter.tables.items():
        for split, table in splits.items():
            signatures |= table_signatures(table, name, split)
    return Contents(
        signatures, lambda: (table for splits in matter.tables.values() for table in splits.values())
    )


def _reasons(matter: _Matter) -> dict[str, str]:
    waiting = {one.item: "awaiting_review" for one in matter.verdicts if one.status == "flag"}
    blocked = {one.item: "blocked_by_check" for one in matter.verdicts if one.status == "block"}
    return waiting | blocked | {one.record: one.reason for one in matter.removed}


def _write(
    matter: _Matter, version: str, folder: Path, previous: Path | None, changes: ReleaseDiff | None
) -> AssembledRelease:
    """Write the whole folder; with `previous` and no `changes` the papers are those of the version before."""
    folder.mkdir(parents=True, exist_ok=True)
    config, facts = matter.config, matter.facts
    summaries = _write_items(matter, version, folder)
    items = sum(one.rows for one in summaries)
    errata = _write_papers(matter, folder, previous, changes)
    answers = None
    if matter.sealed is not None:
        answers = write_answers(matter.sealed, config, version, folder, previous)
    _write_history(folder, version, items, previous, changes)
    data = {path.relative_to(folder).as_posix(): file_digest(path) for _, _, path in data_files(folder)}
    _write_exports(matter, version, folder, data)
    (folder / "CITATION.cff").write_text(citation(config, facts, version), encoding="utf-8")
    (folder / "croissant.json").write_bytes(croissant(config, facts, version, folder, data))
    human = facts.card or (_text(previous / "README.md") if previous else "")
    (folder / "README.md").write_text(
        card(_card_matter(matter, version, summaries, errata, folder), human), encoding="utf-8"
    )
    digests = write_manifest(folder)
    rows: dict[str, dict[str, int]] = {}
    for one in summaries:
        rows.setdefault(one.config, {})[one.split] = one.rows
    return AssembledRelease(
        name=config.name,
        version=version,
        folder=folder,
        rows=rows,
        digests=digests,
        diff=changes,
        unchanged=previous is not None
        and (previous / MANIFEST).is_file()
        and read_manifest(previous) == digests,
        left_out=matter.left_out,
        answers=_answers_release(config.name, version, answers) if answers and answers.is_dir() else None,
    )


def _answers_release(name: str, version: str, folder: Path) -> AssembledRelease:
    table = next(path for _, _, path in data_files(folder))
    return AssembledRelease(
        name=f"{name}-answers",
        version=version,
        folder=folder,
        rows={"answers": {"test": pq.read_metadata(table).num_rows}},
        digests=read_manifest(folder),
        diff=None,
    )


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8") if path.is_file() else ""


def _write_items(matter: _Matter, version: str, folder: Path) -> list[SplitSummary]:
    summaries = []
    for name, splits in matter.placed.items():
        for split, placed in splits.items():
            table = matter.tables[name][split]
            files = write_split(with_version(table, version), folder / name, split)
            metadata: dict[str, Counter[str]] = {}
            for one in placed:
                for field, value in one.item.metadata.items():
                    metadata.setdefault(field, Counter())[value] += 1
            summaries.append(
                SplitSummary(
                    config=name,
                    split=split,
                    kind=placed[0].item.kind,
                    rows=len(placed),
                    bytes=sum(path.stat().st_size for path in files),
                    features=hub_features(table.schema),
                    licences=Counter(one.item.licence for one in placed),
                    metadata=metadata,
                )
            )
    return summaries


def _write_exports(matter: _Matter, version: str, folder: Path, digests: Mapping[str, str]) -> None:
    files: dict[str, dict[str, dict[str, str]]] = {}
    for name, split, path in data_files(folder):
        where = path.relative_to(folder).as_posix()
        if matter.sealed is None or split != SEALED_SPLIT:
            files.setdefault(name, {}).setdefault(split, {})[where] = digests[where]
    kinds = {name: next(iter(splits.values()))[0].item.kind for name, splits in matter.placed.items()}
    configs = [ConfigFiles(name, kinds[name], splits) for name, splits in files.items()]
    write_lm_eval(matter.config.name, version, configs, folder)
    write_lighteval(folder)


def _write_papers(
    matter: _Matter, folder: Path, previous: Path | None, changes: ReleaseDiff | None
) -> list[papers.Erratum]:
    released = {one.item.id for splits in matter.placed.values() for each in splits.values() for one in each}
    papers.write_verdicts(
        matter.verdicts, matter.resolutions, released, folder / "audit" / "verdicts.parquet"
    )
    papers.write_scores(matter.audits, folder / "audit" / "scores.parquet")
    papers.write_findings(matter.findings, folder / "audit" / "findings.parquet")
    errata = papers.errata(matter.removed, released, previous, changes)
    papers.write_removed(errata, folder / "errata" / "removed.parquet")
    return errata


def _write_history(
    folder: Path, version: str, items: int, previous: Path | None, changes: ReleaseDiff | None
) -> None:
    changed_file = folder / "errata" / "changes.parquet"
    log = folder / "CHANGELOG.md"
    if previous is None:
        log.write_text(changelogs.prepend(changelogs.first_section(version, items), ""), encoding="utf-8")
    elif changes is None:
        log.write_text(_text(previous / "CHANGELOG.md"), encoding="utf-8")
        if (previous / "errata" / "changes.parquet").is_file():
            shutil.copyfile(previous / "errata" / "changes.parquet", changed_file)
    else:
        text = changelogs.prepend(changelogs.section(version, changes), _text(previous / "CHANGELOG.md"))
        log.write_text(text, encoding="utf-8")
        papers.write_changes(changes, changed_file)


def _card_matter(
    matter: _Matter,
    version: str,
    summaries: Sequence[SplitSummary],
    errata: Sequence[papers.Erratum],
    folder: Path,
) -> CardMatter:
    placed = [one for splits in matter.placed.values() for each in splits.values() for one in each]
    removed = Counter(one.reason for one in errata)
    return CardMatter(
        config=matter.config,
        facts=matter.facts,
        version=version,
        splits=summaries,
        statuses=Counter(one.status for one in matter.verdicts),
        audited=sum(one.audited for one in placed),
        reviewed=sum(one.verdict in KEPT for one in placed),
        removed=removed,
        charts=write_charts(
            folder,
            splits=summaries,
            placed=placed,
            audits=matter.audits,
            removed=removed,
            facts=matter.facts,
        ),
    )
