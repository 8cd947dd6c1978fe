"""Explanations verse by verse: numbered paragraphs, or Fann or Flop's JSON.

A piece belongs to the verse it quotes, else to the one whose number it bears, not to the one at its place: a
reply that skips or splits a verse would be misread from there on.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

from mihakk.evaluation.reading.labels import clean
from mihakk.evaluation.reading.reading import UNREAD, Reading
from mihakk.machinery.text import key
from mihakk.machinery.text.reasoning import without_reasoning

RULES: Final = {"json": "json/1", "numbered": "numbered/1"}
LEAST_ALIKE: Final = 80.0
"""Similarity of folded letters (0-100) from which a quoted line is a verse of the poem."""
_LEAST_HALF: Final = 0.4
"""Share of a verse's letters from which a quoted part of it is that verse: a hemistich."""

_ORDINALS: Final = [
    names.split()
    for names in (
        "الأول الاول اول یکم first",
        "الثاني دوم second",
        "الثالث سوم third",
        "الرابع چهارم fourth",
        "الخامس پنجم fifth",
        "السادس ششم sixth",
        "السابع هفتم seventh",
        "الثامن هشتم eighth",
        "التاسع نهم ninth",
        "العاشر دهم tenth",
    )
]
_NUMBER_OF: Final = {name: number for number, names in enumerate(_ORDINALS, 1) for name in names}
_VERSE_WORD: Final = r"(?:البيت|بيت|بیت|البيتُ|مصرع|verse|couplet|line)"
_HEAD: Final = re.compile(
    rf"^[\s>#*_\-•]*(?P<word>{_VERSE_WORD}\s+)?(?:رقم\s+|شمارهٔ?\s+|no\.?\s*)?"
    rf"[(\[]?(?P<number>\d{{1,3}}|{'|'.join(sorted(_NUMBER_OF, key=len, reverse=True))})(?!\w)"
    r"(?P<closed>[)\]])?\s*+[*_]*+\s*+(?P<mark>[).:\-–—ـ،])?\s*+[*_]*+\s*+(?P<rest>.*)$",
    re.IGNORECASE,
)
_OVERALL: Final = re.compile(
    r"^[\s>#*_\-•]*+(?:ال)?(?:شرح|معنى|معنای?|تفسير|تفسیر|خلاصة|خلاصهٔ?|توضیح|overall|summary|the poem)?\s*+"
    r"(?:العام|عام|کلی|القصيدة|قصيدة|کل شعر|شعر|خلاصة|الخلاصة|as a whole|overall|summary)\b"
    r"[^\n]{0,40}?(?:[:：]|$)",
    re.IGNORECASE,
)
_FENCE: Final = re.compile(r"^\s*```[a-z]*\s*|(?:(?<!\s)\s++)?```\s*+$")


class Piece(NamedTuple):
    """One explanation as the reply gives it."""

    verse: str
    """The verse it quotes; empty where it quotes none."""
    number: int | None
    text: str


def read_verses(reply: str, verses: Sequence[str]) -> Reading:
    """The explanation of each verse, None where there is none.

    Args:
        reply: Numbered explanations, or JSON with `verse` and `explanation`.
        verses: The poem's verses in order; both hemistichs may stand on lines of their own.
    """
    spoken = without_reasoning(reply)
    text = clean(spoken.text).strip()
    notes = ("thought_cut",) if spoken.cut else ()
    pieces, overall = json_pieces(text)
    rule = "json"
    if not pieces:
        pieces, overall = _numbered(text)
        rule = "numbered"
    explanations, more = _aligned(pieces, verses)
    if not any(explanations):
        return UNREAD._replace(notes=(*notes, *more))
    return Reading(
        overall,
        rule=RULES[rule],
        notes=(*notes, *more),
        verses=explanations,
        format_ok=None not in explanations and not more,
    )


def json_pieces(text: str) -> tuple[list[Piece], str]:
    """The entries of a JSON reply in order, with the explanation of the whole poem.

    JSON that does not parse as a whole (the paper's own example does not) is read object by object.
    """
    text = _FENCE.sub("", text.strip())
    if "{" not in text:
        return [], ""
    decoder = json.JSONDecoder(strict=False)
    pieces: list[Piece] = []
    overall = ""
    for value in _objects(text, decoder):
        pieces += [piece for entry in _entries(value) if (piece := _piece(entry))]
        if not _piece(value):
            overall = overall or _words(value, "explanation", "complete_explanation", "overall")
    if not overall and (found := re.search(r'"explanation"\s*:\s*(?=")', text)):
        head = text[: found.start()]
        if '"verse"' not in head:
            try:
                overall = str(decoder.raw_decode(text, found.end())[0])
            except (ValueError, RecursionError):
                overall = ""
    return pieces, overall.strip()


