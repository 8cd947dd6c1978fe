"""Bytes to text, and text that was decoded wrongly back to what it was."""

import codecs
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Final, NamedTuple

from mihakk.machinery.text import codepoints as cp


class Decoded(NamedTuple):
    """Text and the encoding it was read with."""

    text: str
    encoding: str
    """Python's name of the codec: `utf-8`, `cp1256`, ..."""
    reason: str
    """What decided: `bom`, `header`, `meta`, `strict` (it is valid UTF-8) or `fallback`."""


class Repair(NamedTuple):
    """Text read with the wrong encoding, read again with the right one."""

    text: str
    steps: tuple[str, ...]
    """`written as utf-8, read as cp1256`, one for each time it was read wrongly."""


# --- decoding -----------------------------------------------------------------------------------------
_BOMS: Final = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_DECLARED: Final = re.compile(
    rb"""<meta[^>]{0,200}?charset\s*+=\s*+["']?\s*+([\w.:-]+)|<\?xml[^>]{0,200}?encoding\s*=\s*["']([\w.:-]+)""",
    re.I,
)
_LABEL: Final = re.compile(r"""\s*["']?([\w.:-]+)["']?\s*""", re.ASCII)
_HEAD: Final = 4096
# Labels for encodings with no undefined bytes, or nearly none: they decode anything, and so prove nothing.
_SINGLE_BYTE: Final = {"cp1256", "cp1252", "iso8859-1", "ascii", "iso8859-6"}
_WESTERN: Final = {"cp1252", "iso8859-1", "ascii"}
_WIDE: Final = ("utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be")
_WRITE_ARABIC: Final = ("cp1256", "iso8859-6", "cp720", "cp864", "mac_arabic", "mac_farsi", "gb18030")


def decode(raw: bytes, *, header_charset: str | None = None) -> Decoded:
    """The text of `raw` by its byte order mark, the HTTP header, its own meta or XML declaration, strict
    UTF-8 or Windows-1256, the first that fits.

    A declaration that does not fit is passed over: an unknown name, bytes it cannot decode, a one-byte
    encoding declared for valid UTF-8, a Western one for what reads as Arabic in Windows-1256. Never raises.
    """
    for bom, encoding in _BOMS:
        if raw.startswith(bom):
            text = _strict(raw[len(bom) :], encoding)
            if text is not None:
                return Decoded(text, encoding, "bom")
    utf8 = _strict(raw, "utf-8")
    for label, reason in ((header_charset, "header"), (declared(raw), "meta")):
        encoding = _codec(label)
        if encoding in _SINGLE_BYTE and utf8 is not None and not raw.isascii():
            continue
        text = utf8 if encoding == "utf-8" else _strict(raw, encoding)
        if text is not None and not (encoding in _WESTERN and _reads_as_arabic(raw, text)):
            return Decoded(text, encoding, reason)
    if utf8 is not None:
        return Decoded(utf8, "utf-8", "strict")
    return Decoded(raw.decode("cp1256"), "cp1256", "fallback")


def _strict(raw: bytes, encoding: str) -> str | None:
    try:
        return raw.decode(encoding) if encoding else None
    except (UnicodeError, LookupError):  # LookupError: a codec that is not of text, such as base64
        return None


def decodings(raw: bytes) -> list[str]:
    """Every text that these bytes may be, for a search that nothing may hide from; UTF-8 comes first.

    What they declare is one more reading, never the only one. Bytes that are no UTF-8 are read by every
    encoding that can write Arabic too. Never raises.
    """
    names = dict.fromkeys(("utf-8", *(_codec(one) for one in _all_declared(raw))))
    if _strict(raw, "utf-8") is None:
        names |= dict.fromkeys((*_WIDE, *_WRITE_ARABIC))
    elif b"\0" in raw or b"\6" in raw:  # as UTF-16 and UTF-32 have spaces and Arabic letters
        names |= dict.fromkeys(_WIDE)
    found: dict[str, None] = {}
    for name in names:
        with suppress(UnicodeError, LookupError):
            found[raw.decode(name, "replace")] = None
    return list(found)


def _all_declared(raw: bytes) -> set[str]:
    labels = ((found[1] or found[2]).decode("ascii", "replace") for found in _DECLARED.finditer(raw))
    # The two that take time by the square of the length are no encodings of files.
    return {label for label in labels if _codec(label) not in ("", "idna", "punycode")}


