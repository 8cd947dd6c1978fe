"""Poems in the shape that Fann or Flop publishes: numbered verses and an explanation of each.

The explanations are a model's own words, checked by people only in the published set; they are taken only
when the config says that yours were checked.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import orjson

from mihakk.machinery.errors import RecordRejected, SourceChanged, UsageError
from mihakk.schemas.poem import Section
from mihakk.schemas.record import Provenance
from mihakk.scrapers.boundary import rejecting
from mihakk.scrapers.place import find_file
from mihakk.scrapers.raw import RawStore
from mihakk.scrapers.shape import check_fields
from mihakk.scrapers.source import Entry, Source, SourceOptions, register
from mihakk.scrapers.verse import Arrangement, pairs, poem

_USED = ("id", "title", "author", "content", "verse_count")
_OPTIONAL = ("genre", "meter", "era", "url", "source", "complete_explanation", "verse_explanations")
_LABELS = {"genre": "genre", "meter": "metre", "era": "era"}
_NUMBER = re.compile(r"\d+|[٠-٩]+")
_JOINS = re.compile(r"[\s\u0640]+")


class FannorflopOptions(SourceOptions):
    """Which file, and whether its explanations count."""

    path: str
    licence: str = "Apache-2.0"
    """Of the published set; the poems themselves are older than any licence."""
    checked_explanations: bool = False
    """People have checked the explanations, so they may serve as references."""


def _hemistichs(content: str) -> list[str]:
    """Paragraphs of the text, verse numbers dropped after a look at their order.

    Raises:
        RecordRejected: `verse_numbers`: they do not count up from 1, so verses are missing or mixed up.
    """
    parts = [part.strip() for part in content.split("\n\n") if part.strip()]
    numbers = [int(part) for part in parts if _NUMBER.fullmatch(part)]
    if numbers != list(range(1, len(numbers) + 1)):
        raise RecordRejected("verse_numbers", f"verses are numbered {numbers[:12]}")
    return [part for part in parts if not _NUMBER.fullmatch(part)]


def _explanations(row: dict[str, Any], units: list[tuple[str, str | None]]) -> list[str]:
    """Explanation of each couplet.

    Raises:
        RecordRejected: `explanation_misplaced`: an explanation stands at another verse than it quotes.
    """
    given = row.get("verse_explanations") or []
    if len(given) != len(units):
        raise RecordRejected("explanation_misplaced", f"{len(given)} explanations of {len(units)} couplets")
    for number, (entry, unit) in enumerate(zip(given, units, strict=True), start=1):
        check_fields(entry, required=("verse", "explanation"), where=f"{row['id']}, explanation {number}")
        if _JOINS.sub("", entry["verse"]) != _JOINS.sub("", f"{unit[0]}{unit[1]}"):
            raise RecordRejected(
                "explanation_misplaced", f"explanation {number} quotes another verse than {number}"
            )
    return [str(entry["explanation"]) for entry in given]


def parse(data: bytes, options: FannorflopOptions, provenance: Provenance) -> Iterator[Entry]:
    """Poems of a file.

    Raises:
        SourceChanged: The file or a poem in it has another shape than the parser knows.
    """
    try:
        rows = orjson.loads(data)
    except orjson.JSONDecodeError as error:
        raise UsageError(f"{provenance.url} is not JSON: {error}") from error
    if not isinstance(rows, list):
        raise SourceChanged(f"{provenance.url}: a list of poems was expected")
    for number, row in enumerate(rows, start=1):
        where = f"{provenance.url}#{number}"
        check_fields(row, required=_USED, optional=_OPTIONAL, where=where)
        identifier = f"fannorflop-{row['id']}"
        origin = provenance.model_copy(update={"url": row.get("url") or where})
        made = _poem(row, identifier, options, origin)
        yield from rejecting(identifier, made, row)


def _poem(
    row: dict[str, Any], identifier: str, options: FannorflopOptions, provenance: Provenance
) -> Iterator[Entry]:
    units = pairs(_hemistichs(row["content"]))
    if row["verse_count"] != len(units):
        raise RecordRejected("count_differs", f"{row['verse_count']} verses declared, {len(units)} found")
    checked = options.checked_explanations
    yield from poem(
        identifier,
        Arrangement(units),
        {"explanation": _explanations(row, units)} if checked else {},
        language="ar",
        title=row["title"],
        poet=row["author"],
        sections=(Section(index=0),),
        declared_couplets=row["verse_count"],
        explanation=(checked and row.get("complete_explanation")) or "",
        source_labels={name: row[field] for field, name in _LABELS.items() if row.get(field)},
        provenance=provenance,
    )


def scrape(options: FannorflopOptions, raw: RawStore) -> Iterator[Entry]:
    """Poems with their labels and, where they were checked, their explanations."""
    path, data = find_file(options.path)
    provenance = SOURCE.provenance(f"file:{path.name}", raw.keep(data), licence=options.licence)
    yield from parse(data, options, provenance)


SOURCE = register(
    Source(
        name="fannorflop",
        title="Fann or Flop",
        licence="Apache-2.0",
        home="https://github.com/mbzuai-oryx/FannOrFlop",
        languages=("ar",),
        options=FannorflopOptions,
        parser_version="1",
        scrape=scrape,
        attribution="Fann or Flop (MBZUAI); poems from arabic-poetry.net",
    )
)
