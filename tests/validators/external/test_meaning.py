"""Rules that see meaning without a model, on rows of published benchmarks and on faults planted into them."""

from __future__ import annotations

import json
import random
import re
from collections import defaultdict
from pathlib import Path

import pytest

from mihakk.schemas.benchmark import ChecksConfig
from mihakk.schemas.finding import Finding
from mihakk.validators.checks import check_items, index
from mihakk.validators.external import ExternalBenchmark, parse_mapping, read_benchmark
from mihakk.validators.external.merging import leave_templates

SHEETS = {
    "completionQsEnglish.xlsx": ("question=Question (Name),gold=Second Line", "en"),
    "completionQsHafez.xlsx": (r"question=Question (Name \+ Prose),gold=Couplet Text", "fa"),
    "multipleChoiceQsHafez.xlsx": ("question=Question (Baseline),gold=Answer Key", "fa"),
}


def found(benchmark: ExternalBenchmark) -> dict[str, list[Finding]]:
    by_check = defaultdict(list)
    for one in leave_templates(
        benchmark.items, check_items(benchmark.items, ChecksConfig(), index(benchmark.items))
    ):
        by_check[one.check].append(one)
    return by_check


@pytest.fixture(scope="module")
def arabicmmlu(shared_data: Path) -> tuple[ExternalBenchmark, dict[str, list[Finding]]]:
    mapping = "question=Question,context=Context,choices=Option 1+Option 2+Option 3+Option 4+Option 5,gold=Answer Key,id=ID"
    benchmark = read_benchmark(str(shared_data / "arabicmmlu" / "dev.csv"), parse_mapping(mapping))
    return benchmark, found(benchmark)


def ids(benchmark: ExternalBenchmark, findings: list[Finding]) -> set[str]:
    own = {item.id: item.metadata["id"] for item in benchmark.items}
    return {own[one.subject] for one in findings}


def test_maps_in_front_of_nobody_are_found_and_no_vertebra_is_a_paragraph(
    arabicmmlu: tuple[ExternalBenchmark, dict[str, list[Finding]]],
) -> None:
    assert ids(arabicmmlu[0], arabicmmlu[1]["QU01"]) == {"8624", "8635"}


def test_options_that_hang_on_their_order_are_found(
    arabicmmlu: tuple[ExternalBenchmark, dict[str, list[Finding]]],
) -> None:
    benchmark, by_check = arabicmmlu
    expected = set()
    for item in benchmark.items:
        options = getattr(item, "options", ())
        by_name = r"ما ?سبق|السابقة (صحيحة|خاطئة)|^\s*[أا]\s*[و&+]\s*[بج]|^[أآ](ول|خر) إجابتين"
        by_place = r"^الأول[ىي] ?و ?ال(ثاني|ثالث)ة$"
        if any(re.search(f"{by_name}|{by_place}", option) for option in options):
            expected.add(item.metadata["id"])
    assert len(expected) >= 95
    hit = ids(benchmark, by_check["CH12"])
    assert len(expected & hit) >= 0.98 * len(expected)
    assert len(hit - expected) <= 1


def test_true_or_false_rows_lack_no_option_and_pairs_of_ordinals_are_no_length_tells(
    arabicmmlu: tuple[ExternalBenchmark, dict[str, list[Finding]]],
) -> None:
    benchmark, by_check = arabicmmlu
    assert by_check["CH11"] == []
    assert not ids(benchmark, by_check["CH05"]) & {"10318", "10524"}
    assert {"10318", "10524", "6888", "10326"} <= ids(benchmark, by_check["CH12"])


def test_one_statement_judged_as_two_and_one_question_with_two_answers_are_found(
    arabicmmlu: tuple[ExternalBenchmark, dict[str, list[Finding]]],
) -> None:
    benchmark, by_check = arabicmmlu
    assert ids(benchmark, by_check["CH13"]) == {"10288"}
    assert ids(benchmark, by_check["DU06"]) == {"10120", "10186"}


def test_questions_on_one_passage_are_no_near_copies(
    arabicmmlu: tuple[ExternalBenchmark, dict[str, list[Finding]]],
) -> None:
    benchmark, by_check = arabicmmlu
    hit = ids(benchmark, by_check["DU04"])
    assert hit == {"10129", "10159", "837", "922", "10276", "10440"}
    assert not hit & {item.metadata["id"] for item in benchmark.items if item.context}


