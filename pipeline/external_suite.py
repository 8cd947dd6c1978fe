"""A suite of outside benchmarks: each audited in its own folder, all summarised together; resumable."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from mihakk.machinery.configs import load_config
from mihakk.machinery.errors import MihakkError, UsageError
from mihakk.machinery.groups import grouped
from mihakk.machinery.ids import digest, sha256
from mihakk.pipeline.build import CONFIGS, code_version
from mihakk.pipeline.external_audit import AuditJob
from mihakk.pipeline.external_people import SUITE, decided_in, is_audited_set
from mihakk.pipeline.external_summary import WHOLE, Audited, AuditSummary, share_bad
from mihakk.schemas.audit import AUDITOR_RULES
from mihakk.schemas.audit_suite import SuiteConfig, SuiteSource
from mihakk.schemas.record import Record

if TYPE_CHECKING:
    from collections.abc import Mapping

RunSource = Callable[[AuditJob], tuple[Audited, AuditSummary]]
"""Audits one source into its job's folder."""
_CODE = ("schemas", "machinery", "validators", "pipeline")
_DONE = "done.json"
OF_SOURCE = ("language", "subsets", "split", "revision", "licence", "attribution")
"""What a source says of its audit."""
OF_SUITE = ("auditors", "policy", "limit", "checks", "repair")
"""What a suite says of every audit."""


class SuiteRow(Record):
    """One source, subset or domain in figures, as QIMMA's tables have them."""

    name: str
    samples: int
    blocked: int
    """By a check, without a model."""
    flagged_by_checks: int
    flagged_by_auditors: int
    """By a rule of the policy; an item may be flagged by both."""
    merged: int
    waiting: int
    """Flagged by either: people decide."""
    overturned: int
    """Flagged, and kept by people."""
    discarded: int
    """By people."""
    fixed: int
    """By people."""
    kept: int
    kept_unseen: int
    """Of these, seen by checks alone."""
    unjudged: int
    """An auditor gave no usable reply; nothing else speaks against them."""
    rate: float | None
    """Share blocked, flagged or discarded of all but copies and unjudged ones; None if none is left."""


class SourceRow(SuiteRow):
    """One source, as table 2 of QIMMA has it."""

    task_type: str
    """`MCQ` (options), `QA` (answered in words), or both."""
    subsets: int
    """One where its rows name none."""
    domain: str


class SubsetOfSource(SuiteRow):
    """One subset of one source."""

    source: str
    domain: str


class KindRow(Record):
    """How many items of a source one check objected to."""

    source: str
    check: str
    severity: str
    items: int


class CrossCopy(Record):
    """One question that stands in several benchmarks."""

    sources: tuple[str, ...]
    rows: tuple[str, ...]
    """Where it stands: `source: row`."""
    same_answer: bool
    """Options and gold are equal too."""


class SourceState(Record):
    """What became of one source in this run."""

    name: str
    status: str
    """`audited`, `unchanged` (an earlier run's result stands) or `failed`."""
    basis: str
    problem: str = ""
    note: str = ""


class SuiteSummary(Record):
    """A suite in figures."""

    name: str
    title: str
    policy: str
    auditors: str
    states: tuple[SourceState, ...]
    sources: tuple[SourceRow, ...]
    domains: tuple[SuiteRow, ...]
    subsets: tuple[SubsetOfSource, ...]
    kinds: tuple[KindRow, ...]
    across: tuple[CrossCopy, ...]
    files: dict[str, str]


@dataclass(frozen=True)
class SuiteRun:
    """A suite to run and where."""

    config: SuiteConfig
    base: Path
    """Folder that relative sources may lie below."""
    folder: Path


def find_suite(name: str) -> Path | None:
    """The suite's file: the path itself, or `configs/audits/<name>.yaml`; None if there is neither."""
    path = Path(name)
    if path.suffix in (".yaml", ".yml"):
        return path
    known = CONFIGS / "audits" / f"{name}.yaml"
    return known if known.is_file() else None


def load_suite(path: Path) -> SuiteConfig:
    """The suite's config.

    Raises:
        UsageError: The file is missing or does not fit.
    """
    return load_config(path, SuiteConfig)


