"""How a run looks on the terminal: one bar per stage, one table at the end."""

from __future__ import annotations

import time
from pathlib import Path
from types import TracebackType

from rich.console import Console, Group
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from flows.steps.step import Step
from schemas.manifest import ShardCounts, StageManifest

REASONS_SHOWN = 3


class TerminalObserver:
    """Progress bars while a run goes on; numbers for the closing table."""

    def __init__(self, console: Console) -> None:
        self._progress = Progress(
            TextColumn("{task.description:<26}"),
            BarColumn(bar_width=30),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("{task.fields[note]}", style="dim"),
            console=console,
        )
        self._bar = self._progress.add_task("", visible=False, note="")
        self._started = 0.0
        self.seconds: dict[str, float] = {}
        """Wall time of each stage of this run."""

    def __enter__(self) -> TerminalObserver:
        self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._progress.stop()

    def started(self, step: Step, total: int) -> None:
        """Opens the step's bar."""
        self._started = time.monotonic()
        self._bar = self._progress.add_task(step.title, total=total, note="")

    def tick(self, count: int) -> None:
        """Moves the bar."""
        self._progress.advance(self._bar, count)

    def finished(self, step: Step, manifest: StageManifest) -> None:
        """Fills the bar and says what came out."""
        self.seconds[step.stage] = time.monotonic() - self._started
        task = next(t for t in self._progress.tasks if t.id == self._bar)
        counts = manifest.counts
        note = f"{counts.read:,} in · {counts.written:,} out"
        if counts.rejected:
            note += f" · {counts.rejected:,} rejected"
        if counts.merged:
            note += f" · {counts.merged:,} merged"
        self._progress.update(self._bar, completed=task.total, note=note)


def closing_table(
    manifests: list[StageManifest], seconds: dict[str, float], rows: list[tuple[str, str]]
) -> Group:
    """What came in, what left and why, and where things are."""
    table = Table(title="What happened", title_justify="left", header_style="bold")
    for name, justify in (
        ("Stage", "left"),
        ("In", "right"),
        ("Kept", "right"),
        ("Rejected", "right"),
        ("Merged", "right"),
        ("Out", "right"),
        ("Why", "left"),
        ("Seconds", "right"),
    ):
        table.add_column(name, justify=justify)  # type: ignore[arg-type]
    for manifest in manifests:
        counts = manifest.counts
        numbers = (counts.read, counts.kept, counts.rejected, counts.merged, counts.written)
        spent = seconds.get(manifest.stage, 0.0)
        table.add_row(manifest.stage, *(f"{n:,}" for n in numbers), reasons(counts), f"{spent:.1f}")
    facts = Table(show_header=False, box=None, padding=(0, 2, 0, 0))
    for name, value in rows:
        facts.add_row(f"[bold]{name}[/]", value)
    return Group(table, facts)


def reasons(counts: ShardCounts) -> str:
    """The commonest reasons for rejections, with how often each came up."""
    ordered = sorted(counts.reasons.items(), key=lambda pair: (-pair[1], pair[0]))
    shown = ", ".join(f"{name} {count:,}" for name, count in ordered[:REASONS_SHOWN])
    more = len(ordered) - REASONS_SHOWN
    return shown + (f" and {more} more" if more > 0 else "")


def shown_path(path: Path) -> str:
    """A path as a person would type it from where they stand."""
    here = Path.cwd()
    return str(path.relative_to(here)) if path.is_relative_to(here) else str(path)
