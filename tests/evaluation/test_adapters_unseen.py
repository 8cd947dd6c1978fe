"""Published benchmarks whose files are not at hand: small tables of the columns that their authors' code reads.

What is tried here is the shape that public code states; prompts and texts are ours.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml

from mihakk.evaluation.adapters.adapter import ADAPTERS, Published
from mihakk.evaluation.running.asking import asked_of_suite
from mihakk.evaluation.running.suites import load_suite
from mihakk.machinery.errors import MihakkError, SourceChanged, UsageError
from tests.evaluation.suite_rows import IDIOM, balsam_set, json_lines, parquet

CHOICE = {
    "prompt": "السؤال: أيها يطير؟\nأ) الحجر\nب) الطير\nالإجابة:",
    "choices": ["الحجر", "الطير"],
    "index": 1,
}


def read(name: str, folder: Path) -> list[Published]:
    return list(ADAPTERS.get(name).read(folder, "d" * 64))


@pytest.fixture
def qimma(tmp_path: Path) -> Path:
    folder = tmp_path / "qimma"
    parquet(
        folder / "MCQ_ArabicMMLU" / "Physics (High School)" / "test-00000-of-00002.parquet", CHOICE, CHOICE
    )
    parquet(folder / "MCQ_ArabicMMLU" / "Physics (High School)" / "test-00001-of-00002.parquet", CHOICE)
    parquet(folder / "MCQ_ArabicMMLU" / "Physics (High School)" / "validation-00000-of-00001.parquet", CHOICE)
    parquet(folder / "MCQ_MizanQA" / "data" / "test-00000-of-00001.parquet", CHOICE | {"index": [0, 1]})
    parquet(
        folder / "QA_MedArabiQ" / "fib_no_choices" / "test-00000-of-00001.parquet",
        {"prompt": "أكمل: القلب يضخ ____", "choices": "الدم"},
    )
    return folder


def test_qimma_is_asked_in_its_own_prompts_from_the_test_split(qimma: Path) -> None:
    found = read("qimma", qimma)
    assert [(one.question.config, one.question.slices["subset"]) for one in found] == [
        ("ar_mcq_arabicmmlu", "Physics (High School)"),
        ("ar_mcq_arabicmmlu", "Physics (High School)"),
        ("ar_mcq_arabicmmlu", "Physics (High School)"),
        ("ar_mcq_mizanqa", "default"),
        ("ar_qa_medarabiq", "fib_no_choices"),
    ]
    assert len({one.question.item for one in found}) == 5
    assert all(one.prompt in {CHOICE["prompt"], "أكمل: القلب يضخ ____"} for one in found)
    assert (found[0].question.gold, found[0].question.labels) == ((1,), ("أ", "ب"))
    assert (found[3].question.gold, found[3].question.multiple) == ((0, 1), True)
    assert (found[4].question.kind, found[4].question.answer) == ("answer", "الدم")


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ({"prompt": "س", "choices": ["أ", "ب"]}, r"row 1: no column 'index'; it has: prompt, choices"),
        (CHOICE | {"index": 2}, "`index` 2 names none of 2 choices"),
        (CHOICE | {"index": [0, 1]}, r"names several choices where one is asked for"),
        (CHOICE | {"choices": "الحجر"}, "`choices` is no list of texts"),
        (CHOICE | {"prompt": " "}, "`prompt` is no text"),
    ],
)
def test_a_row_of_qimma_that_does_not_fit_is_named(tmp_path: Path, row: dict[str, Any], problem: str) -> None:
    parquet(tmp_path / "MCQ_PALMX-2025" / "test.parquet", row)
    with pytest.raises(SourceChanged, match=problem):
        read("qimma", tmp_path)


def test_balsam_asks_instruction_input_and_options_of_the_development_split(tmp_path: Path) -> None:
    rows = [
        {"instruction": "صنّف.", "input": "فرحتُ", "output": ["سعادة"], "id": 1},
        {"input": ["ما اللون؟"], "output": "B", "mcq": ["أحمر", "أزرق"]},
        {"input": "ما اللون؟", "output": "أحمرُ", "mcq": ["أحمر", "أزرق"]},
    ]
    balsam_set(tmp_path, "emotions", "Emotion Detection", *rows)
    words, by_label, by_words = read("balsam", tmp_path)
    assert words.prompt == "صنّف.\nفرحتُ"
    assert (words.question.kind, words.question.answer) == ("answer", "سعادة")
    assert words.question.task == "text_classification/emotion_detection"
    assert by_label.prompt == "ما اللون؟\n\nالخيارات:\nA. أحمر\nB. أزرق"
    assert (by_label.question.gold, by_words.question.gold) == ((1,), (0,))


@pytest.mark.parametrize(
    ("rows", "split", "problem"),
    [
        ([], "dev", "its dev split has no rows"),
        ([{"input": "x", "output": "y"}], "test", r"not a data set of BALSAM \(no column 'dev'\)"),
        ([{"input": "x"}], "dev", r"row 1: not a row of BALSAM \(no column 'output'\)"),
        ([{"input": "x", "output": "z", "mcq": ["u", "v"]}], "dev", "the output 'z' is none of the options"),
        ([{"input": "x", "output": None}], "dev", "no text: None"),
    ],
)
def test_a_set_of_balsam_that_does_not_fit_is_named(
    tmp_path: Path, rows: Any, split: str, problem: str
) -> None:
    with pytest.raises(SourceChanged, match=problem):
        read("balsam", balsam_set(tmp_path, "s", "t", *rows, split=split))


PROVERB = {"idiom": "اللي اختشوا ماتوا", "explanation": "قلّ الحياء", "kind": "Proverb"}


def idioms(folder: Path, *rows: dict[str, str], columns: dict[str, str] | None = None) -> Path:
    json_lines(folder / "set.jsonl", *rows)
    if columns is not None:
        (folder / "columns.yaml").write_text(yaml.safe_dump(columns), encoding="utf-8")
    return folder


def test_kinayat_asks_every_task_that_a_row_allows_in_both_orders(tmp_path: Path) -> None:
    found = read("kinayat", idioms(tmp_path, IDIOM, PROVERB))
    counts = Counter(one.question.task for one in found)
    assert counts == {
        "meaning_choice": 2, "meaning_choice_srl": 2, "negation": 2, "meaning_in_context": 2, "pragmatic_use": 2,
        "connotation": 2, "explanation": 2, "completion": 1,
    }  # fmt: skip
    assert len({one.question.item for one in found}) == len(found)
    for one in found:
        question = one.question
        if question.kind == "choice":
            assert all(
                f"{label}. {text}" in one.prompt
                for label, text in zip(question.labels, question.options, strict=True)
            )
    right = {
        (one.question.task, one.question.order): one.question.options[one.question.gold[0]]
        for one in found
        if one.question.pair_id
    }
    assert right["meaning_choice", 0] == right["meaning_choice", 1] == IDIOM["explanation"]
    assert right["negation", 0] == IDIOM["incorrect_explanation"]
    assert right["pragmatic_use", 1] == IDIOM["idiom"]
    (completion,) = [one for one in found if one.question.task == "completion"]
    assert completion.question.answer == "ماتوا"
    assert "ماتوا" not in completion.prompt
    assert "proverb" in completion.prompt
    assert not any(
        IDIOM["idiom"] in one.prompt.partition("A.")[0]
        for one in found
        if one.question.task == "pragmatic_use"
    )


def test_kinayats_rows_carry_language_kind_and_dialect_for_tables_by_them(tmp_path: Path) -> None:
    english = {"idiom": "A stitch in time saves nine", "explanation": "Act early.", "kind": "proverb"}
    rows = (IDIOM | {"dialect": "EGY"}, english | {"language": "en"})
    found = {one.question.config: one for one in read("kinayat", idioms(tmp_path, *rows))}
    assert found["ar_explanation"].question.slices == {"record": "set-1", "kind": "idiom", "dialect": "EGY"}
    assert found["en_completion"].question.slices == {"record": "set-2", "kind": "proverb"}
    assert found["en_completion"].question.language == "en"
    assert found["en_explanation"].prompt.startswith("Say in English")
    assert found["ar_explanation"].prompt.startswith("Say in Arabic")
    with pytest.raises(SourceChanged, match="language"):
        read("kinayat", idioms(tmp_path / "x", english | {"language": "x?"}))


def test_kinayats_columns_may_have_other_names_and_missing_ones_are_named(tmp_path: Path) -> None:
    theirs = {"phrase": IDIOM["idiom"], "meaning": IDIOM["explanation"]}
    found = read(
        "kinayat", idioms(tmp_path / "a", theirs, columns={"idiom": "phrase", "explanation": "meaning"})
    )
    assert [one.question.task for one in found] == ["explanation"]
    with pytest.raises(SourceChanged, match=r"row 1: no column 'idiom'; it has: phrase, meaning"):
        read("kinayat", idioms(tmp_path / "b", theirs))
    with pytest.raises(MihakkError, match="explanatoin"):
        read("kinayat", idioms(tmp_path / "c", theirs, columns={"explanatoin": "meaning"}))
    with pytest.raises(SourceChanged, match="the connotation 'Sad' is none of Positive, Negative, Neutral"):
        read("kinayat", idioms(tmp_path / "d", IDIOM | {"connotation": "sad"}))


@pytest.mark.parametrize("name", ["qimma", "balsam", "kinayat_published"])
def test_a_suite_without_its_files_says_where_they_belong(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    suite = load_suite(name)
    monkeypatch.setenv("MIHAKK_SHARED_DATA", str(tmp_path))
    with pytest.raises(UsageError, match=r"there is no folder .* put them there"):
        asked_of_suite(suite, lambda _: (Path(), ""))
    (tmp_path / Path(suite.parts[0].data).name).mkdir()
    with pytest.raises(UsageError, match="holds no file that the adapter"):
        asked_of_suite(suite, lambda _: (Path(), ""))


def test_a_benchmark_without_a_digest_is_told_which_to_write(qimma: Path) -> None:
    suite = load_suite("qimma")
    part = suite.parts[0].model_copy(update={"data": str(qimma)})
    with pytest.raises(UsageError, match=r"is not pinned; write `digest: [0-9a-f]{64}`") as error:
        asked_of_suite(suite.model_copy(update={"parts": (part,)}), lambda _: (Path(), ""))
    pinned = part.model_copy(update={"digest": str(error.value).split()[-3].strip("`")})
    assert len(asked_of_suite(suite.model_copy(update={"parts": (pinned,)}), lambda _: (Path(), ""))) == 5
