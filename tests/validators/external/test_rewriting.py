"""The cleaned copy of a file: each byte of a row that stays is the byte that its owner wrote."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mihakk.machinery.errors import UsageError
from mihakk.validators.external import parse_mapping, read_benchmark, write_clean
from mihakk.validators.external.rewriting import Kept, rewritten
from mihakk.validators.external.table import read_tables

MAPPING = parse_mapping("question=q,gold=gold")
WORDS = st.text(st.sampled_from("ab\"',;\n\r\t  ؟بت\u00a0é"), max_size=6).map(lambda text: f"x{text}")
MARKS = {"utf-8": b"", "utf-8-sig": b"\xef\xbb\xbf", "utf-16-le": b"\xff\xfe", "utf-16-be": b"\xfe\xff"}


def cleaned(path: Path, kept: set[int], changed: dict[int, str] | None = None) -> bytes:
    """The cleaned copy of a file of which these rows stay, with these texts in place of their questions."""
    benchmark = read_benchmark(str(path), MAPPING)
    numbers = [benchmark.place[item.id][1] for item in benchmark.items]
    for row, text in (changed or {}).items():
        benchmark.tables[0].correct(numbers[row], {"q": text})
    keep = [item.id for at, item in enumerate(benchmark.items) if at in kept]
    return write_clean(benchmark, keep, path.with_name(f"clean{path.suffix}")).read_bytes()


def as_line(row: dict[str, Any], style: int) -> str:
    """A row as one of four writers of JSON lines has it."""
    separators = (",", ":") if style % 2 else (" , ", " : ")
    return json.dumps(row, ensure_ascii=style > 1, separators=separators)


@settings(max_examples=60, deadline=None)
@given(
    rows=st.lists(st.tuples(WORDS, WORDS, st.booleans()), min_size=1, max_size=6),
    file=st.tuples(
        st.sampled_from(sorted(MARKS)), st.sampled_from(["\n", "\r\n"]), st.integers(0, 3), st.booleans()
    ),
)
def test_lines_that_stay_keep_their_bytes(
    tmp_path_factory: pytest.TempPathFactory,
    rows: list[tuple[str, str, bool]],
    file: tuple[str, str, int, bool],
) -> None:
    mark, end, style, ended = file
    path = tmp_path_factory.mktemp("lines") / "bench.jsonl"
    lines = [as_line({"gold": g, "q": q} if style else {"q": q, "gold": g}, style) for q, g, _ in rows]
    codec = mark.removesuffix("-sig")
    written = [
        (line + (end if ended or at < len(rows) - 1 else "")).encode(codec) for at, line in enumerate(lines)
    ]
    path.write_bytes(MARKS[mark] + b"".join(written))
    kept = {at for at, row in enumerate(rows) if row[2]}
    assert cleaned(path, kept) == MARKS[mark] + b"".join(written[at] for at in sorted(kept))


@settings(max_examples=60, deadline=None)
@given(
    rows=st.lists(st.tuples(WORDS, WORDS, st.booleans()), min_size=1, max_size=6),
    file=st.tuples(
        st.sampled_from(sorted(MARKS)),
        st.sampled_from(["\n", "\r\n"]),
        st.sampled_from([",", ";"]),
        st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
    ),
)
def test_rows_of_a_csv_that_stay_keep_their_bytes(
    tmp_path_factory: pytest.TempPathFactory,
    rows: list[tuple[str, str, bool]],
    file: tuple[str, str, str, Any],
) -> None:
    mark, end, delimiter, quoting = file
    path = tmp_path_factory.mktemp("rows") / "bench.csv"

    def record(*cells: str) -> bytes:
        out = io.StringIO(newline="")
        csv.writer(out, delimiter=delimiter, quoting=quoting, lineterminator="\r\n").writerow(cells)
        return f"{out.getvalue()[:-2]}{end}".encode(mark.removesuffix("-sig"))

    written = [record(q, g) for q, g, _ in rows]
    path.write_bytes(MARKS[mark] + record("q", "gold") + b"".join(written))
    kept = {at for at, row in enumerate(rows) if row[2]}
    expected = MARKS[mark] + record("q", "gold") + b"".join(written[at] for at in sorted(kept))
    assert cleaned(path, kept) == expected
    # A changed row is the row as its own writer would have written it.
    last = max(kept, default=None)
    if last is not None:
        written[last] = record("new, ؟\n«»", rows[last][1])
        expected = MARKS[mark] + record("q", "gold") + b"".join(written[at] for at in sorted(kept))
        assert cleaned(path, kept, {last: "new, ؟\n«»"}) == expected


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('[{"q":"a?","gold":"x"},\r\n {"q":"b?","gold":"y"},\r\n {"q":"c?","gold":"z"}]\r\n',
         '[{"q":"a?","gold":"x"},\r\n {"q":"new","gold":"z"}]\r\n'),
        ('{"about": [1], "rows": [\n  {"q": "a?",  "gold": "x"},\n  {"q": "b?", "gold": "y"},\n  {\n    "q": "c?",\n    "gold": "z"\n  }\n], "n": 3}',
         '{"about": [1], "rows": [\n  {"q": "a?",  "gold": "x"},\n  {\n    "q": "new",\n    "gold": "z"\n  }\n], "n": 3}'),
        ('{"about": [1], "n": {"q": [2]}}', None),
        ('{"r{1": {"q": "a?", "gold": "x"},\n "r2": {"q": "b?", "gold": "y"},\n "r3" : {"q":"c?","gold":"z"}}\n',
         '{"r{1": {"q": "a?", "gold": "x"},\n "r3" : {"q":"new","gold":"z"}}\n'),
        ('{"version": "1", "data": [\n  {"q": "a?",  "gold": "x"},\n  {"q": "b?", "gold": "y"},\n  {\n    "q": "c?",\n    "gold": "z"\n  }\n], "n": 3}',
         '{"version": "1", "data": [\n  {"q": "a?",  "gold": "x"},\n  {\n    "q": "new",\n    "gold": "z"\n  }\n], "n": 3}'),
        ('{"q": ["a?","b?", "c?"], "gold": ["x", "y" ,"z"] }\n', '{"q": ["a?", "new"], "gold": ["x" ,"z"] }\n'),
    ],
)  # fmt: skip
def test_a_json_file_keeps_what_stands_around_its_rows(
    tmp_path: Path, before: str, after: str | None
) -> None:
    path = tmp_path / "bench.json"
    path.write_bytes(before.encode())
    if after is None:
        with pytest.raises(UsageError):
            cleaned(path, {0, 2})
        return
    assert cleaned(path, {0, 1, 2}) == before.encode()
    assert cleaned(path, {0, 2}, {2: "new"}).decode() == after


def test_blank_lines_and_unreadable_rows_are_no_matter_of_the_rows_around_them(tmp_path: Path) -> None:
    path = tmp_path / "bench.jsonl"
    path.write_bytes(b'{"q":"a?","gold":"x"}\r\n\r\n{"q":\r\n{"q": "b?", "gold": "y"}')
    assert cleaned(path, {0, 1}) == b'{"q":"a?","gold":"x"}\r\n\r\n{"q": "b?", "gold": "y"}'


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet", "xlsx"])
def test_a_file_of_which_all_stays_is_copied(tmp_path: Path, ending: str) -> None:
    import pandas as pd

    frame, path = pd.DataFrame([{"q": "a?", "gold": "x"}]), tmp_path / f"bench.{ending}"
    if ending == "jsonl":
        path.write_bytes(b'\xef\xbb\xbf{ "q" : "a?", "gold":"x"}')
    elif ending == "csv":
        path.write_bytes(b'q,"gold"\r\n"a?",x')
    else:
        getattr(frame, {"parquet": "to_parquet", "xlsx": "to_excel"}[ending])(path, index=False)
    assert cleaned(path, {0}) == path.read_bytes()


def test_a_letter_that_the_file_cannot_hold_is_named(tmp_path: Path) -> None:
    path = tmp_path / "bench.csv"
    path.write_bytes("q,gold\nما ضد النور؟,الظلام\n".encode("cp1256"))
    with pytest.raises(UsageError, match=r"cp1256 has no '漢'.*save the file as UTF-8"):
        cleaned(path, {0}, {0: "漢"})


def test_of_two_rows_under_one_key_both_go(tmp_path: Path) -> None:
    """Readers take the last one in the place of the first: leaving one out would bring the other back."""
    text = '{"a": {"q": "old?", "gold": "x"}, "b": {"q": "b?", "gold": "y"}, "a": {"q": "a?", "gold": "x"}}'
    path = tmp_path / "bench.json"
    path.write_text(text, "utf-8")
    assert cleaned(path, {1}) == b'{"b": {"q": "b?", "gold": "y"}}'


def test_a_cell_that_a_row_lacked_comes_behind_the_others_and_its_line_ends_as_it_did(tmp_path: Path) -> None:
    path = tmp_path / "bench.jsonl"
    path.write_bytes(b'{"gold":"x","q":"a?"}\r\n{"gold":"y","q":"b?","hint":"h"}\r\n')
    (table,) = read_tables(path)
    table.correct(0, {"hint": "new"})
    whole = b'{"gold":"x","q":"a?", "hint": "new"}\r\n{"gold":"y","q":"b?","hint":"h"}\r\n'
    assert rewritten([Kept(table, ())]) == whole


def test_a_list_in_escapes_keeps_its_spacing(tmp_path: Path) -> None:
    path = tmp_path / "bench.jsonl"
    path.write_bytes(b'{"q":"a?","o":["\\u0628","y"]}\n')
    (table,) = read_tables(path)
    table.correct(0, {"o": ["ب", "ت"]})
    assert rewritten([Kept(table, ())]) == b'{"q":"a?","o":["\\u0628","\\u062a"]}\n'


def test_a_cell_of_another_type_than_its_column_is_named(tmp_path: Path) -> None:
    import pandas as pd

    path = tmp_path / "bench.parquet"
    pd.DataFrame([{"q": "a?", "gold": 1}]).to_parquet(path, index=False)
    (table,) = read_tables(path)
    table.correct(0, {"gold": "two"})
    with pytest.raises(UsageError, match="column 'gold' holds int64, and a changed cell does not"):
        rewritten([Kept(table, ())])


def test_rows_of_a_workbook_are_deleted_in_one_pass(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each `delete_rows` moves every cell below it: with many rows to leave out that took minutes."""
    import openpyxl
    from openpyxl.worksheet.worksheet import Worksheet

    path = tmp_path / "bench.xlsx"
    book = openpyxl.Workbook()
    for row in [("q", "gold"), *((f"q{at}", at if at % 4 else None) for at in range(12))]:
        book.active.append(row)
    book["Sheet"]["A4"].font = openpyxl.styles.Font(bold=True)
    book.save(path)
    (table,) = read_tables(path)
    calls: list[tuple[int, int]] = []
    one = Worksheet.delete_rows

    def counted(sheet: Any, at: int, many: int) -> None:
        calls.append((at, many))
        one(sheet, at, many)

    monkeypatch.setattr(Worksheet, "delete_rows", counted)
    for gone in ({0, 1, 4, 11}, {11}, set(range(12))):
        clean = io.BytesIO(rewritten([Kept(table, gone)]))
        sheet = openpyxl.load_workbook(clean).active
        kept = [(f"q{at}", at if at % 4 else None) for at in range(12) if at not in gone]
        assert [*sheet.values] == [("q", "gold"), *kept]
        assert [row[0].font.bold for row in sheet.iter_rows(min_row=2)] == [q == "q2" for q, _ in kept]
    assert calls == [(10, 4), (13, 1), (2, 12)]
