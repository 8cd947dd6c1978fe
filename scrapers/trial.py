"""One file or page through its source before anything is built: what is read and what is left over."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from mihakk.machinery.errors import SourceChanged, UsageError
from mihakk.machinery.languages import languages
from mihakk.machinery.text.language import LanguageEvidence, language_evidence, name_of
from mihakk.schemas.benchmark import SourceUse
from mihakk.schemas.idiom import Idiom
from mihakk.schemas.poem import Poem
from mihakk.schemas.rejection import Rejection
from mihakk.scrapers.book import BookOptions, Line, Reading, read
from mihakk.scrapers.book_suggest import Suggestion, suggest
from mihakk.scrapers.hindawi import HindawiOptions, epub_lines
from mihakk.scrapers.language import evidence_of
from mihakk.scrapers.mapping import Kind, field_of
from mihakk.scrapers.openiti import OpenitiOptions, open_file, read_header
from mihakk.scrapers.raw import RawStore
from mihakk.scrapers.source import open_source
from mihakk.scrapers.tables import FORMATS, Layout, read_rows

_HEADER_BYTES = 1 << 16
_TEXTS = ("phrase", "couplets", "hemistichs", "lines", "first", "second")
"""Fields that hold the text itself."""
OTHER = {
    **dict.fromkeys((".xls", ".ods"), ".xlsx or .csv"),
    **dict.fromkeys(
        (".doc", ".docx", ".odt", ".rtf", ".pdf"),
        "plain text (UTF-8), or its entries as .csv",
    ),
}
"""Suffixes of files that people have and no source reads, and what to save them as."""


@dataclass
class Trial:
    """What a source made of one input."""

    use: SourceUse
    records: list[Poem | Idiom] = field(default_factory=list)
    rejections: list[Rejection] = field(default_factory=list)
    reading: Reading | None = None
    """Of a book: its entries, the evidence and what is left over."""
    problem: str = ""
    """Why a build would stop here; empty when it would not."""

    @property
    def language(self) -> str:
        """Languages of the records, and what their text shows."""
        named = ", ".join(sorted({record.language for record in self.records})) or "none"
        return f"{named}: {evidence_of(self.records)}"

    def reasons(self) -> list[tuple[str, list[str]]]:
        """Reason and details of the rejections, the most frequent first."""
        details: dict[str, list[str]] = {}
        for one in self.rejections:
            details.setdefault(one.reason, []).append(one.detail)
        return sorted(details.items(), key=lambda told: -len(told[1]))


def guess_use(target: str, options: dict[str, Any], source: str = "") -> SourceUse:
    """The source that reads a file or an address, with what must be said for it.

    Raises:
        UsageError: No source reads such a file or site, or the language of a table can't be told.
    """
    if target.startswith(("http://", "https://")):
        return _site(target, options, source)
    path = Path(target)
    suffix = path.suffix.lower()
    if source:
        return SourceUse(use=source, options={"path": target} | options)
    if suffix in FORMATS:
        return SourceUse(use="files", options={"path": target} | _table(path, options) | options)
    # Hindawi's EPUBs name author and title themselves; whoever credits another house's reads it as a book.
    if suffix == ".epub" and "attribution" not in options:
        return SourceUse(use="hindawi", options={"epub": [target]} | options)
    if suffix in (".gz", ".tgz", ".tar") or path.is_dir():
        return SourceUse(use="ganjoor", options={"export": target} | options)
    if suffix in OTHER:
        raise UsageError(f"{path}: no source reads {suffix} files: save it as {OTHER[suffix]}")
    # OpenITI's files have no suffix, or that of their annotation.
    given = {"attribution": path.stem} if not has_header(path) else {}
    return SourceUse(use="openiti", options={"path": target, "least_yield": 1} | given | options)


def has_header(path: Path) -> bool:
    """Whether a file begins as OpenITI's texts do, with who wrote what."""
    try:
        with path.open("rb") as file:
            start = file.read(_HEADER_BYTES).decode("utf-8-sig", errors="replace").replace("\r\n", "\n")
        return bool(read_header(start)[0])
    except OSError as error:
        raise UsageError(f"{path} can't be read: {error.strerror}") from error


