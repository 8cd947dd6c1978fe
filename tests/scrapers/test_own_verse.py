"""Verse as people keep it: plain texts, long tables, workbooks with titles, all of them the same poems."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import openpyxl
import pytest

from mihakk.machinery.errors import SourceChanged, UsageError
from mihakk.schemas.benchmark import SourceUse
from mihakk.schemas.idiom import Idiom
from mihakk.schemas.poem import Poem
from mihakk.schemas.rejection import Rejection
from mihakk.scrapers.raw import RawStore
from mihakk.scrapers.source import run

GHAZALS = 4
Verse = list[tuple[str, str]]


@pytest.fixture(scope="module")
def ghazals(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Verse]:
    """Title to couplets, from the Python package hafez."""
    raw = RawStore(str(tmp_path_factory.mktemp("hafez")))
    poems = [one for one in run(SourceUse(use="hafez", limit=GHAZALS), raw) if isinstance(one, Poem)]
    return {
        f"غزل {number}": [(one.first.raw, one.second.raw) for one in poem.couplets if one.second]
        for number, poem in enumerate(poems, start=1)
    }


def read(path: Path, tmp_path: Path, **options: Any) -> tuple[dict[str, Verse], list[Rejection]]:
    given = {"path": str(path), "kind": "poem", "language": "fa", "licence": "public-domain"} | options
    found = list(run(SourceUse(use="files", name="own", options=given), RawStore(str(tmp_path / "raw"))))
    poems = [one for one in found if isinstance(one, Poem)]
    verse = {
        poem.title: [(one.first.raw, one.second.raw if one.second else "") for one in poem.couplets]
        for poem in poems
    }
    return verse, [one for one in found if isinstance(one, Rejection)]


@pytest.mark.parametrize("between", ["\t", "     ", " *** ", " // ", " … ", "\n"])
def test_a_folder_of_texts_gives_a_poem_a_file(
    between: str, ghazals: dict[str, Verse], tmp_path: Path
) -> None:
    folder = tmp_path / "حافظ"
    folder.mkdir()
    for title, verse in ghazals.items():
        text = "\n".join(between.join(both) for both in verse)
        (folder / f"{title}.txt").write_text(f"{title}\n\n{text}\n", "utf-8")
    (folder / "notes.csv").write_text("no,table,of,verse\n", "utf-8")
    verse = {"poems": "file", "title": "first_line"}
    assert read(folder, tmp_path, verse=verse, folder_gives="poet") == (ghazals, [])
    for path in folder.glob("*.txt"):
        path.write_text(path.read_text("utf-8").split("\n", 1)[1], "utf-16")
    named = {"verse": {"poems": "file"}, "file_gives": "title", "fields": {"poet": "حافظ"}}
    assert read(folder, tmp_path, **named)[0] == ghazals


def long_rows(ghazals: dict[str, Verse]) -> list[dict[str, Any]]:
    return [
        {"عنوان": title, "شاعر": "حافظ", "بیت": place, "مصرع اول": first, "مصرع دوم": second}
        for title, verse in ghazals.items()
        for place, (first, second) in enumerate(verse, start=1)
    ]


def write(path: Path, rows: list[dict[str, Any]]) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return path


def test_the_rows_of_a_long_table_are_put_together_in_their_order(
    ghazals: dict[str, Verse], tmp_path: Path
) -> None:
    rows = long_rows(ghazals)
    path = write(tmp_path / "long.csv", sorted(rows, key=lambda row: row["مصرع دوم"]))
    verse, rejected = read(path, tmp_path, group_by=["عنوان"], order="بیت")
    assert (verse, rejected) == (ghazals, [])
    halves = [
        {"عنوان": row["عنوان"], "hemistichs": row[half]} for row in rows for half in ("مصرع اول", "مصرع دوم")
    ]
    assert read(write(tmp_path / "halves.csv", halves), tmp_path, group_by=["عنوان"]) == (ghazals, [])


def test_the_column_that_counts_verses_may_be_called_like_a_field(
    ghazals: dict[str, Verse], tmp_path: Path
) -> None:
    rows = [
        {"id" if name == "بیت" else name: cell for name, cell in row.items()} for row in long_rows(ghazals)
    ]
    path = write(tmp_path / "long.csv", rows)
    assert read(path, tmp_path, group_by=["عنوان"], order="id") == (ghazals, [])


def test_a_long_table_without_group_by_is_refused_and_not_lost(
    ghazals: dict[str, Verse], tmp_path: Path
) -> None:
    rows = [{name: value for name, value in row.items() if name != "بیت"} for row in long_rows(ghazals)]
    path = write(tmp_path / "long.csv", rows)
    with pytest.raises(SourceChanged, match=r"one verse under the title of the row above.*group_by"):
        read(path, tmp_path)
    verse, _ = read(path, tmp_path, accept=["long_table"])
    assert verse  # Somebody looked, and each row is a poem.


def test_two_poems_taken_for_one_are_told_by_what_they_do_not_share(
    ghazals: dict[str, Verse], tmp_path: Path
) -> None:
    rows = long_rows(ghazals)
    for row in rows:
        row["شاعر"] = "خواجو" if row["عنوان"] == "غزل 2" else "حافظ"
        row["عنوان"] = "غزل 1" if row["عنوان"] == "غزل 2" else row["عنوان"]
    path = write(tmp_path / "long.csv", rows)
    verse, rejected = read(path, tmp_path, group_by=["عنوان"], order="بیت")
    assert [one.reason for one in rejected] == ["order_repeated"]
    assert set(verse) == {"غزل 3", "غزل 4"}
    _, rejected = read(path, tmp_path, group_by=["عنوان"], ignore=["بیت"])
    assert [one.reason for one in rejected] == ["rows_differ"]
    assert "'شاعر'" in rejected[0].detail
    verse, rejected = read(path, tmp_path, group_by=["عنوان", "شاعر"], order="بیت")
    assert rejected == []
    assert sum(map(len, verse.values())) == sum(map(len, ghazals.values())) - len(ghazals["غزل 1"])


def test_a_workbook_as_people_make_them(ghazals: dict[str, Verse], tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    for number, (title, verse) in enumerate(ghazals.items()):
        page = book.active if not number else book.create_sheet()
        page.title = f"{number}"
        page.append(["دیوان حافظ", None, None])
        page.append(["نسخهٔ قزوینی و غنی", None, None])
        page.append(["عنوان", "مصرع اول", "مصرع دوم"])
        for place, both in enumerate(verse):
            page.append([title if not place else None, *both])
        page.merge_cells("A1:C1")
        page.merge_cells(start_row=4, end_row=3 + len(verse), start_column=1, end_column=1)
    path = tmp_path / "book.xlsx"
    book.save(path)
    how = {"sheet": "*", "header_row": 3, "fill": ["عنوان"], "group_by": ["عنوان"]}
    assert read(path, tmp_path, **how) == (ghazals, [])
    assert list(read(path, tmp_path, **how | {"sheet": "1"})[0]) == ["غزل 2"]


def test_what_a_table_lacks_is_named(ghazals: dict[str, Verse], tmp_path: Path) -> None:
    path = write(tmp_path / "long.csv", long_rows(ghazals))
    with pytest.raises(UsageError, match=r"has no column poem; it has عنوان"):
        read(path, tmp_path, group_by=["poem"])
    with pytest.raises(UsageError, match="needs `group_by`"):
        read(path, tmp_path, order="بیت")
    with pytest.raises(UsageError, match="for `kind: poem`"):
        read(path, tmp_path, kind="idiom", group_by=["عنوان"])
    with pytest.raises(UsageError, match=r"holds no file with one of the suffixes \.txt"):
        read(tmp_path, tmp_path, verse={})


def test_every_idiom_of_a_sheet_below_a_title(tmp_path: Path) -> None:
    path = tmp_path / "idioms.csv"
    path.write_text("Idioms of the Nile,\n2026,\nالمثل,المعنى\nدمه خفيف,يُضحك جلساءه\n", "utf-8")
    use = SourceUse(
        use="files",
        name="own",
        options={"path": str(path), "kind": "idiom", "language": "ar", "licence": "CC0-1.0", "header_row": 3},
    )
    (idiom,) = run(use, RawStore(str(tmp_path / "raw")))
    assert isinstance(idiom, Idiom)
    assert idiom.phrase.raw == "دمه خفيف"
    assert idiom.provenance.url == "file:idioms.csv#4"
