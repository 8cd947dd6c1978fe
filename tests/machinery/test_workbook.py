"""Workbooks from anywhere are opened, or refused with the reason; none exhausts the machine or reads a file."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from mihakk.machinery import workbook
from mihakk.machinery.errors import UsageError
from mihakk.machinery.workbook import open_workbook

SHEET = "xl/worksheets/sheet1.xml"


@pytest.fixture
def book(tmp_path: Path) -> Path:
    """One sheet with one question."""
    import openpyxl

    path = tmp_path / "book.xlsx"
    made = openpyxl.Workbook()
    made.active.append(["question", "answer"])
    made.active.append(["ما معنى «بلع لسانه»؟", "سكت"])
    made.save(path)
    return path


def changed(book: Path, name: str, change: Callable[[str], str]) -> Path:
    """The workbook with one of its files written anew."""
    out = book.with_name("changed.xlsx")
    with zipfile.ZipFile(book) as source, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as target:
        for info in source.infolist():
            data = source.read(info.filename).decode()
            target.writestr(info.filename, change(data) if info.filename == name else data)
    return out


def test_a_sound_workbook_opens(book: Path) -> None:
    rows = list(open_workbook(book).active.iter_rows(values_only=True))
    assert rows[1] == ("ما معنى «بلع لسانه»؟", "سكت")


BOMB = "<!DOCTYPE b [<!ENTITY a 'aaaaaaaaaa'>" + "".join(
    f"<!ENTITY {name} '{f'&{before};' * 10}'>" for before, name in zip("abcdefgh", "bcdefghi", strict=True)
) + "]>"  # fmt: skip


@pytest.mark.parametrize("declared", [BOMB, "<!DOCTYPE x [<!ENTITY i SYSTEM 'file:///etc/passwd'>]>"])
def test_entities_are_refused(book: Path, declared: str) -> None:
    bad = changed(book, SHEET, lambda sheet: declared + sheet.replace("<t>question</t>", "<t>&i;</t>"))
    with pytest.raises(UsageError, match="can't be opened as a workbook"):
        list(open_workbook(bad).active.iter_rows(values_only=True))


def test_a_file_that_unpacks_a_thousandfold_is_refused(book: Path) -> None:
    bad = changed(book, SHEET, lambda sheet: sheet.replace("question", "q" * (8 << 20)))
    with pytest.raises(UsageError, match="refused as a decompression bomb"):
        open_workbook(bad)


def test_more_than_any_table_is_refused(book: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workbook, "MOST_BYTES", 1000)
    with pytest.raises(UsageError, match="more than any workbook"):
        open_workbook(book)
    monkeypatch.setattr(workbook, "MOST_FILES", 3)
    with pytest.raises(UsageError, match="more than any workbook"):
        open_workbook(book)


@pytest.mark.parametrize("content", [b"", b"question,answer\n", b"PK\x03\x04 cut short"])
def test_what_is_no_workbook_is_named_as_such(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "book.xlsx"
    path.write_bytes(content)
    with pytest.raises(UsageError, match=r"book\.xlsx can't be opened as a workbook"):
        open_workbook(path)
