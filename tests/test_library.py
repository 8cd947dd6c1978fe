"""`import mihakk`: what it offers, what it costs, and what it does with frames of other libraries."""

from __future__ import annotations

import inspect
import pickle
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import datasets
import duckdb
import pandas as pd
import pyarrow as pa
import pytest

import mihakk

ROWS = [
    {"q": "ما عاصمة مصر؟", "options": ["القاهرة", "دمشق", "بغداد"], "key": "القاهرة"},
    {"q": "ما عاصمة سوريا؟", "options": ["القاهرة", "دمشق", "دمشق"], "key": "دمشق"},
    {"q": "ما عاصمة العراق؟", "options": ["القاهرة", "دمشق", "بغداد"], "key": "بغداد"},
]
COLUMNS = {"question": "q", "choices": "options", "gold": "key"}
FRAMES: dict[str, Callable[[], Any]] = {
    "rows": lambda: ROWS,
    "rows that can be read once": lambda: iter(ROWS),
    "pandas with one label on every row": lambda: pd.DataFrame(ROWS, index=[7, 7, 7]),
    "Arrow": lambda: pa.Table.from_pylist(ROWS),
    "datasets": lambda: datasets.Dataset.from_list(ROWS),
    "Arrow with categories": lambda: pa.table(
        {
            "q": pa.array([row["q"] for row in ROWS]).dictionary_encode(),
            "options": [row["options"] for row in ROWS],
            "key": pa.array([row["key"] for row in ROWS]).cast(pa.string_view()),
        }
    ),
    "any that exports Arrow": lambda: duckdb.from_arrow(pa.Table.from_pylist(ROWS)),
}


@pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES)
def test_frames_of_all_libraries_give_the_same_audit(frame: Callable[[], Any]) -> None:
    found = mihakk.audit(frame(), **COLUMNS)
    blocked = found.findings[found.findings.severity == "block"]
    assert list(blocked.check) == ["CH03"]
    assert list(blocked.row) == [1]
    assert list(found.clean().q) == [ROWS[0]["q"], ROWS[2]["q"]]
    assert list(found.clean().columns) == ["q", "options", "key"]
    assert list(found.errata.change) == ["blocked"]
    assert '"ruleId": "CH03"' in found.to_sarif()
    assert found.report().lstrip().startswith("<!doctype html>")
    assert "<td" in found._repr_html_()
    assert "1 block" in repr(found)


def test_the_rows_that_are_kept_keep_the_labels_of_a_pandas_frame() -> None:
    frame = pd.DataFrame(ROWS, index=["x", "y", "z"])
    assert list(mihakk.audit(frame, **COLUMNS).clean().index) == ["x", "z"]


def test_an_audit_writes_nothing_beside_what_it_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    found = mihakk.audit(ROWS, **COLUMNS)
    assert list(tmp_path.iterdir()) == []
    assert capfd.readouterr() == ("", "")
    again = pickle.loads(pickle.dumps(found))
    assert again.findings.equals(found.findings)
    assert again.report() == found.report()


@pytest.mark.parametrize(
    ("data", "columns", "told"),
    [
        (ROWS, {"question": "Q", "gold": "key"}, "no column 'Q'; did you mean q"),
        (ROWS, {"question": "q"}, "name the column of the gold too"),
        (7, COLUMNS, "int is no table"),
        ({"q": ["?"]}, COLUMNS, r"dict is no table: give one of its parts \(q\)"),
        (pd.DataFrame({"q": ["a", 1, ["b"]], "key": ["x", "y", "z"]}), COLUMNS, "values of one kind"),
        (pd.DataFrame([["a", "b"]], columns=["q", "q"]), COLUMNS, "values of one kind"),
        (ROWS, COLUMNS | {"language": "Xx"}, "language is 'Xx': it must be a BCP 47 code, as ar, fa, en"),
        ([row | {"key": 1} for row in ROWS], COLUMNS, "add gold_as=index0 or gold_as=index1"),
        (
            [
                {"question": row["q"], "choices": row["options"], "answer": n % 2 + 1}
                for n, row in enumerate(ROWS)
            ],
            {},
            "counted from 0; or the golds of 'answer' counted from 1",
        ),
    ],
)
def test_what_is_no_benchmark_is_refused_in_a_sentence(data: Any, columns: dict[str, str], told: str) -> None:
    with pytest.raises(mihakk.errors.UsageError, match=told):
        mihakk.audit(data, **columns)


