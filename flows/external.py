"""Somebody's benchmark through the same rules, auditors and people as our own."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import orjson

from flows.audited import Audited, AuditSummary, summarise
from flows.context import load_auditors
from flows.usage import JournalMeter
from mihakk.llm.journal import Journal
from mihakk.settings import settings
from schemas.audit import Audit, Verdict
from schemas.benchmark import POLICIES, ChecksConfig
from schemas.finding import Finding
from schemas.record import Language

if TYPE_CHECKING:
    from validators.external.benchmark import ExternalBenchmark


JOURNAL = "journal"
"""Folder of the auditors' replies below the job's."""


@dataclass(frozen=True)
class AuditJob:
    """What to audit and how."""

    source: str
    mapping: str
    """As the command line gives it."""
    folder: Path
    """Where the results go; the journal of an interrupted run lies there too."""
    auditors: str
    """Name of the auditors; empty for rules alone."""
    policy: str
    limit: int | None
    language: Language
    subsets: tuple[str, ...] = ()
    split: str = ""
    revision: str = ""
    licence: str = "unknown"
    embeddings: str = "none"
    """Model that measures how near wrong options are to the gold; `none` leaves that out."""


def run_audit(job: AuditJob, tick: Callable[[int], None]) -> AuditSummary:
    """Runs the audit and writes its results into the job's folder."""
    from flows.report.external import write_benchmark_report
    from mihakk.embeddings import open_embedder
    from validators.audit.stage import verdicts
    from validators.checks.setindex import E5_BAND, cosine_band, gather, prepare
    from validators.checks.stage import check_items, check_set
    from validators.external.benchmark import read_benchmark
    from validators.external.mapping import parse_mapping

    benchmark = read_benchmark(
        job.source,
        parse_mapping(job.mapping),
        subsets=job.subsets,
        split=job.split,
        revision=job.revision,
        language=job.language,
        licence=job.licence,
    )
    config = ChecksConfig()
    band = cosine_band(config, job.embeddings)
    embedder = open_embedder(job.embeddings) if band else None
    whole = prepare([gather(benchmark.items, embedder)], band=band or E5_BAND)
    findings = [*check_items(benchmark.items, config, whole), *check_set(whole, config)]
    job.folder.mkdir(parents=True, exist_ok=True)
    judges = load_auditors(job.auditors).auditors if job.auditors else ()
    meter = JournalMeter(job.folder, {f"{JOURNAL}/{one.model}": one.price for one in judges if one.price})
    audits, chosen = _audits(job, benchmark, findings, tick)
    audited = Audited(
        benchmark=benchmark,
        index=whole,
        findings=findings,
        audits=audits,
        verdicts=verdicts(benchmark.items, findings, audits, POLICIES[job.policy], chosen),
        policy=job.policy,
        capable=bool(judges) and all(one.capable for one in judges),
    )
    usage = {name.removeprefix(f"{JOURNAL}/"): used for name, used in meter.read().items()}
    summary = summarise(audited, _write(job, audited), usage)
    write_benchmark_report(audited, summary, job.folder / "report.html")
    (job.folder / "summary.json").write_bytes(
        orjson.dumps(summary.model_dump(mode="json"), option=orjson.OPT_INDENT_2)
    )
    return summary


def _audits(
    job: AuditJob, benchmark: ExternalBenchmark, findings: Sequence[Finding], tick: Callable[[int], None]
) -> tuple[list[Audit], set[str]]:
    from validators.audit.stage import audit_items, open_panel, select

    if not job.auditors:
        return [], set()
    blocked = {finding.subject for finding in findings if finding.severity == "block"}
    open_items = [item for item in benchmark.items if item.id not in blocked]
    chosen = select(open_items, job.limit, seed=0)
    with (
        Journal(job.folder / JOURNAL, "audit") as journal,
        open_panel(load_auditors(job.auditors), settings()) as panel,
    ):
        mine = [item for item in open_items if item.id in chosen]
        return audit_items(mine, set(), panel, journal, tick), chosen


def _write(job: AuditJob, audited: Audited) -> dict[str, str]:
    """The cleaned copy, what was removed, all findings and audits, and the queue for people."""
    from annotation.queue import write_queue
    from mihakk.lake.columns import write_table
    from validators.external.clean import write_clean, write_removed

    benchmark, judged = audited.benchmark, audited.verdicts
    reasons = {v.item: list(v.reasons) for v in judged if v.status != "pass"}
    suffix = Path(job.source).suffix
    clean = job.folder / (f"clean{suffix}" if suffix else "clean")
    passed = [verdict.item for verdict in judged if verdict.status == "pass"]
    if passed:
        write_clean(benchmark, passed, clean)
    elif clean.is_dir():  # what an earlier run left here
        shutil.rmtree(clean)
    else:
        clean.unlink(missing_ok=True)
    write_removed(benchmark, reasons, job.folder / "removed.parquet")
    write_table(job.folder / "findings.parquet", audited.findings, Finding)
    write_table(job.folder / "audits.parquet", audited.audits, Audit)
    write_table(job.folder / "verdicts.parquet", judged, Verdict)
    write_queue(job.folder / "review_queue.json", benchmark.items, judged, audited.findings, audited.audits)
    names = ["removed.parquet", "findings.parquet", "audits.parquet", "verdicts.parquet"]
    names += ["review_queue.json", "summary.json", "report.html"]
    return {Path(name).stem: str(job.folder / name) for name in ([clean.name] if passed else []) + names}