def run_suite(run: SuiteRun, audit: RunSource, said: Callable[[str], None]) -> SuiteSummary:
    """Audits all sources that have changed since the last run, and writes the consolidated tables.

    A source that fails is named with its problem; the others go on. Interrupted, the same call goes on at the
    first source that is not done.
    """
    states: list[SourceState] = []
    for source in run.config.sources:
        said(source.name)
        folder = run.folder / source.name
        state = {"name": source.name, "basis": source.basis, "note": source.note}
        try:
            job = _job(run, source, folder)
            people = decided_in(folder) if is_audited_set(folder) else ""
            mark = {"job": _signature(job, source), "code": code_version(_CODE), "people": people}
            if _done(folder) == mark:
                states.append(SourceState(status="unchanged", **state))
                continue
            audited, _ = audit(job)
        except MihakkError as error:
            states.append(SourceState(status="failed", problem=str(error), **state))
            continue
        _write_prints(audited, folder / "prints.parquet")
        mark["people"] = decided_in(folder)
        (folder / _DONE).write_bytes(orjson.dumps(mark))
        states.append(SourceState(status="audited", **state))
    return _consolidate(run, states)


def _job(run: SuiteRun, source: SuiteSource, folder: Path) -> AuditJob:
    from mihakk.validators.external.proposal import propose_for

    beside, config = run.base / source.source, run.config
    where = str(beside) if not Path(source.source).exists() and beside.exists() else source.source
    mapping = source.mapping
    if mapping == "auto":
        if not Path(where).exists():
            raise UsageError(
                f"no mapping says which columns of {where} hold what: look at them and write its `mapping`"
            )
        mapping = propose_for(where).settled()
    return AuditJob(
        source=where,
        mapping=mapping,
        folder=folder,
        name=f"{config.name}-{source.name}".casefold(),
        title=source.name,
        **{name: getattr(source, name) for name in OF_SOURCE},
        **{name: getattr(config, name) for name in OF_SUITE},
    )


def _signature(job: AuditJob, source: SuiteSource) -> str:
    """Digest of all that an audit's result depends on but the code."""
    from mihakk.validators.checks.wording import unsaid

    path = Path(job.source)
    files = sorted(one for one in path.rglob("*") if one.is_file()) if path.is_dir() else [path]
    read = {one.as_posix(): sha256(one.read_bytes()) for one in files if one.is_file()}
    told = {name: getattr(job, name) for name in OF_SUITE} | {"checks": job.checks.model_dump(mode="json")}
    if lacking := unsaid(job.checks.off):
        told["unsaid"] = lacking
    return digest([source.model_dump(mode="json"), job.mapping, read, told])


def _done(folder: Path) -> dict[str, str] | None:
    path = folder / _DONE
    return orjson.loads(path.read_bytes()) if path.is_file() else None


