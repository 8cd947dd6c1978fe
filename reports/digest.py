"""The digest of all benchmarks: what changed since yesterday, what is held, waits or is late, and cost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from datetime import datetime

from pydantic import Field

from mihakk.machinery.markdown import one_line, plain
from mihakk.pipeline.build import Build
from mihakk.pipeline.history import DIGEST, runs
from mihakk.pipeline.schedules import moment
from mihakk.reports.dashboard.content import night_said
from mihakk.reports.dashboard.health import RunWithState, outstanding
from mihakk.reports.dashboard.overview import OverviewFacts
from mihakk.reports.mail import mail, post
from mihakk.schemas.record import Record


class Digest(Record):
    """One benchmark since a moment."""

    benchmark: str
    title: str
    level: str
    """The worst of what a person should know: good, unknown, look, bad."""
    held: str = ""
    """Why the next release waits for a person, and what they do; empty where it does not."""
    nights: tuple[str, ...] = ()
    """What runs saw of the sources since then, newest first."""
    versions: tuple[str, ...] = ()
    """What each version made since then changed and why, newest first."""
    runs: dict[str, int]
    """State of the runs since then to their number."""
    failures: tuple[str, ...] = ()
    """How each failed run ended that was open at that moment or came since, and whose work is done now; the
    notes have the others."""
    released: tuple[str, ...] = ()
    """Versions that were made since then, newest first."""
    waiting: int = 0
    """Items that wait for people's decisions."""
    costs: dict[str, float] = Field(default_factory=dict)
    """What priced models answered since then, by currency."""
    notes: tuple[str, ...] = ()
    """What a person should know, the worst first."""


def last_sent(build: Build) -> datetime | None:
    """When the last digest that was sent began to look; None where none was."""
    records, _ = runs(build.lake)
    return next((one.started for one in records if one.job == DIGEST and one.status == "finished"), None)


def digest(facts: OverviewFacts, since: datetime) -> Digest:
    """One benchmark's digest."""
    records = [(run.record, run.state) for run in facts.health.runs]
    recent = [(record, state) for record, state in records if record.seen >= since]
    older = {record.release for record, _ in records if record.seen < since}
    open_failures = {_place(run) for run in outstanding(facts.health.runs)}
    over = [run for run in facts.health.runs if _failed(run) and _place(run) not in open_failures]
    # What was open at that moment and is over now is told once more: else nobody knows that it is.
    told = outstanding([run for run in facts.health.runs if run.record.seen < since])
    costs: Counter[str] = Counter()
    for record, _ in recent:
        costs.update(record.costs)
    versions = [record.release for record, _ in recent if record.release and record.release not in older]
    made = tuple(dict.fromkeys(versions))
    return Digest(
        benchmark=facts.name,
        title=facts.title,
        level=facts.level,
        held=f"{facts.content.held} If it is right, {facts.content.next}; if not, mend the source and build "
        f"again. Why each: mihakk why ID -b {facts.name}"
        if facts.content.held
        else "",
        nights=tuple(
            f"{night.at:%Y-%m-%d %H:%M} UTC, {said}"
            for night in facts.content.nights
            if night.seen >= since
            for said in night_said(night)
        ),
        versions=tuple(
            f"{one}: {facts.content.versions[one]}" for one in made if one in facts.content.versions
        ),
        runs=dict(sorted(Counter(state for _, state in recent).items())),
        failures=tuple(
            f"{moment(run.record.started)} in {run.record.job or run.record.stage or 'preparation'}: "
            f"{run.record.error}"
            for run in over
            if run.record.seen >= since or run in told
        ),
        released=made,
        waiting=facts.people.waiting,
        costs=dict(sorted(costs.items())),
        notes=tuple(
            f"{note.level}: {note.text}"
            for note in facts.notes
            if note.level != "good" and not (facts.content.held and note in facts.content.notes)
        ),
    )


def _place(run: RunWithState) -> tuple[str, str]:
    return run.record.job, run.record.stage


def _failed(run: RunWithState) -> bool:
    return run.state in ("failed", "lost")


def markdown(digests: Sequence[Digest], since: datetime) -> str:
    """All benchmarks as one Markdown text, those that need a person first."""
    return _written(digests, since, plain, ("# ", "## ", "**"))


def plain_text(digests: Sequence[Digest], since: datetime) -> str:
    """The same without marks, as people read it in a mail, a chat or at a terminal."""
    return _written(digests, since, one_line, ("", "", ""))


def _written(
    digests: Sequence[Digest], since: datetime, said: Callable[[object], str], marks: tuple[str, str, str]
) -> str:
    order = ("bad", "look", "unknown", "good")
    title, head, strong = marks
    lines = [f"{title}Mihakk since {since:%Y-%m-%d %H:%M} UTC"]
    for one in sorted(digests, key=lambda found: (order.index(found.level), found.benchmark)):
        ran = ", ".join(f"{count} {state}" for state, count in one.runs.items()) or "none"
        cost = ", ".join(f"{amount:,.2f} {currency}" for currency, amount in one.costs.items()) or "nothing"
        untold = [
            name for name in one.released if not any(text.startswith(f"{name}: ") for text in one.versions)
        ]
        lines += [
            "",
            f"{head}{said(one.title)} ({said(one.benchmark)}): {one.level}",
            "",
            *([f"- {strong}Held{strong}: {said(one.held)}"] if one.held else []),
            *(f"- Version {said(text)}" for text in one.versions),
            *(f"- Rows: {said(text)}" for text in one.nights),
            f"- Runs: {ran}. Priced models cost {cost}.",
            *(f"- Released: {name}." for name in untold or ([] if one.released else ["nothing"])),
        ]
        lines += [f"- Failed, and done since: {said(text)}" for text in one.failures]
        lines += [f"- {said(text)}" for text in one.notes]
    return "\n".join(lines) + "\n"


def send(digests: Sequence[Digest], since: datetime, *, webhook: str = "", to: Sequence[str] = ()) -> None:
    """Send digests as plain text to a webhook and by mail, where either is named.

    Raises:
        UsageError, ExternalFailure: As `mail` and `post` do.
    """
    text = plain_text(digests, since)
    if webhook:
        post(webhook, {"text": text, "level": {one.benchmark: one.level for one in digests}})
    if to:
        subject = ", ".join(f"{one.benchmark} {one.level}" for one in digests)
        mail(f"Mihakk: {subject}", text, to)
