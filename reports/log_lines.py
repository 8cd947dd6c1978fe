"""Progress as log lines: at the start, each tenth and the end of a stage; for unattended runs."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from types import TracebackType
from typing import Literal

from rich.console import Console

from mihakk.machinery.errors import UsageError
from mihakk.pipeline.observer import Moment, Observer
from mihakk.pipeline.steps.scrape import refusal, refused_licences
from mihakk.reports.terminal import TerminalObserver, note_of

FORMS = ("auto", "text", "json")


def observer_for(console: Console, form: str) -> TerminalObserver | LogObserver:
    """What shows a run's progress: bars on a terminal that can draw them, lines of text
    elsewhere, or the form asked for.

    Raises:
        UsageError: No such form.
    """
    if form not in FORMS:
        raise UsageError(f"--log {form}: there is no such form; use {', '.join(FORMS)}")
    if form == "auto" and console.is_terminal and not console.is_dumb_terminal:
        return TerminalObserver(console)
    return LogObserver("json" if form == "json" else "text")


class LogObserver(Observer):
    """Writes progress as lines.

    Args:
        form: Lines for people, or one JSON object a line with the fields time, event, stage, done, total, and
            at a stage's end seconds and counts.
        write: Takes each line; standard error by default, so that `--json` keeps standard output to itself.
    """

    def __init__(self, form: Literal["text", "json"], write: Callable[[str], None] | None = None) -> None:
        super().__init__()
        self._form = form
        self._write = write or _to_stderr
        self._last: Moment | None = None

    def __enter__(self) -> LogObserver:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is not None and self._last is not None:
            last = self._last
            self._line(last, "stopped", f"stopped after {last.done:,} of {last.total:,}")

    def tell(self, moment: Moment) -> None:
        """A line at the start and the end; a tenth more is written down once, however many ticks it took."""
        self._last = moment
        match moment.event:
            case "started":
                self._line(
                    moment, "started", f"started, {moment.total:,} to do" if moment.is_stage else "started"
                )
            case "progress" if moment.tenth:
                left = moment.seconds / moment.done * (moment.total - moment.done)
                how_far = (
                    f"{10 * moment.tenth} %, {moment.done:,} of {moment.total:,}, about {left:,.0f} s left"
                )
                self._line(moment, "progress", how_far)
            case "finished":
                self._finished(moment)

    def _finished(self, moment: Moment) -> None:
        said, more = f"finished in {moment.seconds:.1f} s", {"seconds": round(moment.seconds, 3)}
        if (manifest := moment.manifest) is None:
            self._line(moment, "finished", said, **more)
            return
        counts = manifest.counts
        self._line(moment, "finished", f"{said}, {note_of(counts)}", **more, counts=counts.model_dump())
        if refused := refused_licences(counts.notes):
            self._line(moment, "warning", refusal(refused), refused_licences=refused)

    def _line(self, moment: Moment, event: str, text: str, **more: object) -> None:
        now = datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
        if self._form == "text":
            self._write(f"{now} {moment.name}: {text}")
            return
        where = {"stage": moment.name, "done": moment.done, "total": moment.total}
        self._write(json.dumps({"time": now, "event": event, **where, **more}, ensure_ascii=False))


def _to_stderr(line: str) -> None:
    sys.stderr.write(f"{line}\n")
    sys.stderr.flush()
