"""The overlay of an audited set: its errata as a patch against the benchmark, made from the same tables."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from mihakk.machinery.errors import UsageError
from mihakk.pipeline.external_people import AuditedSet, open_set
from mihakk.pipeline.external_release import DRAFT, digest_of
from mihakk.releases.cleaned.errata import STAY, RowErratum
from mihakk.validators.external.rewriting import all_rows

if TYPE_CHECKING:
    from mihakk.releases.cleaned_record import CleanedRecord
    from mihakk.releases.overlay.changes import CellChange, Evidence, Overlay, RowChange
    from mihakk.validators.external.mapping import Mapping as Columns
    from mihakk.validators.external.table import Table

_AT: Final = ("table", "row")


def make_overlay(
    folder: Path,
    out: Path,
    *,
    dataset: str = "",
    revision: str = "",
    upstream: str = "",
) -> Overlay:
    """Writes the overlay of an audited set, with tasks for harnesses, and proves it before it is written.

    Applied to the benchmark it gives the files of the audit's cleaned release, byte for byte; one of
    exclusions alone leaves out the rows too that the release holds with other cells. Where the licence is not
    known to allow copies an overlay is always of that kind.

    Args:
        folder: Of the audit.
        out: Folder of the overlay.
        dataset: `owner/name` of the benchmark on the Hub; what was audited where empty.
        revision: Commit or tag of it; that of the audit where empty.
        upstream: File or folder of the benchmark; where the audit read it if empty.

    Raises:
        UsageError: There is no audit or no cleaned release in the folder, it is older than overlays, the
            benchmark is no longer the one that was audited, or `out` holds something that is no overlay.
    """
    from mihakk.releases.cleaned.errata import read_errata
    from mihakk.releases.cleaned_record import read_cleaned
    from mihakk.releases.licence import known
    from mihakk.releases.overlay.changes import HEAD, Overlay, PatchedTable, write_overlay
    from mihakk.releases.overlay.patching import Fit, stated
    from mihakk.releases.overlay.tasks import write_tasks
    from mihakk.validators.external.mapping import parse_mapping

    if out.exists() and not (out.is_dir() and ((out / HEAD).is_file() or not any(out.iterdir()))):
        raise UsageError(f"{out} holds something else than an overlay: name a fresh folder")
    told, draft = open_set(folder), folder / DRAFT
    record = read_cleaned(draft) if draft.is_dir() else None
    if record is None or not told.mapping:
        why = "no row passed" if record is None else "an older Mihakk made it"
        raise UsageError(f"{folder} holds no errata that a patch can be made of ({why}): audit it again")
    mapping = parse_mapping(told.mapping)
    tables = _tables(told, record, mapping, upstream or told.source)
    exclusions_only = not known(record.licence)
    changes = list(_changes(folder, tables, read_errata(draft), exclusions_only=exclusions_only))
    from_hub = all(table.file is None for table in tables.values())
    overlay = Overlay(
        name=record.name,
        title=record.title,
        version=record.version,
        dataset=dataset or record.source,
        revision=revision or record.revision,
        loaded="datasets" if from_hub else "files",
        licence=record.licence,
        exclusions_only=exclusions_only,
        mapping=_settled(told.mapping, mapping, folder),
        language=told.language,
        tables=tuple(
            PatchedTable(
                **one.model_dump(include={"path", "sheet", "split"}),
                name=table.name,
                rows=len(all_rows(table)),
                digest=_upstream_digest(table),
                patched="",
                patched_rows="",
            )
            for one, table in zip(record.tables, tables.values(), strict=True)
        ),
        changes=dict(sorted(Counter(change.reason for change in changes).items())),
    )
    overlay, files = stated(
        overlay, changes, Fit(tables, {place: change.row for place, change in enumerate(changes)}, [])
    )
    if not (exclusions_only and any(change.reason in STAY for change in changes)):
        for path, data in files.items():
            if (draft / path).read_bytes() == data:
                continue
            if path.lower().endswith((".parquet", ".xlsx")):  # their bytes are the writer's
                raise UsageError(
                    f"{draft / path} is of another version of its writer, or changed since: audit it again"
                )
            raise AssertionError(f"the overlay does not give the {path} of the cleaned release")
    write_overlay(overlay, changes, out)
    write_tasks(overlay, files, out)
    return overlay


def _tables(told: AuditedSet, record: CleanedRecord, mapping: Columns, source: str) -> dict[str, Table]:
    """The tables of the benchmark as they were audited, in the order of the record's."""
    from mihakk.machinery.ids import digest
    from mihakk.validators.external.table import FORMATS, read_dataset, read_tables

    path = Path(source)
    if path.exists():
        root = path if path.is_dir() else path.parent
        read = [
            table
            for one in dict.fromkeys(one.path for one in record.tables)
            for table in read_tables(path if path.is_file() else root / one, one, header=mapping.header)
        ]
    elif path.suffix.lower() in FORMATS or path.is_absolute():
        raise UsageError(f"{source}, which was audited, is gone: say with --upstream where it lies now")
    else:
        subsets = list(dict.fromkeys(one.path.rpartition("/")[0] for one in record.tables))
        read = read_dataset(source, subsets, "", told.revision)
    by_name = {table.name: table for table in read}
    found: dict[str, Table] = {}
    for one in record.tables:
        names = (one.path, f"{one.path}/{one.sheet}", one.path.removesuffix(".parquet"))
        name = next((name for name in names if name in by_name and by_name[name].sheet == one.sheet), "")
        if not name:
            raise UsageError(f"{source} holds no {one.path} any more: audit it again")
        found[name] = by_name[name]
        found[name].split = found[name].split or one.split
    if digest([[table.name, digest_of(table)] for table in found.values()]) != record.original:
        raise UsageError(
            f"{source} is no longer what was audited (its digest differs): name the one that was with "
            "--upstream, or audit it again"
        )
    return found


