"""EPUB files opened without trust: no bomb is unpacked, no entity expanded, nothing written to disk."""

from __future__ import annotations

import io
import posixpath
import zipfile
import zlib
from contextlib import suppress
from dataclasses import dataclass
from html.entities import name2codepoint
from urllib.parse import unquote
from xml.etree.ElementTree import Element, ParseError, XMLParser
from xml.parsers import expat

from mihakk.machinery.errors import SourceChanged

_MOST_FILES = 5_000
_MOST_FILE_BYTES = 64 << 20
_MOST_TOTAL_BYTES = 512 << 20
_MOST_RATIO = 300
"""Packed text shrinks some tenfold; a thousandfold is a bomb."""
_NAMED = {name: chr(code) for name, code in name2codepoint.items()}
"""XHTML's own names of characters, which older books use without declaring them."""
_OPF = "{http://www.idpf.org/2007/opf}"
_DC = "{http://purl.org/dc/elements/1.1/}"
_CONTAINER = "{urn:oasis:names:tc:opendocument:xmlns:container}"


@dataclass(frozen=True)
class Chapter:
    """One document of the spine."""

    name: str
    """Path in the archive."""
    data: bytes


@dataclass(frozen=True)
class Book:
    """What an EPUB says of itself, and its documents in reading order."""

    title: str
    author: str
    language: str
    chapters: tuple[Chapter, ...]


class _RootMet(Exception):
    """The root element begins: nothing can be declared any more."""


def _met(*_: object) -> None:
    raise _RootMet


def parse_xml(data: bytes, where: str) -> Element:
    """The root element of an XML document that declares no entities.

    Raises:
        SourceChanged: Not well-formed, or it declares entities, which no book needs and bombs are made of.
    """
    try:
        _refuse_entities(data, where)
        parser = XMLParser()  # nosec B314 # entities are refused above
        parser.entity.update(_NAMED)
        parser.feed(data)
        root: Element = parser.close()
    except (expat.ExpatError, ParseError) as error:
        raise SourceChanged(f"{where} is not well-formed XML: {error}") from error
    return root


def _refuse_entities(data: bytes, where: str) -> None:
    """Reads what stands before the root element; the tree's own parser would expand what it declares."""
    prolog = expat.ParserCreate()

    def entity(declared: str, *_: object) -> None:
        raise SourceChanged(f"{where} declares the entity {declared!r}: refused")

    prolog.EntityDeclHandler = entity
    prolog.StartElementHandler = _met
    with suppress(_RootMet):
        prolog.Parse(data, True)


def open_book(data: bytes, where: str) -> Book:
    """An EPUB's documents in the order of its spine.

    Raises:
        SourceChanged: Not an EPUB, damaged, or one that unpacks to more than any book.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            _check(archive, where)
            return _read(archive, where)
    except (
        zipfile.BadZipFile,
        zipfile.LargeZipFile,
        zlib.error,
        ValueError,
        NotImplementedError,
        EOFError,
    ) as error:
        raise SourceChanged(f"{where} is not a readable EPUB ({error}): fetch it again") from error


def _check(archive: zipfile.ZipFile, where: str) -> None:
    infos = archive.infolist()
    if len(infos) > _MOST_FILES:
        raise SourceChanged(f"{where} holds {len(infos)} files; no book has more than {_MOST_FILES}")
    total = sum(info.file_size for info in infos)
    if total > _MOST_TOTAL_BYTES:
        raise SourceChanged(f"{where} unpacks to {total >> 20} MB: refused")
    for info in infos:
        if info.flag_bits & 1:
            raise SourceChanged(f"{where}: {info.filename} is encrypted")
        if info.file_size > 1 << 20 and info.file_size > _MOST_RATIO * max(info.compress_size, 1):
            raise SourceChanged(f"{where}: {info.filename} unpacks {_MOST_RATIO}-fold or more: refused")


def _member(archive: zipfile.ZipFile, name: str, where: str) -> bytes:
    """A file's bytes, counted while they are unpacked, because its own header may lie."""
    try:
        with archive.open(name) as stream:
            data = stream.read(_MOST_FILE_BYTES + 1)
    except KeyError:
        raise SourceChanged(f"{where} has no {name}") from None
    if len(data) > _MOST_FILE_BYTES:
        raise SourceChanged(f"{where}: {name} unpacks to more than {_MOST_FILE_BYTES >> 20} MB: refused")
    return data


def _read(archive: zipfile.ZipFile, where: str) -> Book:
    if _member(archive, "mimetype", where).strip() != b"application/epub+zip":
        raise SourceChanged(f"{where} does not say that it is an EPUB")
    container = parse_xml(_member(archive, "META-INF/container.xml", where), f"{where}, container.xml")
    rootfile = container.find(f".//{_CONTAINER}rootfile")
    if rootfile is None:
        raise SourceChanged(f"{where}: container.xml names no package file")
    package_name = rootfile.attrib["full-path"]
    package = parse_xml(_member(archive, package_name, where), f"{where}, {package_name}")
    folder = posixpath.dirname(package_name)
    items = {item.attrib["id"]: item.attrib["href"] for item in package.iter(f"{_OPF}item")}
    chapters = []
    for reference in package.iter(f"{_OPF}itemref"):
        href = items.get(reference.attrib["idref"])
        if href is None:
            raise SourceChanged(
                f"{where}: the spine names {reference.attrib['idref']!r}, the manifest does not"
            )
        path = posixpath.normpath(posixpath.join(folder, unquote(href)))
        chapters.append(Chapter(path, _member(archive, path, where)))
    return Book(
        title=_said(package, "title"),
        author=_said(package, "creator"),
        language=_said(package, "language"),
        chapters=tuple(chapters),
    )


def _said(package: Element, name: str) -> str:
    found = package.find(f".//{_DC}{name}")
    return (found.text or "").strip() if found is not None else ""
