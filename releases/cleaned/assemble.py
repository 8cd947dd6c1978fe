"""Assembling the cleaned release of an outside benchmark."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from mihakk.machinery.errors import UsageError
from mihakk.machinery.ids import digest
from mihakk.releases.assemble import AssembledRelease
from mihakk.releases.cleaned.card import cleaned_card
from mihakk.releases.cleaned.errata import FILE as ERRATA
from mihakk.releases.cleaned.errata import HEAD, RowErratum, first_section, read_errata, section, write_errata
from mihakk.releases.cleaned_record import CleanedRecord, read_cleaned, write_cleaned
from mihakk.releases.content.checksum import MANIFEST, file_digest, read_manifest, write_manifest
from mihakk.releases.gates import cleaned_gates, overridable, with_overrides
from mihakk.releases.paper_trail.gate_record import gate_record, read_gate_record, write_gate_record
from mihakk.releases.release_facts import Override
from mihakk.releases.versions.changelog import LOG, prepend
from mihakk.releases.versions.version import Level, Version, choose
from mihakk.releases.versions.withdrawal import FILE as WITHDRAWN
from mihakk.releases.versions.withdrawal import mark_card, mark_changelog
from mihakk.releases.versions.withdrawal import write as write_withdrawals
from mihakk.schemas.withdrawal import Withdrawal

OWN = ("README.md", LOG, MANIFEST, WITHDRAWN, "errata", "audit")
"""What a release adds beside the benchmark's files."""
CARRIED = ("LICENSE*", "LICENCE*", "NOTICE*", "CITATION*")
"""Papers of a benchmark's folder that go with every copy of it."""


def assemble_cleaned(
    record: CleanedRecord,
    errata: Sequence[RowErratum],
    folder: Path,
    *,
    write_data: Callable[[Path], None],
    write_audit: Callable[[Path], None],
    papers: Path | None = None,
    previous: Path | None = None,
    withdrawals: tuple[Withdrawal, ...] = (),
) -> AssembledRelease:
    """Write a cleaned release into a fresh folder; equal arguments give equal bytes.

    Args:
        record: What is known of it; `version` and `data` are filled in here.
        papers: Folder of the benchmark, whose licence and notices go with it.
        previous: Folder of the release before; one of another benchmark doesn't count.
        withdrawals: Versions of it that were withdrawn on the Hub.

    Raises:
        UsageError: The folder is not empty, or a file of the benchmark is called like one of a release.
    """
    if folder.exists() and any(folder.iterdir()):
        raise UsageError(f"{folder} is not empty: a release is assembled into a fresh folder")
    folder.mkdir(parents=True, exist_ok=True)
    taken = sorted({one.path.split("/")[0] for one in record.tables} & set(OWN))
    if taken:
        raise UsageError(f"the benchmark has {taken[0]}, as every release has: rename it before the audit")
    write_data(folder)
    for pattern in CARRIED if papers is not None and papers.is_dir() else ():
        for path in sorted(papers.glob(pattern)) if papers else ():
            if path.is_file():
                shutil.copyfile(path, folder / path.name)
    write_errata(errata, folder)
    write_audit(folder / "audit")
    paths = [*dict.fromkeys(one.path for one in record.tables), ERRATA]
    record = record.model_copy(
        update={"data": digest([[path, file_digest(folder / path)] for path in paths])}
    )
    return _stamp(record, folder, None if is_other(record, previous) else previous, (), withdrawals)


def is_other(record: CleanedRecord, previous: Path | None) -> bool:
    """Whether the release before is of another benchmark that has the same name."""
    before = read_cleaned(previous) if previous is not None else None
    return previous is not None and (before is None or before.source != record.source)


def stamp_again(
    folder: Path,
    previous: Path | None,
    named: Iterable[tuple[str, str]],
    withdrawals: tuple[Withdrawal, ...] = (),
) -> AssembledRelease:
    """Write the papers of an assembled release once more, with a person's word on gates that stay shut.

    `UsageError` where a gate may not be overridden, or no reason is given.
    """
    record = read_cleaned(folder)
    if record is None:
        raise UsageError(f"{folder} holds no cleaned release: audit the benchmark again")
    gates = [one.name for one in cleaned_gates(record)]
    words = [
        Override(gate=gate, why=overridable(gate, why, gates), tables=record.data) for gate, why in named
    ]
    return _stamp(record, folder, previous, words, withdrawals)


def _stamp(
    record: CleanedRecord,
    folder: Path,
    previous: Path | None,
    words: Iterable[Override],
    withdrawals: tuple[Withdrawal, ...],
) -> AssembledRelease:
    """Version, gates, changelog, card and manifest, from what stands in the folder."""
    before = read_cleaned(previous) if previous is not None else None
    if previous is None or before is None:
        record = _papers(record, folder, None, words, withdrawals, version=choose("auto", None, "none"))
    else:
        old = Version.parse(before.version)
        level: Level = "none" if before.data == record.data else "major"
        record = _papers(record, folder, previous, words, withdrawals, version=choose("auto", old, level))
        if level == "none" and read_manifest(previous) != write_manifest(folder):
            record = _papers(
                record, folder, previous, words, withdrawals, version=choose("auto", old, "patch")
            )
    digests = write_manifest(folder)
    return AssembledRelease(
        name=record.name,
        version=record.version,
        folder=folder,
        rows=record.rows_by_split,
        digests=digests,
        diff=None,
        unchanged=before is not None and before.version == record.version,
    )


def _papers(
    record: CleanedRecord,
    folder: Path,
    previous: Path | None,
    words: Iterable[Override],
    withdrawals: tuple[Withdrawal, ...],
    *,
    version: Version,
) -> CleanedRecord:
    record = record.model_copy(update={"version": str(version)})
    write_cleaned(record, folder)
    # A word on a gate binds as long as the data stay as they are.
    older = read_gate_record(previous) if previous is not None else None
    standing = {one.gate: one for one in (older.overrides if older else ()) if one.tables == record.data}
    standing |= {one.gate: one for one in words}
    facts = record.facts.model_copy(update={"overrides": tuple(standing.values())})
    found = with_overrides(cleaned_gates(record), facts.overrides)
    gates = write_gate_record(gate_record(found, facts, record.version, previous), folder)
    card, log = cleaned_card(record, gates), _changelog(record, folder, previous)
    (folder / "README.md").write_text(mark_card(card, record.version, withdrawals), encoding="utf-8")
    (folder / LOG).write_text(mark_changelog(log, withdrawals), encoding="utf-8")
    write_withdrawals(withdrawals, folder)
    return record


def _changelog(record: CleanedRecord, folder: Path, previous: Path | None) -> str:
    before = read_cleaned(previous) if previous is not None else None
    if previous is None or before is None:
        return prepend(
            first_section(record.version, record.rows, record.original_rows, record.source), "", HEAD
        )
    log = (previous / LOG).read_text(encoding="utf-8")
    if before.version == record.version:
        return log
    text = section(
        record.version,
        (before.version, read_errata(previous)),
        read_errata(folder),
        "patch" if before.data == record.data else "major",
        same_original=before.original == record.original,
    )
    return prepend(text, log, HEAD)
