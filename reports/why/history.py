"""The events of an item, record or row over all runs, in sentences, from the ledger and the stores beside."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any, Final, NamedTuple

import pyarrow.compute as pc

from mihakk.machinery.errors import UsageError
from mihakk.machinery.lake.ledger import CONTENT_BYTES, Ledger, Note
from mihakk.pipeline.build import Build
from mihakk.pipeline.ledger import RECORDS, ledger_of
from mihakk.reports.dashboard.versions import changes_of
from mihakk.reports.why.answer import SHOWN, Answer, Event, Subject, named, nearest, searched
from mihakk.schemas.audit import BLIND_RULE
from mihakk.schemas.stages import (
    CURATED,
    GENERATED,
    NORMALIZED,
    RELEASED,
    REVIEWED,
    SCRAPED,
    STAGES,
)

RULES: Final = {
    "block_finding": "a check blocks it",
    "flag_finding": "a check flags it",
    "invalid_reply": "an auditor gave no usable reply",
    "unjudged": "an auditor did not judge it",
    "least_total": "an auditor's total is too low",
    "total_gap": "the auditors' totals lie far apart",
    "hamming": "the auditors differ in many criteria",
    "critical": "an auditor found a critical criterion unmet",
    BLIND_RULE: "both auditors answered otherwise without seeing the gold",
}
REASONS: Final = {
    "unresolved": "it waits for people",
    "blocked": "a check blocks it",
    "defective": "people agree that it is defective, and on no repair",
    "other_order": "the same question with its options in the other order was left out",
    "like_test": "the test split asks the same",
}
_RECORD_STAGES: Final = (SCRAPED, NORMALIZED, CURATED)


class Told(NamedTuple):
    """One line of the ledger with the note at its head."""

    note: Note
    line: dict[str, Any]

    @property
    def stands(self) -> bool:
        """Whether it says that something holds, and not that it holds no longer."""
        return self.line["mark"] is not None


@dataclass(frozen=True)
class Reader:
    """A build's ledger, opened to be asked about rows."""

    build: Build
    ledger: Ledger
    config: str
    """What a person calls the benchmark in a command."""

    def of(self, name: str) -> list[Told]:
        """All lines about a row, oldest first."""
        return [Told(*found) for found in self.ledger.lines(pc.field("id") == name)]

    def made_of(self, name: str) -> dict[str, bool]:
        """Items made from a record or one of its couplets, and whether each stands."""
        ref = pc.field("ref")
        chosen = (ref == name) | pc.starts_with(ref, f"{name}:")
        found = {
            line["id"]: True for _, line in self.ledger.lines(chosen, GENERATED) if line["event"] == "in"
        }
        for _, line in self.ledger.lines(pc.field("id").isin(list(found)), GENERATED) if found else ():
            if line["event"] == "in":
                found[line["id"]] = line["mark"] is not None
        return found


def why(build: Build, asked: str, config: str = "") -> Answer:
    """All that is known of an item, a record, a row of a source, or a text, over all runs.

    Args:
        build: The benchmark and its lake.
        asked: An id, a text in any spelling, or SOURCE:ROW.
        config: How commands name the benchmark; its name if empty.

    Raises:
        UsageError: Nothing was asked, or a file of the ledger is damaged.
    """
    if not asked.strip():
        raise UsageError("name an id, a text or SOURCE:ROW, e.g. `mihakk why hafez:1`")
    ledger = ledger_of(build)
    reader = Reader(build, ledger, shlex.quote(config or build.config.name))
    found = named(build, ledger, asked)
    told = [subject for name in found[:SHOWN] if (subject := _subject(reader, name))]
    if told:
        return Answer(asked=asked, subjects=tuple(told), more=tuple(found[SHOWN:]), searched=searched(ledger))
    return Answer(
        asked=asked,
        nearest=tuple(nearest(build, asked)),
        searched=searched(ledger),
        next=f"mihakk runs {reader.config}" if ledger.latest(SCRAPED) else f"mihakk build {reader.config}",
    )


