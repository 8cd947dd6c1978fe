"""Answers from elsewhere: files of replies, lm-eval's samples."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from mihakk.evaluation.imports import import_results
from mihakk.evaluation.questions import questions_of_release
from mihakk.evaluation.results import Reading
from mihakk.evaluation.rows import write_rows
from mihakk.machinery.errors import UsageError
from mihakk.schemas.evaluation import Answer, AnsweredBy
from mihakk.schemas.rejection import Rejection
from tests.evaluation.material import choice, worded

QUESTIONS = {one.item: one for one in (choice("c1"), choice("c2"), worded("a1"))}
BY = AnsweredBy(model="elsewhere", revision="r1", prompt="own", prompt_version="2")


class Imported(NamedTuple):
    """What came of a file of one system."""

    answers: list[Answer]
    rejected: list[Rejection]
    missing: list[str]


def import_answers(path: Path, form: str = "answers") -> Imported:
    taken = import_results([path], QUESTIONS, BY, Reading(form, BY.model, "id"))
    return Imported(*taken.one_system(), taken.missing.get(BY.model, []))


def import_lm_eval(path: Path) -> Imported:
    return import_answers(path, "lm-eval")


def lines(path: Path, *rows: Any) -> Path:
    path.write_text(
        "\n".join(row if isinstance(row, str) else json.dumps(row) for row in rows), encoding="utf-8"
    )
    return path


def test_replies_become_answers_to_the_questions(tmp_path: Path) -> None:
    file = lines(
        tmp_path / "r.jsonl",
        json.dumps({"item": "c1", "reply": "أ\u2028\x85ب", "finish_reason": "stop"}, ensure_ascii=False),
        {"id": "a1", "reply": "الحيط", "repeat": 1},
        "",
        {"item": "a1", "reply": "الدار"},
    )
    imported = import_answers(file)
    assert [(one.item, one.reply, one.repeat, one.model, one.revision) for one in imported.answers] == [
        ("c1", "أ\u2028\x85ب", 0, "elsewhere", "r1"),
        ("a1", "الحيط", 1, "elsewhere", "r1"),
        ("a1", "الدار", 0, "elsewhere", "r1"),
    ]
    assert imported.answers[0].content_hash == QUESTIONS["c1"].content_hash
    assert imported.missing == ["c2"]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"item": "c9", "reply": "أ"}, "line 1: there is no item 'c9' among the 3 questions"),
        ({"item": "c1", "reply": "أ", "anwser": "x"}, "line 1: unknown field 'anwser'"),
        ({"item": "c1"}, "line 1: neither reply, likelihoods nor error"),
        ({"item": "c1", "likelihoods": [-1.0, -2.0]}, "line 1: 2 likelihoods for 4 options of c1"),
        ({"item": "c1", "reply": 7}, "line 1: reply is 7; it must be text"),
        ("{", "line 1: not JSON"),
        ("[1]", "line 1: not a JSON object"),
        ('{"item": "c1", "reply": ' + "9" * 5000 + "}", "line 1: not JSON"),
        ('{"item": ' * 5000, "line 1: not JSON"),
        ('{"item": "c1", "reply": "\\ud800"}', "line 1: it holds half a character"),
        ({"item": "c1", "reply": "أ", "tokens_in": 2**64}, "line 1: it holds a whole number of more than 64"),
    ],
)
def test_a_line_that_does_not_fit_is_one_rejection_and_the_others_are_taken(
    tmp_path: Path, row: Any, message: str
) -> None:
    good = [{"item": "c2", "reply": "أ"}, {"item": "a1", "reply": "الحيط"}]
    imported = import_answers(lines(tmp_path / "r.jsonl", row, *good))
    (rejected,) = imported.rejected
    assert rejected.detail.startswith(message)
    assert rejected.body == (row if isinstance(row, str) else json.dumps(row))
    assert [one.item for one in imported.answers] == ["c2", "a1"]
    assert imported.missing == ["c1"]


def test_a_rejected_line_stands_under_the_item_it_names(tmp_path: Path) -> None:
    file = lines(tmp_path / "r.jsonl", {"item": "c9", "reply": "أ"}, "{", {"item": "c1", "reply": "أ"})
    told = [(one.record, one.reason) for one in import_answers(file).rejected]
    assert told == [("c9", "unknown_item"), ("line 2", "not_json")]


def test_bytes_that_are_no_text_cost_their_line_alone(tmp_path: Path) -> None:
    file = tmp_path / "r.jsonl"
    good = json.dumps({"item": "c1", "reply": "أ"}).encode()
    file.write_bytes(b"\xef\xbb\xbf" + good + b'\n{"item": "c2", "reply": "\xff"}\n')
    imported = import_answers(file)
    assert [one.item for one in imported.answers] == ["c1"]
    assert [one.reason for one in imported.rejected] == ["undecodable"]


def test_a_file_without_one_answer_is_refused_with_its_first_reason(tmp_path: Path) -> None:
    utf16 = tmp_path / "utf16.jsonl"
    utf16.write_bytes('{"item": "c1", "reply": "أ"}\n'.encode("utf-16"))
    with pytest.raises(UsageError, match="none of its 2 lines is an answer; line 1: not UTF-8"):
        import_answers(utf16)
    with pytest.raises(UsageError, match="empty"):
        import_answers(lines(tmp_path / "r.jsonl"))


@pytest.mark.parametrize(
    ("damage", "told"),
    [
        ({"options": ["a", "b", "c"]}, "3 options and 4 labels"),
        ({"gold": [4]}, r"the gold \[4\] among 4 options"),
        ({"gold": []}, "no gold"),
    ],
)
def test_a_question_that_can_not_be_scored_is_refused_with_its_file_before_any_answer_is(
    tmp_path: Path, damage: dict[str, Any], told: str
) -> None:
    row = (
        choice().model_dump(mode="json", exclude={"slices"})
        | {"id": "i1", "metadata": None, "origin": None}
        | damage
    )
    (tmp_path / "ar").mkdir()
    pq.write_table(pa.Table.from_pylist([row]), tmp_path / "ar" / "test-00000-of-00001.parquet")
    (tmp_path / "MANIFEST.sha256").write_text("", encoding="utf-8")
    with pytest.raises(UsageError, match=rf"test-00000-of-00001\.parquet: i1 has {told}"):
        questions_of_release(tmp_path, "demo")


def test_of_an_item_answered_twice_no_answer_counts(tmp_path: Path) -> None:
    twice = [{"item": "c1", "reply": "أ"}, {"item": "c1", "reply": "ب"}]
    imported = import_answers(lines(tmp_path / "r.jsonl", *twice, {"item": "c2", "reply": "أ"}))
    assert [one.item for one in imported.answers] == ["c2"]
    assert [(one.record, one.reason) for one in imported.rejected] == [("c1", "answered_twice")] * 2
    assert imported.missing == ["c1", "a1"]


def sample(item: str, resps: Any, **more: Any) -> dict[str, Any]:
    """One line of lm-eval 0.4.13's samples."""
    doc = {"id": item, "content_hash": f"hash-{item}", "labels": ["أ", "ب", "ج", "د"]}
    return {"doc_id": 0, "doc": doc, "target": "أ", "resps": resps, "filter": "none", "acc": 1.0, **more}


