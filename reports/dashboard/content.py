"""What nights and versions changed of the content, in sentences for digest and page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from mihakk.machinery.errors import MihakkError
from mihakk.machinery.lake.ledger import Ledger, Moves
from mihakk.pipeline.build import Build
from mihakk.pipeline.content_watch import held
from mihakk.pipeline.history import RunRecord
from mihakk.pipeline.ledger import ledger_of
from mihakk.pipeline.sign_off import approved_by
from mihakk.reports.dashboard.health import Note
from mihakk.reports.dashboard.versions import Versions
from mihakk.schemas.record import Record
from mihakk.schemas.stages import CURATED, NORMALIZED, RELEASED, REVIEWED, SCRAPED

NIGHTS_SHOWN = 12


class Night(Record):
    """What one run that read the sources saw of them."""

    run: str
    at: datetime
    seen: datetime
    """When it last said so."""
    sources: dict[str, Moves]
    first: bool = False
    """The ledger began: rows that seem new may be old."""


@dataclass(frozen=True)
class Content:
    """How the content moved."""

    held: str
    """Why the next release waits for a person; empty where it does not."""
    next: str
    """What that person does."""
    nights: tuple[Night, ...]
    """Runs that read the sources, newest first."""
    versions: Mapping[str, str]
    """Version, newest first, to what it changed and why."""

    unknown: str = ""
    """Why what changed can't be told; empty where it can."""

    @property
    def notes(self) -> list[Note]:
        """What a person should know of it."""
        if self.held:
            return [Note("bad", f"the next release is held: {self.held} If it is right, {self.next}")]
        return [Note("unknown", f"what changed can't be told: {self.unknown}")] if self.unknown else []


@dataclass(frozen=True)
class Standing:
    """What of the content changes only with the lake, the Hub and people's words."""

    held: str = ""
    versions: Mapping[str, str] = field(default_factory=dict)
    unknown: str = ""


def standing(build: Build, found: Versions) -> Standing:
    """What is held, and what the newest versions changed."""
    try:
        return _standing(build, found)
    except MihakkError as error:
        return Standing(unknown=str(error))


def _standing(build: Build, found: Versions) -> Standing:
    waits = held(build) if build.stage(REVIEWED).finished() else ""
    told = {}
    for row in found.rows[:NIGHTS_SHOWN]:
        reasons = found.by_reason.get(row.version, {})
        told[row.version] = (
            f"{row.items:,} items, the first"
            if row.first
            else version_said(row.changes, reasons, causes(build, row.version))
        )
        if names := approved_by(build, *_made_between(ledger_of(build), row.version)):
            told[row.version] += f"; signed off by {', '.join(names)}"
    return Standing(waits, told)


def content(build: Build, stands: Standing, records: Iterable[RunRecord], since: datetime) -> Content:
    """The content as of now, with the nights since a moment."""
    name, told, unknown = build.config.name, list[Night](), stands.unknown
    try:
        told = nights(build, list(records), since)
    except MihakkError as error:
        unknown = str(error)
    return Content(
        held=stands.held,
        next=f"mihakk release {name} --sign-off NAME" if stands.held else "",
        nights=tuple(reversed(told)),
        versions=stands.versions,
        unknown=unknown,
    )


def version_said(changes: Mapping[str, int], reasons: Mapping[str, int], why: Iterable[str]) -> str:
    """One version against the one before: kinds of change, reasons of removals, causes."""
    kinds = dict(changes)
    parts = []
    if added := kinds.pop("added", 0):
        parts.append(f"{added:,} added")
    if removed := kinds.pop("removed", 0):
        prefix = "removed: "
        told = [
            f"{count:,} {one.removeprefix(prefix).replace('_', ' ')}"
            for one, count in reasons.items()
            if one.startswith(prefix)
        ]
        parts.append(f"{removed:,} removed ({', '.join(told)})" if told else f"{removed:,} removed")
    parts += [
        f"{count:,} {'moved between splits' if kind == 'moved' else kind.replace('_', ' ')}"
        for kind, count in kinds.items()
    ]
    causes_said = "; ".join(why)
    return (", ".join(parts) or "no item changed") + (f"; because of {causes_said}" if causes_said else "")


def night_said(night: Night) -> Iterator[str]:
    """One night: a sentence for each source that moved, and one for all that did not."""
    still = []
    for source, one in night.sources.items():
        if one.new or one.changed or one.vanished:
            began = " (the ledger began: rows that seem new may be old)" if night.first else ""
            yield (
                f"{source}: {one.seen:,} rows seen, {one.new:,} new, {one.changed:,} changed, "
                f"{one.vanished:,} vanished, {one.rejected:,} rejected{began}"
            )
        else:
            still.append(f"{source} ({one.seen:,} rows, {one.rejected:,} rejected)")
    if still:
        yield f"as before: {', '.join(still)}"


def nights(build: Build, records: Sequence[RunRecord], since: datetime) -> list[Night]:
    """What each run that read the sources since a moment saw, oldest first.

    Rejected rows are those that stand rejected before items are made.
    """
    ledger, found = ledger_of(build), []
    for record in sorted(records, key=lambda one: one.run):
        if not record.sources or record.seen < since:
            continue
        moved = ledger.latest(SCRAPED, record.run)
        note = moved if moved is not None and moved.run == record.run else None
        later = [ledger.latest(stage, record.run) for stage in (NORMALIZED, CURATED)]
        sources = {}
        for name, given in record.sources.items():
            mine = note.moves.get(name, Moves()) if note else Moves()
            rejected = sum(one.moves[name].rejected for one in later if one and name in one.moves)
            sources[name] = mine.model_copy(
                update={"seen": given.records, "rejected": given.rejected + rejected}
            )
        for name, gone in (note.moves if note else {}).items():
            sources.setdefault(name, gone)  # a source that the config names no longer
        found.append(
            Night(
                run=record.run,
                at=record.started,
                seen=record.seen,
                sources=sources,
                first=bool(note and note.first),
            )
        )
    return found


def _made_between(ledger: Ledger, version: str) -> tuple[str, str]:
    """The runs that made the version before and this one; the last is empty where no run is known to."""
    made = [note for note in ledger.notes(RELEASED) if note.version]
    mine = next((note.run for note in made if note.version == version), "")
    return max((note.run for note in made if note.run < mine and note.version != version), default=""), mine


def causes(build: Build, version: str) -> list[str]:
    """Why a version differs from the one before: what moved in the runs between, one sentence each."""
    ledger = ledger_of(build)
    before, mine = _made_between(ledger, version)
    between = [note for note in ledger.notes(after=before) if note.run <= mine and not note.first]
    found = []
    rows: dict[str, Counter[str]] = {}
    for note in between:
        if note.stage == SCRAPED:
            for source, moves in note.moves.items():
                rows.setdefault(source, Counter()).update(
                    moves.model_dump(include={"new", "changed", "vanished"})
                )
    for source, counted in sorted(rows.items()):
        if told := ", ".join(f"{count:,} {what}" for what, count in counted.items() if count):
            found.append(f"rows of source {source}: {told}")
    for cause in ("code", "config"):
        stages = sorted({note.stage for note in between if cause in note.causes})
        if stages:
            found.append(f"{cause} of {', '.join(stages)} changed")
    return found
