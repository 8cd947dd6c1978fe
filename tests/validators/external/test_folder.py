"""A folder of any files: each is read, or listed with the reason; damaged ones are errors a person can act on."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path

import pandas as pd
import pytest

from mihakk.machinery.errors import UsageError
from mihakk.schemas.item import ChoiceItem
from mihakk.validators.external import parse_mapping, read_benchmark, write_clean
from mihakk.validators.external.benchmark import MOST_CELL
from mihakk.validators.external.folder import by_name

MAPPING = parse_mapping("question=q,choices=A+B+C,gold=gold")
ANSWERS = parse_mapping("question=q,gold=gold")


def frame(gold: str = "A", count: int = 3, start: int = 0) -> pd.DataFrame:
    return pd.DataFrame(
        [
            {"q": f"ما السؤال رقم {n}؟", "A": "أ", "B": "ب", "C": "ج", "gold": gold[n % len(gold)]}
            for n in range(start, start + count)
        ]
    )


@pytest.fixture
def mixed(tmp_path: Path) -> Path:
    folder = tmp_path / "set"
    (folder / "geo").mkdir(parents=True)
    frame().to_csv(folder / "geo" / "test.csv", index=False)
    frame(start=3).to_csv(folder / "geo" / "train.tsv", index=False, sep="\t")
    frame(start=6).to_parquet(folder / "lang_dev-00000-of-00002.parquet")
    frame(start=9).to_parquet(folder / "lang_dev-00001-of-00002.parquet")
    with pd.ExcelWriter(folder / "extra.xlsx") as writer:
        frame(start=12).to_excel(writer, index=False, sheet_name="first")
        frame(start=15).to_excel(writer, index=False, sheet_name="second")
        pd.DataFrame([{"about": "notes"}]).to_excel(writer, index=False, sheet_name="notes")
    lines = frame(start=18).to_dict("records")
    (folder / "more.jsonl").write_text("\n".join(json.dumps(row) for row in lines), encoding="utf-8")
    (folder / "README.md").write_text("about", encoding="utf-8")
    (folder / "other.csv").write_text("x,y\n1,2\n", encoding="utf-8")
    (folder / "broken.parquet").write_bytes(b"PAR1" + b"\xff\x00\xfe" * 40 + b"PAR1")
    (folder / ".hidden.csv").write_text("q,gold\n1,2\n", encoding="utf-8")
    return folder


def test_every_file_and_sheet_is_read_or_listed_with_the_reason(mixed: Path, tmp_path: Path) -> None:
    (tmp_path / "outside.csv").write_text("q,A,B,C,gold\n", encoding="utf-8")
    (mixed / "link.csv").symlink_to(tmp_path / "outside.csv")
    benchmark = read_benchmark(str(mixed), MAPPING)
    said = {one.file: (one.status, one.subset, one.split) for one in benchmark.files}
    assert said == {
        "README.md": ("skipped", "", ""),
        "broken.parquet": ("unreadable", "", ""),
        "extra.xlsx": ("read", "extra", ""),
        "extra.xlsx/notes": ("skipped", "", ""),
        "extra.xlsx/second": ("read", "extra", ""),
        "geo/test.csv": ("read", "geo", "test"),
        "geo/train.tsv": ("read", "geo", "train"),
        "lang_dev-00000-of-00002.parquet": ("read", "lang", "dev"),
        "lang_dev-00001-of-00002.parquet": ("read", "lang", "dev"),
        "link.csv": ("skipped", "", ""),
        "more.jsonl": ("read", "more", ""),
        "other.csv": ("skipped", "", ""),
    }
    assert all(one.reason for one in benchmark.files if one.status != "read")
    assert sorted(item.question for item in benchmark.items) == sorted(
        f"ما السؤال رقم {n}؟" for n in range(21)
    )
    assert len({item.id for item in benchmark.items}) == 21


def test_a_cleaned_folder_keeps_its_layout_and_formats(mixed: Path, tmp_path: Path) -> None:
    benchmark = read_benchmark(str(mixed), MAPPING)
    keep = [
        item.id
        for item in benchmark.items
        if not item.question.endswith(" 13؟") and " 3؟" not in item.question
    ]
    clean = write_clean(benchmark, keep, tmp_path / "clean")
    names = {path.relative_to(clean).as_posix() for path in clean.rglob("*") if path.is_file()}
    read = {one.file.removesuffix("/second") for one in benchmark.files if one.status == "read"}
    assert names == read
    again = read_benchmark(str(clean), MAPPING)
    gone = {"ما السؤال رقم 13؟", "ما السؤال رقم 3؟"}
    assert {item.question for item in benchmark.items} - {item.question for item in again.items} == gone
    sheets = pd.read_excel(clean / "extra.xlsx", sheet_name=None)
    assert {name: len(rows) for name, rows in sheets.items()} == {"first": 2, "second": 3, "notes": 1}


def test_tables_that_write_their_golds_differently_are_each_read_right_and_told_apart(tmp_path: Path) -> None:
    folder = tmp_path / "set"
    folder.mkdir()
    frame("ABC").to_csv(folder / "letters.csv", index=False)
    frame("123", start=3).to_csv(folder / "numbers.csv", index=False)
    benchmark = read_benchmark(str(folder), MAPPING)
    assert [item.gold for item in benchmark.items if isinstance(item, ChoiceItem)] == [(0,), (1,), (2,)] * 2
    assert benchmark.labels == {"letters.csv": "letter abc", "numbers.csv": "index1"}
    answers = tmp_path / "answers"
    answers.mkdir()
    for name, (yes, no) in {"a": ("نعم", "لا"), "b": ("صح", "خطأ")}.items():
        rows = pd.DataFrame([{"q": f"{name} {n}", "gold": (yes, no)[n % 2]} for n in range(6)])
        rows.to_csv(answers / f"{name}.csv", index=False)
    assert read_benchmark(str(answers), ANSWERS).labels == {"a.csv": "لا, نعم", "b.csv": "خطأ, صح"}


def test_a_folder_of_which_nothing_fits_says_what_there_is(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("x,y\n1,2\n", encoding="utf-8")
    with pytest.raises(UsageError, match=r"a\.csv: no column 'q', 'gold'; it has x, y"):
        read_benchmark(str(tmp_path), ANSWERS)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("test.csv", ("", "test")),
        ("data/train-00000-of-00003.parquet", ("", "train")),
        ("Life Science_val.csv", ("Life Science", "validation")),
        ("geo/dev/part1.jsonl", ("geo/part1", "dev")),
        ("latest.csv", ("latest", "")),
        ("contest_test.csv", ("contest", "test")),
    ],
)
def test_subsets_and_splits_come_from_names(name: str, expected: tuple[str, str]) -> None:
    assert by_name(name) == expected


def test_two_columns_of_one_name_hide_nothing(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("q,gold,note,note\nما هذا؟,كتاب,one,two\n", encoding="utf-8")
    benchmark = read_benchmark(str(path), ANSWERS)
    clean = write_clean(benchmark, [benchmark.items[0].id], tmp_path / "clean.csv")
    assert clean.read_bytes() == path.read_bytes()


DEEP = "[" * 100_000


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.parquet", b"PAR1" + b"\xff\xfe\x00" * 50, "not a parquet file, or is damaged"),
        ("a.parquet", b"", "not a parquet file, or is damaged"),
        ("a.csv", b"q,gold\n\x00\x01\x02,\xff\x00\n", "is not a text file"),
        ("a.csv", b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", "is not a text file"),
        ("a.json", DEEP.encode(), "nested deeper"),
        ("a.json", b'{"a": 1', "is not JSON"),
        ("a.xlsx", b"PK\x03\x04 no archive", "can't be opened as a workbook"),
    ],
)
def test_damaged_files_are_errors_without_their_bytes(
    tmp_path: Path, name: str, content: bytes, said: str
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(UsageError, match=said) as caught:
        read_benchmark(str(path), ANSWERS)
    assert len(str(caught.value)) < 1000
    assert str(caught.value).replace("\n", " ").isprintable()


def test_a_parquet_file_cut_anywhere_is_such_an_error(tmp_path: Path) -> None:
    frame(count=50).to_parquet(tmp_path / "whole.parquet")
    data = (tmp_path / "whole.parquet").read_bytes()
    path = tmp_path / "a.parquet"
    for cut in range(0, len(data) - 1, max(1, len(data) // 60)):
        path.write_bytes(data[:cut])
        with pytest.raises(UsageError):
            read_benchmark(str(path), MAPPING)
    for place in range(4, len(data), max(1, len(data) // 200)):
        path.write_bytes(data[:place] + bytes([data[place] ^ 0xFF]) + data[place + 1 :])
        with contextlib.suppress(UsageError):  # a byte that only changes a value is no damage to be seen
            read_benchmark(str(path), MAPPING)


def test_deep_lines_long_cells_and_bytes_are_rejected_one_by_one(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    long = json.dumps({"q": "x" * (MOST_CELL + 1), "gold": "b"})
    nested = json.dumps({"q": "ما هذا؟", "gold": "c", "choices": "[" * 50_000})
    path.write_text(f'{{"q": "ما هذا؟", "gold": "a"}}\n{DEEP}\n{long}\n{nested}\n', encoding="utf-8")
    benchmark = read_benchmark(str(path), ANSWERS)
    assert [one.reason for one in benchmark.rejected] == ["nested_too_deep", "cell_too_long"]
    assert all(len(one.body) < 1000 for one in benchmark.rejected)
    listed = parse_mapping("question=q,choices=choices,gold=gold")
    path.write_text(f'{nested}\n{{"q": "ما؟", "choices": ["a", "b"], "gold": "b"}}\n', encoding="utf-8")
    assert [one.reason for one in read_benchmark(str(path), listed).rejected] == ["choices_no_list"]
    wide = tmp_path / "a.csv"
    wide.write_text(f"q,gold\nما هذا؟,a\n{'y' * 10_000_000},b\n", encoding="utf-8")
    assert [one.reason for one in read_benchmark(str(wide), ANSWERS).rejected] == ["cell_too_long"]
    frame = pd.DataFrame([{"q": b"\xff\x00", "gold": b"x"}, {"q": b"\xff", "gold": b"y"}])
    frame.to_parquet(tmp_path / "a.parquet")
    with pytest.raises(UsageError, match="no row is left"):
        read_benchmark(str(tmp_path / "a.parquet"), ANSWERS)