def _upstream_digest(table: Table) -> str:
    """Of the file, as `sha256sum` gives it; of a table that `datasets` loaded, of its rows."""
    from mihakk.releases.overlay.changes import row_digests, rows_digest

    return digest_of(table) if table.file is not None else rows_digest(row_digests(table).values())


def _settled(told: str, mapping: Columns, folder: Path) -> str:
    """The mapping with the way in which the golds were read: what is left may be read in another one."""
    read = json.loads((folder / "summary.json").read_bytes()).get("gold_as", "")
    settled = read and mapping.choices and "gold_as=" not in told and " and " not in read
    return f"{told},gold_as={read}" if settled else told


def _changes(
    folder: Path, tables: Mapping[str, Table], errata: Sequence[RowErratum], *, exclusions_only: bool
) -> Iterator[RowChange]:
    import pyarrow.parquet as pq

    from mihakk.releases.overlay.changes import RowChange, row_digests

    digests = {name: row_digests(table) for name, table in tables.items()}
    equal = {name: _occurrences(found) for name, found in digests.items()}
    evidence = _evidence(folder)
    by_table: dict[str, list[RowErratum]] = defaultdict(list)
    for one in errata:
        by_table[one.table].append(one)
    audited: dict[str, set[int]] = defaultdict(set)
    for row in pq.read_table(folder / "verdicts.parquet", columns=list(_AT)).to_pylist():
        audited[row["table"]].add(row["row"])
    for name, table in tables.items():

        def change(number: int, reason: Any, **more: Any) -> RowChange:
            return RowChange(
                table=name,  # noqa: B023 - called before the next table
                row=number,
                line=table.line(number),  # noqa: B023
                digest=digests[name][number],  # noqa: B023
                equal=equal[name][number],  # noqa: B023
                reason=reason,
                **more,
            )

        for one in by_table[name]:
            if one.change == "rescued":
                continue
            cells = tuple(_cells(table, one)) if one.change in STAY and not exclusions_only else ()
            yield change(
                one.row,
                one.change,
                key=one.own_id,
                action="set" if cells else "exclude",
                cells=cells,
                evidence=(*_of_erratum(one), *evidence.get((name, one.row), ())),
            )
        known = audited[name] | {one.row for one in by_table[name]}
        for number in sorted(all_rows(table) - known):
            yield change(number, "outside", action="exclude")


