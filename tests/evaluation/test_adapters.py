"""Published benchmarks through their adapters, read from the authors' real files."""

from __future__ import annotations

import csv
import json
import re
import shutil
from collections import Counter
from pathlib import Path

import openpyxl
import pytest

from mihakk.evaluation.adapters.adapter import ADAPTERS, Published
from mihakk.evaluation.judges.prompt import material
from mihakk.evaluation.judges.rubrics import rubric_named
from mihakk.evaluation.running.asking import Asked, asked_of_suite
from mihakk.evaluation.running.suites import load_suite
from mihakk.evaluation.shape import unread
from mihakk.machinery.errors import SourceChanged, UsageError
from mihakk.schemas.suite import Part, Suite


def read(name: str, folder: Path) -> list[Published]:
    return list(ADAPTERS.get(name).read(folder, "d" * 64))


def test_ghazalbench_is_asked_in_the_authors_prompts_under_every_condition(shared_data: Path) -> None:
    found = read("ghazalbench", shared_data / "ghazalbench")
    counts = Counter(one.question.config for one in found)
    assert set(counts.values()) == {438, 350}
    assert (len(counts), counts["fa_continuation"], counts["en_shuffled"]) == (12, 438, 350)
    by_item = {one.question.item: one for one in found}
    assert len(by_item) == len(found)
    sheet = openpyxl.load_workbook(
        shared_data / "ghazalbench" / "multipleChoiceQsHafez.xlsx", read_only=True
    ).active
    head, *rows = [row for row in sheet.iter_rows(values_only=True) if any(row)]
    for cells in rows[::37]:
        row = dict(zip(head, cells, strict=False))
        place = f"{int(row['Ghazal Number'])}-{int(row['Couplet Number'])}"
        one = by_item[f"ghazalbench-fa_prose_cued_choice-{place}"]
        assert one.prompt == row["Question (+ Prose)"]
        right = re.search(r"'(\S+)': 'Correct'", row["Answer Key"])
        assert right is not None
        assert one.question.labels[one.question.gold[0]] == right[1]
        assert one.question.option_kinds.count("right") == 1
    assert {one.question.group for one in found if one.question.language == "fa"} == {
        f"ghazalbench-fa-{number}" for number in {int(row[0]) for row in rows}
    }
    same = [
        one.question
        for one in found
        if one.question.slices["record"] == "2:1" and one.question.language == "fa"
    ]
    lines = [
        {one.question.slices["record"] for one in found if one.question.language == own}
        for own in ("fa", "en")
    ]
    assert [len(own) for own in lines] == [438, 350]
    assert lines[0].isdisjoint(lines[1])  # else lines of two poets would be compared as one
    assert Counter(one.slices["condition"] for one in same) == {
        "name": 2, "prose": 2, "paraphrase": 2, "shuffle": 2, "salient": 1,
    }  # fmt: skip


def test_couplets_are_put_into_prose_and_judged_beside_their_whole_ghazal(shared_data: Path) -> None:
    found = read("ghazalbench_prose", shared_data / "ghazalbench")
    assert len({one.question.item for one in found}) == 438
    file = shared_data / "ghazalbench" / "prose_deepseek_v3_2.jsonl"
    references = [json.loads(line)["reference"] for line in file.read_text("utf-8").split("\n") if line]
    assert [one.question.answer for one in found] == references, "as the published prose was scored against"
    first = found[0]
    assert first.question.verses[0] in first.prompt
    assert first.question.verses[1] not in first.prompt
    asked = Asked(first.question, first.prompt, "ghazalbench_prose", "1", 0, 1)
    shown = material(rubric_named("prose"), asked, "نثر")
    assert list(shown) == ["text", "question", "reference", "reply"]
    assert shown["text"] == list(first.question.verses)


