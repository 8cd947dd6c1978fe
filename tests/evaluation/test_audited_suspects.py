"""Somebody's benchmark, audited here, is put to systems; what they answer brings its wrong golds to its review."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import NamedTuple

import pytest
from typer.testing import CliRunner

from mihakk.annotation.decisions.store import add, stored
from mihakk.annotation.label_studio import benchmark_push
from mihakk.annotation.label_studio.push import Pushed
from mihakk.annotation.statistics.sampling import Queued
from mihakk.evaluation.rows import write_rows
from mihakk.evaluation.running.asking import asked_of_suite
from mihakk.evaluation.running.suites import load_suite
from mihakk.flows.cli import app
from mihakk.machinery.llm.scripted import Answer as Reply
from mihakk.machinery.llm.scripted import Call, ScriptedServer
from mihakk.pipeline.external_people import set_stores
from mihakk.pipeline.opened_review import open_review
from mihakk.schemas.audit import CRITERIA
from mihakk.schemas.evaluation import Answer, Question
from mihakk.schemas.review import Review
from tests.annotation.judged import review
from tests.evaluation.material import reply_to
from tests.foreign_sets import audit_set, two_auditors

SYSTEM = """{{name: s{n}, family: simulated, model: s{n}, kind: arabic, open: false,
 serve: {{engine: openai, endpoints: ['http://127.0.0.1:9/v1']}}}}"""


def command(*words: str | Path) -> str:
    done = CliRunner(env={"COLUMNS": "250"}).invoke(app, list(map(str, words)))
    assert done.exit_code == 0, done.output + done.stderr
    return done.output


class Exams(NamedTuple):
    """An audited set with planted golds, and what six systems answered to the rows that passed."""

    out: Path
    suite: Path
    folder: Path
    planted: set[str]
    """Items whose gold is wrong."""
    asked: dict[str, Question]


@pytest.fixture
def exams(shared_data: Path, tmp_path: Path) -> Exams:
    """The first auditor objects to four of ten planted golds and to eight sound rows; the second to nothing."""
    raw = (shared_data / "exams" / "exams_arabic_562.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in raw if '"Biology-' not in line][:120]
    true = {row["id"]: row[row["answer"]] for row in rows}
    planted = {row["id"] for row in rows[4:120:12]}
    objects_to = {row["question"] for row in [*rows[4:52:12], *rows[7:103:12]]}
    for row in rows:
        if row["id"] in planted:
            row["answer"] = "ABCD"[("ABCD".index(row["answer"]) + 1) % 4]
    source, out, folder = tmp_path / "exams.jsonl", tmp_path / "out", tmp_path / "answers"
    source.write_text("\n".join(json.dumps(row) for row in rows), encoding="utf-8")
    audit(source, out, tmp_path / "auditors.yaml", objects_to)
    for number in range(6):
        (tmp_path / f"s{number}.yaml").write_text(SYSTEM.format(n=number))
    systems = [str(tmp_path / f"s{number}.yaml") for number in range(6)]
    suite = tmp_path / "suite.yaml"
    part = {"adapter": "audited", "data": str(out)}
    told = {"name": "exams", "title": "t", "pinned": False, "parts": [part], "models": systems}
    suite.write_text(json.dumps(told))
    asked = asked_of_suite(load_suite(str(suite)), lambda _: (out, ""))
    clean = (out / "clean.jsonl").read_text(encoding="utf-8").splitlines()
    assert {one.question.slices["id"] for one in asked} == {json.loads(line)["id"] for line in clean}
    assert all(option in one.prompt for one in asked for option in one.question.options)
    draw = random.Random(1)
    for number in range(6):
        answers = []
        for one in asked:
            right = one.question.options.index(true[one.question.slices["id"]])
            picked = right if draw.random() < 0.6 + number / 20 else draw.randrange(len(one.question.options))
            answers.append(reply_to(one.question, one.question.labels[picked], model=f"s{number}"))
        write_rows(folder / f"s{number}" / "answers.parquet", answers, Answer)
    ids = {item.id for item in open_review(out).items if item.metadata["id"] in planted}
    return Exams(out, suite, folder, ids, {one.question.item: one.question for one in asked})


def audit(source: Path, out: Path, auditors: Path, objects_to: set[str]) -> None:
    """Two auditors, and a sample of what nobody objects to is wanted from people."""

    def judged(call: Call) -> Reply:
        told = call.body["messages"][1]["content"]
        objects = call.body["model"] == "first" and any(text in told for text in objects_to)
        scores = dict.fromkeys(CRITERIA, 1) | {"answer_alignment": int(not objects)}
        issues = [{"criterion": "answer_alignment", "explanation": "Another option is right."}] * objects
        return Reply(text=json.dumps({"scores": scores, "issues": issues}))

    with ScriptedServer(judged) as server:
        mapping = "question=question,choices=A+B+C+D,gold=answer,id=id"
        audit_set(source, mapping, out, auditors=two_auditors(auditors, server.url))
    told = json.loads((out / "audited.json").read_text(encoding="utf-8"))
    told["review"]["miss_rate_sample"] = 30
    (out / "audited.json").write_text(json.dumps(told), encoding="utf-8")


def push(out: Path, monkeypatch: pytest.MonkeyPatch) -> list[Queued]:
    """What `review push` puts before people, with a server that takes everything."""
    monkeypatch.setattr(benchmark_push, "find_projects", lambda *_: [])
    monkeypatch.setattr(benchmark_push, "ensure_project", lambda *_, **__: None)
    monkeypatch.setattr(benchmark_push, "push", lambda *_, **__: Pushed())
    open_review(out).push_queue(None)  # type: ignore[arg-type]
    return [row for row in stored(set_stores(out).queued, Queued) if row.why != "attention"]


def test_wrong_golds_planted_in_exams_reach_the_review_of_the_set(
    exams: Exams, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = command("evaluate", "suspects", exams.suite, "--out", exams.folder, "--review", exams.out)
    assert "suspects are new" in told
    unseen = exams.planted & exams.asked.keys()
    assert len(unseen) == 6, "the auditor saw the others"
    queued = {row.item: row.why for row in push(exams.out, monkeypatch)}
    assert {item for item in unseen if queued.get(item) in ("suspect", "sample")} == unseen
    assert "suspect" in {queued[item] for item in unseen}
    item = min(unseen)
    (line,) = open_review(exams.out).evidence({item}, "en")[item]
    assert "of 6 systems choose the gold" in line


def test_decisions_and_answers_tell_how_often_auditors_were_right(
    exams: Exams, monkeypatch: pytest.MonkeyPatch
) -> None:
    where = (exams.suite, "--out", exams.folder, "--review", exams.out)
    early = CliRunner().invoke(app, ["evaluate", "auditors", *map(str, where)])
    assert early.exit_code == 2
    assert "run `mihakk evaluate suspects" in early.stderr
    command("evaluate", "suspects", *where)
    queued, kept = push(exams.out, monkeypatch), open_review(exams.out)
    audits = list(kept.rows("audits"))
    objections = {one.item for one in audits if one.auditor == "first" and 0 in one.scores.values()}
    audited = {one.item for one in audits}
    assert len(objections) >= 10
    assert "0 of 10 objections decided" in command("evaluate", "auditors", *where)
    items = {item.id: item for item in kept.items}
    votes = [
        review(items[row.item], person, "discard" if row.item in exams.planted else "keep")
        for row in queued
        for person in ("p", "q")
    ]
    add(set_stores(exams.out).decisions, Review, votes)
    first, second, verdict = json.loads(command("evaluate", "auditors", *where, "--json"))
    assert (first["auditor"], first["questions"]) == ("first", len(audited))
    assert (first["objected"], first["decided"]) == (len(objections), len(objections))
    assert first["right"] == len(objections & exams.planted) / len(objections), "people saw all of them"
    true = len(objections & exams.planted) / len(audited & exams.planted)
    assert first["found_low"] <= true <= first["found_high"]
    assert first["found_high"] - first["found_low"] < 0.3
    assert (second["auditor"], second["objected"], second["right"]) == ("second", 0, None)
    assert (verdict["auditor"], verdict["questions"]) == ("verdict", len(audited))
    assert f"{100 * first['right']:.0f} % (" in command("evaluate", "auditors", *where)
