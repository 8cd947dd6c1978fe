"""One item's whole history: from raw text to the releases it is in."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import orjson

from mihakk.machinery.errors import UsageError
from mihakk.machinery.ids import content_hash
from mihakk.pipeline.build import Build
from mihakk.reports.dashboard.items import open_items
from mihakk.reports.dashboard.tables import Tables
from mihakk.reports.dashboard.versions import changes_of
from mihakk.schemas.audit import Audit, Verdict
from mihakk.schemas.finding import Finding
from mihakk.schemas.idiom import Idiom
from mihakk.schemas.item import ITEM_ROWS
from mihakk.schemas.poem import Poem
from mihakk.schemas.rejection import Rejection
from mihakk.schemas.review import Resolution, Review
from mihakk.schemas.stages import AUDITED, CHECKED, CURATED, GENERATED, NORMALIZED, REVIEWED, SCRAPED

if TYPE_CHECKING:
    from mihakk.schemas.record import Form

ORIGINS_SHOWN = 8
LINES_SHOWN = 40


@dataclass(frozen=True)
class StoryLine:
    """One piece of a record's text in two of its forms."""

    name: str
    """Position of a couplet, or what the text is."""
    raw: str
    text: str
    here: bool
    """The item was made from this very piece."""


@dataclass(frozen=True)
class OriginStory:
    """One record behind an item."""

    id: str
    language: str
    title: str
    facts: dict[str, str]
    """Poet, era, ... after curation, then where it came from."""
    lines: list[StoryLine]
    more: int
    """Lines that are not shown."""
    seen_in: list[str]
    """Stages that hold it."""


@dataclass(frozen=True)
class StoryOpinion:
    """One auditor's audit and the reply it was read from."""

    audit: Audit
    reply: str
    """As it came; empty where the journal is not at hand."""


@dataclass
class Story:
    """Everything known of one item."""

    id: str
    item: Any
    """As it stands; None when no stage holds it any more."""
    generated: Any
    """As it was generated, where people's corrections changed it; else None."""
    state: str
    source: str
    content: str
    """Content hash."""
    origins: list[OriginStory] = field(default_factory=list)
    origins_total: int = 0
    findings: list[Finding] = field(default_factory=list)
    opinions: list[StoryOpinion] = field(default_factory=list)
    verdict: Verdict | None = None
    queued: list[Any] = field(default_factory=list)
    reviews: list[tuple[Review, bool]] = field(default_factory=list)
    """Each decision and whether it binds on the item as it stands."""
    resolution: Resolution | None = None
    rejections: list[tuple[str, Rejection]] = field(default_factory=list)
    """Stage that left it out, and why."""
    versions: list[tuple[str, str]] = field(default_factory=list)


def story(build: Build, tables: Tables, item: str) -> Story | None:
    """The history of an item; None when nothing was ever known of it."""
    stage = open_items(build, tables)
    place = tables.rows("SELECT shard, source, state FROM shown WHERE id = $1", [item])
    found = Story(item, None, None, "", "", "")
    if place:
        shard, found.source, found.state = place[0]["shard"], place[0]["source"], place[0]["state"]
        found.item = _of(build, (stage, "items", shard), ITEM_ROWS, "id", item)
        made = _of(build, (GENERATED, "items", shard), ITEM_ROWS, "id", item)
        found.content = content_hash(found.item)
        found.generated = made if made and content_hash(made) != found.content else None
        _said(build, found, shard)
        records = list(found.item.origin.records)
        found.origins_total = len(records)
        found.origins = [one for name in records[:ORIGINS_SHOWN] if (one := origin(build, tables, name))]
    _people(build, found)
    _left(tables, found)
    found.versions = changes_of(build, item)
    known = found.item or found.reviews or found.rejections or any("not" not in v for _, v in found.versions)
    return found if known else None


def _said(build: Build, found: Story, shard: str) -> None:
    """Findings, audits, verdict and resolution of the item."""
    tables = build.stage(CHECKED)
    # Findings of checks that look at the whole set stand in its first shard.
    if tables.finished():
        for one in dict.fromkeys([tables.shards()[0], shard]):
            found.findings += [f for f in tables.read("findings", Finding, one) if f.subject == found.id]
    audited = build.stage(AUDITED)
    if audited.finished():
        audits = [audit for audit in audited.read("audits", Audit, shard) if audit.item == found.id]
        found.opinions = [StoryOpinion(audit, reply(build, audit.reply_key)) for audit in audits]
        found.verdict = _of(build, (AUDITED, "verdicts", shard), Verdict, "item", found.id)
    found.resolution = _of(build, (REVIEWED, "resolutions", shard), Resolution, "item", found.id)


