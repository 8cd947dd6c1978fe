"""README.md of a cleaned release: the benchmark's origin, the differences from it, and its audit."""

from __future__ import annotations

from typing import Any

from mihakk.machinery.languages import pack
from mihakk.machinery.markdown import code, link, plain, table
from mihakk.releases.card.audit_section import audit_section, limits
from mihakk.releases.card.structure import front_matter
from mihakk.releases.cleaned.errata import KINDS
from mihakk.releases.cleaned_record import CleanedRecord
from mihakk.releases.licence import licences
from mihakk.releases.paper_trail.gate_record import GateRecord


def cleaned_card(record: CleanedRecord, gates: GateRecord) -> str:
    """The card's text."""
    parts = (
        _summary(record),
        _files(record),
        _changes(record),
        _use(record),
        _audit(record, gates),
        limits(record.facts, gates.overrides, record.audit_states, "rows"),
        _terms(record),
    )
    front = front_matter(
        pretty_name=f"{record.title}, cleaned",
        languages=record.languages,
        licence=record.licence,
        tags=("cleaned",),
        version=record.version,
        configs=_configs(record) or [{"config_name": "errata", "data_files": "errata/changes.parquet"}],
        source_datasets=[record.source] if record.source.count("/") == 1 else [],
    )
    return f"{front}# {plain(record.title)}, cleaned\n\n" + "\n\n".join(parts) + "\n"


def _configs(record: CleanedRecord) -> list[dict[str, Any]]:
    found = []
    for name in dict.fromkeys(one.config for one in record.tables if one.config):
        mine = [one for one in record.tables if one.config == name]
        files: dict[str, list[str]] = {}
        for one in mine:
            files.setdefault(one.split, []).append(one.path)
        data = [{"split": split, "path": paths} for split, paths in files.items()]
        found.append({"config_name": name, "data_files": data, **mine[0].options})
    return found


def _summary(record: CleanedRecord) -> str:
    of = f" at revision {plain(record.revision)}" if record.revision else ""
    return (
        f"**Version {record.version}**: {record.rows} of the {record.original_rows} rows of "
        f"{plain(record.source)}{of}, in its own files, columns and order. It is the work of its authors, "
        "changed by others: cite theirs, and say that you used the cleaned version. "
        f"Digest of the rows it was made from: {code(record.original[:16])}.\n\n"
        "What differs stands row by row, with the original row and the evidence, in "
        "`errata/changes.parquet`; what checks, auditors and people said of every row, kept or not, in "
        "`audit/`; what changed since the version before, in `CHANGELOG.md`."
    )


def _files(record: CleanedRecord) -> str:
    rows = [
        (code(one.path + (f" ({one.sheet})" if one.sheet else "")), code(one.config) if one.config else "",
         plain(one.split), one.original_rows, one.rows)
        for one in record.tables
    ]  # fmt: skip
    head = ("file", "config", "split", "original rows", "rows here")
    spoken = ", ".join(pack(one).name for one in record.languages)
    return f"## Dataset Structure\n\nLanguages: {spoken}.\n\n{table(head, rows)}"


def _changes(record: CleanedRecord) -> str:
    if not record.changes:
        return "## What differs from the original\n\nNothing."
    rows = [(kind, KINDS.get(kind, ""), count) for kind, count in record.changes.items()]
    return (
        "## What differs from the original\n\n"
        f"{table(('kind', 'meaning', 'rows'), rows)}\n\n"
        "`corrected`, `repaired` and `rescued` rows stand in the files as in the column `after`; all "
        "others are left out. From these files and the column `before` the original comes back whole, "
        "but for unreadable rows, of which the beginning is kept."
    )


def _use(record: CleanedRecord) -> str:
    loaded = next((one for one in record.tables if one.config), None)
    lines = ["## Uses", ""]
    if loaded is not None:
        lines += [
            "```python",
            "from datasets import load_dataset",
            "",
            f'load_dataset(PATH_OR_REPOSITORY, "{loaded.config}", revision="{record.version}")',
            "```",
        ]
    apart = dict.fromkeys(one.path for one in record.tables if not one.config)
    if apart:
        lines.append(f"\nRead with pandas: {', '.join(map(code, apart))}.")
    return "\n".join(lines)


def _audit(record: CleanedRecord, gates: GateRecord) -> str:
    shown = [
        (gate.name, "open" if gate.passed else "overridden" if gate.override else "shut", plain(gate.found))
        for gate in gates.gates
    ]
    return "\n\n".join(
        (
            audit_section(record.facts, record.audit_states, record.changes),
            f"Policy `{record.policy}`. People settled {record.reviewed} rows.",
            table(("gate", "state", "figures"), shown),
        )
    )


def _terms(record: CleanedRecord) -> str:
    known = licences().get(record.licence)
    name = link(known.title, known.url) if known else plain(record.licence)
    credit = f" Credit: {plain(record.attribution)}." if record.attribution else ""
    return (
        f"## Licence\n\nThe benchmark's own: {name}.{credit} Changes were made: rows were left out, merged, "
        "corrected and repaired as the errata list them."
    )
