"""A decision pulled while a build is under way: what the checks have not seen is not released."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from mihakk.annotation.decisions.store import add
from mihakk.machinery.ids import content_hash
from mihakk.machinery.llm.scripted import ScriptedServer
from mihakk.machinery.text import canonical
from mihakk.pipeline.build import Build
from mihakk.pipeline.engines.local import LocalEngine
from mihakk.pipeline.observer import Silent
from mihakk.pipeline.people import review_stores
from mihakk.pipeline.run import run_step
from mihakk.pipeline.steps.order import step_of
from mihakk.schemas.audit import Verdict
from mihakk.schemas.item import ITEM_ROWS, ChoiceItem
from mihakk.schemas.review import Review
from tests.end_to_end.conftest import make_workshop

CORRECTED = "ما الجواب بعد التصحيح؟"


def standing(build: Build, item: str) -> str | None:
    """Question of the item among those people and auditors leave in; None where it is not."""
    rows = build.stage("7_reviewed").read_all("items", ITEM_ROWS)
    return next((row.question for row in rows if row.id == item), None)


def choices(config: dict[str, Any]) -> None:
    """A change for `make_workshop`: one task, whose questions can be corrected."""
    config["sources"] = [{"use": "hafez", "limit": 12}]
    config["tasks"] = [{"use": "continuation_choice", "options": {"per_record": 2}}]


def test_a_correction_that_comes_after_the_checks_waits_for_the_next_build(
    tmp_path: Path, auditors: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    workshop = make_workshop(tmp_path, auditors.url, choices)
    workshop.build("a", monkeypatch)
    build = workshop.open("a", monkeypatch)
    audited = build.stage("6_audited")
    status = {v.item: v.status for v in audited.read_all("verdicts", Verdict)}
    items = [row for row in audited.read_all("items", ITEM_ROWS) if isinstance(row, ChoiceItem)]
    passed = next(row for row in items if status[row.id] == "pass")
    flagged = next(row for row in items if status[row.id] == "flag")
    add(
        review_stores(build).decisions,
        Review,
        [
            Review(
                item=row.id,
                content_hash=content_hash(row),
                annotator="annotator-01",
                decision="fix",
                corrections={"question": CORRECTED},
                decided_at=datetime(2026, 3, 1, tzinfo=UTC),
            )
            for row in (passed, flagged)
        ],
    )
    engine = LocalEngine(1)
    run_step(step_of("7_reviewed"), build, engine, Silent())  # the checks are over, the pull was late
    engine.close()
    for late in (passed, flagged):  # flagged or not: nothing is released as it was that people have corrected
        assert standing(build, late.id) is None
        (waiting,) = [row for row in build.stage("7_reviewed").rejections() if row.record == late.id]
        assert waiting.reason == "unresolved"
        assert "build again" in waiting.detail
    workshop.build("a", monkeypatch)
    seen = {row.id: row.question for row in build.stage("6_audited").read_all("items", ITEM_ROWS)}
    for late in (passed, flagged):
        assert seen[late.id] == canonical(CORRECTED, late.language), (
            "the next build checks what was corrected"
        )
