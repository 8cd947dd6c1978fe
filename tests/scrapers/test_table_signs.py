"""Tables made for the eye: merged cells, HTML in cells, numbers at heads; refused with what was read and the fix."""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from mihakk.flows.cli import app
from mihakk.machinery.errors import SourceChanged, UsageError
from mihakk.schemas.benchmark import SourceUse
from mihakk.schemas.idiom import Idiom
from mihakk.schemas.poem import Poem
from mihakk.schemas.rejection import Rejection
from mihakk.scrapers.raw import RawStore
from mihakk.scrapers.source import Entry, open_source

SAMPLE = [
    (row["text"], row["explanation"])
    for row in map(json.loads, Path("data/samples/egyptian_idioms.jsonl").read_text("utf-8").splitlines())
    if row["kind"] == "idiom"
]
HEADER = ("المثل", "الشرح")
IDIOM = {"kind": "idiom", "language": "ar", "licence": "CC0-1.0"}
Rows = Sequence[Sequence[str | None]]


def sheet(path: Path, rows: Rows, merged: Sequence[str] = ()) -> Path:
    """As a person leaves it in a spreadsheet; openpyxl empties the cells that a merged one takes up."""
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    for cells in merged:
        book.active.merge_cells(cells)
    book.save(path)
    return path


def separated(path: Path, rows: Rows) -> Path:
    with path.open("w", encoding="utf-8-sig", newline="") as file:
        csv.writer(file).writerows(rows)
    return path


def outcome(path: Path, use: str = "files", **options: Any) -> tuple[list[Entry], str]:
    """What a source gives before it ends, and the error it ends with."""
    given = {"dataset" if use == "hub" else "path": str(path), **IDIOM, **options}
    opened = open_source(SourceUse(use=use, options=given))
    entries: list[Entry] = []
    try:
        entries.extend(opened.entries(RawStore(path.parent / "lake")))
    except (SourceChanged, UsageError) as error:
        return entries, str(error)
    return entries, ""


def with_every_tenth_head_over_three_rows() -> tuple[list[list[str]], list[str]]:
    rows, merged = [list(HEADER)], []
    for n, (head, text) in enumerate(SAMPLE):
        rows.append([head, text])
        if n % 10 == 0:
            rows += [["", f"معنى ثان: {text}"], ["", f"معنى ثالث: {text}"]]
            merged.append(f"A{len(rows) - 2}:A{len(rows)}")
    return rows, merged


def test_a_head_merged_over_rows_of_a_sheet_refuses_it_with_what_was_read(tmp_path: Path) -> None:
    """Eighteen further explanations used to be rejected one by one, and the first stood as the whole."""
    rows, merged = with_every_tenth_head_over_three_rows()
    entries, why = outcome(sheet(tmp_path / "book.xlsx", rows, merged))
    lost = [one for one in entries if isinstance(one, Rejection)]
    assert {one.reason for one in lost} == {"merged_cells"}
    assert [one.record for one in lost[:4]] == [f"file:book.xlsx#{n}" for n in (2, 3, 4, 14)]
    assert "A2:A4 is one merged cell: unmerge it" in lost[0].detail
    assert [one.phrase.raw for one in entries if isinstance(one, Idiom)] == [
        head for n, (head, _) in enumerate(SAMPLE) if n % 10
    ]
    assert why == (
        f"book.xlsx: 27 of {len(rows) - 1} rows hold merged cells, row 2 first (A2:A4), and "
        f"{len(rows) - 28} were read: unmerge them and write the value into each of their cells "
        "(merged_cells); what of this is right, an option such as `accept: [merged_cells]` says"
    )
    again, why = outcome(tmp_path / "book.xlsx", accept=["merged_cells"])
    assert (len(again), why) == (len(entries), "")


def test_the_same_sheet_saved_as_csv_is_refused_by_its_empty_cells(tmp_path: Path) -> None:
    rows, _ = with_every_tenth_head_over_three_rows()
    entries, why = outcome(separated(tmp_path / "book.csv", rows))
    assert sum(isinstance(one, Idiom) for one in entries) == len(SAMPLE)
    assert f"book.csv: 18 of {len(rows) - 1} rows have an explanation and no phrase, row 3 first, and " in why
    assert "write the phrase again in each row" in why
    one_gap = [list(HEADER), *map(list, SAMPLE), ["", "شرح بلا مثل"]]
    assert outcome(separated(tmp_path / "gap.csv", one_gap))[1] == "", "one empty cell is a rejection alone"


def test_a_merged_explanation_and_a_merged_dialect_are_refused_but_not_an_ignored_column(
    tmp_path: Path,
) -> None:
    rows = [[*HEADER, "اللهجة", "الباب"]] + [[head, text, "مصرية", "باب"] for head, text in SAMPLE]
    explained, why = outcome(sheet(tmp_path / "a.xlsx", rows, ["B4:B5"]), ignore=["الباب"])
    assert len([one for one in explained if isinstance(one, Rejection)]) == 2
    assert "2 of 83 rows hold merged cells, row 4 first (B4:B5), and 81 were read" in why
    _, why = outcome(sheet(tmp_path / "b.xlsx", rows, [f"C2:C{len(rows)}"]), ignore=["الباب"])
    assert "83 of 83 rows hold merged cells, row 2 first (C2:C84), and 0 were read" in why
    every, why = outcome(sheet(tmp_path / "c.xlsx", rows, [f"D2:D{len(rows)}"]), ignore=["الباب"])
    assert (len(every), why) == (len(SAMPLE), "")


