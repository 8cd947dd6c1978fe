"""6_audited: two models' opinions of every item that no check blocks, and the verdict."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mihakk.machinery.errors import UsageError
from mihakk.machinery.ids import canonical_json, digest
from mihakk.machinery.lake import ShardOutput
from mihakk.machinery.lake.seal import seal, unsealed
from mihakk.machinery.llm.journal import Journal
from mihakk.machinery.settings import settings
from mihakk.pipeline.build import Build, whole_input
from mihakk.pipeline.step import Share, Spread, Step, Tick, prepared, shards_before
from mihakk.schemas.audit import Audit, Verdict
from mihakk.schemas.benchmark import POLICIES, Policy
from mihakk.schemas.finding import Finding
from mihakk.schemas.item import ITEM_ROWS
from mihakk.schemas.manifest import ShardCounts, ShardManifest
from mihakk.schemas.model import AuditorsConfig
from mihakk.schemas.record import Record
from mihakk.schemas.stages import AUDITED

if TYPE_CHECKING:
    from pathlib import Path

    from mihakk.validators.audit.auditing import Panel

STAGE = AUDITED
JOURNAL = "audit"
AUDITED_BY = "audited_by.json"


@dataclass(frozen=True)
class Chosen:
    """What the whole audit shares: who audits, and which items."""

    panel: Panel
    journal: Journal
    items: frozenset[str]


def policy(build: Build) -> Policy:
    """The policy itself, where the config only names it."""
    named = build.config.audit.policy
    return POLICIES[named] if isinstance(named, str) else named


def journal_folder(build: Build) -> Path:
    """Where every auditor's reply is kept, beside the stages: replies outlive every rebuild."""
    return build.lake.folder("journals", "audit")


def blocked(findings: Iterable[Finding]) -> set[str]:
    """Items that a rule blocks: they cost no model call."""
    return {finding.subject for finding in findings if finding.severity == "block"}


def chosen_items(build: Build) -> frozenset[str]:
    """Items the audit will see: all that no rule blocks, or as many of each task as the limit allows."""
    from mihakk.validators.audit.auditing import select

    before, limit, seed = build.before(STAGE), build.config.audit.limit, build.config.seed

    def choose() -> frozenset[str]:
        stopped = blocked(before.read_all("findings", Finding))
        named = (before.part("items", shard, ["id", "task"]) for shard in before.shards())
        rows = (row for part in named if part is not None for row in part.to_pylist())
        tasks = {row["id"]: row["task"] for row in rows if row["id"] not in stopped}
        return frozenset(select(tasks, limit, seed))

    return prepared("chosen items", digest([whole_input(build, STAGE), limit, seed]), choose)


@contextmanager
def _panel(build: Build, _: Spread) -> Iterator[Share]:
    """Opened once for all shards; no model starts before the first reply that the journal lacks."""
    from mihakk.validators.audit.auditing import open_panel

    with (
        Journal(journal_folder(build), JOURNAL) as journal,
        open_panel(build.auditors(), settings(), build.spending) as panel,
    ):
        chosen = Chosen(panel, journal, chosen_items(build))
        yield lambda _: chosen
    _note_auditors(build)


class Auditing(Record):
    """Who audited the tables of stage 6 as they stand."""

    config_digest: str
    """Of the stage's manifest."""
    auditors: AuditorsConfig


def _note_auditors(build: Build) -> None:
    told = Auditing(config_digest=digest(STEP.settings(build)), auditors=build.auditors())
    storage = build.lake.storage
    storage.write(storage.path(AUDITED_BY), seal(canonical_json(told)))


def audited_by(build: Build) -> AuditorsConfig:
    """The auditors that the stage's tables come from, whatever the config names by now.

    Raises:
        UsageError: An older version made the tables, and the config has changed since.
    """
    storage, made = build.lake.storage, build.stage(STAGE).manifest().config_digest
    path = storage.path(AUDITED_BY)
    if storage.exists(path):
        with suppress(ValueError):  # damaged: the config may still match
            told = Auditing.model_validate(unsealed(storage.read(path)))
            if told.config_digest == made:
                return told.auditors
    if made == digest(STEP.settings(build)):
        return build.auditors()
    raise UsageError(
        "the auditors of these tables are not known: they were audited with other settings than the config "
        "has now. Run `mihakk build`; recorded replies are used again"
    )


def _audit(build: Build, shard: str, chosen: Chosen, tick: Tick) -> list[ShardManifest]:
    asked = [name for name in build.before(STAGE).ids("items", shard) if name in chosen.items]
    again = chosen.journal.times_asked_again(asked)
    inputs = STEP.shard_inputs(build, shard, chosen=asked, **({"asked_again": again} if again else {}))
    manifest = build.stage(STAGE).run(shard, inputs, lambda: _output(build, shard, chosen, tick))
    return [manifest]


def _output(build: Build, shard: str, chosen: Chosen, tick: Tick) -> ShardOutput:
    from mihakk.validators.audit.auditing import audit_items, verdicts
    from mihakk.validators.audit.rates import paired_scores

    before = build.before(STAGE)
    items = before.read("items", ITEM_ROWS, shard)
    findings = before.read("findings", Finding, shard)
    mine = [item for item in items if item.id in chosen.items]
    audits = audit_items(
        mine, blocked(findings), chosen.panel, chosen.journal, tick, blind=policy(build).blind
    )
    judged = verdicts(items, findings, audits, policy(build), chosen.items)
    notes = Counter(f"{audit.auditor}.{audit.status}" for audit in audits)
    notes.update(f"verdict.{verdict.status}" for verdict in judged)
    compared = sum(paired_scores(audits).values(), Counter())
    notes["scores.compared"] = compared.total()
    notes["scores.alike"] = compared[0, 0] + compared[1, 1]
    notes["audited"] = sum(verdict.audited for verdict in judged)
    return ShardOutput(
        tables={
            "items": (ITEM_ROWS, items),
            "findings": (Finding, findings),
            "audits": (Audit, audits),
            "verdicts": (Verdict, judged),
        },
        counts=ShardCounts(read=len(items), kept=len(items), written=len(items), notes=dict(notes)),
    )


STEP = Step(
    stage=STAGE,
    title="Audit",
    units=shards_before(STAGE),
    run=_audit,
    settings=lambda build: [
        build.auditors().model_dump(mode="json"),
        policy(build).model_dump(),
        build.config.audit.limit,
        whole_input(build, STAGE) if build.config.audit.limit is not None else "",
    ],
    packages=("validators/audit",),
    where=lambda _: "process",
    around=_panel,
    total=lambda build: len(chosen_items(build)),
)
