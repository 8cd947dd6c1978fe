"""README.md of a cleaned release: the benchmark's origin, the differences from it, and its audit."""

from __future__ import annotations

from typing import Any

import yaml

from mihakk.markdown import code, link, plain, table, table_of
from releases.card.audit_section import AUDITORS
from releases.card.structure import LANGUAGES
from releases.cleaned.errata import KINDS
from releases.cleaned_record import CleanedRecord, CleanedTable
from releases.licence import hub_licence, licences
from releases.paper_trail.gate_record import GateRecord
from schemas.audit import AUDIT_STATES


def cleaned_card(record: CleanedRecord, gates: GateRecord) -> str:
    """The card's text."""
    parts = (
        _summary(record),
        _files(record),
        _changes(record),
        _use(record),
        _audit(record, gates),
        _limits(record, gates),
        _terms(record),
    )
    return (
        f"---\n{_front_matter(record)}---\n# {plain(record.title)}, cleaned\n\n" + "\n\n".join(parts) + "\n"
    )


def _front_matter(record: CleanedRecord) -> str:
    identifier = hub_licence(record.licence)
    front: dict[str, Any] = {
        "pretty_name": f"{record.title}, cleaned",
        "language": list(record.languages),
        "license": identifier,
        **({"license_name": record.licence.lower()} if identifier == "other" else {}),
        **({"source_datasets": [record.source]} if record.source.count("/") == 1 else {}),
        "tags": ["benchmark", "evaluation", "cleaned", f"version-{record.version}"],
        "version": record.version,
        "configs": _configs(record) or [{"config_name": "errata", "data_files": "errata/changes.parquet"}],
    }
    return yaml.safe_dump(front, allow_unicode=True, sort_keys=False, width=110)


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
    spoken = ", ".join(LANGUAGES.get(one, one) for one in record.languages)
    return f"## Dataset Structure\n\nLanguages: {spoken}.\n\n{table(head, rows)}"


def _changes(record: CleanedRecord) -> str:
    if not record.changes:
        return "## What differs from the original\n\nNothing."
    rows = [(kind, KINDS.get(kind, ""), count) for kind, count in record.changes.items()]
    return (
        "## What differs from the original\n\n"
        f"{table(('kind', 'meaning', 'rows'), rows)}\n\n"
        "`corrected` and `repaired` rows stand in the files with the cells of the column `after`; all "
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
    apart = [one for one in record.tables if not one.config]
    if apart:
        lines.append(f"\nRead with pandas: {', '.join(code(one.path) for one in _once(apart))}.")
    return "\n".join(lines)


def _once(tables: list[CleanedTable]) -> list[CleanedTable]:
    return list({one.path: one for one in tables}.values())


def _audit(record: CleanedRecord, gates: GateRecord) -> str:
    parts = ["## Audit"]
    if record.auditors:
        parts += [f"Policy `{record.policy}`.", table_of(AUDITORS, record.auditors)]
    states = [(words, record.audit_states.get(state, 0)) for state, words in AUDIT_STATES.items()]
    parts.append(table(("rows of this release", "rows"), states))
    found = record.agreement
    people = f"People settled {record.reviewed} rows."
    if found is not None and found.value is not None:
        people += f" On {found.items} rows with two votes: {found.coefficient} {found.value:.3f}."
    parts.append(people)
    shown = [
        (gate.name, "open" if gate.passed else "overridden" if gate.override else "shut", plain(gate.found))
        for gate in gates.gates
    ]
    parts.append(table(("gate", "state", "figures"), shown))
    return "\n\n".join(parts)


def _limits(record: CleanedRecord, gates: GateRecord) -> str:
    lines = ["## Bias, Risks, and Limitations", ""]
    weak = [one.name for one in record.auditors if not one.capable]
    if weak:
        lines.append(
            f"- {plain(' and '.join(weak))} are too small to judge: that they object to nothing says nothing."
        )
    if not record.auditors:
        lines.append("- No model audited these rows: a wrong gold is in no check's reach.")
    if record.changes.get("waits"):
        lines.append(
            f"- {record.changes['waits']} rows wait for people. Sound ones return in a later version."
        )
    if record.miss_rate is None:
        lines.append("- Nobody has sampled the unflagged rows, so the share of defects left is not known.")
    lines += [
        f"- Version {plain(one.version)} went out although the gate `{one.gate}` was shut. The reason given: "
        f"{plain(one.why)}"
        for one in gates.overrides
    ]
    return "\n".join(lines)


def _terms(record: CleanedRecord) -> str:
    known = licences().get(record.licence)
    name = link(known.title, known.url) if known else plain(record.licence)
    credit = f" Credit: {plain(record.attribution)}." if record.attribution else ""
    return (
        f"## Licence\n\nThe benchmark's own: {name}.{credit} Changes were made: rows were left out, merged, "
        "corrected and repaired as the errata list them."
    )