def test_a_letter_in_one_cell_over_the_whole_row_is_a_heading(tmp_path: Path) -> None:
    rows: list[list[str]] = [list(HEADER)]
    merged = []
    for n, (head, text) in enumerate(SAMPLE):
        if n % 20 == 0:
            rows.append([f"حرف {n}", ""])
            merged.append(f"A{len(rows)}:B{len(rows)}")
        rows.append([head, text])
    entries, why = outcome(sheet(tmp_path / "book.xlsx", rows, merged))
    assert why == ""
    assert sum(isinstance(one, Idiom) for one in entries) == len(SAMPLE)
    headings = [one for one in entries if isinstance(one, Rejection)]
    assert {one.reason for one in headings} == {"heading"}
    assert headings[1].detail == "file:book.xlsx#23: A23:B23 is one merged cell over all columns: 'حرف 20'"


@pytest.mark.parametrize(
    ("above", "merged"),
    [
        ([["المثل", "الشرح", ""]], ["B1:C1"]),
        ([["المثل", "الشرح", ""], ["", "المعنى", "المضرب"]], ["A1:A2", "B1:C1"]),
        ([["كتاب الأمثال", "", ""], ["المثل", "الشرح", "المضرب"]], ["A1:C1"]),
    ],
    ids=["over two columns", "in two rows", "below a title"],
)
def test_a_header_of_merged_cells_is_refused_before_any_row(
    above: list[list[str]], merged: list[str], tmp_path: Path
) -> None:
    path = sheet(tmp_path / "book.xlsx", [*above, *([*pair, ""] for pair in SAMPLE)], merged)
    shown = CliRunner().invoke(app, ["source", "try", str(path)])
    assert shown.exit_code == 2
    told = " ".join(shown.output.split())
    assert f"first row has merged cells ({merged[0]}" in told or f"({merged[1]}" in told
    assert "so that no row was read: unmerge them, give each column a name in this one row" in told


def test_a_csv_whose_header_was_merged_says_which_column_has_no_name(tmp_path: Path) -> None:
    rows = [["المثل", "الشرح", ""], ["", "المعنى", "المضرب"], *([*pair, "مضرب"] for pair in SAMPLE)]
    _, why = outcome(separated(tmp_path / "book.csv", rows))
    assert "a column without a name" in why
    assert "a header of merged cells leaves one" in why


def test_cells_under_no_name_are_said_and_not_dropped(tmp_path: Path) -> None:
    rows = [["phrase", "explanation", None], ["أ", "ب", None], ["ج", "د", "more"], ["ه", None, None]]
    first, second, third = outcome(sheet(tmp_path / "t.xlsx", rows))[0]
    assert isinstance(first, Idiom)
    assert isinstance(second, Rejection)
    assert second.reason == "columns_mismatch"
    assert "column C stand under no name: unmerge the header" in second.detail
    assert isinstance(third, Rejection)
    assert third.reason == "explanation_missing"


def test_a_poet_merged_over_the_rows_of_his_poems_is_not_lost(tmp_path: Path) -> None:
    """His second poem used to have no poet, and nothing said so."""
    rows = [
        ["poet", "title", "lines"],
        ["المتنبي", "على قدر أهل العزم", "على قدر أهل العزم تأتي العزائم"],
        ["", "واحر قلباه", "واحر قلباه ممن قلبه شبم"],
        ["أبو تمام", "فتح عمورية", "السيف أصدق إنباء من الكتب"],
    ]
    entries, why = outcome(sheet(tmp_path / "poems.xlsx", rows, ["A2:A3"]), kind="poem")
    assert [one.poet for one in entries if isinstance(one, Poem)] == ["أبو تمام"]
    assert "2 of 3 rows hold merged cells, row 2 first (A2:A3), and 1 were read" in why


@pytest.mark.parametrize(
    ("phrase", "explanation", "sign"),
    [
        ("{n}- {head}", "{text}", "marks_of_heads"),
        ("({n}) {head}", "{text}", "marks_of_heads"),
        ("{head} [{n}]", "{text}", "marks_of_heads"),
        ("{head} ص {n}", "{text}", "marks_of_heads"),
        ("• {head}", "{text}", "marks_of_heads"),
        ("{head}", "<p>{text}</p>", "markup"),
        ("{head}", "{text}&nbsp;", "markup"),
        ("{head}", "{text} [ص {n}]", "page_marks"),
    ],
)
def test_cells_with_numbers_or_html_are_refused(
    phrase: str, explanation: str, sign: str, tmp_path: Path
) -> None:
    """All 743 heads of a table used to keep their number, all 743 explanations of another their tags."""
    rows = [
        {
            "phrase": phrase.format(n=n, head=head) if n % 20 == 0 or "•" in phrase else head,
            "explanation": explanation.format(n=n, text=text) if n % 20 == 0 else text,
        }
        for n, (head, text) in enumerate(SAMPLE)
    ]
    path = tmp_path / "site.jsonl"
    path.write_text("\n".join(json.dumps(row, ensure_ascii=False) for row in rows), encoding="utf-8")
    entries, why = outcome(path)
    assert len(entries) == len(SAMPLE)
    assert f"({sign}); what of this is right" in why
    assert outcome(path, accept=[sign])[1] == ""


def test_a_head_that_begins_with_a_number_of_its_own_is_no_number_of_its_row(tmp_path: Path) -> None:
    rows = [HEADER, *SAMPLE, *((f"7 صنايع والبخت ضايع {n}", "كثرة الصنائع") for n in range(9))]
    assert outcome(separated(tmp_path / "book.csv", rows))[1] == ""


def test_a_dataset_whose_cells_hold_html_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "set"
    folder.mkdir()
    rows = [{"phrase": head, "explanation": f"<p>{text}</p>"} for head, text in SAMPLE]
    (folder / "train.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    entries, why = outcome(folder, "hub")
    assert len(entries) == len(SAMPLE)
    assert "train: 83 entries hold markup, that of line 1 first, '<p>'" in why
