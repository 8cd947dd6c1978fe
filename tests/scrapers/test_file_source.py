"""Tables of every format and state of repair."""

from __future__ import annotations

import csv
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mihakk.machinery.errors import SourceChanged, UsageError
from mihakk.schemas.idiom import Idiom
from mihakk.schemas.poem import Poem
from mihakk.schemas.rejection import Rejection
from mihakk.scrapers.source import Entry

Scrape = Callable[..., list[Entry]]
IDIOM = {"kind": "idiom", "language": "ar", "licence": "CC0-1.0"}
POEM = {"kind": "poem", "language": "fa", "licence": "public-domain"}
ROWS = [
    {"text": "زي السمن على العسل", "explanation": "على وفاق تام", "kind": "idiom"},
    {"text": "اللي يخاف من العفريت يطلع له", "explanation": "من خشي شيئا لقيه", "kind": "proverb"},
]


def write(path: Path, rows: list[dict[str, Any]]) -> None:
    if path.suffix == ".jsonl":
        path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    elif path.suffix in (".csv", ".tsv"):
        mark = "," if path.suffix == ".csv" else "\t"
        lines = [mark.join(rows[0]), *(mark.join(row.values()) for row in rows)]
        path.write_text("\r\n".join(lines) + "\r\n", encoding="utf-8")
    elif path.suffix == ".xlsx":
        openpyxl = pytest.importorskip("openpyxl")
        book = openpyxl.Workbook()
        book.active.append(list(rows[0]))
        for row in rows:
            book.active.append(list(row.values()))
        book.save(path)
    else:
        import pyarrow as pa
        import pyarrow.parquet as pq

        pq.write_table(pa.Table.from_pylist(rows), path)


def test_ids_outlive_another_file_name_a_lost_row_and_a_corrected_explanation(
    tmp_path: Path, scraped: Scrape
) -> None:
    texts = ("ما يأتي منه الكسب", "معنى ثان")
    rows = [*ROWS, *({"text": "باب رزق", "explanation": text, "kind": "idiom"} for text in texts)]
    write(tmp_path / "first.jsonl", rows)
    write(tmp_path / "renamed.csv", [rows[0] | {"explanation": "شرح آخر"}, *rows[2:]])

    def ids(name: str, **options: str) -> list[str]:
        path = str(tmp_path / name)
        return [one.id for one in scraped("files", path=path, **IDIOM, **options) if isinstance(one, Idiom)]

    before = ids("first.jsonl")
    assert len(set(before)) == len(rows)
    assert ids("renamed.csv") == [before[0], *before[2:]]
    assert before[3] == f"{before[2]}-2"
    assert all(one.startswith("files-") for one in before)
    assert ids("first.jsonl", prefix="first", ids="rows") == ["first-1", "first-2", "first-3", "first-4"]


@pytest.mark.parametrize("suffix", [".jsonl", ".csv", ".tsv", ".xlsx", ".parquet"])
def test_every_format_gives_the_same_idioms(suffix: str, tmp_path: Path, scraped: Scrape) -> None:
    path = tmp_path / f"idioms{suffix}"
    write(path, ROWS)
    entries = scraped("files", path=str(path), **IDIOM)
    assert [(e.phrase.raw, e.explanation.raw, e.genre) for e in entries if isinstance(e, Idiom)] == [
        tuple(row.values()) for row in ROWS
    ]
    assert len({entry.provenance.url for entry in entries if isinstance(entry, Idiom)}) == 2


def test_text_read_in_the_wrong_encoding_is_read_again_and_says_so(tmp_path: Path, scraped: Scrape) -> None:
    wrong = {name: value.encode().decode("cp1256") for name, value in ROWS[0].items()}
    write(tmp_path / "idioms.jsonl", [wrong | {"kind": "idiom"}, ROWS[1]])
    repaired, sound = scraped("files", path=str(tmp_path / "idioms.jsonl"), **IDIOM)
    assert isinstance(repaired, Idiom)
    assert isinstance(sound, Idiom)
    assert repaired.phrase.raw == ROWS[0]["text"]
    assert repaired.source_labels == {"repaired": "written as utf-8, read as cp1256"}
    assert sound.source_labels == {}


