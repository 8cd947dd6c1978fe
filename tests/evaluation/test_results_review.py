"""What others' systems answered to an audited set brings its wrong golds to its review."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mihakk.pipeline.opened_review import open_review
from tests.evaluation.test_results_in import LETTERS, call, table
from tests.foreign_sets import audit_set, write_rows

CAPITALS = {
    **{"مصر": "القاهرة", "سوريا": "دمشق", "العراق": "بغداد", "لبنان": "بيروت", "المغرب": "الرباط"},
    **{"السودان": "الخرطوم", "قطر": "الدوحة", "ليبيا": "طرابلس", "اليمن": "صنعاء", "البحرين": "المنامة"},
}


@pytest.fixture
def audited(tmp_path: Path) -> tuple[Path, list[str]]:
    """The folder of an audit of ten rows, the first of which has a wrong gold, and the true golds."""
    names = list(CAPITALS.values())
    rows, true = [], []
    for place, (country, capital) in enumerate(CAPITALS.items()):
        options = [names[(place + 3 * step) % len(names)] for step in range(4)]
        options = options[place % 4 :] + options[: place % 4]
        true.append(LETTERS[options.index(capital)])
        gold = "C" if place == 0 else true[-1]
        texts = dict(zip(LETTERS, options, strict=True))
        rows.append({"id": f"q{place}", "question": f"ما هي عاصمة {country}؟", **texts, "answer": gold})
    source = write_rows(tmp_path / "set.jsonl", rows)
    audit_set(source, "question=question,choices=A+B+C+D,gold=answer,id=id", tmp_path / "out")
    return tmp_path / "out", true


def test_a_table_of_answers_brings_suspects_to_the_review_of_an_audited_set(
    audited: tuple[Path, list[str]], tmp_path: Path
) -> None:
    folder, true = audited
    # Each system slips once, on the rows behind the first.
    rows = [
        {"id": f"q{place}", **{f"s{n}": "ABCDA"[LETTERS.index(gold) + (place == n + 1)] for n in range(6)}}
        for place, gold in enumerate(true)
    ]
    file, out = table(tmp_path / "answers.csv", *rows), tmp_path / "results"
    call("import", file, "--benchmark", folder, "--out", out)
    told = call("suspects", out, "--review", folder)
    assert "1 suspects are new: `mihakk review push" in told.output
    opened = open_review(folder)
    wrong = next(item.id for item in opened.items if item.metadata["id"] == "q0")
    (line,) = opened.evidence({wrong}, "en")[wrong]
    assert "0 of 6 systems choose the gold; 6 choose «القاهرة»" in line
    assert all(not opened.evidence({item.id}, "en") for item in opened.items if item.id != wrong)
    assert "0 suspects are new" in call("suspects", out, "--review", folder).output
    first = json.loads(call("suspects", out, "--json").stdout)[0]
    assert first["items"] == [wrong]


def test_results_of_another_set_bring_nothing_to_a_review(
    audited: tuple[Path, list[str]], tmp_path: Path
) -> None:
    folder, true = audited
    rows = [{"id": f"q{place}", **{f"s{n}": gold for n in range(6)}} for place, gold in enumerate(true)]
    file = table(tmp_path / "answers.csv", *rows)
    call("import", file, "--benchmark", tmp_path / "set.jsonl", "--out", tmp_path / "results")
    done = call("suspects", tmp_path / "results", "--review", folder, code=2)
    assert "none of the 1 suspects is an item" in " ".join(done.output.split())
