"""What a finished run writes beside its report, and its closing message."""

from __future__ import annotations

from collections import Counter
from importlib.util import find_spec
from pathlib import Path

from mihakk.annotation.decisions.apply import WAITING
from mihakk.pipeline.build import Build
from mihakk.reports.terminal import shown_path, unusable
from mihakk.schemas.manifest import StageManifest
from mihakk.schemas.stages import AUDITED, RELEASED, REVIEWED


def write_review_queue(opened: Build) -> tuple[Path, int]:
    """Items that wait for people as a file that Label Studio imports; the file and how many they are."""
    from mihakk.annotation.screens.queue import write_queue
    from mihakk.schemas.audit import Audit, Verdict
    from mihakk.schemas.finding import Finding
    from mihakk.schemas.item import ITEM_ROWS

    audited_stage = opened.stage(AUDITED)
    waiting = [row.record for row in opened.stage(REVIEWED).rejections() if row.reason in WAITING]
    # Sampled items that people object to wait too, though nothing flagged them.
    verdicts = [
        row.model_copy(update={"status": "flag"})
        for row in audited_stage.read_all("verdicts", Verdict, ("item", waiting))
    ]
    items = list(audited_stage.read_all("items", ITEM_ROWS, ("id", waiting)))
    path = opened.run_folder / "review_queue.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    findings = audited_stage.read_all("findings", Finding, ("subject", waiting))
    audits = audited_stage.read_all("audits", Audit, ("item", waiting))
    return path, write_queue(path, items, verdicts, findings, audits)


def link_latest(run_folder: Path) -> None:
    """Points `latest` beside the run's folder at it."""
    latest = run_folder.parent / "latest"
    fresh = run_folder.parent / f".latest-{run_folder.name}"
    fresh.symlink_to(run_folder.name, target_is_directory=True)
    fresh.replace(latest)


def done_without() -> str:
    """What the run did in another way because a package is not installed; empty where all are."""
    ways = {
        "duckdb": "no report",
        "great_expectations": "the suites of the tables held, and have no pages",
        "datasets": "the release was read back from the files that its card lists",
    }
    lacking = [f"{name.replace('_', '-')} ({way})" for name, way in ways.items() if not find_spec(name)]
    return f"{', '.join(lacking)}; the extra `build` brings them" if lacking else ""


def standing_commit(opened: Build) -> str:
    """Commit of the newest version on the embedded Hub; empty before the first."""
    from mihakk.releases.hub.embedded import EmbeddedHub

    hub, name = EmbeddedHub(), opened.config.name
    latest = hub.latest(name)
    return hub.commit(name, latest) if latest else ""


def released(opened: Build, before: str = "") -> str:
    """Version, size and place of the release, and whether it was there already.

    Args:
        opened: The build, finished.
        before: `standing_commit` as it was before the run.
    """
    from mihakk.machinery.settings import settings
    from mihakk.schemas.published import Published

    row = next(iter(opened.stage(RELEASED).read_all("release", Published)))
    place = shown_path(settings().hub / row.name)
    said = f"{row.name} {row.version}, {row.items:,} items, in {place} (tag {row.version})"
    if before and row.commit == before:
        said += "; nothing changed: the release made before was reused"
    return said


def audited(opened: Build, manifests: list[StageManifest]) -> str:
    """How far the items were audited, how many replies were unusable, and whether they are judges at all."""
    from mihakk.schemas.audit import Verdict, by_audit_state

    counts = next(m for m in manifests if m.stage == AUDITED).counts
    if opened.config.audit.limit == 0:
        return f"{counts.written:,} items by checks only: no model was asked (`audit.limit` is 0)"
    asked, auditors = counts.notes.get("audited", 0), opened.auditors().auditors
    replies = {one.name: {"invalid": counts.notes.get(f"{one.name}.invalid", 0)} for one in auditors}
    states = Counter(one.audit_state for one in opened.stage(AUDITED).read_all("verdicts", Verdict))
    said = f"{by_audit_state(states)}{unusable(replies, asked)}"
    if not all(auditor.capable for auditor in auditors):
        said += "; these auditors are too small to be judges: their passes prove nothing"
    return said
