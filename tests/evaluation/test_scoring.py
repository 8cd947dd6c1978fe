"""Stored replies to scores: what stays in the mean, what is refused, what repeats byte for byte."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from mihakk.evaluation.metrics.metric import METRICS
from mihakk.evaluation.rows import ANSWER_KEY, answer_key, read_rows, write_rows
from mihakk.evaluation.scoring import DEFAULT, metrics_named, score_file
from mihakk.machinery.errors import UsageError
from mihakk.schemas.evaluation import Answer, Judgement, Score
from tests.evaluation.material import choice, explained, reply_to, score_answers, worded

QUESTIONS = {one.item: one for one in (choice("c1", 0), choice("c2", 1), worded("a1"), explained("e1"))}


def scores(*answers: Answer, metrics: tuple[str, ...] = DEFAULT) -> list[Score]:
    return score_answers(answers, QUESTIONS, metrics_named(metrics))


@pytest.mark.parametrize(
    ("facts", "status", "is_cut"),
    [
        ({"reply": "أ"}, "read", False),
        ({"reply": "أ", "finish_reason": "length"}, "read", True),
        ({"reply": "لا أعرف"}, "unparsed", False),
        ({"reply": "أفكر في الخيار", "finish_reason": "length"}, "unparsed", True),
        ({"reply": " \n"}, "empty", False),
        ({"reply": "", "finish_reason": "content_filter"}, "refused", False),
        ({"reply": "أ", "error": "server gone"}, "error", False),
    ],
)
def test_what_was_not_read_stays_in_the_mean_as_the_worst_value(
    facts: dict[str, Any], status: str, is_cut: bool
) -> None:
    (row,) = scores(reply_to(QUESTIONS["c1"], **facts))
    assert (row.metric, row.status, row.cut) == ("accuracy", status, is_cut)
    assert row.value == (1.0 if status == "read" else 0.0)
    assert json.loads(row.detail)["options"] == 4


def test_the_worst_error_rate_is_one_and_the_worst_of_all_others_none() -> None:
    rows = scores(reply_to(QUESTIONS["a1"], ""), reply_to(QUESTIONS["e1"], "لا أعرف"))
    assert {row.metric: row.value for row in rows} == {"recall": 0.0, "exact": 0.0, "cer": 1.0, "chrf": 0.0}
    for _, metric in METRICS:
        assert metric.worst == (metric.high if not metric.higher_is_better else 0.0)


def test_a_row_says_by_what_it_was_read_and_scored() -> None:
    row = next(row for row in scores(reply_to(QUESTIONS["c2"], "<answer>ب")) if row.metric == "accuracy")
    assert (row.reader, row.rule, row.scorer, row.signature) == (
        "choice/4",
        "tag/1",
        "accuracy/1",
        "accuracy/1",
    )
    assert row.notes == ("cut_tag",)
    assert (row.item, row.group, row.model, row.digest) == ("c2", "group-c2", "one", "d" * 64)
    likely = scores(reply_to(QUESTIONS["c2"], method="likelihood", likelihoods=(-2.0, -1.0, -3.0, -4.0)))
    assert {row.metric: (row.value, row.reader) for row in likely} == {"accuracy": (1.0, "likelihood/1")}


def test_an_answer_to_another_item_is_refused() -> None:
    with pytest.raises(UsageError, match="'c9', which is not among the 4 questions"):
        scores(reply_to(choice("c9"), "أ"))


def test_an_answer_to_another_version_of_an_item_is_refused() -> None:
    with pytest.raises(UsageError, match="'c1' has changed since it was asked"):
        scores(reply_to(choice("c1", content_hash="before"), "أ"))


def test_files_are_scored_in_batches_and_twice_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mihakk.evaluation.rows.BATCH", 7)
    answers = [
        reply_to(QUESTIONS[item], reply, repeat=n)
        for n in range(10)
        for item, reply in (("c1", "أ"), ("a1", "الحيط"))
    ]
    write_rows(tmp_path / "answers.parquet", answers, Answer)
    counts = [
        score_file(tmp_path / "answers.parquet", QUESTIONS, metrics_named(DEFAULT), tmp_path / name)
        for name in ("one.parquet", "two.parquet")
    ]
    assert counts[0] == counts[1] == {"read": 20, "answers": 20, "scores": 50}
    assert (tmp_path / "one.parquet").read_bytes() == (tmp_path / "two.parquet").read_bytes()
    found = read_rows(tmp_path / "one.parquet", Score)
    expected = scores(*answers)

    def named(row: Score) -> tuple[str, int, str]:
        return row.item, row.repeat, row.metric

    assert sorted(found, key=named) == sorted(expected, key=named)


def test_rows_come_back_as_they_were(tmp_path: Path) -> None:
    answer = reply_to(
        QUESTIONS["c1"], "أ", slices={"era": "عباسي"}, likelihoods=(-1.0, -float("inf"), -2.0, -3.0)
    )
    write_rows(tmp_path / "a.parquet", [answer], Answer)
    assert read_rows(tmp_path / "a.parquet", Answer) == [answer]
    judgement = Judgement(
        answer=answer_key(answer), judge="j", rubric="meaning", rubric_version="1", rubric_digest="d",
        scores={"overall": 3}, status="valid",
    )  # fmt: skip
    write_rows(tmp_path / "j.parquet", [judgement], Judgement)
    assert read_rows(tmp_path / "j.parquet", Judgement) == [judgement]


def test_every_part_of_an_answers_key_counts() -> None:
    answer = reply_to(QUESTIONS["c1"], "أ")
    others = {
        answer_key(answer.model_copy(update={name: 9 if name in ("variant", "repeat") else "x"}))
        for name in ANSWER_KEY
    }
    assert len(others - {answer_key(answer)}) == len(ANSWER_KEY)


def test_a_file_of_something_else_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="there is no file"):
        read_rows(tmp_path / "none.parquet", Answer)
    write_rows(tmp_path / "a.parquet", [reply_to(QUESTIONS["c1"])], Answer)
    with pytest.raises(UsageError, match=r"not a table of Score rows: it has no column 'metric'"):
        read_rows(tmp_path / "a.parquet", Score)
    (tmp_path / "b.parquet").write_text("x")
    with pytest.raises(UsageError, match="can't be read as Parquet"):
        read_rows(tmp_path / "b.parquet", Answer)


def test_an_interrupted_write_leaves_nothing(tmp_path: Path) -> None:
    write_rows(tmp_path / "a.parquet", [reply_to(QUESTIONS["c1"], "أ"), reply_to(choice("c9"), "أ")], Answer)
    with pytest.raises(UsageError):
        score_file(tmp_path / "a.parquet", QUESTIONS, metrics_named(DEFAULT), tmp_path / "scores.parquet")
    assert [path.name for path in tmp_path.iterdir()] == ["a.parquet"]


def test_there_is_no_such_metric() -> None:
    with pytest.raises(UsageError, match=r"no metric 'acuracy'; did you mean accuracy"):
        metrics_named(["acuracy"])
