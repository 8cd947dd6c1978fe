"""What a run leaves in Prefect's UI: progress, accounts, samples and the closing summary."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any
from uuid import UUID

from prefect.artifacts import (
    create_markdown_artifact,
    create_progress_artifact,
    create_table_artifact,
    update_progress_artifact,
)
from prefect.logging import get_run_logger

from mihakk.machinery.markdown import plain, table
from mihakk.pipeline.build import Build
from mihakk.pipeline.observer import Moment, Observer
from mihakk.reports.closing import audited, released
from mihakk.schemas.idiom import Idiom
from mihakk.schemas.item import ITEM_ROWS
from mihakk.schemas.manifest import StageManifest
from mihakk.schemas.poem import Poem
from mihakk.schemas.stages import AUDITED, RELEASED

SAMPLES = 3
"""Records of each kind that a stage's artifact shows."""
TABLES: tuple[tuple[str, Any], ...] = (("poems", Poem), ("idioms", Idiom), ("items", ITEM_ROWS))


class ArtifactObserver(Observer):
    """Writes the progress of each step, then its account and a few of its records."""

    def __init__(self, build: Build) -> None:
        super().__init__()
        self._build = build
        self._progress: UUID | None = None

    def tell(self, moment: Moment) -> None:
        """Work that is no step is a line of the run's log; progress moves at most a hundred times a step."""
        if not moment.is_stage:
            said = "started" if moment.event == "started" else f"finished in {moment.seconds:.1f} s"
            get_run_logger().info("%s: %s", moment.name, said)
        elif moment.event == "started":
            made = create_progress_artifact(
                progress=0.0, key=artifact_key(moment.name), description=moment.title
            )
            self._progress = made if isinstance(made, UUID) else None
        elif self._progress:
            before, done = (100 * n // max(1, moment.total) for n in (moment.before, moment.done))
            if moment.manifest or done > before:
                update_progress_artifact(
                    self._progress, progress=100.0 if moment.manifest else min(100.0, done)
                )
        if moment.manifest:
            create_markdown_artifact(
                stage_account(self._build, moment.title, moment.manifest, moment.seconds),
                key=f"{artifact_key(moment.name)}-account",
                description=moment.title,
            )


def stage_account(build: Build, title: str, manifest: StageManifest, seconds: float) -> str:
    """One stage as Markdown: what came in, what left and why, and a few of the records it wrote."""
    counts = manifest.counts
    lines = [
        f"# {title}",
        f"{counts.read:,} in = {counts.kept:,} kept + {counts.rejected:,} rejected"
        f" + {counts.merged:,} merged; "
        f"{counts.written:,} rows written in {len(manifest.shards)} shards, {seconds:.1f} s.",
    ]
    if counts.reasons:
        rows = sorted(counts.reasons.items(), key=lambda pair: (-pair[1], pair[0]))
        lines += ["## Why records left", markdown_table(("reason", "records"), rows)]
    if counts.notes:
        lines += ["## Counted on the way", markdown_table(("what", "count"), sorted(counts.notes.items()))]
    for name, row in TABLES:
        if texts := _texts(build, manifest, name, row):
            lines += [f"## Some {name}", markdown_table((name,), [(text,) for text in texts])]
    return "\n".join(lines)


def _texts(build: Build, manifest: StageManifest, table: str, row: Any) -> list[str]:
    """The first records of each kind, as one line each."""
    for shard in manifest.shards:
        if table in shard.parts:
            return [_text(record) for record in build.stage(manifest.stage).read(table, row, shard.shard)][
                :SAMPLES
            ]
    return []


def _text(record: Any) -> str:
    match record:
        case Poem():
            halves = record.couplets[0].halves if record.couplets else ()
            return " … ".join(half.shown for half in halves)
        case Idiom():
            return record.phrase.shown
        case _:
            return str(record.question or record.context)


def summary_artifacts(build: Build, manifests: Sequence[StageManifest], waiting: int, report: str) -> None:
    """The run's summary as Markdown and its rejects as a table."""
    stages = [
        (m.stage, m.counts.read, m.counts.kept, m.counts.rejected, m.counts.merged, m.counts.written)
        for m in manifests
    ]
    done = [f"- Waiting for people: {waiting:,} items"]
    if build.stage(RELEASED).finished():
        done.insert(0, f"- Release: {released(build)}")
    if any(m.stage == AUDITED for m in manifests):
        done.append(f"- Audit: {audited(build, list(manifests))}")
    if report:
        done.append(f"- Report: `{report}`")
    head = ("stage", "in", "kept", "rejected", "merged", "out")
    lines = [f"# {build.config.title}", *done, "", markdown_table(head, stages)]
    create_markdown_artifact("\n".join(lines), key="summary", description=build.config.title)
    rejects = [
        {"stage": m.stage, "reason": reason, "records": count}
        for m in manifests
        for reason, count in sorted(m.counts.reasons.items())
    ]
    create_table_artifact(rejects, key="rejects", description="Why records left the pipeline")


def markdown_table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A Markdown table; text is kept from being read as markup."""
    cells = ([f"{c:,}" if isinstance(c, int) else plain(str(c)) for c in row] for row in rows)
    return "\n" + table(head, cells) + "\n"


def artifact_key(stage: str) -> str:
    """Artifact keys are lower case with dashes."""
    return stage.replace("_", "-")