def _subject(reader: Reader, name: str) -> Subject | None:
    told = reader.of(name)
    made = reader.made_of(name)
    items = [one for one in told if one.note.stage == GENERATED]
    events = list(_events(reader, told))
    if items:
        origin = next((one.line["ref"] for one in reversed(items) if one.line["ref"]), "")
        events += _of_origin(reader, origin)
        events += _decisions(reader.build, name)
        events += _versions(reader, name)
    if not events and not made:
        return None
    stands = [item for item, still in made.items() if still]
    gone = [item for item, still in made.items() if not still]
    places = [one.line["place"] for one in told if one.line["place"]]
    now, command = _now(reader, name, told, is_item=bool(items))
    return Subject(
        id=name,
        kind="item" if items else "row" if told and all(map(_never_read, told)) else "record",
        source=told[-1].line["shard"].rpartition("-")[0] if told else "",
        place=places[-1] if places else "",
        now=now,
        # Of one run, in the order of the stages; what is not dated comes where it was put.
        events=tuple(sorted(events, key=lambda one: (one.at is None, one.at, _order(one.stage)))),
        made=tuple(stands[:SHOWN]),
        made_total=len(stands),
        gone=tuple(gone[:SHOWN]),
        gone_total=len(gone),
        next=command,
    )


def _never_read(one: Told) -> bool:
    return (one.note.stage, one.line["event"]) == (SCRAPED, "out")


def _order(stage: str) -> int:
    return STAGES.index(stage) if stage in STAGES else len(STAGES)


def _events(reader: Reader, told: Sequence[Told]) -> Iterator[Event]:
    stood: dict[tuple[str, str], bytes | None] = {}
    for one in told:
        what, mark = (one.note.stage, one.line["event"]), one.line["mark"]
        before = stood.get(what)
        stood[what] = mark
        if before and mark and before[:CONTENT_BYTES] == mark[:CONTENT_BYTES]:
            continue  # it only stands elsewhere in its source now
        for said in _sentences(reader, one, told, before=before is not None):
            yield Event(at=one.note.at, run=one.note.run, stage=one.note.stage, said=said)


def _sentences(reader: Reader, one: Told, told: Sequence[Told], *, before: bool) -> Iterator[str]:
    stage, line = one.note.stage, one.line
    match line["event"], stage:
        case "in", "1_scraped":
            yield _read(one, before=before)
        case "in", "2_normalized" | "3_curated":
            if before and one.stands and not _with(told, one.note.run, SCRAPED):
                cause = _cause(one.note)
                yield f"Its {'text' if stage == NORMALIZED else 'content after curation'} changed{cause}."
        case "in", _:
            yield _generated(reader, one, before=before)
        case "out", _:
            yield _rejected(one)
        case "said", "5_checked":
            yield f"Flagged by {_checks(line['reason'])}." if one.stands else "No check flags it any more."
        case "said", "6_audited":
            yield _verdict(line["reason"]) if one.stands else "Rules and auditors pass it now."
        case "said", "7_reviewed":
            yield (
                _settled(line["reason"]) if one.stands else "People's word no longer binds: it changed since."
            )


def _with(told: Sequence[Told], run: str, stage: str) -> bool:
    return any(one.note.run == run and one.note.stage == stage and one.line["event"] == "in" for one in told)


def _read(one: Told, *, before: bool) -> str:
    source, place = one.line["shard"].rpartition("-")[0], one.line["place"]
    if not one.stands:
        return f"No longer in source {source}: its row vanished."
    if before:
        return f"Its row in source {source} changed ({place})."
    return f"Read from source {source} ({place})" + (", when the ledger began." if one.note.first else ".")


def _rejected(one: Told) -> str:
    reason, kept, detail = one.line["reason"], one.line["ref"], one.line["detail"]
    if not one.stands:
        return f"No longer left out in {one.note.stage}."
    if kept:
        return f"Merged into {kept} in {one.note.stage}: {_reason(reason)} ({detail})."
    if reason == "unresolved":
        return f"Kept back at review until people decide ({detail})."
    where = "at review" if one.note.stage == REVIEWED else f"in {one.note.stage}"
    return f"Rejected {where}: {_reason(reason)}{f' ({detail})' if detail else ''}."


def _reason(reason: str) -> str:
    """Reasons as a person reads them; a check with its title."""
    said = []
    for one in reason.split(","):
        if one.startswith("check_"):
            said.append(_checks(one.removeprefix("check_")))
        elif one.startswith("discarded_"):
            said.append(f"people discarded it as {one.removeprefix('discarded_').replace('_', ' ')}")
        else:
            said.append(REASONS.get(one, one.replace("_", " ")))
    return ", ".join(said)