def test_one_damaged_line_does_not_take_the_others_with_it(tmp_path: Path, scraped: Scrape) -> None:
    path = tmp_path / "idioms.jsonl"
    good = [json.dumps(row, ensure_ascii=False).encode() for row in ROWS]
    path.write_bytes(b"\n".join([good[0], good[1].replace("م".encode(), b"\xe3", 1), good[1]]))
    entries = scraped("files", path=str(path), **IDIOM)
    assert [type(entry) for entry in entries] == [Idiom, Rejection, Idiom]
    bad = entries[1]
    assert isinstance(bad, Rejection)
    assert bad.reason == "undecodable"
    assert bad.detail.startswith("file:idioms.jsonl#2: byte 0xe3 at character ")


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("empty.jsonl", b"", "has no rows: give it some"),
        ("empty.csv", b"text,explanation\n", "has no rows"),
        ("broken.xlsx", b"PK not really", "can't be opened as a workbook"),
        ("broken.parquet", b"PAR1nothingPAR1", "can't be read as Parquet"),
        ("deep.json", b"[" * 5000, "deep.json is not JSON"),
        ("notes.txt", b"x", "formats are .jsonl"),
        ("twice.csv", b"text,text\na,b\n", "two columns are named text"),
        (
            "strange.jsonl",
            b'{"text": "a", "explanation": "b", "colour": "c"}',
            "nothing says what 'colour' in its header",
        ),
        ("short.jsonl", b'{"text": "a"}', "no column gives explanation"),
        ("list.json", b'{"text": "a"}', "a list of objects was expected"),
        (
            "no_header.csv",
            "ضرب الحبيب,زبيب\nالقرد,غزال\n".encode(),
            "the first row must hold the names of the columns",
        ),
    ],
)
def test_a_file_that_can_not_be_used_says_the_fix(
    name: str, content: bytes, message: str, tmp_path: Path, scraped: Scrape
) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(UsageError, match=message):
        scraped("files", path=str(tmp_path / name), **IDIOM)


def test_a_missing_file_is_named(scraped: Scrape) -> None:
    with pytest.raises(UsageError, match=r"nowhere\.jsonl does not exist: set the option `path`"):
        scraped("files", path="nowhere.jsonl", **IDIOM)


def test_only_bad_rows_fail_the_yield(tmp_path: Path, scraped: Scrape) -> None:
    path = tmp_path / "idioms.jsonl"
    path.write_text("not json\n")
    with pytest.raises(SourceChanged, match="gave 0 records and 1 rejections"):
        scraped("files", path=str(path), **IDIOM)


def test_a_folder_is_read_in_the_order_of_names(tmp_path: Path, scraped: Scrape) -> None:
    (tmp_path / "sub").mkdir()
    write(tmp_path / "b.jsonl", ROWS[:1])
    write(tmp_path / "sub" / "a.csv", ROWS[1:])
    entries = scraped("files", path=str(tmp_path), **IDIOM)
    assert [one.phrase.raw for one in entries if isinstance(one, Idiom)] == [r["text"] for r in ROWS]
    (tmp_path / "none").mkdir()
    with pytest.raises(UsageError, match="holds no file with one of the suffixes"):
        scraped("files", path=str(tmp_path / "none"), **IDIOM)


