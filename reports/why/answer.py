"""What `mihakk why` answers, and the subject or text that it is asked about."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import datetime
from typing import Final, Literal

import pyarrow.compute as pc

from mihakk.machinery.lake.ledger import Ledger, text_key
from mihakk.machinery.languages import languages
from mihakk.machinery.text import key
from mihakk.pipeline.build import Build
from mihakk.pipeline.ledger import RECORDS
from mihakk.reports.dashboard.items import Filter, explore
from mihakk.reports.dashboard.tables import Tables
from mihakk.schemas.record import Record
from mihakk.schemas.stages import GENERATED, NORMALIZED, SCRAPED

SHOWN: Final = 5
"""Subjects, candidates or related items that are told of in full."""
NEAR: Final = 0.75
"""Jaro and Winkler's similarity of comparison keys from which a text is named as a candidate."""
_LEAST: Final = 4
"""Letters of a hemistich, where a couplet was asked for in one piece."""
_PARTED: Final = re.compile(r"\.{3}|[…/|*\t\n]| {3}")
"""What stands between two hemistichs."""


class Event(Record):
    """One thing that happened to a subject."""

    at: datetime | None
    """None where only the order is known."""
    run: str = ""
    """UTC start of the run, as `mihakk runs` names it; empty for what no run did."""
    stage: str = ""
    said: str
    """In a sentence."""


class Subject(Record):
    """One item, record or row of a source that is known."""

    id: str
    kind: Literal["item", "record", "row"]
    source: str = ""
    place: str = ""
    """Where in the source it stands, or stood."""
    text: str = ""
    now: str
    """Where it stands now, and why, in a sentence."""
    events: tuple[Event, ...] = ()
    """Oldest first."""
    made: tuple[str, ...] = ()
    """Items made from it that stand; the first few."""
    made_total: int = 0
    gone: tuple[str, ...] = ()
    """The first few of those that do not stand any more."""
    gone_total: int = 0
    next: str
    """The command to go on with."""


class Candidate(Record):
    """A text or name that is near what was asked for."""

    id: str
    text: str
    similarity: float


class Answer(Record):
    """All that is known of what was asked."""

    asked: str
    subjects: tuple[Subject, ...] = ()
    more: tuple[str, ...] = ()
    """Names of further subjects."""
    nearest: tuple[Candidate, ...] = ()
    """Where nothing is known."""
    searched: str
    """What was looked through, in a sentence."""
    next: str = ""
    """Where nothing is known: the command to go on with."""


def named(build: Build, ledger: Ledger, asked: str) -> list[str]:
    """Ids of the rows that an id, a text or `SOURCE:ROW` means; empty where none is known."""
    wanted = " ".join(asked.split())
    exact = _ids(ledger, pc.field("id") == wanted) or _ids(ledger, pc.field("ref") == wanted, of=wanted)
    return exact or _of_row(ledger, wanted) or _of_piece(ledger, wanted) or _with_text(build, ledger, asked)


def _ids(ledger: Ledger, chosen: pc.Expression, of: str = "") -> list[str]:
    return list(dict.fromkeys(of or row["id"] for _, row in ledger.lines(chosen)))


def _of_row(ledger: Ledger, wanted: str) -> list[str]:
    """Rows of a source by number or name, those that stand there now first: `sayings:12`, `hafez:441`."""
    source, _, row = wanted.partition(":")
    if not row:
        return []
    in_source = pc.starts_with(pc.field("shard").cast("string"), f"{source}-")
    names, ends = (row, f"{source}-{row}"), (f"#{row}", f"/{row}")
    stands: dict[str, bool] = {}
    for _, line in ledger.lines(in_source, SCRAPED):
        name, place = line["id"], line["place"]
        if line["shard"].rpartition("-")[0] != source:
            continue
        if name in names or place == row or place.endswith(ends):
            stands[name] = line["mark"] is not None
        elif name in stands and (place or line["mark"] is None):
            stands[name] = False  # it stood there once
    return sorted(stands, key=lambda name: not stands[name])


def _of_piece(ledger: Ledger, wanted: str) -> list[str]:
    """A couplet that nothing was made of and nothing rejected: its poem."""
    poem, _, position = wanted.rpartition(":")
    return _ids(ledger, pc.field("id") == poem) if position.removeprefix("n").isdecimal() else []