def _people(build: Build, found: Story) -> None:
    from mihakk.annotation.decisions.store import stored
    from mihakk.annotation.decisions.stores import Stores
    from mihakk.annotation.statistics.sampling import Queued
    from mihakk.pipeline.steps.check import reviews_of

    stores = Stores.under(build.lake.url)
    found.queued = [row for row in stored(stores.queued, Queued) if found.id in (row.item, row.base)]
    mine = [review for review in reviews_of(build) if review.item == found.id]
    found.reviews = [(review, review.content_hash == found.content) for review in mine]


def _left(tables: Tables, found: Story) -> None:
    for stage in (GENERATED, CHECKED, AUDITED, REVIEWED):
        tables.view("gone", stage, "rejected")
        for row in tables.rows(
            "SELECT * EXCLUDE (shard, place, source), source FROM gone WHERE record = $1", [found.id]
        ):
            fields = {name: row[name] or "" for name in Rejection.model_fields}
            found.rejections.append((stage, Rejection(**fields)))


def origin(build: Build, tables: Tables, name: str) -> OriginStory | None:
    """A record (or one couplet of it) from its raw text on."""
    record, _, position = name.partition(":") if ":" in name else (name, "", "")
    forms: dict[str, Poem | Idiom] = {}
    for stage in (SCRAPED, NORMALIZED, CURATED):
        if found := _record(build, tables, stage, record):
            forms[stage] = found
    if not forms:
        return None
    first, last = next(iter(forms.values())), list(forms.values())[-1]
    lines = _lines(first, last, position)
    shown = [line for line in lines if line.here] if position else lines[:LINES_SHOWN]
    return OriginStory(
        id=name,
        language=last.language,
        title=(last.title or lines[0].raw) if isinstance(last, Poem) else last.phrase.shown,
        facts=_facts(last),
        lines=shown,
        more=len(lines) - len(shown),
        seen_in=list(forms),
    )


def _record(build: Build, tables: Tables, stage: str, record: str) -> Poem | Idiom | None:
    opened = build.stage(stage)
    if not opened.finished():
        return None
    for table, row in (("poems", Poem), ("idioms", Idiom)):
        tables.view("records", stage, table)
        if shard := tables.one("SELECT shard FROM records WHERE id = $1", [record]):
            found: Poem | Idiom | None = _of(build, (stage, table, shard), row, "id", record)
            return found
    return None


def _lines(first: Poem | Idiom, last: Poem | Idiom, position: str) -> list[StoryLine]:
    """Raw text as first scraped beside the canonical text as curation left it."""
    if isinstance(first, Idiom) and isinstance(last, Idiom):
        names = ("phrase", "explanation")
        return [StoryLine(n, getattr(first, n).raw, getattr(last, n).text, True) for n in names]
    if not (isinstance(first, Poem) and isinstance(last, Poem)):
        return []
    canonical = {couplet.id: couplet for couplet in last.couplets}
    made = []
    for couplet in first.couplets:
        now = canonical.get(couplet.id)
        text = _halves(now.first, now.second, "text") if now else "(left out on the way)"
        here = str(couplet.position) == position
        made.append(
            StoryLine(str(couplet.position), _halves(couplet.first, couplet.second, "raw"), text, here)
        )
    return made


def _halves(first: Form, second: Form | None, form: str) -> str:
    return " … ".join(getattr(half, form) for half in (first, second) if half)


def _facts(record: Poem | Idiom) -> dict[str, str]:
    origin = record.provenance
    facts = {
        "address": origin.url,
        "licence": origin.licence,
        "credit": origin.attribution,
        "fetched": f"{origin.retrieved_at:%Y-%m-%d %H:%M} UTC" if origin.retrieved_at else "",
        "raw bytes": f"sha256 {origin.sha256}",
        "parser": origin.parser_version,
    }
    if isinstance(record, Poem):
        metres = sorted({section.metre for section in record.sections} - {""})
        facts = {
            "poet": record.poet,
            "era": record.era,
            "genre": record.genre,
            "metre": ", ".join(metres),
            **facts,
        }
    else:
        facts = {"kind": record.genre, "dialect": record.dialect, **facts}
    labels = {f"source says {name}": value for name, value in record.source_labels.items()}
    return {name: value for name, value in {**facts, **labels}.items() if value}


def _of(build: Build, part: tuple[str, str, str], row: Any, key: str, value: str) -> Any:
    """The first row of a part (stage, table, shard) whose field is that value."""
    stage, table, shard = part
    opened = build.stage(stage)
    if not opened.finished():
        return None
    return next((one for one in opened.read(table, row, shard) if getattr(one, key) == value), None)


def reply(build: Build, key: str) -> str:
    """The raw reply of a call; journals are searched as they lie, since opening one for writing locks it."""
    try:
        folder = build.lake.folder("journals")
    except UsageError:
        return ""
    wanted = b'{"key":"' + key.encode() + b'"'
    for path in sorted(folder.glob("*/*.jsonl")):
        with path.open("rb") as lines, suppress(ValueError, KeyError):
            if found := next((line for line in lines if line.startswith(wanted)), None):
                return str(orjson.loads(found)["text"])
    return ""