def declared(raw: bytes) -> str | None:
    """The encoding that a page's meta element or XML declaration names, as it is written there."""
    found = _DECLARED.search(raw[:_HEAD])
    return (found[1] or found[2]).decode("ascii", "replace") if found else None


def _codec(label: str | None) -> str:
    """Python's name for a charset label, empty for none or an unknown one."""
    found = _LABEL.fullmatch(label) if label else None
    try:
        name = codecs.lookup(found[1]).name if found else ""
    except LookupError:
        return ""
    # Web pages that say Latin-1 or ASCII mean its superset.
    return {"utf-8-sig": "utf-8", "iso8859-1": "cp1252", "ascii": "cp1252"}.get(name, name)


def _reads_as_arabic(raw: bytes, western: str) -> bool:
    return common_share(raw.decode("cp1256")) > common_share(western) + _GAIN


# --- repair ---------------------------------------------------------------------------------------------
# The letters that make up most of any Arabic or Persian text; ط and ظ, which mojibake is full of, are rare.
COMMON: Final = frozenset("اليمونرتبةعدسفهكقأحیکجشخزپگچ")
_GAIN: Final = 0.2
_ARABIC: Final = re.compile("[\u0600-\u06ff]")
"""What no Western encoding has: a text that holds it was not read with one."""
_MOST_TIMES: Final = 2
_NEVER_UTF8: Final = re.compile("[\u0621-\u063a\u0641-\u064a]{2}")
"""Two Arabic letters in a row: their Windows-1256 bytes both begin a UTF-8 sequence, so no text written as
UTF-8 was read so. It settles nearly every text, before anything is encoded."""


def common_share(text: str) -> float:
    """The part of the letters and symbols of `text` that are common letters of Arabic or Persian, 0 to 1.

    White space, marks, digits and ASCII punctuation are not counted.
    """
    seen = [
        c for c in text if c not in cp.MARKS and not (c.isascii() and not c.isalpha()) and not c.isspace()
    ]
    return sum(c in COMMON for c in seen) / len(seen) if seen else 0.0


def _cp1252_bytes(text: str) -> bytes:
    """Windows-1252 as browsers have it: bytes it leaves undefined are the C1 controls."""
    return b"".join(c.encode("latin-1") if "\x80" <= c <= "\x9f" else c.encode("cp1252") for c in text)


def _cp1252_text(raw: bytes) -> str:
    return "".join(
        chr(b) if b in (0x81, 0x8D, 0x8F, 0x90, 0x9D) else bytes([b]).decode("cp1252") for b in raw
    )


_Encode = Callable[[str], bytes]
_Decode = Callable[[bytes], str]
# (read as, written as): what turned the right text into the wrong one.
_MISREADINGS: Final[tuple[tuple[str, str, _Encode, _Decode], ...]] = tuple(
    (read, written, encode, decode_)
    for written in ("utf-8", "cp1256")
    for read, encode, decode_ in (
        ("cp1256", lambda text: text.encode("cp1256"), lambda raw: raw.decode("cp1256")),
        ("latin-1", lambda text: text.encode("latin-1"), lambda raw: raw.decode("latin-1")),
        ("cp1252", _cp1252_bytes, _cp1252_text),
    )
    if read != written
)


def repair_mojibake(text: str) -> Repair | None:
    """`text` as it was before it was read with the wrong encoding, or None where that cannot be shown.

    A repair must give back exactly `text` when the mistake is made again, and must raise `common_share`.
    """
    if text.isascii() or _NEVER_UTF8.search(text):
        return None
    readings = [Repair(text, ())]
    for _ in range(_MOST_TIMES):
        readings = [again for reading in readings for again in _read_again(reading)]
        best = max(readings, key=lambda reading: common_share(reading.text), default=None)
        if best is None or common_share(best.text) >= common_share(text) + _GAIN:
            return best
    return None


def _read_again(reading: Repair) -> Iterator[Repair]:
    """The texts `reading` may have been, each one that strictly gives it back."""
    western = not _ARABIC.search(reading.text)
    for read, written, encode, decode_ in _MISREADINGS:
        if not western and read != "cp1256":
            continue
        try:
            text = encode(reading.text).decode(written)
            if text != reading.text and decode_(text.encode(written)) == reading.text:
                yield Repair(text, (*reading.steps, f"written as {written}, read as {read}"))
        except UnicodeError:
            continue
