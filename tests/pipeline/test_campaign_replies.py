"""People's scores of replies come out under the names by which judges are held against them."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from mihakk.annotation.campaigns.drawing import draw
from mihakk.annotation.decisions.export import write_csv
from mihakk.annotation.screens.ratings import Label
from mihakk.evaluation.judges.people import read_people
from mihakk.evaluation.judges.rubrics import rubric_named
from mihakk.evaluation.rows import answer_key, write_rows
from mihakk.machinery.errors import UsageError
from mihakk.pipeline.campaigns import exported_labels, questions
from mihakk.pipeline.opened_review import review_of
from mihakk.pipeline.people import review_stores
from mihakk.schemas.campaign import Campaign
from mihakk.schemas.evaluation import Answer
from tests.pipeline.campaign_round import answered, asked, built, opened

SYSTEMS = ("falcon-h1", "jais-30b")


def test_scores_of_replies_reach_the_judges_under_the_answers_own_names(tmp_path: Path) -> None:
    campaign = {"template": "answer_correctness", "rows": str(tmp_path / "replies"), "overlap": 2}
    build = opened(tmp_path, "completion", campaigns=[campaign])
    some = list(built(build).values())[:5]
    rows = [
        Answer(
            item=item.id, content_hash="h", release="round", version="1", digest="d", config="c",
            task=item.task, kind="answer", language="ar", group="g", model=model, reply="كلمة",
        )
        for item in some
        for model in SYSTEMS
    ]  # fmt: skip
    write_rows(tmp_path / "replies" / "small" / "answers.parquet", rows, Answer)
    drawn, tasks = asked(build, "answer_correctness")
    assert not any(
        name in json.dumps(tasks, ensure_ascii=False) for name in (*SYSTEMS, *map(answer_key, rows))
    )
    marks = {"falcon-h1": ("1", "2"), "jais-30b": ("3", "3")}
    given = {
        row.subject: [{"correctness": mark, "notes": "قريب"} for mark in marks[row.strata["system"]]]
        for row in drawn
    }
    answered(build, "answer_correctness", tasks, given)
    table = tmp_path / "people.csv"
    labels, first = exported_labels(review_stores(build))
    write_csv(table, labels, Label, first)
    with table.open(encoding="utf-8-sig") as lines:
        assert {row["name"] for row in csv.DictReader(lines)} == {"correctness", "notes"}
    scores = read_people(table, {"answer": rubric_named("answer")})
    assert {name: sorted(people.by.values()) for (_, name), people in scores.items()} == {
        answer_key(row): sorted(map(float, marks[row.model])) for row in rows
    }


def test_replies_that_were_drawn_to_hold_judges_against_people_are_asked_about_as_drawn(
    tmp_path: Path,
) -> None:
    build = opened(tmp_path, "completion")
    file = tmp_path / "for_people.jsonl"
    line = {"language": "ar", "question": "ما الكلمة؟", "text": "", "reference": "صيفي", "reply": "شتوي"}
    deep = {**line, "id": "b", "rubric": "interpretive_depth", "text": "قفا نبك"}
    file.write_text("\n".join(json.dumps(row) for row in ({**line, "id": "a", "rubric": "answer"}, deep)))
    for template, name, text in (
        ("answer_correctness", "a", "ما الكلمة؟"),
        ("interpretive_depth", "b", "قفا نبك"),
    ):
        campaign = Campaign.model_validate({"template": template, "rows": str(file)})
        (task,), (row,), _ = draw(questions(review_of(build), campaign), campaign, [], set())
        assert (row.key, row.template) == (name, template)
        assert text in task["data"]["item_html"]
        assert task["data"]["sample_id"].startswith("reply-")
    file.write_text('{"id": "a"}')
    with pytest.raises(UsageError, match="evaluate vouch SUITE --draw"):
        questions(review_of(build), campaign)