def test_contradicting_statements_of_acva_are_found(shared_data: Path) -> None:
    benchmark = read_benchmark(
        str(shared_data / "acva" / "dev.jsonl"), parse_mapping("question=question,gold=answer,id=id")
    )
    hit = {one.subject for one in found(benchmark)["DU05"]}
    pairs = {item.question for item in benchmark.items if item.id in hit}
    assert len(pairs) == 4
    assert sum("غير مشجع" in text or "لا تُستخدم" in text for text in pairs) == 2


@pytest.mark.parametrize("name", sorted(SHEETS))
def test_a_template_s_tags_flag_no_row_and_a_row_s_own_tag_does(
    shared_data: Path, tmp_path: Path, name: str
) -> None:
    mapping, language = SHEETS[name]
    benchmark = read_benchmark(
        str(shared_data / "ghazalbench" / name),
        parse_mapping(mapping),
        language=language,  # type: ignore[arg-type]
    )
    (only,) = found(benchmark)["TX21"]
    assert (only.subject, only.severity) == ("*", "report")
    victim = benchmark.items[7]
    benchmark.items[7] = victim.model_copy(update={"question": f"{victim.question} </td>"})
    assert {one.subject for one in found(benchmark)["TX21"]} == {"*", victim.id}


@pytest.mark.parametrize("name", ["completionQsEnglish.xlsx", "completionQsHafez.xlsx"])
def test_displaced_prompts_of_unknown_sheets_are_found(shared_data: Path, name: str) -> None:
    mapping, language = SHEETS[name]
    benchmark = read_benchmark(
        str(shared_data / "ghazalbench" / name),
        parse_mapping(mapping),
        language=language,  # type: ignore[arg-type]
    )
    assert not found(benchmark)["RW01"], "the authors' own sheets are in order"
    drawn = random.Random(3).sample(range(len(benchmark.items)), 20)
    asked = {place: benchmark.items[place].question for place in drawn}
    for place, other in zip(drawn, drawn[1:] + drawn[:1], strict=True):
        benchmark.items[place] = benchmark.items[place].model_copy(update={"question": asked[other]})
    by_check = found(benchmark)
    hit = {one.subject for one in by_check["RW01"] + by_check["RW02"]}
    assert hit == {benchmark.items[place].id for place in drawn}


def test_golds_written_otherwise_than_the_table_writes_them_are_told(tmp_path: Path) -> None:
    golds = ["أ", "ب", "ج"] * 12
    golds[3], golds[7], golds[8] = "ا", " ب", "(ج)"
    rows = [
        {"q": f"ما اسم المدينة رقم {n} في الكتاب؟", "A": f"س {n}", "B": f"ص {n}", "C": f"ع {n}", "gold": gold}
        for n, gold in enumerate(golds)
    ]
    path = tmp_path / "bench.jsonl"
    path.write_text("\n".join(json.dumps(row, ensure_ascii=False) for row in rows), encoding="utf-8")
    items = read_benchmark(str(path), parse_mapping("question=q,choices=A+B+C,gold=gold")).items
    told = {n: item.metadata["gold_cell"] for n, item in enumerate(items) if "gold_cell" in item.metadata}
    assert told == {3: "ا", 7: " ب", 8: "(ج)"}
    assert [item.gold for item in items] == [(n % 3,) for n in range(36)], "they are read all the same"
    found = check_items(items, ChecksConfig(), index(items))
    assert {one.subject for one in found if one.check == "MD08"} == {items[n].id for n in (3, 7, 8)}


def test_published_golds_are_written_as_their_tables_write_them(shared_data: Path) -> None:
    mapping = parse_mapping("question=question,gold=answer,id=id,subset=id~-")
    items = read_benchmark(str(shared_data / "acva" / "dev.jsonl"), mapping).items
    assert not [item for item in items if "gold_cell" in item.metadata]
    found = [one for one in check_items(items, ChecksConfig(), index(items)) if one.check == "SE02"]
    said = {item.id: item.question for item in items}
    duties = [said[one.subject] for one in found]
    assert len(duties) == 4, "read by eye: each states a duty of all women or all men as a fact"
    assert all("يجب على" in text for text in duties), duties
