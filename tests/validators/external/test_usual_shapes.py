"""Shapes in which benchmarks are usually shared are proposed, read and written back without a word from anybody."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from mihakk.machinery.errors import UsageError
from mihakk.schemas.item import AnswerItem, ChoiceItem
from mihakk.validators.checks import gather, prepare
from mihakk.validators.external import parse_mapping, read_benchmark, write_clean
from mihakk.validators.external.cells import options_in, parsed, shown
from mihakk.validators.external.golds import Given, Golds, in_sequence
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
        "arc raw": (
            "question=question.stem,choices=question.choices,gold=answerKey",
            [
                {
                    "question": {
                        "stem": q,
                        "choices": [{"text": t, "label": m} for t, m in zip(o, "123", strict=True)],
                    },
                    "answerKey": "123"[k],
                }
                for q, o, k in rows
            ],
        ),
        "medqa": (
            "question=question,choices=options,gold=answer_idx",
            [
                {
                    "question": q,
                    "options": dict(zip("ABC", o, strict=True)),
                    "answer_idx": "ABC"[k],
                    "answer": o[k],
                }
                for q, o, k in rows
            ],
        ),
        "one column an option, and one that says if it is right": (
            "question=question,choices=ans0+ans1+ans2,gold=correct0+correct1+correct2",
            [
                {"question": q}
                | {f"ans{n}": text for n, text in enumerate(o)}
                | {f"correct{n}": int(n == k) for n in range(3)}
                for q, o, k in rows
            ],
        ),
        "truthfulqa": (
            "question=question,choices=mc1_targets.choices,gold=mc1_targets.labels",
            [
                {"question": q, "mc1_targets": {"choices": o, "labels": [int(n == k) for n in range(3)]}}
                for q, o, k in rows
            ],
        ),
        "a mark between": (
            "question=question,choices=options~;,gold=answer",
            [{"question": q, "options": "; ".join(o), "answer": o[k]} for q, o, k in rows],
        ),
        "in the prompt": (
            "question=prompt,choices=prompt,gold=target",
            [
                {
                    "prompt": f"{q}\n"
                    + "\n".join(f"({m}) {t}" for m, t in zip("ABC", o, strict=True))
                    + "\nAnswer:",
                    "target": f"({'ABC'[k]})",
                }
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


def test_wrong_options_and_the_right_one_are_the_options(tmp_path: Path) -> None:
    rows = [
        {"question": q, "incorrect_answers": [t for t in o if t != o[k]], "correct_answer": o[k]}
        for q, o, k in zip(STEMS, OPTIONS, RIGHT, strict=True)
    ]
    source = saved(tmp_path / "a.jsonl", rows)
    mapping = propose_for(source).mapping
    assert mapping == "question=question,choices=incorrect_answers+correct_answer,gold=correct_answer"
    items = read_benchmark(source, parse_mapping(mapping)).items
    found = [(set(one.options), one.options[one.gold[0]]) for one in items if isinstance(one, ChoiceItem)]
    assert found == [(set(o), o[k]) for o, k in zip(OPTIONS, RIGHT, strict=True)]


@pytest.mark.parametrize("options", [[3, 4.5, "خمسة"], {"A": 3, "B": 4.5, "C": "خمسة"}])
def test_numbers_among_options_stay_numbers_when_one_is_corrected(tmp_path: Path, options: Any) -> None:
    row = {"q": "كم ضلعا للمثلث المعروف؟", "options": options, "gold": 0}
    mapping = parse_mapping("question=q,choices=options,gold=gold,gold_as=index0")
    benchmark = read_benchmark(saved(tmp_path / "a.jsonl", [row]), mapping)
    (item,) = benchmark.items
    assert isinstance(item, ChoiceItem)
    write_back(benchmark, item, item.model_copy(update={"options": ("3", "6", "خمسة")}), mapping)
    changed = {"A": 3, "B": 6.0, "C": "خمسة"} if isinstance(options, dict) else [3, 6.0, "خمسة"]
    assert json.dumps(benchmark.tables[0].rows[0]["options"]) == json.dumps(changed)


@pytest.mark.parametrize("shape", ["arc", "arc raw", "medqa"])
def test_a_corrected_option_goes_back_into_the_cell_inside_its_cell(tmp_path: Path, shape: str) -> None:
    written, rows = shapes()[shape]
    benchmark = read_benchmark(saved(tmp_path / "a.jsonl", rows), parse_mapping(written))
    item = benchmark.items[0]
    assert isinstance(item, ChoiceItem)
    after = item.model_copy(update={"options": ("العتمة", *item.options[1:]), "gold": (2,)})
    write_back(benchmark, item, after, parse_mapping(written))
    changed = json.loads(json.dumps(rows[0], ensure_ascii=False).replace("الظلام", "العتمة"))
    gold = {"arc": "answerKey", "arc raw": "answerKey", "medqa": "answer_idx"}[shape]
    changed[gold] = {"arc raw": "3"}.get(shape, "C")
    found = benchmark.tables[0].rows[0]
    assert {**found, "answer": ""} == {**changed, "answer": ""}
    assert benchmark.tables[0].original(0) == rows[0]


WRAPPED: dict[str, Any] = {
    "under a key": lambda rows: {"name": "task", "metrics": ["exact"], "examples": rows},
    "by their names": lambda rows: {f"row {n}": row for n, row in enumerate(rows)},
}


@pytest.mark.parametrize("way", list(WRAPPED))
def test_rows_inside_a_json_object_come_back_inside_it(tmp_path: Path, way: str) -> None:
    mapping, rows = shapes()["hellaswag"]
    path, clean = tmp_path / "a.json", tmp_path / "clean.json"
    path.write_text(json.dumps(WRAPPED[way](rows)), encoding="utf-8")
    benchmark = read_benchmark(str(path), parse_mapping(mapping))
    write_clean(benchmark, [item.id for item in benchmark.items[1:]], clean)
    kept = WRAPPED[way](rows)
    if way == "under a key":
        kept["examples"] = rows[1:]
    else:
        del kept["row 0"]
    assert json.loads(clean.read_text("utf-8")) == kept


def test_a_json_file_of_lines_is_read_as_lines(tmp_path: Path) -> None:
    mapping, rows = shapes()["hellaswag"]
    path = tmp_path / "a.json"
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    assert propose_for(str(path)).mapping == mapping


NO_KEY: dict[str, dict[str, Any]] = {
    "an answer by a model": {"model_answer": "ABC"},
    "a flag": {"has_image": [0, 1, 0]},
    "the same for all": {"answer": "AAA"},
    "numbers that fit": {"level": [1, 2, 3]},
}


@pytest.mark.parametrize("what", list(NO_KEY))
def test_what_is_no_key_is_never_taken_for_one(tmp_path: Path, what: str) -> None:
    ((name, cells),) = NO_KEY[what].items()
    rows = [
        {"question": f"{q} {n}", "choices": [*o, "غيرها"], name: cells[n % 3]}
        for n in range(20)
        for q, o in zip(STEMS, OPTIONS, strict=True)
    ]
    with pytest.raises(UsageError):
        propose_for(saved(tmp_path / "a.jsonl", rows)).settled()


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


@pytest.mark.parametrize(
    ("text", "options", "place"),
    [
        ("3.14", ["14", "15"], None),
        ("2-4", ["4", "6"], None),
        ("2 - 4", ["4", "6"], None),
        ("5:30", ["30", "20"], None),
        ("x-y", ["y", "z"], None),
        ("1-0-" * 2000 + "1", ["1", "0"], None),
        ("A) 4", ["4", "5"], 0),
        ("B. 5", ["4", "5"], 1),
        ("(2)5", ["4", "5"], 1),
        ("A.Paris", ["Paris", "Rome"], 0),
        ("أ-نعم", ["نعم", "لا"], 0),
        ("2- لا", ["نعم", "لا"], 1),
    ],
)
def test_a_gold_names_an_option_behind_a_label_and_not_behind_part_of_a_number(
    text: str, options: list[str], place: int | None
) -> None:
    assert Golds("text").read(text, options, "ar") == (None if place is None else (place,))


@pytest.mark.parametrize(
    "held",
    ["{[1]: 2}", "[{(1, 2): 3}, 'x']", "[[{'b', 'a'}], 1]", "[b'abc', 1]", "[{'b', 'a'}, 1]"],
)
def test_cells_of_python_that_json_cannot_write_are_texts(held: str) -> None:
    whole = parsed(held)
    assert shown(whole)
    assert all(map(shown, options_in(held).texts if options_in(held) else [held]))


def test_sets_in_a_cell_read_the_same_in_every_run() -> None:
    assert shown({"b", "a", "c"}) == "{'a', 'b', 'c'}"
    assert shown([{"b", "a"}]) == """["{'a', 'b'}"]"""


def test_a_list_that_only_begins_with_an_object_is_no_list_of_objects(tmp_path: Path) -> None:
    rows = [
        {"question": q, "extra": [{"a": 1}, "x", None], "answer": o[k]}
        for q, o, k in zip(STEMS, OPTIONS, RIGHT, strict=True)
    ]
    found = propose_for(str(write_rows(tmp_path / "a.jsonl", rows)))
    assert found.mapping == "question=question,gold=answer"


def test_a_text_of_many_list_marks_is_taken_apart_at_once() -> None:
    found = options_in(
        "1. " * 30_000 + "2. two 3. three"
    )  # minutes, if each mark is compared with all others
    assert found is not None
    assert (found.texts, found.labels) == (("", "two", "three"), ("1", "2", "3"))


@pytest.mark.parametrize(
    ("golds", "like", "written"),
    [
        (Golds("letter"), ["A"], ["B"]),
        (Golds("index0"), [], [1]),
        (Golds("index1"), ["1", "3"], ["2"]),
        (Golds("text"), ["one"], ["two"]),
        (Golds("label"), None, "20"),
        (Golds("label"), ["10"], ["20"]),
        (Golds("label"), 10, 20),
    ],
)
def test_a_corrected_gold_is_written_as_its_cell_was_or_into_an_empty_one(
    golds: Golds, like: Any, written: Any
) -> None:
    assert golds.write(1, ["one", "two"], like, ("10", "20")) == written


@pytest.mark.parametrize("keys", ["BCDE", "2345"])
def test_a_gold_beyond_columns_named_like_the_golds_keeps_its_place(tmp_path: Path, keys: str) -> None:
    names = "ABCD" if keys == "BCDE" else "1234"
    rows = [
        {"q": f"ما ضد {n}؟", **dict(zip(names, "ابجد", strict=True)), "gold": keys[n % 4]} for n in range(60)
    ]
    path = write_rows(tmp_path / "a.jsonl", rows)
    items = read_benchmark(str(path), parse_mapping(f"question=q,choices={'+'.join(names)},gold=gold")).items
    assert [one.gold for one in items if isinstance(one, ChoiceItem)] == [(n % 4 + 1,) for n in range(60)]
    assert prepare([gather(items)]).off_by_one == {"a.jsonl": 60}


def test_a_gold_is_looked_up_among_the_labels_of_its_own_row() -> None:
    golds = Golds("label")
    assert golds.read("x", ["one", "two"], "en", ["x", "y"]) == (0,)
    assert golds.read("x", ["one", "two"], "en", ["y", "x"]) == (1,)
    assert golds.read("x", ["one", "two"], "en", ["y", "z"]) is None


@pytest.mark.parametrize(
    ("gold", "places"),
    [
        ("ACD", (0, 2, 3)),
        (["BD"], (1, 3)),
        ("ab", (0, 1)),
        ("正确答案：C。", (2,)),
        ("Answer: d", (3,)),
        ("CA", None),
        ("AA", None),
        ("Ab", None),
        ("BED", None),
    ],
)
def test_letters_may_be_written_as_one_word_and_behind_what_says_so(
    gold: Any, places: tuple[int, ...] | None
) -> None:
    options = ("one", "two", "three", "four")
    assert Golds("letter").read(gold, options, "en") == places


@pytest.mark.parametrize(
    ("golds", "in_turn"),
    [
        ([["A", "C"], ["B", "D"], "A"], False),
        ([["A", "C"], ["D", "B"], ["C", "C"]], True),
        ([["C", "A"], *([["A", "B"]] * 9)], False),
        ([["B", "B", "D"], ["A", "C", "B"]], True),
    ],
)
def test_answers_in_turn_are_no_set_of_right_options(golds: list[Any], in_turn: bool) -> None:
    rows = [Given(gold, ("one", "two", "three", "four"), "en") for gold in golds]
    assert in_sequence(Golds("letter"), rows) is in_turn


def test_a_list_behind_another_holds_the_options() -> None:
    """What stands in the last option, or in one before it, is part of that option."""
    listed = "Order these:\n1) tin\n2) lead\n3) zinc\n4) gold\n5) iron\n\nChoices:\n(A) 1<2\n(B) 2<1\n(C) 3<1"
    found = options_in(listed)
    assert found is not None
    assert found.texts == ("1<2", "2<1", "3<1")
    inner = options_in("Which?\nA) 1) tin 2) lead 3) zinc\nB) gold\nC) iron: 1) old 2) new")
    assert inner is not None
    assert inner.labels == ("A", "B", "C")
