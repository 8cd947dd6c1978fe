"""A cleaned copy loses nothing needless: one of equal rows stays, and damage that is certain is repaired."""

from __future__ import annotations

import json
import unicodedata
from collections import Counter
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from mihakk.schemas.benchmark import ChecksConfig
from mihakk.validators.checks import check_items, index
from mihakk.validators.external import ExternalBenchmark, parse_mapping, read_benchmark, write_clean
from mihakk.validators.external.merging import merge_copies
from mihakk.validators.external.repair import repair_text
from tests.foreign_sets import write_rows

MAPPING = parse_mapping("question=q,choices=A+B,gold=gold,id=name,split=part")
BROKEN = "ما ﺿﺪ اﻟﻨﻮر ﻓﻲ األدب؟"
"""Presentation forms and a lam-alef the wrong way round."""
SHAPED = "ما ﺿﺪ اﻟﻨﻮر في الأدب؟"
SOUND = "ما ضد النور في الأدب؟"


def read(path: Path, rows: list[dict[str, Any]]) -> ExternalBenchmark:
    return read_benchmark(str(write_rows(path, rows)), MAPPING)


def merged_names(benchmark: ExternalBenchmark) -> dict[str, str]:
    whole = index(benchmark.items)
    names = {item.id: item.metadata["id"] for item in benchmark.items}
    merged, _ = merge_copies(benchmark.items, whole, check_items(benchmark.items, ChecksConfig(), whole))
    return {names[one]: names[other] for one, other in merged.items()}


def row(name: str, q: str, gold: str = "A", part: str = "test", a: str = "الظلام") -> dict[str, Any]:
    return {"name": name, "q": q, "A": a, "B": "الضوء", "gold": gold, "part": part}


def test_the_first_sound_row_of_equal_ones_stays(tmp_path: Path) -> None:
    rows = [row("r0", SHAPED), row("r1", SOUND), row("r2", SOUND), row("r3", "ما جمع قلم؟")]
    assert merged_names(read(tmp_path / "a.jsonl", rows)) == {"r0": "r1", "r2": "r1"}


def test_of_copies_across_splits_the_tested_one_stays(tmp_path: Path) -> None:
    rows = [row("r0", SOUND, part="train"), row("r1", SOUND, part="dev"), row("r2", SOUND, part="test")]
    assert merged_names(read(tmp_path / "a.jsonl", rows)) == {"r0": "r2", "r1": "r2"}


def test_rows_that_differ_by_a_sign_are_both_kept(tmp_path: Path) -> None:
    asked = [
        "ما قيمة J<<a؟",
        "ما قيمة J>>a؟",
        "ما قيمة J<<a ؟",
        "ما قيمة ج-2؟",
        "ما قيمة ج2؟",
        "ما قيمة ٢+٢؟",
        "ما قيمة 22؟",
    ]
    rows = [row(f"r{place}", q) for place, q in enumerate(asked)]
    assert merged_names(read(tmp_path / "a.jsonl", rows)) == {}


def test_a_copy_but_for_punctuation_is_flagged_and_kept(tmp_path: Path) -> None:
    benchmark = read(tmp_path / "a.jsonl", [row("r0", SOUND), row("r1", SOUND.replace("؟", " ؟"))])
    assert merged_names(benchmark) == {}
    found = check_items(benchmark.items, ChecksConfig(), index(benchmark.items))
    assert [(one.check, one.severity) for one in found if one.check != "MD05"] == [("DU01", "flag")] * 2
    assert all(SOUND[:10] in one.detail for one in found if one.check == "DU01"), "what was compared"


def test_rows_with_different_golds_are_not_merged_into_each_other(tmp_path: Path) -> None:
    rows = [row("r0", SOUND), row("r1", SOUND, "B"), row("r2", SOUND), row("r3", SOUND, "B")]
    assert merged_names(read(tmp_path / "a.jsonl", rows)) == {"r2": "r0", "r3": "r1"}


def test_a_group_of_hundreds_keeps_one(tmp_path: Path) -> None:
    rows = [row(f"r{n:03}", SOUND) for n in range(200)]
    merged = merged_names(read(tmp_path / "a.jsonl", rows))
    assert set(merged.values()) == {"r000"}
    assert len(merged) == 199


