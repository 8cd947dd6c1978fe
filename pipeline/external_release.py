"""The cleaned release of an audited set: every audit drafts it, commands release and publish it."""

from __future__ import annotations

import json
import shutil
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mihakk.machinery.errors import UsageError
from mihakk.machinery.ids import digest
from mihakk.pipeline.auditor_facts import answers_to, auditor_fact
from mihakk.pipeline.external_people import open_set, waiting
from mihakk.pipeline.external_summary import Audited
from mihakk.pipeline.external_tables import changed_rows
from mihakk.pipeline.opened_review import open_review
from mihakk.pipeline.people import agreement_facts, miss_rate_fact
from mihakk.schemas.audit import AUDIT_STATES

if TYPE_CHECKING:
    from mihakk.releases.assemble import AssembledRelease
    from mihakk.releases.cleaned_record import CleanedTable
    from mihakk.releases.gates import Gate
    from mihakk.releases.hub.publication import Publication
    from mihakk.schemas.model import ModelConfig
    from mihakk.validators.external.table import Table

DRAFT = "release"
"""Folder of the cleaned release below the audit's; nothing is published by being there."""
_BUILDERS = {"jsonl": "json", "json": "json", "csv": "csv", "tsv": "csv", "parquet": "parquet"}
"""What `datasets` reads each format with; it reads one kind per repository."""


def draft_release(audited: Audited, folder: Path, judges: Sequence[ModelConfig]) -> AssembledRelease | None:
    """Writes the cleaned release as a draft below the audit's folder; None where no row is left.

    Its version follows the newest one on the embedded Hub.
    """
    from mihakk.releases.cleaned.assemble import assemble_cleaned
    from mihakk.releases.cleaned.errata import counts
    from mihakk.releases.cleaned_record import CleanedRecord
    from mihakk.releases.hub.embedded import EmbeddedHub
    from mihakk.validators.external.clean import write_clean

    draft = folder / DRAFT
    shutil.rmtree(draft, ignore_errors=True)
    if not audited.passed:
        return None
    benchmark, told = audited.benchmark, open_set(folder)
    source = Path(benchmark.source)
    errata = changed_rows(audited)
    held: dict[str, Sequence[Any]] = {
        "items": benchmark.items,
        "verdicts": waiting(audited),
        "audits": audited.audits,
    }
    people = replace(open_review(folder), rows=held.__getitem__).report()
    states = Counter(v.audit_state for v in audited.verdicts if v.item in audited.passed)
    answers = answers_to(judges, audited.audits, folder / "journal")
    record = CleanedRecord(
        name=told.name,
        title=told.title or told.name,
        version="",
        source=source.name if source.exists() else benchmark.source,
        revision=told.revision,
        original=digest([[table.name, digest_of(table)] for table in benchmark.tables]),
        data="",
        licence=told.licence,
        attribution=told.attribution,
        languages=tuple(sorted({item.language for item in benchmark.items})),
        tables=tuple(_tables(audited)),
        changes=counts(errata),
        audit_states={state: states[state] for state in AUDIT_STATES},
        policy=audited.policy,
        auditors=tuple(auditor_fact(one, audited.replies[one.name], answers[one.name]) for one in judges),
        agreement=next((one for one in agreement_facts(people) if one.label == "decision"), None),
        miss_rate=miss_rate_fact(people),
        reviewed=sum(audited.settled_as(verdict.item) != "" for verdict in audited.verdicts),
    )

    def write_data(target: Path) -> None:
        whole = source.is_dir() or not source.exists()
        write_clean(benchmark, audited.passed, target if whole else target / source.name)

    hub = EmbeddedHub()
    with hub.previous(told.name) as previous:
        return assemble_cleaned(
            record,
            errata,
            draft,
            write_data=write_data,
            write_audit=lambda target: _write_audit(audited, folder, target),
            papers=source if source.is_dir() else None,
            previous=previous,
            withdrawals=hub.withdrawals(told.name),
        )


def digest_of(table: Table) -> str:
    """Of the file, as `sha256sum` gives it; of a table from the Hub, of its rows."""
    from mihakk.releases.content.checksum import file_digest

    if table.file is not None:
        return file_digest(table.file)
    rows = (table.original(number) for number in sorted(table.rows))
    return digest([json.dumps(row, ensure_ascii=False, default=str) for row in rows])


