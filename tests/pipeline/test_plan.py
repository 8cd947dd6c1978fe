"""The plan of a build whose items a model writes parts of."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mihakk.llm.journal import Entry, Journal, now
from pipeline import plan as planning
from pipeline.build import Build
from schemas.benchmark import BenchmarkConfig

ROWS = [
    {"text": "قلبه أبيض", "explanation": "طيب النية لا يضمر لأحد شرا ويغفر الإساءة سريعا"},
    {"text": "نام على ودنه", "explanation": "غفل عما يدور حوله فلم ينتبه إلى ما يدبر له في الخفاء"},
    {"text": "ضرب عصفورين بحجر", "explanation": "بلغ غايتين مختلفتين بعمل يسير لم يكلفه سوى مرة"},
]


@pytest.fixture
def build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Build:
    from validators.audit.auditing import Estimate

    nothing = Estimate(calls=0, cached=0, prompt_tokens=0, basis="tokenised")
    monkeypatch.setattr(planning, "_estimate", lambda *_: nothing)
    path = tmp_path / "idioms.jsonl"
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in ROWS), encoding="utf-8")
    options = {"path": str(path), "kind": "idiom", "language": "ar", "licence": "CC0-1.0"} | {
        "prefix": "idioms",
        "ids": "rows",
    }
    config = {
        "name": "toy",
        "title": "Toy",
        "sources": [{"use": "files", "options": options}],
        "tasks": [{"use": "meaning_choice"}, {"use": "meaning_choice_srl", "options": {"written": 2}}],
        "embeddings": "none",
        "audit": {"limit": 0},
        "generator": {
            "name": "m",
            "family": "f",
            "model": "writer",
            "serve": {"engine": "embedded", "weights": "none"},
        },
    }
    return Build(BenchmarkConfig.model_validate(config), str(tmp_path / "lake"), tmp_path / "runs")


def test_the_plan_counts_what_is_to_be_written_and_what_the_journal_holds(build: Build) -> None:
    found = planning.plan(build)
    assert found.to_write == {"meaning_choice": 3, "meaning_choice_srl": 2}
    assert found.written == 0
    assert found.writing_characters > 500
    assert found.model_tasks == ("meaning_choice_srl",)
    entry = Entry(
        key="0" * 64,
        model="writer",
        revision="",
        text="{}",
        finish_reason="stop",
        prompt_tokens=1,
        completion_tokens=1,
        latency=0.1,
        at=now(),
        meta={"record": "idioms-1", "prompt": "meaning_choice@1"},
    )
    with Journal(build.lake.folder("journals", "generator"), "generator") as journal:
        journal.append(entry)
    again = planning.plan(build)
    assert again.to_write == {"meaning_choice": 2, "meaning_choice_srl": 2}
    assert again.written == 1
