"""The full Hafez set for the generators' tests."""

from __future__ import annotations

import pytest

from mihakk.curation.normalization import normalize
from mihakk.machinery.settings import REFERENCE
from mihakk.schemas.poem import Poem
from mihakk.schemas.record import Provenance


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