def _objects(text: str, decoder: Any) -> Iterator[dict[str, Any]]:
    """Every outermost JSON object that parses."""
    place = text.find("{")
    while place >= 0:
        try:
            value, end = decoder.raw_decode(text, place)
        except ValueError:  # no object, or a number of too many digits
            end = place + 1
        except RecursionError:  # nested deeper than any answer
            return
        else:
            yield value
        place = text.find("{", end)


def _entries(value: Any) -> Iterator[dict[str, Any]]:
    """The objects inside a value, itself included, that hold an explanation."""
    if isinstance(value, dict):
        if "explanation" in value:
            yield value
        for inner in value.values():
            yield from _entries(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _entries(inner)


def _piece(entry: dict[str, Any]) -> Piece | None:
    """One verse's entry; None for the poem's."""
    quoted = _words(entry, "verse", "couplet")
    number = next((entry[name] for name in ("verse_number", "number", "index") if name in entry), None)
    if isinstance(number, str) and number.isdecimal():
        number = int(number)
    if not quoted and not isinstance(number, int):
        return None
    return Piece(quoted, number if isinstance(number, int) else None, _words(entry, "explanation"))


def _words(entry: dict[str, Any], *names: str) -> str:
    return next((entry[name].strip() for name in names if isinstance(entry.get(name), str)), "")


def _numbered(text: str) -> tuple[list[Piece], str]:
    """The numbered paragraphs of a reply, and what follows them."""
    heads: list[tuple[int, list[str]]] = []
    overall: list[str] | None = None
    for line in text.splitlines():
        head = _HEAD.match(line)
        if head and (head["word"] or head["closed"] or head["mark"]):
            number = head["number"]
            place = int(number) if number.isdecimal() else _NUMBER_OF[number.lower()]
            heads.append((place, [head["rest"]]))
            overall = None
        elif overall is not None:
            overall.append(line)
        elif heads and _OVERALL.match(line):
            overall = [line]
        elif heads:
            heads[-1][1].append(line)
    pieces = [(number, _paragraphs("\n".join(lines))) for number, lines in heads]
    if pieces and overall is None:
        number, last = pieces[-1]
        most = max((len(paragraphs) for _, paragraphs in pieces[:-1]), default=len(last))
        pieces[-1] = (number, last[: max(1, most)])
        overall = last[max(1, most) :]
    return [Piece("", number, "\n".join(told)) for number, told in pieces], "\n".join(overall or []).strip()


def _paragraphs(text: str) -> list[str]:
    return [one.strip() for one in re.split(r"\n\s*\n", text) if one.strip()]


def _aligned(
    pieces: Sequence[Piece], verses: Sequence[str]
) -> tuple[tuple[str | None, ...], tuple[str, ...]]:
    """An explanation per verse, and what had to be allowed for."""
    keys = [key(verse, "ar") for verse in verses]
    found: list[list[str]] = [[] for _ in verses]
    by_number: dict[int, str] = {}
    notes = set()
    for piece in pieces:
        quoted, text = _quotation(piece, keys)
        if not text:
            continue
        if quoted is not None:
            found[quoted].append(text)
        elif piece.number is None or not 1 <= piece.number <= len(verses):
            notes.add("extra_verses")
        elif piece.number in by_number:
            notes.add("repeated_number")
        else:
            by_number[piece.number] = text
    for number, text in by_number.items():
        if not found[number - 1]:
            found[number - 1].append(text)
    return tuple("\n".join(told) or None for told in found), tuple(sorted(notes))


def _quotation(piece: Piece, keys: Sequence[str]) -> tuple[int | None, str]:
    """The verse a piece quotes, by field or in its first line, and its explanation without the quotation."""
    if piece.verse:
        return _verse_of(piece.verse, keys), piece.text
    lines = [line for line in piece.text.splitlines() if line.strip()]
    for size in (2, 1):
        if len(lines) >= size and (place := _verse_of(" ".join(lines[:size]), keys, whole=True)) is not None:
            return place, "\n".join(lines[size:]).strip()
    first, mark, rest = (lines[0] if lines else "").partition(":")
    if mark and (place := _verse_of(first, keys, whole=True)) is not None:
        return place, "\n".join([rest, *lines[1:]]).strip()
    return None, piece.text.strip()


def _verse_of(text: str, keys: Sequence[str], *, whole: bool = False) -> int | None:
    """The verse that a text is, nearly, or (unless `whole`) a good part of."""
    from rapidfuzz import fuzz

    folded = key(text, "ar")
    if not folded:
        return None
    if folded in keys:
        return keys.index(folded)
    if not whole:
        parts = [
            place for place, one in enumerate(keys) if folded in one and len(folded) >= _LEAST_HALF * len(one)
        ]
        if len(parts) == 1:
            return parts[0]
    alike = sorted(((fuzz.ratio(folded, one), -place) for place, one in enumerate(keys)), reverse=True)
    if alike and alike[0][0] >= LEAST_ALIKE and (len(alike) == 1 or alike[1][0] < alike[0][0]):
        return -alike[0][1]
    return None
