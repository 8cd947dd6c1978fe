"""What the columns of somebody's own table hold, by their names and by their cells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from statistics import median
from typing import Any

import regex

from mihakk.machinery.configs import load_yaml
from mihakk.machinery.settings import REFERENCE
from mihakk.machinery.text import key
from mihakk.machinery.text.digits import convert
from mihakk.scrapers.mapping import BREAK, Kind, field_of, listed
from mihakk.scrapers.tables import Row

VERSES = ("couplets", "hemistichs", "lines", "first", "second")
"""Fields that hold verse."""
LETTER = regex.compile(r"\p{L}")
WORD = regex.compile(r"[\p{L}\p{M}\N{ZERO WIDTH NON-JOINER}]+")
_ARABIC = regex.compile(r"\p{Script=Arabic}")
_PART = regex.compile(r"[\p{L}\p{M}\N{ZERO WIDTH NON-JOINER}]+|\d+")
_INTEGER = regex.compile(r"\s*\p{Nd}{1,9}(?:\.0)?\s*")


@cache
def column_words() -> dict[str, Any]:
    return load_yaml(REFERENCE / "column_words.yaml")  # type: ignore[no-any-return]


def plain(name: str) -> list[str]:
    """The words of a header as they are compared: no case, marks, article; `meaning_ar` is two words."""
    found = [key(word, "ar") for word in _PART.findall(convert(name, "western").casefold())]
    return [word.removeprefix("ال") if len(word) > 4 else word for word in found]


def guess_field(kind: Kind, name: str) -> str:
    """The field that a column's name speaks for; empty where it speaks for none or two."""
    if sure := field_of(kind, name):
        return sure
    held = plain(name)
    hits: dict[str, int] = {}
    for field_name, words in column_words()[kind].items():
        for word in words:
            parts = plain(str(word))
            if parts and any(held[at : at + len(parts)] == parts for at in range(len(held))):
                hits[field_name] = max(hits.get(field_name, 0), len(parts))
    best = [name for name, length in hits.items() if length == max(hits.values())]
    if len(best) > 1:  # `صدر البيت`, `شرح البيت`: what of the verse it is stands beside it
        best = [name for name in best if name != "hemistichs"]
    return best[0] if len(best) == 1 else ""


@dataclass
class Column:
    """What the cells of one column are like."""

    name: str
    values: list[str]
    nested: bool = False
    """Lists of lists, as of couplets."""

    @property
    def full(self) -> list[str]:
        return [value for value in self.values if value.strip()]

    @property
    def letters(self) -> float:
        return median([len(LETTER.findall(value)) for value in self.full] or [0])

    @property
    def words(self) -> float:
        return median([len(WORD.findall(value)) for value in self.full] or [0])

    @property
    def in_arabic_script(self) -> bool:
        """Half of its cells and more."""
        return sum(bool(_ARABIC.search(value)) for value in self.full) >= 0.5 * len(self.full)

    @property
    def holds_lines(self) -> bool:
        """Whole poems in plain lines."""
        many = sum("\n" in value.strip() for value in self.full) > 0.5 * len(self.full)
        return many and not self.nested

    @property
    def numbered(self) -> bool:
        return bool(self.full) and all(map(_INTEGER.fullmatch, self.full))

    @property
    def is_text(self) -> bool:
        distinct = len(set(self.full))
        return (
            self.letters >= 4
            and distinct >= 0.5 * len(self.full)
            and len(self.full) >= 0.5 * len(self.values)
        )


def columns_of(rows: Sequence[Row]) -> list[Column]:
    read = [row.fields for row in rows if row.problem is None]
    names = list(dict.fromkeys(name for fields in read for name in fields))
    return [
        Column(
            name,
            [cell_text(fields.get(name)) for fields in read],
            any(_is_nested(fields.get(name)) for fields in read),
        )
        for name in names
    ]


def _is_nested(value: Any) -> bool:
    value = listed(value) if isinstance(value, str) else value
    return isinstance(value, list) and any(isinstance(one, list | tuple) for one in value)


def cell_text(value: Any) -> str:
    if isinstance(value, str):
        found = listed(value)
        return cell_text(found) if isinstance(found, list) else BREAK.sub("\n", value)
    if isinstance(value, list | tuple):
        return "\n".join(cell_text(one) for one in value)
    return "" if value is None else str(value)


def doubt(kind: Kind, name: str, column: Column) -> tuple[bool, ...]:
    """What of several columns for one field is taken last: a word-for-word gloss, a transliteration or
    translation beside the Arabic script, a name that only holds the field's."""
    held = " ".join(plain(name))
    aside = any(" ".join(plain(str(word))) in held for word in column_words()["aside"])
    return aside, not column.in_arabic_script, not field_of(kind, name)


def may_be(field_name: str, column: Column) -> bool:
    """Whether the cells can be that field: verse and phrases hold letters, counts hold numbers."""
    if field_name in (*VERSES, "phrase", "explanation", "title", "poet"):
        return column.letters >= 1 and not column.numbered
    return field_name == "id" or column.words >= 3 or (bool(column.full) and field_name != "examples")
