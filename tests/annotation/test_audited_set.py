"""A published benchmark through checks, two auditors, a real Label Studio and people to its cleaned copy."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from mihakk.annotation.label_studio.connection import Connection
from mihakk.annotation.label_studio.project import find_project
from mihakk.machinery.llm.scripted import Answer, ScriptedServer
from mihakk.pipeline.calibration import push_rounds
from mihakk.pipeline.campaigns import chosen_campaigns, push_campaigns
from mihakk.pipeline.external_people import AUDITED_SET, open_set
from mihakk.pipeline.external_summary import Audited, AuditSummary
from mihakk.pipeline.opened_review import open_review
from mihakk.schemas.audit import CRITERIA
from tests.annotation.exported import result
from tests.annotation.pushed import DISCARD, KEEP, chosen, typed
from tests.annotation.signed_up import Member
from tests.foreign_sets import audit_set, two_auditors

pytestmark = [pytest.mark.services, pytest.mark.timeout(900)]
MAPPING = "question=question,choices=A+B+C+D,gold=answer,id=id,subset=id~-"


def lines(path: Path) -> dict[str, dict[str, Any]]:
    return {row["id"]: row for row in map(json.loads, path.read_text(encoding="utf-8").splitlines())}


def test_exams_goes_to_people_and_comes_back_explained_row_by_row(
    connection: Connection, members: list[Member], shared_data: Path, tmp_path: Path
) -> None:
    source, out = tmp_path / "exams.jsonl", tmp_path / "out"
    raw = (shared_data / "exams" / "exams_arabic_562.jsonl").read_text(encoding="utf-8").splitlines()
    # The biology and Islamic studies hold most of the flagged rows and both conflicts.
    raw = [line for line in raw if '"Biology-' in line or '"Islamic Studies-' in line]
    source.write_text("\n".join(raw) + "\n", encoding="utf-8")
    sound = json.dumps({"scores": dict.fromkeys(CRITERIA, 1), "issues": []})

    def audit() -> tuple[Audited, AuditSummary]:
        with ScriptedServer(lambda _: Answer(text=sound)) as server:
            config = two_auditors(tmp_path / "auditors.yaml", server.url)
            return audit_set(source, MAPPING, out, auditors=config, limit=10)

    first, before = audit()
    waiting = {item for item, outcome in first.outcomes.items() if outcome == "flag"}
    assert len(waiting) > 20
    pushed = open_review(out).push_queue(connection)
    assert pushed["ar"].created >= len(waiting)
    project = find_project(connection, open_set(out).name, "quality_review", "ar")
    assert project is not None
    own = {item.id: item.metadata["id"] for item in first.benchmark.items}
    order = sorted(waiting)
    fixed, discarded, undecided = order[0], order[1], order[2]
    for person in members[:2]:
        for held in project.held():
            decision = DISCARD if held.sample == discarded or held.sample not in waiting else KEEP
            if held.sample == fixed:
                decision = [chosen("decision", "fix"), typed("fix_question", "ما السؤال بعد أن صحح؟")]
            if held.sample == undecided and person is members[1]:
                continue
            person.annotate(held.task, decision)
    rate_three_options(out, connection, members[:2])
    pulled = open_review(out).pull(connection)
    assert pulled.settled >= len(waiting) - 1
    audited, after = audit()
    original, clean = lines(source), lines(out / "clean.jsonl")
    outcomes = {own[item]: outcome for item, outcome in audited.outcomes.items()}
    assert outcomes[own[discarded]] == "discarded"
    assert outcomes[own[undecided]] == "flag"
    assert clean[own[fixed]] == {**original[own[fixed]], "question": "ما السؤال بعد أن صحح؟"}
    told = {row["own_id"]: row for row in pq.read_table(after.files["changes"]).to_pylist()}
    differing = {name for name in original if clean.get(name) != original[name]}
    assert differing == set(told), "every difference is explained, and nothing else"
    assert all(row["evidence"] for row in told.values())
    assert sum(row.passed for row in after.subsets) > sum(row.passed for row in before.subsets) + 15
    assert after.overturned >= len(waiting) - 4
    report = open_review(out).report()
    [campaign] = report.campaigns
    assert (campaign.template, campaign.drawn, campaign.answered) == ("distractor_rating", 3, 3)
    assert any(row.label == "decision" for row in report.agreement)
    assert first_round(out, connection) == 4


def rate_three_options(out: Path, connection: Connection, people: list[Member]) -> None:
    review = open_review(out)
    campaigns = chosen_campaigns(review, "distractor_rating", {"size": 3})
    asked = push_campaigns(review, connection, campaigns)
    assert {name: what.created for name, what in asked.items()} == {"distractor_rating ar": 3}
    ratings = find_project(connection, open_set(out).name, "distractor_rating", "ar")
    assert ratings is not None
    for held in ratings.held():
        for person in people:
            person.annotate(held.task, result({"plausibility": "2"}))


def first_round(out: Path, connection: Connection) -> int:
    """Questions of the calibration that `audited.json` asks for from now on."""
    noted = json.loads((out / AUDITED_SET).read_bytes())
    noted["review"]["calibration"] = {"items": 4, "pass_mark": 0.75}
    (out / AUDITED_SET).write_text(json.dumps(noted), encoding="utf-8")
    return push_rounds(open_review(out), connection)["calibration quality_review ar"].created