@pytest.mark.parametrize(
    ("row", "kinds", "count"),
    [
        ({"couplets": [["a", "b"], ["c"], "d"]}, ["couplet", "line", "line"], 3),
        ({"hemistichs": "a\nb\nc\nd"}, ["couplet", "couplet"], 2),
        ({"lines": ["a", "b", "c"]}, ["line"] * 3, 3),
        ({"first": "a", "second": "b"}, ["couplet"], 1),
    ],
)
def test_verses_come_in_several_shapes(
    row: dict[str, Any], kinds: list[str], count: int, tmp_path: Path, scraped: Scrape
) -> None:
    write(tmp_path / "poems.jsonl", [{"poet": "x", **row}])
    (entry,) = scraped("files", path=str(tmp_path / "poems.jsonl"), **POEM)
    assert isinstance(entry, Poem)
    assert [couplet.kind for couplet in entry.couplets] == kinds
    assert len(entry.couplets) == count


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ({"hemistichs": ["a", "b", "c"]}, "odd_hemistichs"),
        ({"hemistichs": []}, "verses_missing"),
        ({"couplets": [["a", "b", "c"]]}, "couplet_invalid"),
        ({"couplets": 7}, "row_invalid"),
        ({"couplets": [["a", "b"]], "declared_couplets": ["many"]}, "row_invalid"),
    ],
)
def test_a_bad_row_is_rejected_with_its_place(
    row: dict[str, Any], reason: str, tmp_path: Path, scraped: Scrape
) -> None:
    write(tmp_path / "poems.jsonl", [{"poet": "x", **row}])
    (entry,) = scraped("files", path=str(tmp_path / "poems.jsonl"), least_yield=0, **POEM)
    assert isinstance(entry, Rejection)
    assert entry.reason == reason
    assert "file:poems.jsonl#1" in entry.detail
    assert json.loads(entry.body) == {"poet": "x", **row}


def test_prose_and_explanations_stand_beside_their_couplets(tmp_path: Path, scraped: Scrape) -> None:
    verse = {"poet": "سعدی", "couplets": [["الف", "ب"], ["", "پ"], ["ت", "ث"]]}
    rows = [
        verse | {"id": "1", "prose": ["نخست", "دوم", "سوم"], "explanations": ["یک", None, "سه"]},
        verse | {"id": "2", "prose": ["نخست", "سوم"]},
        verse | {"id": "3", "explanations": ["یک", 2, "سه"]},
    ]
    path = tmp_path / "verse.jsonl"
    write(path, rows)
    entries = scraped("files", path=str(path), **POEM)
    (poem,) = [entry for entry in entries if isinstance(entry, Poem)]
    texts = [(couplet.position, couplet.prose, couplet.explanation) for couplet in poem.couplets]
    assert texts == [(0, "نخست", "یک"), (2, "سوم", "سه")]
    reasons = [entry.reason for entry in entries if isinstance(entry, Rejection)]
    assert reasons == ["hemistich_empty", "prose_unaligned", "row_invalid"]


def test_files_of_a_folder_that_each_count_their_own_ids_keep_all_their_rows(
    tmp_path: Path, scraped: Scrape
) -> None:
    folder = tmp_path / "books"
    folder.mkdir()
    counted = [{"id": str(n), **row} for n, row in enumerate(ROWS, start=1)]
    others = [{"id": "1", **ROWS[0], "text": "باب رزق"}, {"id": "2", **ROWS[0], "text": "قلبه أبيض"}]
    write(folder / "a.jsonl", counted)
    alone = [one.id for one in scraped("files", path=str(folder / "a.jsonl"), prefix="b", **IDIOM)]
    write(folder / "b.jsonl", [*others, counted[0]])
    found = scraped("files", path=str(folder), prefix="b", **IDIOM)
    idioms = [one for one in found if isinstance(one, Idiom)]
    assert [one.phrase.raw for one in idioms] == [row["text"] for row in (*counted, *others)]
    assert [one.id for one in idioms][:2] == alone == ["b-1", "b-2"]
    assert len({one.id for one in idioms}) == len(idioms)
    assert [one.reason for one in found if isinstance(one, Rejection)] == ["id_taken"], "the same row again"
    # The id of the second table's rows depends on their text alone.
    write(folder / "b.jsonl", others[::-1])
    again = {one.phrase.raw: one.id for one in scraped("files", path=str(folder), prefix="b", **IDIOM)}
    assert again == {one.phrase.raw: one.id for one in idioms}
    # Within one table an id taken twice is an error, as before.
    write(folder / "a.jsonl", [*counted, {"id": "1", **ROWS[0], "text": "باب رزق"}])
    alone = scraped("files", path=str(folder / "a.jsonl"), prefix="b", **IDIOM)
    assert [one.reason for one in alone if isinstance(one, Rejection)] == ["id_taken"]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp1256", "utf-16"])
