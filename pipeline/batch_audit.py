"""The audit by batch files of calls and replies: stage 6 of a build, or an external audit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from mihakk.machinery.errors import UsageError
from mihakk.pipeline.build import find_config, load_auditors, open_build
from mihakk.pipeline.external_audit import JOURNAL as EXTERNAL_JOURNAL
from mihakk.pipeline.external_audit import TO_AUDIT, spending_of
from mihakk.pipeline.external_people import is_audited_set, open_set
from mihakk.pipeline.steps.audit import JOURNAL, STAGE, chosen_items, journal_folder, policy
from mihakk.schemas.benchmark import POLICIES
from mihakk.schemas.item import ITEM_ROWS, Item
from mihakk.schemas.model import AuditorsConfig

if TYPE_CHECKING:
    from mihakk.validators.audit.batch import Imported


@dataclass(frozen=True)
class BatchAudit:
    """What is asked about, who is asked, and where replies are kept."""

    items: Sequence[Item]
    auditors: AuditorsConfig
    journal: Path
    """Folder of the journals that the audit reads."""
    spending: Path | None = None
    """Folder of the ledger that the replies are booked in."""
    blind: bool = False
    """The policy asks for blind answers too."""


def open_batch(what: Path, auditors: str, lake: str | None = None) -> BatchAudit:
    """The audit that is to be asked by files.

    Args:
        what: A benchmark's config, or the folder that `mihakk audit` wrote.
        auditors: Their name; the config's own, or `embedded` for a folder, when empty.
        lake: The lake of the build, where not the settings'.

    Raises:
        UsageError: It is neither, or not checked yet.
    """
    if what.is_dir():
        table = what / TO_AUDIT
        if not table.is_file():
            raise UsageError(f"there is no {table}: run `mihakk audit ... --rules-only --out {what}` first")
        import pyarrow.parquet as pq

        from mihakk.machinery.lake.columns import from_table

        items = from_table(pq.read_table(table), ITEM_ROWS)
        policies = pq.read_table(what / "verdicts.parquet", columns=["policy"]).column("policy").unique()
        blind = any(POLICIES[name].blind for name in policies.to_pylist())
        spending = spending_of(open_set(what).name) if is_audited_set(what) else None
        judges = load_auditors(auditors or "embedded")
        return BatchAudit(items, judges, what / EXTERNAL_JOURNAL, spending, blind)
    if not find_config(what).is_file():
        raise UsageError(
            f"{what} is neither a benchmark's config nor a folder of `mihakk audit --out`: name one of them"
        )
    build = open_build(what, lake=lake)
    chosen = chosen_items(build)
    found = [item for item in build.before(STAGE).read_all("items", ITEM_ROWS) if item.id in chosen]
    judges = load_auditors(auditors) if auditors else build.auditors()
    return BatchAudit(found, judges, journal_folder(build), build.spending, policy(build).blind)


def export_calls(batch: BatchAudit, folder: Path) -> dict[str, tuple[Path, int]]:
    """Writes the calls that each auditor still needs; its name to the file and how many calls it holds."""
    from mihakk.machinery.llm.journal import Journal
    from mihakk.validators.audit.batch import export_batch

    folder.mkdir(parents=True, exist_ok=True)
    found = {}
    with Journal(batch.journal, JOURNAL) as journal:
        for auditor in batch.auditors.auditors:
            path = folder / f"{auditor.name}.calls.jsonl"
            found[auditor.name] = path, export_batch(batch.items, auditor, journal, path, blind=batch.blind)
    return found


def import_replies(batch: BatchAudit, folder: Path) -> dict[str, Imported]:
    """Takes the files of replies that lie in the folder into the journal; by auditor.

    Raises:
        UsageError: There is none, or one is no output of a batch run.
    """
    from mihakk.machinery.llm.journal import Journal
    from mihakk.validators.audit.batch import import_batch

    files = {one.name: folder / f"{one.name}.replies.jsonl" for one in batch.auditors.auditors}
    if not any(path.is_file() for path in files.values()):
        wanted = ", ".join(path.name for path in files.values())
        raise UsageError(f"there is no file of replies in {folder}: name them {wanted}")
    found = {}
    with Journal(batch.journal, JOURNAL) as journal:
        for auditor in batch.auditors.auditors:
            if files[auditor.name].is_file():
                found[auditor.name] = import_batch(
                    batch.items,
                    auditor,
                    journal,
                    files[auditor.name],
                    blind=batch.blind,
                    spending=batch.spending,
                )
    return found
