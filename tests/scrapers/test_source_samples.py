"""Every source parses its own samples to exactly the records written beside them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mihakk.schemas.rejection import Rejection
from mihakk.scrapers.raw import RawStore
from mihakk.scrapers.source import SOURCES, run
from tests.scrapers.conftest import SAMPLES, as_rows, fill, read_sample, sample_files, write_expected


@pytest.mark.parametrize("path", sample_files(), ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_sample_gives_its_expected_records_each_with_where_it_is_from(path: Path, raw: RawStore) -> None:
    use, pages = read_sample(path)
    fill(raw, path.parent, pages)
    entries = list(run(use, raw))
    for entry in entries:
        if isinstance(entry, Rejection):
            assert entry.source == use.use
            assert entry.detail
        else:
            assert entry.provenance.source == use.use
            assert entry.provenance.licence
            assert raw.read(entry.provenance.sha256)
            assert (entry.provenance.retrieved_at is not None) == bool(pages)
    rows = as_rows(iter(entries))
    expected = path.with_suffix(".expected.json")
    if write_expected(expected, rows):
        pytest.skip("expected records written anew")
    assert rows == json.loads(expected.read_text(encoding="utf-8"))


def test_every_source_has_a_sample_and_every_sample_a_source() -> None:
    sampled = {read_sample(path)[0].use for path in sample_files()}
    assert sampled == set(SOURCES.names())
    assert {path.parent.name for path in sample_files()} == sampled
    assert {path.name for path in SAMPLES.iterdir()} == sampled