def test_acva_keeps_one_row_of_every_distinct_statement(shared_data: Path) -> None:
    path = shared_data / "acva" / "dev.jsonl"
    benchmark = read_benchmark(str(path), parse_mapping("question=question,gold=answer,id=id"))
    whole = index(benchmark.items)
    merged, findings = merge_copies(
        benchmark.items, whole, check_items(benchmark.items, ChecksConfig(), whole)
    )
    raw = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    distinct = {(one["question"].strip(), one["answer"].strip()) for one in raw}
    assert 0 <= len(distinct) - (len(raw) - len(merged)) <= 5, "but for punctuation and letter variants"
    hard = {one.subject for one in findings if one.severity != "report"} - set(merged)
    answers = Counter(question for question, _ in distinct)
    assert sum(count > 1 for count in answers.values()) == 24, "the data's own documentation"
    two_answers = {one["id"] for one in raw if answers[one["question"].strip()] > 1}
    waits = {item.metadata["id"] for item in benchmark.items if item.id in hard}
    assert len(waits & two_answers) >= 48
    others = {item.id for item in benchmark.items if item.metadata["id"] in waits - two_answers}
    why = Counter(one.check for one in findings if one.subject in others and one.severity != "report")
    assert why.keys() == {"DU01", "DU04", "DU05"}, "copies but for a sign, near copies, negated pairs"
    assert len(waits) <= 72


def test_certain_damage_is_repaired_as_unicode_says() -> None:
    assert repair_text(BROKEN) == (SOUND, ("presentation_form", "reversed_lam_alef"))
    forms = "ﺣﻘوق اﻹﻧﺳﺎن ﻓﻲ اﻟﻌﺎﻟم ﻻ ﺗزول"
    assert repair_text(forms)[0] == unicodedata.normalize("NFKC", forms)
    assert repair_text("\u202bما هذا؟\u202c")[0] == "ما هذا؟"


@pytest.mark.parametrize(
    "text",
    [
        SOUND,
        "ﻥﺎﺴﻧﻹﺍ ﻕﻮﻘﺣ",  # back to front: the first shape of each word joins what stands before it
        "\u202eكلام\u202c",
        "صلى الله عليه وسلم ﷺ",
        "x-2 < y",
        "وقال ﷲ تعالى",
    ],
)
def test_what_is_sound_or_uncertain_is_left_as_it_is(text: str) -> None:
    assert repair_text(text) == (text, ())


@pytest.mark.parametrize("ending", ["jsonl", "json", "csv", "tsv", "parquet", "xlsx"])
def test_repairs_are_listed_reach_the_copy_and_can_be_taken_back(tmp_path: Path, ending: str) -> None:
    rows = [row("r0", SOUND), row("r1", BROKEN, a="اإلثم"), row("r2", "ما جمع قلم؟")]
    path = tmp_path / f"bench.{ending}"
    frame = pd.DataFrame(rows)
    match ending:
        case "jsonl":
            path.write_text("\n".join(json.dumps(one) for one in rows), encoding="utf-8")
        case "json":
            path.write_text(json.dumps(rows), encoding="utf-8")
        case "parquet":
            pq.write_table(pa.Table.from_pylist(rows), path)
        case "xlsx":
            frame.to_excel(path, index=False)
        case _:
            frame.to_csv(path, index=False, sep="\t" if ending == "tsv" else ",")
    offered = read_benchmark(str(path), MAPPING)
    assert offered.items[1].question == BROKEN, "offered, not done"
    assert [one.applied for one in offered.repairs] == [False, False]
    benchmark = read_benchmark(str(path), MAPPING, repair=True)
    assert [(one.row, one.column, one.after) for one in benchmark.repairs] == [
        (1, "q", SOUND),
        (1, "A", "الإثم"),
    ]
    clean = write_clean(benchmark, [item.id for item in benchmark.items], tmp_path / f"clean.{ending}")
    after = read_benchmark(str(clean), MAPPING)
    assert (after.items[1].question, after.repairs) == (SOUND, [])
    kept = [dict(one) for one in after.tables[0].rows.values()]
    for one in benchmark.repairs:
        assert kept[one.row][one.column] == one.after
        kept[one.row][one.column] = one.before
    assert kept == [dict(one) for one in offered.tables[0].rows.values()]
    if ending == "parquet":
        assert pq.read_schema(clean) == pq.read_schema(path)


def test_options_in_a_list_are_repaired_inside_it(tmp_path: Path) -> None:
    path = tmp_path / "bench.parquet"
    table = pa.Table.from_pylist([{"q": SOUND, "options": ["اإلثم", "البر"], "gold": 0}, {"q": SOUND, "options": ["أ", "ب"], "gold": 1}])  # fmt: skip
    pq.write_table(table, path)
    mapping = parse_mapping("question=q,choices=options,gold=gold,gold_as=index0")
    benchmark = read_benchmark(str(path), mapping, repair=True)
    clean = write_clean(benchmark, [item.id for item in benchmark.items], tmp_path / "clean.parquet")
    assert pq.read_table(clean)["options"].to_pylist() == [["الإثم", "البر"], ["أ", "ب"]]
    assert pq.read_schema(clean) == table.schema
