"""`audit`: somebody's benchmark through rules and auditors."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from prefect import flow
from prefect.artifacts import create_markdown_artifact, create_table_artifact

from mihakk.flows.deployed.artifacts import markdown_table
from mihakk.flows.deployed.job import require_deployed_code, secrets_from_blocks, told_on_page
from mihakk.pipeline.external_audit import AuditJob, audit_folder
from mihakk.pipeline.external_summary import AuditSummary
from mihakk.reports.external.page import audit_to_page
from mihakk.schemas.audit import by_audit_state
from mihakk.schemas.record import Language


@flow(name="audit", flow_run_name="audit {source}")
def audit(
    source: str,
    mapping: str,
    *,
    auditors: str = "embedded",
    policy: Literal["strict", "qimma", "platinum"] = "strict",
    limit: int | None = None,
    language: Language = "ar",
    subsets: tuple[str, ...] = (),
    split: str = "",
    revision: str = "",
    out: str = "",
    config: str = "",
    lake: str | None = None,
) -> str:
    """Audits an existing benchmark and returns the folder of its results.

    Args:
        source: A file, a folder, or owner/name on the Hub.
        mapping: Columns, as `mihakk audit --map` takes them.
        auditors: A name in configs/auditors/ or a file; empty for rules alone.
        policy: When an item goes to people.
        limit: Items that the auditors see, at most.
        language: Language of rows that name none.
        subsets: Take only these.
        split: Take only this one.
        revision: Commit or tag of a dataset on the Hub.
        out: Folder of the results. Name it and an interrupted audit goes on where it stopped.
        config: The benchmark whose page and digest tell a failure until the same has come through.
        lake: Folder or URL of that one's lake, instead of MIHAKK_LAKE.
    """
    require_deployed_code()
    secrets_from_blocks()
    folder = Path(out) if out else audit_folder(source)
    job = AuditJob(
        source=source,
        mapping=mapping,
        folder=folder,
        auditors=auditors,
        policy=policy,
        limit=limit,
        language=language,
        subsets=subsets,
        split=split,
        revision=revision,
    )
    with told_on_page(f"audit {source}", config, lake):
        summary_artifacts(audit_to_page(job, lambda _: None)[1])
    return str(folder)


def summary_artifacts(found: AuditSummary) -> None:
    """The audit's account as Markdown, its subsets as a table."""
    head = ("check", "effect", "findings", "guards against", "for example")
    rows = [(c.check, c.severity, c.findings, c.title, c.example) for c in found.checks]
    files = [f"- {name}: `{path}`" for name, path in found.files.items()]
    lines = [
        f"# {found.source}",
        f"{found.items:,} items, {found.unreadable:,} unreadable rows, "
        f"policy {found.policy}. {by_audit_state(found.audit_states)}.",
        markdown_table(head, rows),
        *files,
    ]
    create_markdown_artifact("\n".join(lines), key="audit-summary", description=found.source)
    subsets = [row.model_dump() for row in found.subsets]
    create_table_artifact(subsets, key="audit-subsets", description="Discard rates by subset")