def test_a_prompt_about_another_line_is_refused_and_saadis_choices_are_a_set_of_their_own(
    shared_data: Path, tmp_path: Path
) -> None:
    """As published, every prompt of Saadi's completions asks about a line of Hafez: that workbook is not read."""
    source = shared_data / "ghazalbench"
    shutil.copy(source / "multipleChoiceQsHafez.xlsx", tmp_path / "multipleChoiceQsSaadi.xlsx")
    (tmp_path / "completionQsSaadi.xlsx").write_bytes(b"")
    found = read("ghazalbench", tmp_path)
    assert {one.question.config for one in found} == {
        *("fa_saadi_continuation_choice", "fa_saadi_prose_cued_choice", "fa_saadi_paraphrase_cued_choice"),
        "fa_saadi_shuffled_choice",
    }
    assert found[0].question.item == "ghazalbench-fa_saadi_continuation_choice-2-1"
    assert found[0].question.slices["record"] == "saadi:2:1"
    part = Part(adapter="ghazalbench", data=str(tmp_path))
    assert unread(part) == ["GhazalBench: not read: completionQsSaadi.xlsx"]
    book = openpyxl.Workbook()
    head = ("Ghazal Number", "Couplet Number", "Couplet Text", *(f"Question ({name})" for name in (
        "Name", "Name + Prose", "Name + Para", "Name + Salient", "Name + Shuffle")))  # fmt: skip
    for row in (head, (1, 1, "مصرع نخست / مصرع دوم", *["<first_verse>مصرعی دیگر</first_verse>"] * 5)):
        book.active.append(row)
    book.save(tmp_path / "completionQsHafez.xlsx")
    with pytest.raises(
        SourceChanged, match=r"completionQsHafez.xlsx, row 2: .*does not hold the couplet's first"
    ):
        read("ghazalbench", tmp_path)


def test_arabicmmlu_keeps_keys_context_and_options(shared_data: Path) -> None:
    found = read("arabicmmlu", shared_data / "arabicmmlu")
    assert len(found) == 825
    with (shared_data / "arabicmmlu" / "dev.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    sizes = [sum(bool(row[f"Option {place}"].strip()) for place in range(1, 6)) for row in rows]
    assert [len(one.question.options) for one in found] == sizes
    for one, row in zip(found, rows, strict=True):
        (gold,) = one.question.gold
        assert one.question.options[gold] == row[f"Option {'ABCDE'.index(row['Answer Key']) + 1}"].strip()
    for one in found:
        assert all(option in one.prompt for option in one.question.options)


def test_fannorflop_has_an_explanation_a_verse(shared_data: Path) -> None:
    found = read("fannorflop", shared_data / "fannorflop")
    poems = json.loads(
        (shared_data / "fannorflop" / "sample_generated_explanation.json").read_text(encoding="utf-8")
    )
    assert [len(one.question.verses) for one in found] == [len(poem["verse_explanations"]) for poem in poems]
    assert all(one.question.explanations for one in found)
    for one, poem in zip(found, poems, strict=True):
        own = {"poet": poem["author"], "era": poem["era"], "genre": poem["genre"], "metre": poem["meter"]}
        assert one.question.slices == own


@pytest.mark.parametrize("name", ["ghazalbench", "arabicmmlu", "fannorflop"])
def test_the_published_suites_are_pinned_to_these_files(
    shared_data: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv("MIHAKK_SHARED_DATA", str(shared_data))
    asked = asked_of_suite(load_suite(name), lambda _: (Path(), ""), limit=2)
    assert asked
    suite = load_suite(name)
    missing = suite.parts[0].model_copy(update={"data": "$MIHAKK_NOT_SET/x"})
    with pytest.raises(UsageError, match="set the variable it names"):
        asked_of_suite(suite.model_copy(update={"parts": (missing,)}), lambda _: (Path(), ""))


def test_a_benchmark_whose_files_changed_is_refused_and_a_broken_one_named(
    shared_data: Path, tmp_path: Path
) -> None:
    folder = Path(shutil.copytree(shared_data / "arabicmmlu", tmp_path / "a"))
    table = folder / "dev.csv"
    lines = table.read_text(encoding="utf-8").split("\n")
    lines[1] = lines[1].replace(",C,", ",F,")
    table.write_text("\n".join(lines), encoding="utf-8")
    part = {"adapter": "arabicmmlu", "data": str(folder)}
    pin = load_suite("arabicmmlu").parts[0].digest
    suite = Suite.model_validate({"name": "s", "title": "S", "parts": [part | {"digest": pin}]})
    with pytest.raises(UsageError, match="is not what the suite was made for"):
        asked_of_suite(suite, lambda _: (Path(), ""))
    with pytest.raises(SourceChanged, match=r"dev\.csv, row 2: not a row of ArabicMMLU"):
        read("arabicmmlu", folder)