def _checks(names: str) -> str:
    from mihakk.validators.checks.check import check_titles

    titles = check_titles()
    return ", ".join(f"{one} (guards: {titles.get(one, 'reported defects')})" for one in names.split(","))


def _verdict(state: str) -> str:
    status, _, fired = state.partition(":")
    why = ", ".join(f"{one} ({RULES.get(one, 'a rule of the policy')})" for one in fired.split(",") if one)
    done = "Blocked" if status == "block" else "Sent to people"
    return f"{done} by {why or 'the policy'}."


def _settled(state: str) -> str:
    outcome, by, votes = state.split(":")
    return f"People's decisions come to {outcome}{f', by {by}' if by else ''} ({votes} votes)."


def _cause(note: Note) -> str:
    named_causes = [{"code": "the code", "config": "the config"}[one] for one in note.causes]
    return f", for {' and '.join(named_causes)} of {note.stage} changed" if named_causes else ""


def _generated(reader: Reader, one: Told, *, before: bool) -> str:
    line = one.line
    if one.stands and not before:
        began = ", when the ledger began" if one.note.first else ""
        return f"Generated from {line['ref']}{began}."
    done = "Changed" if one.stands else "No longer generated"
    return f"{done}{_because(reader, one)}."


def _because(reader: Reader, one: Told) -> str:
    """Why a run made an item otherwise, or no longer: its record, the code, the config, or other records."""
    origin = one.line["ref"] or next(
        (told.line["ref"] for told in reversed(reader.of(one.line["id"])) if told.line["ref"]), ""
    )
    record = origin.partition(":")[0]
    notes = reader.ledger.notes(GENERATED)
    since = max((note.run for note in notes if note.run < one.note.run), default="")
    recent = [
        told
        for name in dict.fromkeys([record, origin])
        for told in reader.of(name)
        if since < told.note.run <= one.note.run and told.note.stage in _RECORD_STAGES
    ]
    if out := next((told for told in recent if told.line["event"] == "out" and told.stands), None):
        kept = f"merged into {out.line['ref']}" if out.line["ref"] else "rejected"
        return f", for {out.line['id']} was {kept} in {out.note.stage}: {_reason(out.line['reason'])}"
    if any(not told.stands and told.note.stage == SCRAPED for told in recent):
        return f", for {record} vanished from its source"
    if any(told.line["event"] == "in" and told.stands for told in recent):
        return f", for {record} changed"
    if cause := _cause(one.note):
        return cause
    return ", for other records changed, which lend options or take its place in a sample"


def _of_origin(reader: Reader, origin: str) -> list[Event]:
    """What happened to the record behind an item."""
    record = origin.partition(":")[0]
    found = []
    for name in dict.fromkeys([record, origin]):
        for event in _events(reader, [o for o in reader.of(name) if o.note.stage in _RECORD_STAGES]):
            said = event.said[0].lower() + event.said[1:]
            found.append(event.model_copy(update={"said": f"Record {name}: {said}"}))
    return found


def _decisions(build: Build, item: str) -> list[Event]:
    """What people decided, by pseudonym and code; their own words stay in their table."""
    from mihakk.pipeline.steps.check import reviews_of

    found = []
    for one in sorted((r for r in reviews_of(build) if r.item == item), key=attrgetter("decided_at")):
        reason = f" ({one.reason.replace('_', ' ')})" if one.reason else ""
        fields = f", correcting {', '.join(sorted(one.corrections))}" if one.corrections else ""
        said = f"{one.annotator} decided: {one.decision}{reason}{fields}."
        found.append(Event(at=one.decided_at, stage=REVIEWED, said=said))
    return found


def _public_name(build: Build, item: str) -> str:
    """What releases call an item: a blind one by a name that only its secret tells; empty without that."""
    if build.config.release.blind == "off":
        return item
    from mihakk.releases.content.secret import blind_key, public_id

    try:
        return public_id(blind_key(), item)
    except UsageError:
        return ""


