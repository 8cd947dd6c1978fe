"""An audited set goes to people and back: their decisions make the next audit's cleaned copy."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from mihakk.annotation.campaigns.drawing import draw
from mihakk.annotation.decisions.store import add
from mihakk.evaluation.judges.people import Shown
from mihakk.flows.cli import app
from mihakk.machinery.ids import content_hash
from mihakk.pipeline.campaigns import chosen_campaigns, exported_labels, questions
from mihakk.pipeline.external_people import open_set, set_stores
from mihakk.pipeline.external_summary import Audited, AuditSummary
from mihakk.pipeline.opened_review import open_review
from mihakk.reports.external.summary_table import show_summary
from mihakk.schemas.campaign import Campaign, Drawn
from mihakk.schemas.review import Review
from tests.annotation.exported import pulled
from tests.foreign_sets import audit_set, read_rows, write_rows

MAPPING = "question=q,choices=A+B+C,gold=gold,id=name"
ROWS: list[dict[str, Any]] = [
    {"name": "sound", "q": "ما ضد النور؟", "A": "الظلام", "B": "الضوء", "C": "الليل", "gold": "A"},
    {"name": "keep", "q": "ما ضد الحر\u202a؟", "A": "الصيف", "B": "البرد", "C": "الشمس", "gold": "B"},
    {"name": "discard", "q": "ما جمع قلم\u202a؟", "A": "قلام", "B": "قلمان", "C": "أقلام", "gold": "C"},
    {"name": "fix", "q": "ما مفرد كتب\u202a؟", "A": "كاتب", "B": "كتاب", "C": "مكتبة", "gold": "A"},
    {"name": "wait", "q": "ما مرادف الأسد\u202a؟", "A": "الليث", "B": "النمر", "C": "الفهد", "gold": "A"},
    {
        "name": "one says",
        "q": "ما مرادف السيف\u202a؟",
        "A": "الحسام",
        "B": "الرمح",
        "C": "القوس",
        "gold": "A",
    },
    {"name": "blocked", "q": "ما ضد\ufffd الليل؟", "A": "النهار", "B": "الفجر", "C": "العصر", "gold": "A"},
]


def audit(path: Path, out: Path, mapping: str = MAPPING) -> tuple[Audited, AuditSummary]:
    return audit_set(path, mapping, out)


def decide(
    out: Path,
    audited: Audited,
    name: str,
    decision: str,
    people: tuple[str, ...] = ("annotator-01", "annotator-02"),
    **more: Any,
) -> None:
    item = next(one for one in audited.benchmark.items if one.metadata["id"] == name)
    add(
        set_stores(out).decisions,
        Review,
        [
            Review(
                item=item.id,
                content_hash=content_hash(item),
                annotator=person,
                decision=decision,  # type: ignore[arg-type]
                decided_at=datetime(2026, 1, 2, tzinfo=UTC),
                **more,
            )
            for person in people
        ],
    )


def write(path: Path) -> Path:
    return write_rows(path, ROWS)


def read(path: Path) -> list[dict[str, Any]]:
    return read_rows(path).to_dict("records")  # type: ignore[return-value]


@pytest.mark.parametrize("ending", ["jsonl", "csv", "parquet", "xlsx"])
def test_decisions_make_the_next_cleaned_copy(tmp_path: Path, ending: str) -> None:
    path, out = write(tmp_path / f"exam.{ending}"), tmp_path / "out"
    first, summary = audit(path, out)
    assert [row["name"] for row in read(Path(summary.files["clean"]))] == ["sound"]
    decide(out, first, "keep", "keep")
    decide(out, first, "discard", "discard", reason="ambiguous")
    decide(
        out,
        first,
        "fix",
        "fix",
        corrections={"question": "ما مفرد كتب؟", "options[0]": "كاتبون", "gold": "1"},
    )
    decide(out, first, "blocked", "keep")
    decide(out, first, "one says", "keep", people=("annotator-01",))
    audited, summary = audit(path, out)
    original = {row["name"]: row for row in read(path)}
    kept = {row["name"]: row for row in read(Path(summary.files["clean"]))}
    assert list(kept) == ["sound", "keep", "fix", "blocked"]
    assert kept["keep"] == original["keep"]
    assert kept["fix"] == {**original["fix"], "q": "ما مفرد كتب؟", "A": "كاتبون", "gold": "B"}
    (subset,) = summary.subsets
    assert (subset.blocked, subset.flagged, subset.discarded, subset.passed) == (0, 2, 1, 4)
    assert (summary.overturned, summary.corrected) == (2, 1)
    changes = {row["own_id"]: row for row in pq.read_table(summary.files["changes"]).to_pylist()}
    assert {name: row["change"] for name, row in changes.items()} == {
        "discard": "discarded",
        "fix": "corrected",
        "wait": "waits",
        "one says": "waits",
        "blocked": "rescued",
    }
    assert changes["blocked"]["evidence"][0] == "people: keep by agreement, 2 votes"
    assert changes["blocked"]["evidence"][1].startswith("TX03: ")
    assert kept["blocked"] == original["blocked"]
    assert "blocked" not in set(pq.read_table(summary.files["removed"])["own_id"].to_pylist())
    assert set(original) - set(kept) <= set(changes)
    assert all(row["evidence"] for row in changes.values())
    assert "2 votes" in changes["discard"]["evidence"][0]
    assert show_summary(summary)
    assert {v.item for v in audited.verdicts} == {v.item for v in first.verdicts}


def test_a_copy_of_a_corrected_row_does_not_come_back_as_it_was(tmp_path: Path) -> None:
    turned = {"name": "turned", "q": ROWS[0]["q"], "A": "الضوء", "B": "الظلام", "C": "الليل", "gold": "B"}
    rows = [ROWS[0], {**ROWS[0], "name": "copy"}, turned, ROWS[1]]
    path, out = write_rows(tmp_path / "exam.jsonl", rows), tmp_path / "out"
    first, summary = audit(path, out)
    assert [row["name"] for row in read(Path(summary.files["clean"]))] == ["sound"]
    decide(out, first, "sound", "fix", corrections={"gold": "2"})
    _, summary = audit(path, out)
    assert [(row["name"], row["gold"]) for row in read(Path(summary.files["clean"]))] == [("sound", "C")]


def test_a_decision_on_a_row_that_changed_since_binds_no_longer(tmp_path: Path) -> None:
    path, out = write(tmp_path / "exam.jsonl"), tmp_path / "out"
    first, _ = audit(path, out)
    decide(out, first, "keep", "keep")
    text = path.read_text(encoding="utf-8").replace("ما ضد الحر", "ما عكس الحر")
    path.write_text(text, encoding="utf-8")
    _, summary = audit(path, out)
    assert [row["name"] for row in read(Path(summary.files["clean"]))] == ["sound"]


def test_a_correction_that_no_single_cell_holds_leaves_the_row_waiting(tmp_path: Path) -> None:
    path, out = write(tmp_path / "exam.jsonl"), tmp_path / "out"
    mapping = "question=name+q,choices=A+B+C,gold=gold,id=name"
    first, _ = audit(path, out, mapping)
    decide(out, first, "fix", "fix", corrections={"question": "ما مفرد كتب؟"})
    _, summary = audit(path, out, mapping)
    assert summary.corrected == 0
    assert [row["name"] for row in read(Path(summary.files["clean"]))] == ["sound"]


def test_what_waits_is_what_people_are_shown(tmp_path: Path) -> None:
    rows = [*ROWS, {**ROWS[4], "name": "copy"}]
    path = tmp_path / "exam.jsonl"
    path.write_text("\n".join(json.dumps(row) for row in rows), encoding="utf-8")
    out = tmp_path / "out"
    audited, summary = audit(path, out)
    queue = json.loads(Path(summary.files["review_queue"]).read_bytes())
    flagged = pq.read_table(out / "people" / "queue_verdicts.parquet").to_pylist()
    names = {item.id: item.metadata["id"] for item in audited.benchmark.items}
    assert {names[row["item"]] for row in flagged if row["status"] == "flag"} == {
        "keep",
        "discard",
        "fix",
        "wait",
        "one says",
    }
    assert len(queue) == 5
    known = json.loads((out / "audited.json").read_bytes())
    (out / "audited.json").write_text(json.dumps({**known, "rescue": True}), encoding="utf-8")
    _, summary = audit(path, out)
    assert len(json.loads(Path(summary.files["review_queue"]).read_bytes())) == 6
    flagged = pq.read_table(out / "people" / "queue_verdicts.parquet").to_pylist()
    assert "blocked" in {names[row["item"]] for row in flagged if row["status"] == "flag"}
    assert summary.subsets[0].blocked == 1
    assert open_set(out).name == "audit-exam"
    done = CliRunner().invoke(app, ["review", "report", str(out)])
    assert done.exit_code == 0, done.output


@pytest.mark.parametrize(
    ("template", "says"),
    [
        ("distractor_ratin", "there is no template 'distractor_ratin'; did you mean 'distractor_rating'?"),
        ("quality_reviw", "did you mean 'quality_review'?"),
        ("label_validation", "asks about era, genre and metre of poems that a build curated"),
        ("interpretive_depth", "Its templates are quality_review, distractor_rating, answer_correctness"),
    ],
)
def test_a_template_that_rows_cannot_answer_is_refused_before_any_server(
    tmp_path: Path, template: str, says: str
) -> None:
    path, out = write(tmp_path / "exam.csv"), tmp_path / "out"
    audit(path, out)
    done = CliRunner().invoke(app, ["review", "push", str(out), "--template", template])
    assert done.exit_code == 2
    assert says in " ".join(done.stderr.split())


def test_people_rate_wrong_options_of_rows_that_no_rule_blocks_but_not_true_and_false(tmp_path: Path) -> None:
    truth = {"name": "truth", "q": "هل الشمس نجم؟", "A": "صح", "B": "خطأ", "C": "", "gold": "A"}
    path, out = tmp_path / "exam.csv", tmp_path / "out"
    pd.DataFrame([*ROWS, truth]).to_csv(path, index=False)
    audited, _ = audit(path, out)
    asked = questions(open_review(out), Campaign(template="distractor_rating"))
    own = {item.id: item.metadata["id"] for item in audited.benchmark.items}
    wrong = {(own[one.key.partition("#")[0]], one.before["wrong"]) for one in asked}
    expected = {
        (row["name"], row[letter])
        for row in ROWS
        if row["name"] != "blocked"
        for letter in "ABC"
        if letter != row["gold"]
    }
    assert wrong == expected


@pytest.mark.parametrize(
    ("votes", "outcome"),
    [
        ([("fix", {"corrections": {"gold": "1"}}), ("discard", {"reason": "wrong_gold"})], "flag"),
        ([("fix", {"corrections": {"gold": "1"}}), ("fix", {"corrections": {"gold": "2"}})], "flag"),
        ([("keep", {}), ("discard", {"reason": "ambiguous"})], "flag"),
        ([("discard", {"reason": "ambiguous"})], "flag"),
        ([("discard", {"reason": "wrong_gold"}), ("discard", {"reason": "ambiguous"})], "discarded"),
        ([("keep", {}), ("keep", {})], "pass"),
        ([("keep", {})], "pass"),
    ],
)
def test_an_unflagged_row_that_people_object_to_is_not_in_the_cleaned_copy(
    tmp_path: Path, votes: list[tuple[str, dict[str, Any]]], outcome: str
) -> None:
    path, out = write(tmp_path / "exam.jsonl"), tmp_path / "out"
    first, _ = audit(path, out)
    for n, (decision, more) in enumerate(votes, 1):
        decide(out, first, "sound", decision, (f"annotator-{n:02d}",), **more)
    second, _ = audit(path, out)
    sound = next(one.id for one in second.benchmark.items if one.metadata["id"] == "sound")
    assert second.outcomes[sound] == outcome


def test_judges_of_replies_to_a_set_are_vouched_for_by_people_who_rate_there(tmp_path: Path) -> None:
    """`evaluate vouch --draw` to people and back: the same way as of a build."""
    path, out = write(tmp_path / "exam.jsonl"), tmp_path / "out"
    audit(path, out)
    shown = [
        Shown(id=f"key-{n}", rubric="answer", language="ar", question="ما ضد النور؟", text="", reference="الظلام", reply=f"جواب {n}")
        for n in range(3)
    ]  # fmt: skip
    drawn_file = tmp_path / "for_people.jsonl"
    drawn_file.write_text("".join(row.model_dump_json() + "\n" for row in shown), encoding="utf-8")
    review = open_review(out)
    (campaign,) = chosen_campaigns(review, "answer_correctness", {"rows": str(drawn_file)})
    asked = draw(questions(review, campaign), campaign, [], set())
    add(review.stores.campaigns, Drawn, asked.new)
    said = {row.subject: [{"correctness": "3"}, {"correctness": "2"}] for row in asked.new}
    pulled(review.stores, "answer_correctness", asked.tasks, said)
    rows, first = exported_labels(review.stores)
    assert {row.subject for row in rows} == {row.id for row in shown}, "under the names that judges know"
    assert (len(rows), len(first)) == (6, 6)
