"""Decisions as CSV: nothing runs, nothing is lost, nobody is named."""

from __future__ import annotations

import csv

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mihakk.annotation.decisions.export import write_csv
from mihakk.annotation.decisions.store import decision_id
from mihakk.machinery.spreadsheet import guarded
from mihakk.schemas.review import Review
from tests.annotation.judged import choice, review

ATTACKS = ("=HYPERLINK(\"http://evil.invalid\")", "+1+1", "-2+3", "@SUM(A1)", "\t=1", "\r=1", "\n=1", " =1", "＝1")  # fmt: skip


@pytest.mark.parametrize("attack", ATTACKS)
def test_no_formula_survives(tmp_path, attack):
    fix = review(choice(), "annotator-01", "fix", corrections={"question": attack}, notes=attack)
    path = tmp_path / "out" / "decisions.csv"
    assert write_csv(path, [fix], Review) == 1
    with path.open(encoding="utf-8-sig", newline="") as file:
        head, cells = csv.reader(file)
    row = dict(zip(head, cells, strict=True))
    assert row["notes"] == f"'{attack}"
    assert not any(cell.lstrip().startswith(tuple("=+-@")) for cell in cells)


@given(st.text())
def test_a_guarded_cell_never_starts_with_what_a_spreadsheet_runs(text):
    cell = guarded(text)
    assert cell in (text, f"'{text}")
    assert not cell.lstrip(" \u00a0").startswith(tuple("=+-@\t\r\n＝＋－＠"))


def test_arabic_lists_and_separators_come_back_whole(tmp_path):
    kept = review(choice(1), "annotator-02", notes='يحتمل; معنيين, "أو" ثلاثة\nوسطر', failed=("answer_quality", "factual_accuracy"))  # fmt: skip
    path = tmp_path / "decisions.csv"
    write_csv(path, [kept], Review)
    assert path.read_bytes().startswith(b"\xef\xbb\xbf")
    with path.open(encoding="utf-8-sig", newline="") as file:
        (row,) = csv.DictReader(file)
    assert (row["notes"], row["annotator"]) == (kept.notes, "annotator-02")
    assert row["failed"] == "answer_quality factual_accuracy"
    assert (row["corrections"], row["confidence"]) == ("", "")
    assert list(row) == ["decision_id", *Review.model_fields]
    assert row["decision_id"] == decision_id(kept)


def test_an_empty_store_is_a_heading(tmp_path):
    assert write_csv(tmp_path / "none.csv", [], Review) == 0
    assert (tmp_path / "none.csv").read_text("utf-8-sig").startswith('"decision_id","item","content_hash"')
