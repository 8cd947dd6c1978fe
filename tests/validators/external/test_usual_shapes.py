"""Shapes in which benchmarks are usually shared are proposed, read and written back without a word from anybody."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from mihakk.schemas.item import AnswerItem, ChoiceItem
from mihakk.validators.external import parse_mapping, read_benchmark
from mihakk.validators.external.proposal import propose_for
from mihakk.validators.external.write_back import write_back
from tests.foreign_sets import write_rows

STEMS = ["ما ضد النور؟", "ما ضد الحر؟", "ما جمع قلم؟", "ما مفرد كتب؟", "ما ضد الليل؟", "ما مرادف الأسد؟"]
OPTIONS = [["الظلام", "الضوء", "الليل"], ["البرد", "الصيف", "الشمس"], ["أقلام", "قلوم", "قلمان"],
           ["كتاب", "كاتب", "مكتبة"], ["النهار", "الفجر", "العصر"], ["الليث", "النمر", "الفهد"]]  # fmt: skip
RIGHT = [0, 1, 2, 0, 1, 2]


def shapes() -> dict[str, tuple[str, list[dict[str, Any]]]]:
    """Mapping that a person would write, and rows, by the set that made the shape usual."""
    rows = list(zip(STEMS, OPTIONS, RIGHT, strict=True))
    return {
        "alghafa": (
            "question=query,choices=sol1+sol2+sol3,gold=label",
            [{"query": q, "sol1": o[0], "sol2": o[1], "sol3": o[2], "label": str(k)} for q, o, k in rows],
        ),
        "hellaswag": (
            "question=ctx,choices=endings,gold=label",
            [{"ctx": q, "endings": o, "label": str(k)} for q, o, k in rows],
        ),
        "arc": (
            "question=question,choices=choices,gold=answerKey",
            [
                {"question": q, "choices": {"text": o, "label": ["A", "B", "C"]}, "answerKey": "ABC"[k]}
                for q, o, k in rows
            ],
        ),
        "lines": (
            "question=السؤال,choices=الخيارات,gold=الجواب الصحيح",
            [{"السؤال": q, "الخيارات": "\n".join(o), "الجواب الصحيح": o[k]} for q, o, k in rows],
        ),
    }


def saved(path: Path, rows: list[dict[str, Any]]) -> str:
    return str(write_rows(path, rows))


@pytest.mark.parametrize("shape", list(shapes()))
def test_choices_are_proposed_and_read(tmp_path: Path, shape: str) -> None:
    mapping, rows = shapes()[shape]
    source = saved(tmp_path / "a.jsonl", rows)
    assert propose_for(source).mapping == mapping
    items = [
        item for item in read_benchmark(source, parse_mapping(mapping)).items if isinstance(item, ChoiceItem)
    ]
    assert [list(item.options) for item in items] == OPTIONS
    assert [item.gold for item in items] == [(k,) for k in RIGHT]


def test_numbered_columns_that_no_gold_names_are_no_options(tmp_path: Path) -> None:
    rows = [
        {"question": q, "note1": o[0], "note2": o[1], "answer": f"نعم {n}"}
        for n, (q, o) in enumerate(zip(STEMS, OPTIONS, strict=True))
    ]
    assert propose_for(saved(tmp_path / "a.jsonl", rows)).mapping == "question=question,gold=answer"


SEVERAL: dict[str, Any] = {
    "list": ["الليث", "الغضنفر"],
    "dictionary": {"text": ["الليث", "الغضنفر"], "answer_start": [0, 9]},
    "json": '["الليث", "الغضنفر"]',
}


@pytest.mark.parametrize("way", list(SEVERAL))
def test_several_answers_of_one_cell_are_answers_and_come_back_as_they_were(tmp_path: Path, way: str) -> None:
    source = saved(tmp_path / "a.jsonl", [{"question": "ما مرادف الأسد؟", "answers": SEVERAL[way]}])
    mapping = parse_mapping("question=question,gold=answers")
    benchmark = read_benchmark(source, mapping)
    item = benchmark.items[0]
    assert isinstance(item, AnswerItem)
    assert (item.answer, item.accepted) == ("الليث", ("الغضنفر",))
    assert write_back(benchmark, item, item.model_copy(update={"answer": "الهزبر"}), mapping) == ["answers"]
    cell = benchmark.tables[0].rows[0]["answers"]
    changed = json.loads(cell) if way == "json" else cell
    assert type(cell) is type(SEVERAL[way])
    assert (changed["text"] if way == "dictionary" else changed) == ["الهزبر", "الغضنفر"]
    assert way != "dictionary" or changed["answer_start"] == [0, 9]


def test_a_text_that_begins_like_a_list_is_one_answer(tmp_path: Path) -> None:
    source = saved(
        tmp_path / "a.jsonl",
        [{"question": "كم؟", "answer": "[1] الليث"}, {"question": "أين؟", "answer": "[3]"}],
    )
    items = read_benchmark(source, parse_mapping("question=question,gold=answer")).items
    assert [item.answer for item in items if isinstance(item, AnswerItem)] == ["[1] الليث", "[3]"]
