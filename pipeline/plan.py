"""`--dry-run`: what a build would do and cost. Runs the steps that ask no model in a scratch lake."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import Field

from mihakk.machinery.lake import Lake
from mihakk.machinery.llm.journal import Journal
from mihakk.machinery.settings import settings
from mihakk.pipeline.build import Build
from mihakk.pipeline.engines.local import LocalEngine, local_engine
from mihakk.pipeline.observer import Silent
from mihakk.pipeline.rows import records
from mihakk.pipeline.run import run_step
from mihakk.pipeline.steps.audit import JOURNAL, chosen_items, journal_folder
from mihakk.pipeline.steps.order import STEPS
from mihakk.pipeline.steps.scrape import refused_licences
from mihakk.schemas.item import ITEM_ROWS
from mihakk.schemas.manifest import ShardManifest, StageManifest
from mihakk.schemas.model import Cost
from mihakk.schemas.record import Record
from mihakk.schemas.stages import CHECKED, CURATED, GENERATED, SCRAPED

if TYPE_CHECKING:
    from mihakk.validators.audit.auditing import Estimate

MODEL_FREE = 5
"""Number of first steps that need no auditor."""
SAMPLE = 1_000
"""Records that the steps after the first are tried on; a larger set is sampled, and its figures scaled up."""
DECISIONS, VOIDED = ("decisions",), ("review", "voided")
"""Folder of people's decisions, which the checks apply."""


class StagePlan(Record):
    """One stage of the plan."""

    stage: str
    shards: int
    standing: int
    """Shards that an earlier run has finished from the same inputs."""
    records_in: int
    rows_out: int
    rejected: int


class BuildPlan(Record):
    """Everything a build would do."""

    benchmark: str
    stages: tuple[StagePlan, ...]
    items: int
    by_task: dict[str, int]
    """Task to how many of them it makes, without those that wait for a model."""
    to_audit: int
    calls: int
    """Calls of both auditors that the journal can't answer."""
    cached: int
    """Calls whose reply stands in the journal."""
    prompt_tokens: int
    """Of the calls still to make."""
    tokens_counted: str
    """How: `tokenised`, `tokenised sample` or `characters`."""
    costs: tuple[Cost, ...] = ()
    """Of those calls, of the auditors that have a price."""
    unpriced: tuple[str, ...] = ()
    """Auditors to be asked whose price no config gives."""
    refused_licences: dict[str, int] = Field(default_factory=dict)
    """Licence to how many scraped records carry it, of those that a release refuses."""
    model_tasks: tuple[str, ...]
    """Tasks that wait for the generator model; their items are not counted in `items`."""
    to_write: dict[str, int]
    """Prompt to how many parts of items the generator model is yet to write; repairs are not foreseen."""
    written: int
    """Parts for which its journal holds a reply."""
    writing_characters: int
    """Length of the prompts still to send."""
    sampled: int = 0
    """Records from which everything after the first stage was estimated; 0 where all were tried."""


def plan(build: Build) -> BuildPlan:
    """The plan of a build; nothing is written to its lake and no model is asked.

    All sources are read. Where no item was made before, nothing is embedded, and of a set larger than
    `SAMPLE` the steps after the first take shards spread over each source and what they give is multiplied.
    Where items stand, all is done as a build would, for only the same items find their replies again.
    """
    waiting = _model_tasks(build)
    fresh = not build.stage(GENERATED).finished()
    with _scratch(build, waiting, embeds=not fresh) as trial, local_engine() as engine:
        scraped = run_step(STEPS[0], trial, engine, Silent())
        sampled = _thinned(trial, scraped) if fresh else 0
        times = scraped.counts.written / sampled if sampled else 1.0
        # Worker processes take longer to start than the steps take on a sample.
        tried = LocalEngine(workers=1) if sampled else engine
        later = [run_step(step, trial, tried, Silent()) for step in STEPS[1:MODEL_FREE]]
        items = chosen_items(trial)
        cost = _estimate(build, trial, items)
        to_write, written, characters = _writing(build, trial)
        to_audit = _audited(build, len(items), times)
        calls = to_audit / len(items) if items else 1.0
        return BuildPlan(
            benchmark=build.config.name,
            stages=(_stage_plan(build, scraped), *(_stage_plan(build, one, times) for one in later)),
            items=round(later[-1].counts.written * times),
            by_task=_by_task(trial, times),
            to_audit=to_audit,
            calls=round(cost.calls * calls),
            cached=round(cost.cached * calls),
            prompt_tokens=round(cost.prompt_tokens * calls),
            tokens_counted=cost.basis,
            costs=tuple(
                one.model_copy(update={"prompts": one.prompts * calls, "most": one.most * calls})
                for one in cost.costs
            ),
            unpriced=cost.unpriced,
            refused_licences=refused_licences(scraped.counts.notes),
            model_tasks=waiting,
            to_write={name: round(count * times) for name, count in to_write.items()},
            written=round(written * times),
            writing_characters=round(characters * times),
            sampled=sampled,
        )