def test_likelihoods_of_lm_eval_are_taken_over(tmp_path: Path) -> None:
    resps = [[["-1.5", "False"]], [["-0.5", "True"]], [["-2.0", "False"]], [["-3.0", "False"]]]
    (found,) = import_lm_eval(lines(tmp_path / "s.jsonl", sample("c1", resps))).answers
    assert (found.method, found.likelihoods, found.reply) == ("likelihood", (-1.5, -0.5, -2.0, -3.0), "")


@pytest.mark.parametrize(("before", "taken"), [("", True), (" ", False), ("\n", False)])
def test_likelihoods_behind_another_delimiter_are_refused(tmp_path: Path, before: str, taken: bool) -> None:
    resps = [[["-1.5", "False"]]] * 4
    asked = {f"gen_args_{n}": {"arg_0": "...", "arg_1": before + label} for n, label in enumerate("أبجد")}
    file = lines(tmp_path / "s.jsonl", sample("c1", resps, arguments=asked))
    if taken:
        assert import_lm_eval(file).answers[0].method == "likelihood"
        return
    with pytest.raises(UsageError, match="`target_delimiter`"):
        import_lm_eval(file)


@pytest.mark.parametrize(
    "arguments",
    [
        {"gen_args_0": {"arg_0": "السؤال", "arg_1": {"until": ["</s>", "السؤال:"], "do_sample": False}}},
        [["السؤال", {"until": "السؤال:"}]],
    ],
)
def test_a_reply_of_lm_eval_ends_at_the_stop_string_of_its_log(tmp_path: Path, arguments: Any) -> None:
    row = sample("c1", [["\n\nب\n\nالسؤال: كم؟"]], arguments=arguments)
    (found,) = import_lm_eval(lines(tmp_path / "s.jsonl", row)).answers
    assert found.reply == "\n\nب\n\n"


