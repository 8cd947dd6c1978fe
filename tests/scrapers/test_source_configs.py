"""The examples in configs/sources open, and those that need no network give what they promise."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from mihakk.errors import UsageError
from mihakk.settings import ROOT
from schemas.benchmark import SourceUse
from schemas.rejection import Rejection
from scrapers.place import find
from scrapers.raw import RawStore
from scrapers.source import SOURCES, open_source, run

FILES = sorted((ROOT / "configs" / "sources").glob("*.yaml"))
LOCAL = (
    "amthal_openiti",
    "aldiwan_table",
    "ganjoor_poets",
    "ganjoor_export",
    "kinayat_openiti",
    "hindawi_epub_file",
    "fannorflop",
    "own_table",
    "hafez",
)


def use_of(path: Path) -> SourceUse:
    return SourceUse.model_validate(yaml.safe_load(path.read_text(encoding="utf-8")))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_an_example_opens(path: Path) -> None:
    assert open_source(use_of(path)).source.name == use_of(path).use


def test_every_source_has_an_example() -> None:
    assert {use_of(path).use for path in FILES} == set(SOURCES.names())


def test_every_example_that_was_not_tried_says_so() -> None:
    for path in FILES:
        text = path.read_text(encoding="utf-8")
        remote = (
            use_of(path).use in ("hub", "aldiwan", "arabic_poetry_net") or "jawaher" in text or "MAPS" in text
        )
        if path.stem in ("jawaher_table", "maps_english", "ashaar_hub"):
            assert "Inferred" in text, path.stem
            assert use_of(path).options["licence"] == "unknown"
        assert remote or path.stem in LOCAL or use_of(path).use in ("ganjoor", "hindawi"), path.stem


@pytest.mark.parametrize("name", LOCAL)
def test_a_local_example_gives_its_records(
    name: str, shared_data: Path, raw: RawStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MIHAKK_SHARED_DATA", str(shared_data))
    entries = list(run(use_of(ROOT / "configs" / "sources" / f"{name}.yaml"), raw))
    records = [entry for entry in entries if not isinstance(entry, Rejection)]
    assert records
    again = list(run(use_of(ROOT / "configs" / "sources" / f"{name}.yaml"), raw))
    assert entries == again


def test_a_variable_that_is_not_set_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MIHAKK_NOWHERE", raising=False)
    with pytest.raises(UsageError, match="set the environment variable MIHAKK_NOWHERE"):
        find("$MIHAKK_NOWHERE/x.jsonl")
