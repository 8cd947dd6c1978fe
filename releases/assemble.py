"""Assembling a release folder from reviewed items."""

from __future__ import annotations

import shutil
import warnings
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from mihakk.generators import prompts
from mihakk.generators.abilities import ability_of
from mihakk.machinery.errors import MihakkWarning, UsageError
from mihakk.releases.card.card import card, code_version
from mihakk.releases.card.citation import citation
from mihakk.releases.card.croissant import croissant
from mihakk.releases.card.matter import CardMatter, SplitSummary
from mihakk.releases.card.statistics import write_charts
from mihakk.releases.content.blind import SPLIT as SCORED
from mihakk.releases.content.blind import Papers, write_answers
from mihakk.releases.content.canary import canary_guid
from mihakk.releases.content.checksum import MANIFEST, file_digest, read_manifest, write_manifest
from mihakk.releases.content.core import write_core
from mihakk.releases.content.item_tables import Render, Renders, data_files, with_version, write_split
from mihakk.releases.content.seals import Seals, row_tells
from mihakk.releases.export.tasks import write_tasks
from mihakk.releases.gathered import ReleaseInput, contents_of, gather
from mihakk.releases.paper_trail import audit_tables as tables
from mihakk.releases.paper_trail.gate_record import GateRecord, gate_record, write_gate_record
from mihakk.releases.release_facts import ReleaseFacts
from mihakk.releases.versions import changelog as changelogs
from mihakk.releases.versions import withdrawal
from mihakk.releases.versions.diff import ReleaseDiff, compare, folder_contents, release_version
from mihakk.releases.versions.version import Version, choose
from mihakk.schemas.audit import Audit, Verdict
from mihakk.schemas.benchmark import BenchmarkConfig
from mihakk.schemas.blind import LEAST_GROUPS
from mihakk.schemas.finding import Finding
from mihakk.schemas.item import Item
from mihakk.schemas.record import Language
from mihakk.schemas.rejection import Rejection
from mihakk.schemas.review import Resolution


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
    seals: frozenset[str] = frozenset()
    """Fingerprints of the texts that a blind release seals; for the hub's registry alone."""
    poems: frozenset[str] = frozenset()
    """What stands for the poems whose labels it prints; likewise."""
    contributed: bool = False
    """Others could add to what it is made of."""

    @property
    def has_answers(self) -> bool:
        """Whether golds are apart, in the release or beside it."""
        return self.answers is not None or any(path.startswith("answers/") for path in self.digests)

    @property
    def items(self) -> int:
        """Items in the release."""
        return sum(sum(splits.values()) for splits in self.rows.values())


def assemble(  # noqa: PLR0917 (the stage's tables, in the pipeline's order)
    items: Iterable[Item],
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
    earlier: Sequence[Path] = (),
    siblings: Sequence[Path] = (),
    seals: Seals | None = None,
    render: Render | None = None,
) -> AssembledRelease:
    """Write a release into a fresh folder; equal arguments give equal bytes.

    Args:
        items: To be released, with their corrections.
        verdicts: Gone through several times, as audits and findings are: rows read anew need no memory.
        removed: Items made or released once and left out now, each with its reason.
        folder: Must not exist or be empty.
        previous: Folder of the release before, for version, changelog and the card's human text.
        earlier: Folders of the versions before that one, which a blind release must not be told by.
        siblings: Folders of all versions of other benchmarks, likewise.
        seals: What the hub has sealed and printed; nothing by default.
        render: Prompt of an item; the generators' own by default.

    Raises:
        UsageError: An item without a known licence, a flagged item nobody kept, two items of one id, a
            version too low for the changes, the items of a withdrawn version, a folder that is not empty, a
            blind release that tells golds.
    """
    if folder.exists() and any(folder.iterdir()):
        raise UsageError(f"{folder} is not empty: a release is assembled into a fresh folder")
    matter = gather(
        items if isinstance(items, Sequence) else tuple(items),
        Papers(verdicts, audits, findings, tuple(resolutions), tuple(removed)),
        config=config,
        facts=facts,
        canary=canary_guid(config, previous),
        renders=renderers(config) if render is None else Renders(render),
        earlier=(*earlier, *(() if previous is None else (previous,))),
        siblings=siblings,
        seals=seals,
    )
    if previous is None:
        version = str(choose(config.release.version, None, "none"))
        return _write(matter, version, folder, None, None)
    before = release_version(previous)
    changes = compare(folder_contents(previous), contents_of(matter), matter.reasons, (before, ""))
    level = changes.level
    if level == "none":
        _refuse_withdrawn_items(config.name, before, facts)
        same = _write(_made_with_the_code_of(previous, matter), before, folder, previous, None)
        level = "none" if same.unchanged else "patch"
        if level == "none" and config.release.version in ("auto", before):
            return same
        shutil.rmtree(folder)
    version = str(choose(config.release.version, Version.parse(before), level))
    return _write(matter, version, folder, previous, changes)