def _by_task(trial: Build, times: float) -> dict[str, int]:
    made = Counter(item.task for item in trial.stage(CHECKED).read_all("items", ITEM_ROWS))
    return {use.use: round(made[use.use] * times) for use in trial.config.tasks}


def _thinned(trial: Build, scraped: StageManifest) -> int:
    """Leaves shards of about `SAMPLE` records in the scratch lake; how many records, or 0 where all stay."""
    if scraped.counts.written <= SAMPLE:
        return 0
    by_source: dict[str, list[ShardManifest]] = {}
    for shard in scraped.shards:
        by_source.setdefault(shard.source, []).append(shard)
    kept: list[ShardManifest] = []
    for shards in by_source.values():
        count = max(1, round(len(shards) * SAMPLE / scraped.counts.written))
        kept += [shards[place * len(shards) // count] for place in range(count)]
    trial.stage(SCRAPED).finish(
        kept, inputs=scraped.inputs, config_digest=scraped.config_digest, code_version=scraped.code_version
    )
    return sum(shard.counts.written for shard in kept)


def _audited(build: Build, items: int, times: float) -> int:
    limit = build.config.audit.limit
    return round(items * times) if limit is None else min(limit, round(items * times))


def _writing(build: Build, trial: Build) -> tuple[dict[str, int], int, int]:
    """What the generator model would be asked: per prompt, already answered, and characters to send."""
    from mihakk.generators.generating import expected_requests, prepare
    from mihakk.generators.writing.writer import JOURNAL as WRITING

    model = build.config.generator
    if model is None:
        return {}, 0, 0
    before = trial.stage(CURATED).shards()
    curated = [record for shard in before for record in records(trial, GENERATED, shard)]
    config = build.config.model_copy(update={"embeddings": trial.config.embeddings})
    asked = expected_requests(curated, prepare(curated, config), config)
    with Journal(trial.lake.folder("journals", "generator"), WRITING) as journal:
        replies = {
            (entry.meta.get("record"), entry.meta.get("prompt"))
            for entry in journal.entries()
            if entry.model == model.model
        }
    new = [one for one in asked if (one.record, f"{one.name}@{one.version}") not in replies]
    characters = sum(len(one.system) + len(one.user) for one in new)
    return dict(Counter(one.name for one in new)), len(asked) - len(new), characters


def _model_tasks(build: Build) -> tuple[str, ...]:
    from mihakk.generators.task import TASKS

    return tuple(use.use for use in build.config.tasks if TASKS.get(use.use).needs_model)


@contextmanager
def _scratch(build: Build, without: tuple[str, ...], *, embeds: bool) -> Iterator[Build]:
    """The same build in a lake of its own that goes away; it shares what outlives rebuilds."""
    with tempfile.TemporaryDirectory(prefix="mihakk-plan-") as folder:
        mine = Path(Lake(folder, build.config.name).storage.root)
        (mine / "journals").mkdir(parents=True)
        for name in (JOURNAL, "generator"):
            real = build.lake.folder("journals", name)
            if real.is_dir():
                (mine / "journals" / name).symlink_to(real.resolve(), target_is_directory=True)
        _copy_decisions(build, mine)
        tasks = tuple(use for use in build.config.tasks if use.use not in without)
        config = build.config.model_copy(update={"generator": None, "tasks": tasks})
        if not embeds:
            config = config.model_copy(update={"embeddings": "none"})
        yield replace(build, config=config, lake_root=folder, pages=build.lake.url)


def _copy_decisions(build: Build, mine: Path) -> None:
    """People's decisions are few and may lie on an object store, which a link can't reach."""
    storage = build.lake.storage
    for folder in (DECISIONS, VOIDED):
        for name in storage.list(storage.path(*folder)):
            target = mine.joinpath(*folder, name)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(storage.read(storage.path(*folder, name)))


def _estimate(build: Build, trial: Build, chosen: frozenset[str]) -> Estimate:
    """What the audit would cost; embedded models are loaded for their tokenisers alone, and asked nothing."""
    from mihakk.pipeline.steps.audit import policy
    from mihakk.validators.audit.auditing import estimate, open_panel

    items = [i for i in trial.stage(CHECKED).read_all("items", ITEM_ROWS) if i.id in chosen]
    with (
        Journal(journal_folder(trial), JOURNAL) as journal,
        open_panel(build.auditors(), settings(), build.spending) as panel,
    ):
        return estimate(items, panel, journal, blind=policy(build).blind)


def _stage_plan(build: Build, manifest: StageManifest, times: float = 1.0) -> StagePlan:
    real = build.stage(manifest.stage)
    return StagePlan(
        stage=manifest.stage,
        shards=round(len(manifest.shards) * times),
        standing=round(
            sum(real.done(shard.shard, shard.digest) is not None for shard in manifest.shards) * times
        ),
        records_in=round(manifest.counts.read * times),
        rows_out=round(manifest.counts.written * times),
        rejected=round((manifest.counts.rejected + manifest.counts.merged) * times),
    )
