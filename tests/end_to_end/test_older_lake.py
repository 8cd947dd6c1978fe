"""A lake, journal, review store, release and config that the version before the packages moved has written."""

from __future__ import annotations

from pathlib import Path

import pytest

from mihakk.annotation.decisions.store import decisions
from mihakk.machinery.settings import settings
from mihakk.pipeline.build import Build, open_build
from mihakk.pipeline.engines.local import LocalEngine
from mihakk.pipeline.history import runs
from mihakk.pipeline.observer import Silent
from mihakk.pipeline.opened_review import review_of
from mihakk.pipeline.people import review_stores
from mihakk.pipeline.run import run_step
from mihakk.pipeline.steps.order import step_of
from mihakk.releases.hub.embedded import EmbeddedHub
from mihakk.releases.hub.publication import read_release
from mihakk.schemas.audit import Audit
from mihakk.schemas.item import ITEM_ROWS
from mihakk.schemas.published import Published
from mihakk.schemas.stages import STAGES
from tests.archives import unpacked

ARCHIVE = Path(__file__).parents[1] / "fixtures" / "lakes" / "2026-11-before-the-move.tar.xz"


@pytest.fixture
def older(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Build:
    unpacked(ARCHIVE, tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MIHAKK_LAKE", str(tmp_path / "lake"))
    monkeypatch.setenv("MIHAKK_HUB", str(tmp_path / "hub"))
    settings.cache_clear()
    return open_build(Path("small.yaml"), tmp_path / "runs")


def test_every_stage_run_and_decision_is_read(older: Build) -> None:
    assert [stage for stage in STAGES if older.stage(stage).finished()] == list(STAGES)
    assert len(list(older.stage("7_reviewed").read_all("items", ITEM_ROWS))) > 50
    (row,) = older.stage("8_released").read_all("release", Published)
    assert row.version == "0.2.0"
    found, unreadable = runs(older.lake)
    assert (len(found), unreadable) == (2, 0)
    assert {run.release for run in found} == {"0.1.0", "0.2.0"}
    kept = decisions(review_stores(older))
    assert {one.decision for one in kept} == {"keep", "discard"}
    assert sum(review_of(older).report().outcomes.values()) == len({one.item for one in kept})


def test_both_releases_are_read_and_what_people_discarded_is_gone(older: Build, tmp_path: Path) -> None:
    hub = EmbeddedHub()
    assert hub.versions("small") == ["0.1.0", "0.2.0"]
    for version in hub.versions("small"):
        assert read_release("small", hub.checkout("small", version, tmp_path / version)).version == version
    gone = {one.item for one in decisions(review_stores(older)) if one.decision == "discard"}
    left = {item.id for item in older.stage("7_reviewed").read_all("items", ITEM_ROWS)}
    assert gone
    assert not gone & left


def test_no_answered_call_is_repeated(older: Build) -> None:
    """The config's auditors are on a port where nobody listens: one call would stop the run."""
    before = {(a.item, a.auditor): a for a in older.stage("6_audited").read_all("audits", Audit)}
    engine = LocalEngine(1)
    run_step(step_of("6_audited"), older, engine, Silent())
    after = {(a.item, a.auditor): a for a in older.stage("6_audited").read_all("audits", Audit)}
    assert len(before) == 48
    assert after == before
