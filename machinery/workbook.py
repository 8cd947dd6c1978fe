"""Opening .xlsx files from anywhere: archives of XML, weighed before they are unpacked."""

from __future__ import annotations

import io
import re
import zipfile
from pathlib import Path
from typing import IO, Any

from mihakk.machinery.errors import UsageError

MOST_BYTES = 1 << 30
"""Unpacked; a sheet of a million rows has some hundred MB."""
MOST_FILES = 10_000
MOST_RATIO = 500
"""Sheets of equal rows shrink a hundredfold; a bomb a thousandfold."""
_SMALL = 1 << 20
_PROPERTIES = "docProps/core.xml"
_MODIFIED = re.compile(rb"(<dcterms:modified[^<>]*>)[^<]*")
DAMAGED_ARCHIVE = zipfile.BadZipFile
"""Raised while the rows of a damaged workbook are read."""


def open_workbook(path: Path | str, *, read_only: bool = True) -> Any:
    """The workbook as openpyxl gives it, with values in place of formulas when it is only read.

    Raises:
        UsageError: openpyxl is missing, or the file is no workbook, damaged, locked or made to exhaust the
            machine. XML that declares entities is refused (by defusedxml, which the extra `excel` brings).
    """
    try:
        import defusedxml  # noqa: F401 - openpyxl uses it where it is there
        import openpyxl
    except ImportError as error:
        raise UsageError(f"{path}: reading workbooks needs `pip install mihakk[excel]`") from error
    _weigh(Path(path))
    try:
        return openpyxl.load_workbook(path, read_only=read_only, data_only=read_only)
    except Exception as error:  # openpyxl raises whatever zipfile, the XML parser and it itself come across
        raise UsageError(
            f"{path} can't be opened as a workbook ({error}): fetch it again, or save it as .xlsx"
        ) from error


def _weigh(path: Path) -> None:
    """Refuse what unpacks to more than any table: openpyxl itself would read it all."""
    try:
        with zipfile.ZipFile(path) as archive:
            infos = archive.infolist()
    except (zipfile.BadZipFile, OSError, NotImplementedError) as error:
        raise UsageError(
            f"{path} can't be opened as a workbook ({error}): fetch it again, or save it as .xlsx"
        ) from error
    total = sum(info.file_size for info in infos)
    if len(infos) > MOST_FILES or total > MOST_BYTES:
        raise UsageError(
            f"{path} unpacks to {len(infos)} files of {total >> 20} MB, more than any workbook of a "
            "benchmark; save the sheet as CSV if it is real"
        )
    for info in infos:
        if info.flag_bits & 1:
            raise UsageError(f"{path} is locked by a password: save it without one")
        if info.file_size > _SMALL and info.file_size > MOST_RATIO * max(1, info.compress_size):
            raise UsageError(
                f"{path}: {info.filename} unpacks {MOST_RATIO}-fold or more: refused as a decompression bomb"
            )


def save_workbook(book: Any, path: Path | IO[bytes]) -> None:
    """Saves a workbook whose bytes depend on nothing but its content: openpyxl writes the time into it."""
    changed = book.properties.created
    saved = io.BytesIO()
    book.save(saved)
    with zipfile.ZipFile(saved) as archive:
        parts = {info.filename: archive.read(info) for info in archive.infolist()}
    core = parts.get(_PROPERTIES, b"")
    stamp = f"{changed:%Y-%m-%dT%H:%M:%SZ}".encode() if changed else b"1980-01-01T00:00:00Z"
    parts[_PROPERTIES] = _MODIFIED.sub(rb"\g<1>" + stamp, core)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in parts.items():
            archive.writestr(zipfile.ZipInfo(name), data, zipfile.ZIP_DEFLATED)