def test_columns_are_proposed_where_none_is_named() -> None:
    table = [{"question": row["q"], "choices": row["options"], "answer": row["key"]} for row in ROWS]
    assert mihakk.propose(table).mapping == "question=question,choices=choices,gold=answer"
    assert len(mihakk.audit(table).verdicts) == 3


def test_rows_may_lack_what_others_have_and_columns_say_how_golds_count() -> None:
    golds = (1, 2, 3)
    rows = [row | {"key": gold} for row, gold in zip(ROWS, golds, strict=True)]
    rows[2]["note"] = "kept"
    found = mihakk.audit(rows, **COLUMNS, gold_as="index1", licence="CC-BY-4.0", off=["CH03"])
    assert list(found.clean().note) == [None, None, "kept"] or found.clean().note.iloc[-1] == "kept"
    assert not {"CH03", "MD05"} & set(found.findings.check)


def test_one_reply_is_read_as_evaluation_reads_it() -> None:
    found = mihakk.read_choice("الجواب هو ب", ["أ", "ب"], ["القاهرة", "دمشق"])
    assert (found.picks, found.rule) == ((1,), "answer_line/2")
    with pytest.raises(mihakk.errors.UsageError, match="2 labels for 1 options"):
        mihakk.read_choice("ب", ["أ", "ب"], ["القاهرة"])


def test_texts_and_verse() -> None:
    assert mihakk.normalize("كتــاب", "ar") == "كتاب"
    assert mihakk.key("كِتاب", "ar") == mihakk.key("كتاب", "ar")
    first, second = "قِفا نَبكِ مِن ذِكرى حَبيبٍ وَمَنزِلِ", "بِسِقطِ اللِوى بَينَ الدَخولِ فَحَومَلِ"
    assert mihakk.metre((first, second)).metre_id == "tawil"


FACE = {
    "audit": "(data, *, question=(), choices=(), gold='', context=(), id='', subset='', gold_as='', "
    "language='ar', licence='unknown', off=(), auditors='')",
    "build": "(config, *, lake=None, runs=None)",
    "compare": "(results, benchmark=None, *, mapping='', join='auto', cells='', systems=(), id='', "
    "language='ar', seed=0)",
    "key": "(text, language)",
    "load": "(name, version, config=None, split=None, *, commit=None, endpoint=None, as_frames=False)",
    "metre": "(*couplets)",
    "normalize": "(raw, language)",
    "propose": "(data)",
    "read_choice": "(reply, labels, options, *, multiple=False)",
    "suspects": "(results, benchmark=None, *, mapping='', join='auto', cells='', systems=(), id='', "
    "language='ar')",
}
"""What a program that uses the library may rely on; a change here is a new major version."""


def test_the_face_is_what_programs_rely_on() -> None:
    bare = {}
    for name in FACE:
        signature = inspect.signature(getattr(mihakk, name))
        plain = [one.replace(annotation=inspect.Parameter.empty) for one in signature.parameters.values()]
        bare[name] = str(inspect.Signature(plain))
    assert bare == FACE
    assert set(mihakk.__all__) == {*FACE, "Audit", "errors", "rhyme"}
    assert dir(mihakk) == sorted(mihakk.__all__)
    with pytest.raises(AttributeError, match="no attribute 'audits'"):
        _ = mihakk.audits


def test_to_import_it_costs_nothing() -> None:
    code = "import time; a = time.process_time(); import mihakk; print(time.process_time() - a)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert float(done.stdout) < 0.15


@pytest.mark.parametrize("read", [mihakk.normalize, mihakk.key, mihakk.rhyme], ids=lambda one: one.__name__)
def test_a_language_that_texts_are_not_read_in_is_named(read: Callable[[str, Any], str]) -> None:
    with pytest.raises(mihakk.errors.UsageError, match="language is 'Turkish': it must be a BCP 47 code"):
        read("bir metin", "Turkish")