def _versions(reader: Reader, item: str) -> Iterator[Event]:
    """What each version did to an item, as the releases themselves tell."""
    public = _public_name(reader.build, item)
    if not public:
        yield Event(at=None, said="Which versions hold it, only the blind release's secret tells: set it.")
        return
    made = {note.version: note for note in reversed(reader.ledger.notes(RELEASED))}
    called = "" if public == item else f" as {public}"
    held = False
    for version, said in reversed(changes_of(reader.build, public)):
        note = made.get(version)
        if said in ("in it", "not in it") and (said == "in it") == held:
            continue
        verb = {"in it": "Released", "added": "Released", "not in it": "Left"}.get(said, said.capitalize())
        held = said != "not in it" and not said.startswith("removed")
        yield Event(
            at=note.at if note else None,
            run=note.run if note else "",
            stage=RELEASED,
            said=f"{verb}{called} in version {version}.",
        )


def _now(reader: Reader, name: str, told: Sequence[Told], *, is_item: bool) -> tuple[str, str]:
    """Where it stands, in a sentence, and the command to go on with."""
    benchmark = reader.config
    latest: dict[tuple[str, str], Told] = {}
    for one in told:
        latest[one.note.stage, one.line["event"]] = one
    standing = {place: one for place, one in latest.items() if one.stands}
    out = next((standing[stage, "out"] for stage in reversed(STAGES) if (stage, "out") in standing), None)
    main = GENERATED if is_item else SCRAPED
    if (CURATED, "in") in standing:
        out = None  # what was left out is another row that took its name, or a part of it
    if (main, "in") not in standing and (main, "in") in latest:
        last = latest[main, "in"].note
        what = "It is not generated any more" if is_item else "It is not in its source any more"
        return f"{what}, since {last.at:%Y-%m-%d}.", f"mihakk runs {benchmark} {last.run}"
    if out is not None:
        if out.line["reason"] == "unresolved":
            return "It waits for people.", f"mihakk review push {benchmark}"
        return f"Left out in {out.note.stage}.", _show(out.note.stage, "rejected", name, benchmark)
    if not is_item:
        table = _table_of(reader, name)
        record = name.rpartition(":")[0]
        if not table and record:
            return f"A piece of {record}.", f"mihakk why {record} -b {benchmark}"
        if not table:
            return "No stage holds it now.", f"mihakk build {benchmark}"
        return "It stands in the lake.", _show(CURATED, table, name, benchmark)
    version = next((note.version for note in reversed(reader.ledger.notes(RELEASED)) if note.version), "")
    if not version:
        return "It is generated; nothing is released yet.", f"mihakk release {benchmark}"
    return f"It stands; the newest version is {version}.", _show(REVIEWED, "items", name, benchmark)


def _table_of(reader: Reader, name: str) -> str:
    stage = reader.build.stage(CURATED)
    if not stage.finished():
        return ""
    for shard in stage.shards():
        for table in RECORDS:
            if name in stage.ids(table, shard):
                return table
    return ""


def _show(stage: str, table: str, name: str, benchmark: str) -> str:
    return f"mihakk show {stage}/{table} {name} -b {benchmark}"


def lines(answer: Answer) -> Iterable[str]:
    """The answer for a person."""
    for subject in answer.subjects:
        where = ", ".join(part for part in (subject.source, subject.place) if part)
        yield f"{subject.kind.capitalize()} {subject.id}{f' ({where})' if where else ''}"
        yield f"  {subject.now}"
        for event in subject.events:
            when = f"{event.at:%Y-%m-%d %H:%M}" if event.at else "undated         "
            run = f" [{event.run}]" if event.run else ""
            yield f"  {when}  {event.said}{run}"
        for total, said, names in (
            (subject.made_total, "items made from it stand", subject.made),
            (subject.gone_total, "items made from it are gone", subject.gone),
        ):
            if total:
                more = f" and {total - len(names):,} more" if total > len(names) else ""
                yield f"  {total:,} {said}: {', '.join(names)}{more}"
        if subject.kind == "record" and not subject.made_total + subject.gone_total:
            yield "  No item was made from it in any run."
        yield f"  Next: {subject.next}"
        yield ""
    if answer.more:
        yield f"{len(answer.more):,} more: {', '.join(answer.more[:SHOWN])}"
    if answer.subjects:
        return
    yield f"Never seen: {answer.asked}"
    yield f"Searched: {answer.searched}."
    for one in answer.nearest:
        yield f"  near it ({one.similarity:.2f}): {one.id}{f'  {one.text}' if one.text else ''}"
    yield f"Next: {f'mihakk why {answer.nearest[0].id}' if answer.nearest else answer.next}"