def _write_prints(audited: Audited, path: Path) -> None:
    """What each item is known by in other benchmarks: digests of its prompt and of the whole item."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    from mihakk.validators.checks.gathering import gather

    prints = gather(item.model_copy(update={"fields": {}}) for item in audited.benchmark.items).prints
    rows = {
        "row": [audited.places[mark.item].name for mark in prints],
        "prompt": [f"{mark.prompt:016x}" for mark in prints],
        "body": [f"{mark.body:016x}" for mark in prints],
    }
    pq.write_table(pa.table(rows), path, compression="zstd")


def _consolidate(run: SuiteRun, states: Sequence[SourceState]) -> SuiteSummary:
    import pyarrow.parquet as pq

    from mihakk.machinery.lake.columns import write_table

    subsets: list[SubsetOfSource] = []
    sources: list[SourceRow] = []
    by_domain: dict[str, list[dict[str, Any]]] = defaultdict(list)
    kinds: list[KindRow] = []
    there = [one for one in run.config.sources if (run.folder / one.name / _DONE).is_file()]
    for source in there:
        folder, domain = run.folder / source.name, source.domain
        verdicts = pq.read_table(folder / "verdicts.parquet").to_pylist()
        by_domain[domain or "other"] += verdicts
        by_subset = sorted(grouped(verdicts, lambda one: one["subset"] or WHOLE).items())
        sources.append(
            SourceRow(
                name=source.name,
                task_type=_task_type(folder),
                subsets=len(by_subset),
                domain=domain,
                **_figures(verdicts),
            )
        )
        subsets += [
            SubsetOfSource(name=name, source=source.name, domain=domain, **_figures(some))
            for name, some in by_subset
        ]
        findings = pq.read_table(folder / "findings.parquet", columns=["check", "severity", "subject"])
        counts = findings.to_pandas().drop_duplicates().groupby(["check", "severity"]).size()
        kinds += [
            KindRow(source=source.name, check=check, severity=severity, items=count)
            for (check, severity), count in counts.items()
        ]
    domains = [SuiteRow(name=name, **_figures(some)) for name, some in sorted(by_domain.items())]
    across = _across({one.name: run.folder / one.name / "prints.parquet" for one in there})
    run.folder.mkdir(parents=True, exist_ok=True)
    tables: dict[str, tuple[Sequence[Record], type[Record]]] = {
        "sources": (sources, SourceRow),
        "domains": (domains, SuiteRow),
        "subsets": (subsets, SubsetOfSource),
        "kinds": (kinds, KindRow),
        "across": (across, CrossCopy),
    }
    for name, (rows, model) in tables.items():
        write_table(run.folder / f"{name}.parquet", rows, model)
    files = {name: f"{name}.parquet" for name in tables} | _PAGES
    summary = SuiteSummary(
        **run.config.model_dump(include={"name", "title", "policy", "auditors"}),
        states=tuple(states),
        files={name: str(run.folder / file) for name, file in files.items()},
        **{name: tuple(rows) for name, (rows, _) in tables.items()},  # type: ignore[arg-type]
    )
    (run.folder / SUITE).write_bytes(
        orjson.dumps(summary.model_dump(mode="json"), option=orjson.OPT_INDENT_2)
    )
    return summary


_PAGES = {"suite": SUITE, "page": "suite.html", "latex": "suite.tex"}


def _task_type(folder: Path) -> str:
    """How the rows of an audited set are answered, in the words of QIMMA's table."""
    import pyarrow.parquet as pq

    kinds = set(pq.read_table(folder / "people" / "items.parquet", columns=["kind"])["kind"].to_pylist())
    return ", ".join(name for name, said in (("MCQ", "choice" in kinds), ("QA", kinds - {"choice"})) if said)


def _figures(verdicts: Sequence[dict[str, Any]]) -> dict[str, Any]:
    outcomes: Counter[str] = Counter(one["outcome"] for one in verdicts)
    waiting = [
        dict(one["rules"]) for one in verdicts if one["status"] == "flag" and one["outcome"] != "merged"
    ]
    rate = share_bad(outcomes)
    return {
        "samples": len(verdicts),
        "blocked": outcomes["block"],
        "flagged_by_checks": sum(rules["flag_finding"] for rules in waiting),
        "flagged_by_auditors": sum(any(rules.get(name) for name in AUDITOR_RULES) for rules in waiting),
        "merged": outcomes["merged"],
        "waiting": outcomes["flag"],
        "overturned": sum(one["status"] != "pass" and one["outcome"] == "pass" for one in verdicts),
        "discarded": outcomes["discarded"],
        "fixed": sum(one["people"] == "fix" for one in verdicts),
        "kept": outcomes["pass"],
        "kept_unseen": sum(one["outcome"] == "pass" and not one["audited"] for one in verdicts),
        "unjudged": outcomes["unjudged"],
        "rate": None if rate is None else round(rate, 4),
    }


def _across(prints: Mapping[str, Path]) -> list[CrossCopy]:
    """Questions that stand in more than one source, those with different answers first."""
    import pyarrow.parquet as pq

    marks = [(source, row) for source, path in prints.items() for row in pq.read_table(path).to_pylist()]
    found = []
    for group in grouped(marks, lambda mark: mark[1]["prompt"]).values():
        sources = tuple(sorted({source for source, _ in group}))
        if len(sources) > 1:
            rows = tuple(f"{source}: {row['row']}" for source, row in group[:10])
            same = len({row["body"] for _, row in group}) == 1
            found.append(CrossCopy(sources=sources, rows=rows, same_answer=same))
    return sorted(found, key=lambda one: (one.same_answer, one.sources, one.rows))