def _tables(audited: Audited) -> list[CleanedTable]:
    """The tables as the release holds them, each under the config that `datasets` reads it by."""
    from mihakk.releases.cleaned_record import CleanedTable
    from mihakk.validators.external.clean import place_of

    benchmark = audited.benchmark
    kept, taken = Counter[int](), Counter[int]()
    for item, (at, _) in benchmark.place.items():
        taken[at] += 1
        kept[at] += item in audited.passed
    lost = Counter(bad.record.rpartition("#")[0] for bad in benchmark.rejected)
    builder = _commonest([one for at, one in enumerate(benchmark.tables) if kept[at]])
    shapes: dict[str, set[tuple[str, ...]]] = defaultdict(set)
    for at, one in enumerate(benchmark.tables):
        if kept[at] and builder == _BUILDERS.get(one.format):
            shapes[one.subset].add(one.columns if builder != "json" else ())
    found = []
    for at, one in enumerate(benchmark.tables):
        path = place_of(benchmark, one).as_posix()
        loaded = kept[at] and builder is not None and builder == _BUILDERS.get(one.format)
        name = one.subset if len(shapes[one.subset]) == 1 else path.rpartition(".")[0]
        found.append(
            CleanedTable(
                path=path,
                sheet=one.sheet,
                format=one.format,
                config=_plain(name) or "default" if loaded else "",
                split=(one.split or "test") if loaded else one.split,
                rows=kept[at],
                original_rows=taken[at] + lost[one.name],
                options=_options(one) if loaded else {},
            )
        )
    return found


def _commonest(tables: Sequence[Table]) -> str | None:
    seen = Counter(_BUILDERS[one.format] for one in tables if one.format in _BUILDERS)
    return max(seen, key=lambda name: (seen[name], name), default=None)


def _plain(name: str) -> str:
    """A name that may be one of a config."""
    return "".join("-" if char in '<>:/\\|?*"' else char for char in name).strip(" .")


def _options(table: Table) -> dict[str, Any]:
    found: dict[str, Any] = {}
    if table.format in ("csv", "tsv"):
        if table.delimiter != ",":
            found["sep"] = table.delimiter
        if not table.header:
            found["column_names"] = list(table.columns)
    if table.format != "parquet" and table.encoding != "utf-8":
        found["encoding"] = table.encoding
    return found


def _write_audit(audited: Audited, folder: Path, target: Path) -> None:
    """The audit's tables without the path of whoever ran it."""
    import pyarrow.parquet as pq

    from mihakk.releases.content.item_tables import write_parquet
    from mihakk.releases.paper_trail.audit_tables import write_scores

    for name in ("verdicts", "findings"):
        table = pq.read_table(folder / f"{name}.parquet")
        write_parquet(table.drop_columns(["source"]), target / f"{name}.parquet")
    write_scores(audited.audits, target / "scores.parquet")


def release_set(folder: Path, named: Sequence[tuple[str, str]] = ()) -> tuple[Publication, tuple[Gate, ...]]:
    """Puts the draft of an audited set onto the embedded Hub, and says how every gate stands.

    Args:
        folder: Of the audit.
        named: Gates that may stay shut, each with the reason.

    Raises:
        UsageError: There is no draft, a gate may not be overridden, or nothing changed since a withdrawal.
    """
    from mihakk.releases.cleaned.assemble import is_other, stamp_again
    from mihakk.releases.cleaned_record import read_cleaned
    from mihakk.releases.hub.embedded import EmbeddedHub
    from mihakk.releases.hub.publication import read_release
    from mihakk.releases.paper_trail.gate_record import read_gate_record
    from mihakk.releases.versions.withdrawal import of_version
    from mihakk.releases.versions.withdrawal import read as read_withdrawals

    told, draft, hub = open_set(folder), folder / DRAFT, EmbeddedHub()
    if not draft.is_dir():
        raise UsageError(f"{folder} holds no cleaned release: no row passed, or it was audited long ago")
    release = read_release(told.name, draft)
    with hub.previous(told.name) as previous:
        drafted = read_cleaned(draft)
        if drafted is not None and is_other(drafted, previous):
            raise UsageError(
                f"another benchmark is released as {told.name}: give this one another `name` in "
                f"{folder}/audited.json and audit it again"
            )
        back = hub.withdrawals(told.name)
        before = read_cleaned(previous) if previous is not None else None
        if before and drafted and before.data == drafted.data and (one := of_version(back, before.version)):
            raise UsageError(
                f"{told.name}: nothing has changed since {one.version} was withdrawn ({one.why}): correct "
                "the benchmark, audit it again into the same folder, and release that"
            )
        if named or read_withdrawals(draft) != back:
            release = stamp_again(draft, previous, named, back)
    publication = hub.publish(release)
    hub.verify(release.name, release.version, release.folder)
    record = read_gate_record(draft)
    return publication, record.gates if record else ()


def publish_set(folder: Path, version: str = "", repository: str = "", endpoint: str = "") -> Publication:
    """Pushes a released version of an audited set to a repository of the Hub; see `publish_stored`."""
    from mihakk.pipeline.publishing import publish_stored

    told = open_set(folder)
    return publish_stored(told.name, version, repository or told.repository, endpoint)
