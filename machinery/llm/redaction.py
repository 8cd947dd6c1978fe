"""Keeps a key out of everything that a server sends back: plain, escaped, encoded or in pieces.

The forms that a key can take are made once; a text is searched for pieces of them without its separators and
in lower case. Linear in the text. What the search does not find is listed in docs/security.md.
"""

from __future__ import annotations

import base64
import html
import json
import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterator
from math import ceil
from typing import Any, Final
from urllib.parse import quote

import orjson

STARS: Final = "***"
WITHHELD: Final = "(withheld: it repeats the key)"
PIECE: Final = 6
"""Letters and digits of the key in a row that count as a piece of it."""
ENOUGH: Final = 12
"""Letters and digits of the key, in pieces, that are too many to keep; all of a shorter key's."""
SHORTEST: Final = 8
"""Letters and digits a key must have: words like `EMPTY` can't be told from other text in other forms."""
ROUNDS: Final = 3
"""Escapes within each other that are undone."""

_OTHERS = re.compile(r"[^0-9a-z]+")
_CODE = re.compile(r"(?:\\[ux]\{?|%u?|=|0x|U\+)0{0,6}([0-9a-f]{2})(?![0-9a-f]{7})\}?", re.IGNORECASE)
_OCTAL = re.compile(r"\\([0-3][0-7]{2})")
_CONTROL = re.compile(r"\\[bfnrtv]|=\r?\n")


class Redaction:
    """Takes one key out of texts; an empty one, or one of up to three characters, is not looked for."""

    def __init__(self, key: str) -> None:
        self._key = key if len(key) > 3 else ""
        core = _bare(self._key)
        self._forms = sorted(set(_forms(self._key))) if len(core) >= SHORTEST else []
        self._scale = [len(form) / len(core) for form in self._forms]
        self._enough = min(ENOUGH, len(core))
        self._places: dict[str, list[tuple[int, int]]] = defaultdict(list)
        """The first letters of a piece -> forms that have it, and where."""
        for number, form in enumerate(self._forms):
            for place in range(len(form) - PIECE + 1):
                self._places[form[place : place + PIECE]].append((number, place))

    def clean(self, text: str) -> str:
        """The text with three stars for the key, or a remark in its place if it holds another form of it."""
        return self.clean_all(text)[0]

    def clean_all(self, *texts: str) -> tuple[str, ...]:
        """Texts of one reply; as `clean`, and where they hold the key together, all with a piece of it."""
        if not self._key:
            return texts
        kept = tuple(text.replace(self._key, STARS) for text in texts)
        if not self._is_in(" ".join(kept)) and not any(map(self._is_in, kept)):
            return kept
        return tuple(WITHHELD if self._is_in(text, PIECE) else text for text in kept)

    def _is_in(self, text: str, enough: int | None = None) -> bool:
        """Whether a text holds so many letters and digits of the key, `ENOUGH` unless told."""
        if not self._forms:
            return False
        plain = text if text.isascii() else unicodedata.normalize("NFKC", text)
        views = dict.fromkeys((plain, *_fields(plain)))
        new = list(views)
        for _ in range(ROUNDS):
            new = [view for view in map(_unescaped, new) if view not in views]
            views.update(dict.fromkeys(new))
        return any(self._has_pieces(_bare(view), enough or self._enough) for view in views)

    def _has_pieces(self, bare: str, enough: int) -> bool:
        """Whether pieces of one form make up so much of the key."""
        found: dict[int, set[int]] = defaultdict(set)
        for start in range(len(bare) - PIECE + 1):
            for number, place in self._places.get(bare[start : start + PIECE], ()):
                form, scale = self._forms[number], self._scale[number]
                size = ceil(PIECE * scale)
                if bare[start : start + size] == form[place : place + size]:
                    found[number].update(range(place, min(place + size, len(form))))
                    if len(found[number]) >= min(len(form), ceil(enough * scale)):
                        return True
        return False


def _bare(text: str) -> str:
    return _OTHERS.sub("", text.lower())


def _forms(key: str) -> Iterator[str]:
    """What is left of the key without separators, encoded once or twice and forwards or backwards."""
    for written in _written(key):
        raw = written.encode()
        for form in (written, raw.hex(), base64.b32encode(raw).decode().rstrip("="), *_base64(raw)):
            yield _bare(form)
            yield _bare(form)[::-1]
        for base in ("d", "o", "03o", "08b"):
            yield "".join(format(byte, base) for byte in raw)


def _written(key: str) -> Iterator[str]:
    """The key as it may stand inside a text that is then encoded as a whole."""
    raw = key.encode()
    yield key
    yield key[::-1]
    yield raw.hex()
    yield raw.hex().upper()
    yield from _base64(raw)
    yield quote(key, safe="")
    yield html.escape(key)
    yield json.dumps(key)[1:-1].replace("/", "\\/")
    yield "".join(f"\\u{letter:04x}" for letter in raw)
    yield "".join(f"%{letter:02X}" for letter in raw)
    yield "".join(f"&#{letter};" for letter in raw)


def _base64(raw: bytes) -> Iterator[str]:
    """Base64 at the three alignments: the characters that the bytes before and after don't change."""
    for shift in range(3):
        encoded = base64.b64encode(bytes(shift) + raw).decode()
        yield encoded[ceil(shift * 8 / 6) : (shift + len(raw)) * 8 // 6]


def _fields(text: str) -> Iterator[str]:
    """Names and values of a JSON text, each in a row."""
    try:
        value = orjson.loads(text)
    except ValueError:
        return
    names: list[str] = []
    values: list[str] = []
    open_nodes: list[Any] = [value]
    while open_nodes:
        node = open_nodes.pop()
        if isinstance(node, dict):
            names.extend(node)
            node = list(node.values())
        if isinstance(node, list):
            open_nodes.extend(reversed(node))
        elif node is not None:
            values.append(str(node))
    yield "".join(names)
    yield "".join(values)


def _unescaped(text: str) -> str:
    """The text with its escapes undone; only to be searched, as `=` and `%` may stand for themselves."""
    plain = _CONTROL.sub(" ", html.unescape(text))
    plain = _CODE.sub(lambda match: chr(int(match[1], 16)), plain)
    return _OCTAL.sub(lambda match: chr(int(match[1], 8)), plain)