def test_written_replies_of_lm_eval_are_taken_once_whatever_filters_it_had(tmp_path: Path) -> None:
    file = lines(
        tmp_path / "s.jsonl",
        sample("a1", [["<answer>الحيط</answer>"]]),
        sample("a1", [["<answer>الحيط</answer>"]], filter="strict"),
    )
    (found,) = import_lm_eval(file).answers
    assert (found.method, found.reply) == ("written", "<answer>الحيط</answer>")


def test_samples_of_another_version_are_refused(tmp_path: Path) -> None:
    moved = sample("c1", [["أ"]])
    moved["doc"]["content_hash"] = "before"
    with pytest.raises(UsageError, match="c1 was asked from another version of demo"):
        import_lm_eval(lines(tmp_path / "s.jsonl", moved))
    with pytest.raises(UsageError, match="not a sample of lm-eval"):
        import_lm_eval(lines(tmp_path / "s.jsonl", {"doc": {}}))
    with pytest.raises(UsageError, match="neither likelihoods nor a reply"):
        import_lm_eval(lines(tmp_path / "s.jsonl", sample("c1", [])))


@pytest.mark.parametrize(
    "bad",
    [
        '{"item": "c2", "reply": "x", "reply": "y"}',
        '{"item": "c2", "likelihoods": [NaN, NaN, NaN, NaN]}',
        '{"item": "c2", "reply": "x", "cost": Infinity}',
    ],
)
def test_a_value_that_no_table_can_hold_costs_its_line_alone(tmp_path: Path, bad: Any) -> None:
    file = lines(tmp_path / "r.jsonl", bad, {"item": "c1", "reply": "x"})
    imported = import_answers(file)
    assert [one.item for one in imported.answers] == ["c1"]
    assert len(imported.rejected) == 1
    write_rows(tmp_path / "answers.parquet", imported.answers, Answer)
    write_rows(tmp_path / "rejected.parquet", imported.rejected, Rejection)


@pytest.mark.parametrize("resps", ["abc", {"0": 1}, [[[10**400]]], [["\ud800"]], [[["nan", "x"]]] * 4])
def test_a_sample_without_a_usable_reply_costs_its_line_alone(tmp_path: Path, resps: Any) -> None:
    rows = (sample("c2", resps, filter=[]), sample("c2", resps), sample("c1", [["x"]]))
    file = lines(tmp_path / "s.jsonl", *rows)
    imported = import_lm_eval(file)
    assert [one.item for one in imported.answers] == ["c1"]
    assert len(imported.rejected) == 2
