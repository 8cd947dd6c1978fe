"""The full Hafez set for the generators' tests."""

from __future__ import annotations

import json
from typing import Any

import pytest

from mihakk.curation.normalization import normalize
from mihakk.machinery.settings import REFERENCE, SAMPLES
from mihakk.schemas.idiom import Idiom
from mihakk.schemas.poem import Poem
from mihakk.schemas.record import Provenance
from tests.generators.records import make_idiom, make_poem


@pytest.fixture(scope="session")
def hafez() -> list[Poem]:
    """All 495 ghazals of the package, normalised."""
    return load_hafez()


def load_hafez() -> list[Poem]:
    """The same, for programs that run beside the tests."""
    from mihakk.scrapers.hafez import data_file, parse, read_metres

    path, version = data_file()
    provenance = Provenance(
        source="hafez",
        url=f"pypi:hafez=={version}",
        licence="public-domain",
        sha256="0" * 64,
        parser_version="1",
    )
    entries = parse(path.read_bytes(), read_metres(REFERENCE / "hafez_metres.tsv"), provenance)
    poems: list[Poem] = normalize(entry for entry in entries if isinstance(entry, Poem)).tables["poems"][1]
    return poems


def _rows(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (SAMPLES / name).read_text(encoding="utf-8").splitlines()]


@pytest.fixture(scope="session")
def records(hafez: list[Poem]) -> list[Poem | Idiom]:
    """The tracked samples, and a hundred of those ghazals."""
    poems = [
        make_poem(
            row["id"],
            [tuple(pair) for pair in row["couplets"]],
            language="ar",
            poet=row["poet"],
            metre=row["metre"],
            era=row["era"],
            genre=row["genre"],
        )
        for row in _rows("arabic_poems.jsonl")
    ]
    idioms = [
        make_idiom(
            row["id"], row["text"], row["explanation"], genre=row["kind"], connotation=row.get("connotation")
        )
        for row in _rows("egyptian_idioms.jsonl")
    ]
    return [*hafez[:100], *poems, *idioms]