def _occurrences(digests: Mapping[int, str]) -> dict[int, int]:
    """Row to how many equal rows stand before it."""
    seen: Counter[str] = Counter()
    found = {}
    for number, digest in digests.items():
        found[number] = seen[digest]
        seen[digest] += 1
    return found


def _of_erratum(one: RowErratum) -> tuple[Evidence, ...]:
    """The evidence that no table of the audit has: a row was repaired or not read, or people differ on it."""
    from mihakk.releases.overlay.changes import Evidence

    if one.change == "unreadable":
        return (Evidence(by="reader", name=one.evidence[0].partition(":")[0]),)
    if one.change == "repaired":
        return (Evidence(by="rule", name="repair", finding=f"repair:{one.table}#{one.row}"),)
    if one.change == "waits" and one.evidence[0].startswith("people: "):
        return (Evidence(by="people", name=one.evidence[0].split()[1]),)
    return ()


def _evidence(folder: Path) -> dict[tuple[str, int], tuple[Evidence, ...]]:
    """By table and row: the rules, auditors and people that speak against it, by name and without a quote."""
    import pyarrow.parquet as pq

    from mihakk.releases.overlay.changes import Evidence

    found: dict[tuple[str, int], list[Evidence]] = defaultdict(list)

    def rows(name: str, *columns: str) -> list[dict[str, Any]]:
        read: list[dict[str, Any]] = pq.read_table(
            folder / f"{name}.parquet", columns=[*_AT, *columns]
        ).to_pylist()
        return [row for row in read if row["row"] is not None]

    for row in rows("verdicts", "people", "merged_into"):
        at = row["table"], row["row"]
        if row["merged_into"]:
            found[at].append(Evidence(by="copy", name=row["merged_into"]))
        if row["people"]:
            found[at].append(Evidence(by="people", name=row["people"]))
    for row in rows("findings", "check", "severity", "where"):
        if row["severity"] != "report":
            name = ":".join(filter(None, (row["check"], f"{row['table']}#{row['row']}", row["where"])))
            found[row["table"], row["row"]].append(Evidence(by="rule", name=row["check"], finding=name))
    for row in rows("audits", "auditor", "status", "issues", "blind_differs"):
        told = [issue["criterion"] for issue in row["issues"] or ()]
        told += ["no usable reply"] if row["status"] == "invalid" else []
        told += ["another answer without seeing the gold"] if row["blind_differs"] else []
        found[row["table"], row["row"]] += [
            Evidence(by="auditor", name=row["auditor"], finding=one) for one in told
        ]
    return {at: tuple(dict.fromkeys(some)) for at, some in found.items()}


def _cells(table: Table, one: RowErratum) -> Iterator[CellChange]:
    """The cells in which the row of an erratum differs from the benchmark's."""
    from mihakk.releases.overlay.changes import CellChange, value_digest

    before = table.rows[one.row]
    for column, new in json.loads(one.after).items():
        # As the erratum has it: dates as text, tuples as lists.
        old = json.loads(json.dumps(before.get(column), default=str))
        for path, was, now in _inner(old, new, (column,)):
            yield CellChange(path=path, old=value_digest(was), new=now)


def _inner(
    old: Any, new: Any, path: tuple[str | int, ...]
) -> Iterator[tuple[tuple[str | int, ...], Any, Any]]:
    """The innermost places in which two cells differ: of a list with one other option, that option."""
    from mihakk.releases.overlay.changes import value_digest

    if value_digest(old) == value_digest(new):
        return
    if isinstance(old, dict) and isinstance(new, dict) and old.keys() == new.keys():
        for name, one in old.items():
            yield from _inner(one, new[name], (*path, name))
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for place, one in enumerate(old):
            yield from _inner(one, new[place], (*path, place))
    else:
        yield path, old, new