def _table(path: Path, options: dict[str, Any]) -> dict[str, Any]:
    """What a table must say of itself: its kind by its first row, its language by the words of all rows.

    Raises:
        UsageError: The language can't be told, or is none that benchmarks are built of.
    """
    layout = Layout(options.get("encoding", "auto"), options.get("sheet", ""), options.get("header_row", 0))
    rows = (row.fields for row in read_rows(path, layout))
    row: Mapping[str, Any] = next(filter(None, rows), {})
    named = options.get("columns", {})
    poem, idiom = ({field_of(kind, name) for name in row} | set(named) for kind in ("poem", "idiom"))
    verses = poem & {"couplets", "hemistichs", "lines", "first", "poet"}
    kind: Kind = "idiom" if idiom & {"phrase", "explanation"} and not verses else "poem"
    language = options.get("language") or row.get("language")
    if not language:
        shown, beside = (
            {named.get(name, name) for name in fields}
            | {name for name in row if field_of(kind, name) in fields}
            for fields in (_TEXTS, ("explanation",))
        )
        found = LanguageEvidence()
        for each in chain([row], rows):
            found += language_evidence(
                " ".join(str(text) for name, text in each.items() if name in shown),
                *(str(text) for name, text in each.items() if name in beside),
            )
        if (language := found.language) not in languages("items"):
            raise UsageError(
                f"{path}: its language is {name_of(language) if language else 'not told'} ({found}): "
                "declare one of " + ", ".join(f"-o language={one}" for one in languages("items"))
            )
    return {"kind": kind, "language": language, "licence": "unknown"}


def _site(target: str, options: dict[str, Any], source: str) -> SourceUse:
    parts = urlsplit(target)
    base = f"{parts.scheme}://{parts.netloc}"
    host = parts.hostname or ""
    path = parts.path
    known: dict[str, dict[str, Any]] = {
        "ganjoor": {"read": "pages", "start": [path], "base": base},
        "aldiwan": {"read": "pages", "start": [path], "base": base},
        "hindawi": {"read": "pages", "books": [part for part in path.split("/") if part.isdigit()][:1]}
        | {"base": base},
    }
    hosts = {
        "ganjoor.net": "ganjoor",
        "aldiwan.net": "aldiwan",
        "hindawi.org": "hindawi",
        "safahat.org": "hindawi",
    }
    name = source or next((use for end, use in hosts.items() if host == end or host.endswith(f".{end}")), "")
    if name not in known:
        raise UsageError(
            f"no source reads pages of {host}: save the page or book and give the file, or name the source "
            f"with --source ({', '.join(known)})"
        )
    return SourceUse(use=name, options=known[name] | {"least_yield": 1} | options)


def attempt(use: SourceUse, raw: RawStore) -> Trial:
    """Runs a source to its end; an error of the source is noted, with all that came before it.

    Raises:
        UsageError: The options or the file are wrong.
    """
    trial = Trial(use)
    opened = open_source(use)
    try:
        if isinstance(opened.options, BookOptions) and (lines := book_of(opened.options)):
            trial.reading = read(lines, opened.options)
        for entry in opened.entries(raw):
            if isinstance(entry, Rejection):
                trial.rejections.append(entry)
            else:
                trial.records.append(entry)
    except SourceChanged as error:
        trial.problem = str(error)
    except UsageError as error:
        named = [str(one) for one in use.options.values() if isinstance(one, str) and one in str(error)]
        raise error if named else UsageError(f"{_target(use)}: {error}") from error
    return trial


def _target(use: SourceUse) -> str:
    """The file or address that a use reads."""
    named = next((use.options[name] for name in ("path", "epub", "export") if name in use.options), use.label)
    return str(named[0] if isinstance(named, list) else named)


def book_of(options: BookOptions) -> list[Line]:
    """The lines of the book that options name; none where they name pages to fetch or verse."""
    if isinstance(options, OpenitiOptions):
        return open_file(options).lines
    return epub_lines(options) if isinstance(options, HindawiOptions) else []


def suggestions(use: SourceUse) -> list[Suggestion]:
    """Declarations to edit for the book that a use names, the best first.

    Raises:
        UsageError: It names no book.
    """
    options = open_source(use).options
    lines = book_of(options) if isinstance(options, BookOptions) else []
    if not lines:
        raise UsageError("a declaration is suggested for a book: a text, a saved page or an EPUB")
    return suggest(lines)
