"""A run on the terminal: one progress bar per stage, one table at the end."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import TracebackType

from rich.box import SIMPLE_HEAD
from rich.console import Console, Group
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from mihakk.pipeline.observer import Moment, Observer
from mihakk.pipeline.steps.scrape import refusal, refused_licences
from mihakk.schemas.manifest import ShardCounts, StageManifest

REASONS_SHOWN = 3
LOST = "Lost"
"""Row of the closing table on losses that nobody accepted."""


class TerminalObserver(Observer):
    """Progress bars while a run goes on."""

    def __init__(self, console: Console) -> None:
        super().__init__()
        self._progress = Progress(
            TextColumn("{task.description:<26}"),
            BarColumn(bar_width=30),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("{task.fields[note]}", style="dim"),
            console=console,
        )
        self._bar = self._progress.add_task("", visible=False, note="")

    def __enter__(self) -> TerminalObserver:
        self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._progress.stop()

    def tell(self, moment: Moment) -> None:
        """A bar for each stage, and one of its own for other work; at its end it says what came out."""
        if moment.event == "started":
            self._bar = self._progress.add_task(moment.title, total=moment.total, note="")
            return
        note = note_of(moment.manifest.counts) if moment.manifest else ""
        self._progress.update(self._bar, completed=moment.done, note=note)
        if moment.manifest and (refused := refused_licences(moment.manifest.counts.notes)):
            self._progress.console.print(f"[bold red]{escape(refusal(refused))}[/]", soft_wrap=True)


def note_of(counts: ShardCounts) -> str:
    """What came in and what became of it, in one line."""
    note = f"{counts.read:,} in · {counts.written:,} out"
    if counts.rejected:
        note += f" · {counts.rejected:,} rejected"
    if counts.merged:
        note += f" · {counts.merged:,} merged"
    return note


def closing_table(
    manifests: list[StageManifest],
    seconds: Mapping[str, float],
    rows: list[tuple[str, str]],
) -> Group:
    """What came in, what left and why, and where things are.

    Args:
        manifests: Of the stages.
        seconds: Wall time of each stage and of work that is none, in the order of the rows.
        rows: What else there is to tell, by name.
    """
    table = Table(title="What happened", title_justify="left", header_style="bold", box=SIMPLE_HEAD)
    widest = max((len(manifest.stage) for manifest in manifests), default=0)
    table.add_column("Stage", no_wrap=True, min_width=widest)
    for name in ("In", "Kept", "Rejected", "Merged", "Out", "Seconds"):
        table.add_column(name, justify="right", no_wrap=True)
    facts = Table(show_header=False, box=None, padding=(0, 2, 0, 0))
    counted = {manifest.stage: manifest.counts for manifest in manifests}
    for name, spent in seconds.items():
        if (counts := counted.get(name)) is None:
            table.add_row(f"  {name}", *[""] * 5, f"{spent:.1f}", style="dim")
            continue
        numbers = (counts.read, counts.kept, counts.rejected, counts.merged, counts.written)
        table.add_row(name, *(f"{n:,}" for n in numbers), f"{spent:.1f}")
        if counts.reasons:
            facts.add_row(f"[bold]{name}[/]", f"left out: {reasons(counts)}")
    for name, value in rows:
        facts.add_row(f"[bold]{name}[/]", f"[bold red]{escape(value)}[/]" if name == LOST else value)
    return Group(table, facts)


def reasons(counts: ShardCounts) -> str:
    """The commonest reasons for rejections, with how often each came up."""
    ordered = sorted(counts.reasons.items(), key=lambda pair: (-pair[1], pair[0]))
    shown = ", ".join(f"{name} {count:,}" for name, count in ordered[:REASONS_SHOWN])
    more = len(ordered) - REASONS_SHOWN
    return shown + (f" and {more} more" if more > 0 else "")


def unusable(replies: Mapping[str, Mapping[str, int]], items: int) -> str:
    """How many replies of each auditor were unusable, to follow how far the items were audited.

    Args:
        replies: Auditor to replies per status.
        items: How many items each was asked about.
    """
    bad = {name: counts.get("invalid", 0) for name, counts in replies.items()}
    if not items:
        return ""
    if not any(bad.values()):
        return ", every reply usable"
    return "; unusable replies: " + ", ".join(f"{name} {count:,} of {items:,}" for name, count in bad.items())


def shown_path(path: Path) -> str:
    """A path as a person would type it from where they stand."""
    here = Path.cwd()
    return str(path.relative_to(here)) if path.is_relative_to(here) else str(path)