def _with_text(build: Build, ledger: Ledger, asked: str) -> list[str]:
    """Rows that have a text, in any spelling; then items that hold it."""
    whole = {key(asked, language) for language in languages("items")} - {""}
    if not whole:
        return []
    if found := sorted(ledger.with_text({text_key(one) for one in whole})):
        return found
    halves = [
        {key(part, language) for language in languages("items")} - {""} for part in _PARTED.split(asked)
    ]
    pairs = [{text_key(one) for one in half} for half in halves if half]
    if len(pairs) < 2:
        both = _with_both(ledger, whole)
    else:
        both = set.intersection(*(ledger.with_text(half) for half in pairs))
    if both:
        return sorted(both)
    with Tables(build) as tables:
        part = _with_part(tables, whole)
        return part or [row["id"] for row in explore(build, tables, Filter(text=asked.strip()[:200])).rows]


def _with_both(ledger: Ledger, whole: Iterable[str]) -> set[str]:
    """Poems that hold a couplet written in one piece: its key is that of its hemistichs, joined."""
    cuts = [
        (text_key(one[:at]), text_key(one[at:])) for one in whole for at in range(_LEAST, len(one) - _LEAST)
    ]
    first = ledger.with_text({cut[0] for cut in cuts})
    return first & ledger.with_text({cut[1] for cut in cuts}) if first else set()


_HALVES = (
    "SELECT id, unnest(couplets).first.key AS key, unnest(couplets).first.raw AS raw FROM poems "
    "UNION ALL SELECT id, unnest(couplets).second.key, unnest(couplets).second.raw FROM poems "
    "UNION ALL SELECT id, phrase.key, phrase.raw FROM idioms"
)


def _records(tables: Tables) -> None:
    for table in RECORDS:
        tables.view(table, NORMALIZED, table)


def _with_part(tables: Tables, keys: Iterable[str]) -> list[str]:
    _records(tables)
    found = []
    for one in sorted(keys):
        if len(one) >= _LEAST:
            found += tables.rows(
                f"SELECT DISTINCT id FROM ({_HALVES}) WHERE contains(key, $1) ORDER BY id", [one]
            )
    return list(dict.fromkeys(row["id"] for row in found))


def nearest(build: Build, asked: str) -> list[Candidate]:
    """Texts and names among what stands now that are most like what was asked, the nearest first."""
    with Tables(build) as tables:
        _records(tables)
        tables.view("items", GENERATED, "items")
        rows = []
        for one in sorted({key(asked, language) for language in languages("items")} - {""}):
            rows += tables.rows(
                f"SELECT id, raw AS text, jaro_winkler_similarity(key, $1) AS similarity FROM ({_HALVES}) "
                f"WHERE similarity >= {NEAR} ORDER BY similarity DESC, id LIMIT {SHOWN}",
                [one],
            )
        rows += tables.rows(
            f"SELECT id, '' AS text, jaro_winkler_similarity(id, $1) AS similarity FROM "
            f"(SELECT id FROM items UNION ALL SELECT id FROM poems UNION ALL SELECT id FROM idioms) "
            f"WHERE similarity >= {NEAR} ORDER BY similarity DESC, id LIMIT {SHOWN}",
            [asked.strip()],
        )
    best: dict[str, Candidate] = {}
    for row in sorted(rows, key=lambda one: -one["similarity"]):
        best.setdefault(row["id"], Candidate(**row | {"similarity": round(row["similarity"], 3)}))
    return list(best.values())[:SHOWN]


def searched(ledger: Ledger) -> str:
    """What a search looks through, with how much of it there is."""
    notes = ledger.notes()
    if not notes:
        return "nothing: no run has finished a stage yet"
    runs = sorted({note.run for note in notes})
    sources = {name: moves for note in notes if note.stage == SCRAPED for name, moves in note.moves.items()}
    held = ", ".join(f"{name} ({moves.seen:,} records)" for name, moves in sorted(sources.items()))
    since = min(note.at for note in notes)
    return (
        f"ids, places and texts (in any spelling) of all records and rejected rows, and ids of all items, in "
        f"{len(runs):,} run{'s' * (len(runs) != 1)} that changed something since {since:%Y-%m-%d %H:%M} UTC; "
        f"texts of items, parts of texts and what is near them in the tables as they stand; sources: {held}"
    )
