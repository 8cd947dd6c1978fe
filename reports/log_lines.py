"""Progress as log lines: at the start, each tenth and the end of a stage; for unattended runs."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime
from types import TracebackType
from typing import Literal

from rich.console import Console

from mihakk.errors import UsageError
from pipeline.observer import tenth
from pipeline.step import Step
from pipeline.steps.scrape import refusal, refused_licences
from reports.terminal import TerminalObserver, note_of
from schemas.manifest import StageManifest

FORMS = ("auto", "text", "json")


def observer_for(console: Console, form: str) -> TerminalObserver | LogObserver:
    """What shows a run's progress: bars on a terminal that can draw them, lines of text
    elsewhere, or the form asked for; nothing where the console is quiet.

    Raises:
        UsageError: No such form.
    """
    if form not in FORMS:
        raise UsageError(f"--log {form}: there is no such form; use {', '.join(FORMS)}")
    if form == "auto" and console.is_terminal and not console.is_dumb_terminal:
        return TerminalObserver(console)
    return LogObserver("json" if form == "json" else "text", _nowhere if console.quiet else None)


class LogObserver:
    """Writes progress as lines.

    Args:
        form: Lines for people, or one JSON object a line with the fields time, event, stage, done, total, and
            at a stage's end seconds and counts.
        write: Takes each line; standard error by default, so that `--json` keeps standard output to itself.
    """

    def __init__(self, form: Literal["text", "json"], write: Callable[[str], None] | None = None) -> None:
        self._form = form
        self._write = write or _to_stderr
        self._began = 0.0
        self._stage, self._done, self._total = "", 0, 0

    def __enter__(self) -> LogObserver:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is not None and self._stage:
            self._line("stopped", f"{self._stage}: stopped after {self._done:,} of {self._total:,}")

    def started(self, step: Step, total: int) -> None:
        """A stage begins."""
        self._began = time.monotonic()
        self._stage, self._done, self._total = step.stage, 0, total
        self._line("started", f"{step.stage}: started, {total:,} to do")

    def tick(self, count: int) -> None:
        """A tenth more of the stage is written down once, however many ticks it took."""
        before, self._done = self._done, self._done + count
        if passed := tenth(before, self._done, self._total):
            spent = time.monotonic() - self._began
            left = spent / self._done * (self._total - self._done)
            self._line(
                "progress",
                f"{self._stage}: {10 * passed} %, {self._done:,} of {self._total:,}, "
                f"about {left:,.0f} s left",
            )

    def finished(self, step: Step, manifest: StageManifest) -> None:
        """A stage has written its manifest."""
        seconds = time.monotonic() - self._began
        self._done = self._total
        self._line(
            "finished",
            f"{step.stage}: finished in {seconds:.1f} s, {note_of(manifest.counts)}",
            seconds=round(seconds, 3),
            counts=manifest.counts.model_dump(),
        )
        if refused := refused_licences(manifest.counts.notes):
            self._line("warning", f"{step.stage}: {refusal(refused)}", refused_licences=refused)

    def phase(self, name: str, seconds: float | None = None) -> None:
        """Work that is no stage begins or is done."""
        if seconds is None:
            self._stage, self._done, self._total = name, 0, 1
            self._line("started", f"{name}: started")
        else:
            self._done = 1
            self._line("finished", f"{name}: finished in {seconds:.1f} s", seconds=round(seconds, 3))

    def _line(self, event: str, text: str, **more: object) -> None:
        now = datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
        if self._form == "text":
            self._write(f"{now} {text}")
            return
        shown = {"time": now, "event": event, "stage": self._stage, "done": self._done, "total": self._total}
        self._write(json.dumps(shown | more, ensure_ascii=False))


def _nowhere(line: str) -> None:
    """Where the lines of a quiet run go."""


def _to_stderr(line: str) -> None:
    sys.stderr.write(f"{line}\n")
    sys.stderr.flush()