@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize(
    "header", [("phrase", "explanation"), (" Phrase", "Explanation "), ("المثل", "الشرح")]
)
def test_a_csv_is_read_as_spreadsheets_write_it(
    header: tuple[str, str], delimiter: str, encoding: str, tmp_path: Path, scraped: Scrape
) -> None:
    path = tmp_path / "idioms.csv"
    with path.open("w", encoding=encoding, newline="") as file:
        table = csv.writer(file, delimiter=delimiter)
        table.writerows(
            [header, ("ضرب، الحبيب; زبيب", 'ما يفعله, "المحبوب" حسن'), ("القرد | غزال", "كل يستحسن")]
        )
    entries = scraped("files", path=str(path), **(IDIOM | {"columns": {}}))
    assert [(one.phrase.raw, one.explanation.raw) for one in entries if isinstance(one, Idiom)] == [
        ("ضرب، الحبيب; زبيب", 'ما يفعله, "المحبوب" حسن'),
        ("القرد | غزال", "كل يستحسن"),
    ]


def test_every_line_that_an_unclosed_quotation_mark_swallows_is_rejected(
    tmp_path: Path, scraped: Scrape
) -> None:
    """Of 44 rows lost in a table, 13 were named."""
    path = tmp_path / "idioms.tsv"
    lines = [f"مثل {n}\tشرح {n}" for n in range(2, 12)]
    lines[3] = 'مثل 5\t"شرح بلا نهاية'
    lines[6] = 'مثل 8\tشرح فيه "كلمة" أخرى'
    path.write_text("phrase\texplanation\n" + "\n".join(lines) + "\n", encoding="utf-8")
    entries = scraped("files", path=str(path), least_yield=1, **(IDIOM | {"columns": {}}))
    read = [entry.phrase.raw for entry in entries if isinstance(entry, Idiom)]
    named = [entry.detail.split(":")[1] for entry in entries if isinstance(entry, Rejection)]
    assert read == [f"مثل {n}" for n in (2, 3, 4, 9, 10, 11)]
    assert named == [f"idioms.tsv#{n}" for n in (5, 6, 7, 8)]


def test_a_cell_that_is_no_text_is_refused(tmp_path: Path, scraped: Scrape) -> None:
    path = tmp_path / "idioms.jsonl"
    rows = [
        {"phrase": {"ar": "ضرب الحبيب زبيب"}, "explanation": "حسن"},
        {"phrase": "ضرب الحبيب زبيب", "explanation": ["حسن"]},
        {"phrase": "القرد في عين أمه غزال", "explanation": "كل يستحسن ما له"},
    ]
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    entries = scraped("files", path=str(path), **(IDIOM | {"columns": {}}))
    found = [(one.reason, one.detail) for one in entries if isinstance(one, Rejection)]
    assert [reason for reason, _ in found] == ["row_invalid"] * 2
    assert "phrase holds a dict, not a text" in found[0][1]
    assert "explanation holds a list, not a text" in found[1][1]


def test_a_workbook_whose_first_sheet_is_a_cover_names_the_others(tmp_path: Path, scraped: Scrape) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.active.title = "cover"
    book.active.append(("كتاب الأمثال",))
    sheet = book.create_sheet("proverbs")
    sheet.append(("phrase", "explanation"))
    sheet.append(("ضرب الحبيب زبيب", "حسن"))
    path = tmp_path / "book.xlsx"
    book.save(path)
    with pytest.raises(UsageError, match="'cover' has no rows; name another with `sheet`: proverbs"):
        scraped("files", path=str(path), **(IDIOM | {"columns": {}}))
    (entry,) = scraped("files", path=str(path), sheet="proverbs", **(IDIOM | {"columns": {}}))
    assert isinstance(entry, Idiom)


def test_a_workbook_whose_sheet_is_damaged_is_named(tmp_path: Path, scraped: Scrape) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.worksheets[0].append(["text", "explanation"])
    book.save(tmp_path / "sound.xlsx")
    path = tmp_path / "damaged.xlsx"
    with zipfile.ZipFile(tmp_path / "sound.xlsx") as given, zipfile.ZipFile(path, "w") as made:
        for name in given.namelist():
            part = given.read(name)
            made.writestr(name, part[:-40] + b"<&" if name.endswith("sheet1.xml") else part)
    with pytest.raises(UsageError, match=r"damaged\.xlsx can't be read as a workbook"):
        scraped("files", path=str(path), **IDIOM)