def _refuse_withdrawn_items(name: str, before: str, facts: ReleaseFacts) -> None:
    found = withdrawal.of_version(facts.withdrawn, before)
    if found is not None:
        raise UsageError(
            f"{name} {before} was withdrawn ({found.why}) and these tables hold the very same items: "
            "correct the sources, the config or people's decisions, then build again"
        )


def _made_with_the_code_of(previous: Path, matter: ReleaseInput) -> ReleaseInput:
    """Newer code that makes the same release is no reason for a version of its own."""
    version = code_version((previous / "README.md").read_text(encoding="utf-8"))
    if version is None:
        return matter
    return replace(matter, facts=matter.facts.model_copy(update={"code_version": version}))


def renderers(config: BenchmarkConfig) -> Renders:
    """The config's own words, in the languages it asks in."""
    words = prompts.prompts_of(config.prompts)

    def asked(language: Language | None) -> Render:
        return lambda item, own: words.render(item, language or own)

    named = config.prompt_languages
    return Renders(
        asked(named[0] if named else None),
        {language: asked(language) for language in named} if len(named) > 1 else {},
    )


def _write(
    matter: ReleaseInput, version: str, folder: Path, previous: Path | None, changes: ReleaseDiff | None
) -> AssembledRelease:
    """Write the whole folder; with `previous` and no `changes` the papers are those of the version before."""
    folder.mkdir(parents=True, exist_ok=True)
    config, facts = matter.config, matter.facts
    summaries = _write_items(matter, version, folder)
    items = sum(one.rows for one in summaries)
    errata = _write_papers(matter, folder, previous, changes)
    record = gate_record(matter.gates, facts, version, previous, contributed=config.contributed)
    write_gate_record(record, folder)
    answers = None
    if matter.answers is not None:
        answers = write_answers(matter.answers, config, version, folder, previous)
    changelogs.write_history(folder, version, items, previous, changes, withdrawn=facts.withdrawn)
    withdrawal.write(facts.withdrawn, folder)
    if changes is not None:
        tables.write_changes(changes, folder / changelogs.CHANGES)
    if matter.core is not None:
        write_core(matter.core, matter.tables, SCORED, version, folder)
    data = {path.relative_to(folder).as_posix(): file_digest(path) for _, _, path in data_files(folder)}
    _write_exports(matter, version, folder)
    (folder / "CITATION.cff").write_text(citation(config, facts, version), encoding="utf-8")
    (folder / "croissant.json").write_bytes(croissant(config, facts, version, folder, data))
    human = facts.card or (_text(previous / "README.md") if previous else "")
    (folder / "README.md").write_text(
        card(_card_matter(matter, summaries, errata, record, folder), human), encoding="utf-8"
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
        seals=matter.seals,
        poems=matter.poems,
        contributed=config.contributed,
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


def _write_items(matter: ReleaseInput, version: str, folder: Path) -> list[SplitSummary]:
    summaries = []
    for name, splits in matter.placed.items():
        for split, placed in splits.items():
            table = matter.tables[name][split]
            write_split(with_version(table, version), folder / name, split)
            metadata: dict[str, Counter[str]] = {}
            places, licences = Counter[tuple[str, str]](), Counter[str]()
            for one in placed:
                described = one.item.metadata
                for field, value in described.items():
                    metadata.setdefault(field, Counter())[value] += 1
                places[described.get("era", ""), described.get("genre", "")] += 1
                if not one.seal:
                    licences[one.item.licence] += 1
            summaries.append(
                SplitSummary(
                    config=name,
                    split=split,
                    kind=placed[0].item.kind,
                    rows=len(placed),
                    ability=table.column("ability")[0].as_py()
                    if "ability" in table.column_names
                    else ability_of(placed[0].item.task),
                    licences=licences,
                    metadata=metadata,
                    era_genre=places,
                    first=table.slice(0, 1).to_pylist()[0],
                )
            )
    return summaries


def _write_exports(matter: ReleaseInput, version: str, folder: Path) -> None:
    write_tasks(
        matter.config.name,
        version,
        {name: next(iter(splits.values()))[0].item.kind for name, splits in matter.placed.items()},
        folder,
        code_version=matter.facts.code_version,
        core=() if matter.core is None else matter.core.fact.rows,
        sealed="" if matter.answers is None else SCORED,
    )


def _write_papers(
    matter: ReleaseInput, folder: Path, previous: Path | None, changes: ReleaseDiff | None
) -> list[tables.Erratum]:
    released = {one.item.id for one in matter.released}
    said, audit = matter.papers, folder / "audit"
    tables.write_verdicts(said.verdicts, said.resolutions, released, audit / "verdicts.parquet")

    def shown(text: str) -> str:
        """The text, or that it quotes what is sealed."""
        if not text or not (matter.seals or matter.hub.sealed):
            return text
        row = {"": text}
        own = "" if matter.seals.isdisjoint(row_tells(row)) else matter.config.name
        told = own or matter.hub.quoted(row)
        return f"withheld: quotes what {told} sealed" if told else text

    def untold(said: Any) -> Any:
        return said.model_copy(update={"detail": shown(said.detail)})

    def as_audited(said: Audit) -> Audit:
        issues = tuple(one.model_copy(update={"explanation": shown(one.explanation)}) for one in said.issues)
        return said.model_copy(update={"issues": issues, "problem": shown(said.problem)})

    # Gone through twice.
    audits = tuple(map(as_audited, said.audits)) if matter.seals or matter.hub.sealed else said.audits
    tables.write_scores(audits, audit / "scores.parquet")
    tables.write_findings(map(untold, said.findings), audit / "findings.parquet")
    tables.write_review(matter.facts.reviewed, matter.facts.votes, audit)
    errata = tables.errata(
        map(untold, said.removed), released, previous, changes, blind=matter.answers is not None
    )
    tables.write_removed(errata, folder / "errata" / "removed.parquet")
    return errata


def _card_matter(
    matter: ReleaseInput,
    summaries: Sequence[SplitSummary],
    errata: Sequence[tables.Erratum],
    record: GateRecord,
    folder: Path,
) -> CardMatter:
    removed = Counter(one.reason for one in errata)
    charts = write_charts(
        folder,
        splits=summaries,
        audits=matter.papers.audits,
        removed=removed,
        facts=matter.facts,
    )
    made = CardMatter(matter, record.version, summaries, removed, record.overrides, charts)
    if matter.answers is not None and matter.ranked_groups < LEAST_GROUPS:
        warnings.warn(
            f"{matter.config.name} {record.version}: no blind board can be held over it, as its test split "
            f"has {matter.ranked_groups} groups of ranked questions, and two halves take {LEAST_GROUPS}",
            MihakkWarning,
            stacklevel=2,
        )
    return made
