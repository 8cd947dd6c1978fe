"""Lines among verses that are not verse: notes, headings, separators, prose, markup, odd halves."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Final

from mihakk.curation.normalization import remove
from mihakk.machinery.errors import RecordRejected
from mihakk.machinery.languages import pack
from mihakk.machinery.text import arabic_share, key, poem_rhyme, words
from mihakk.machinery.text import codepoints as cp
from mihakk.machinery.text.notes import BRACKETED, FOOTNOTE, HEADING, HEADING_WORDS, NOTE, NUMBERED, is_dated
from mihakk.schemas.poem import Couplet, Poem
from mihakk.schemas.record import Form, Language
from mihakk.schemas.rejection import Rejection

MOST_WORDS: Final = 16
"""Words of a hemistich beyond which it is prose; 47,124 Arabic couplets have 10 at most, Hafez 14."""
PROSE_WORDS: Final = 20
"""Median words of a paragraph from which a text of paragraphs alone is prose and not free verse."""
VERSE_SHARE: Final = 2 / 3
"""Share of couplets from which a lone line is a lost half or a heading, not a free-standing verse."""
COUNT_SLACK: Final = (1, 0.05)
"""Couplets, and share of the declared number, by which a poem may miss what its source declares."""

_MARKUP: Final = re.compile(r"</?[a-zA-Z!][^<>]*>?|&(?:[a-zA-Z]{2,8}|#\d{2,6}|#x[0-9a-fA-F]{2,6});")
_LINK: Final = re.compile(r"https?://|www\.|@\w+\.")
_LATIN: Final = re.compile(r"[A-Za-z\u00c0-\u024f]")
_REFRAINS: Final = """
    لازمة، اللازمة، لازمه، كورس، الكورس، قفل، القفل، دور، الدور، ترجيع، بند، بند ترجيع، برگردان،
    ترجیع، بند ترجیع، مکرر، مكرر، تكرار، تکرار، إلخ، الخ، الى آخره، إلى آخره
"""
REFRAIN_MARKERS: Final = frozenset(
    key(word, language) for word in _REFRAINS.split("،") for language in ("ar", "fa")
)

_DIGIT: Final = "[0-9٠-٩۰-۹]"
_LETTER: Final = f"[{cp.LETTERS}{cp.MARKS}]"
KINDS: Final[dict[str, tuple[re.Pattern[str], str]]] = {
    "footnote_mark": (
        re.compile(rf"(?<={_LETTER}{_LETTER})\s?(?:\[{_DIGIT}{{1,3}}\]|\({_DIGIT}{{1,3}}\)|[¹²³⁰-⁹]+|\*+$)"),
        "",
    ),
    "footnote_digit": (re.compile(rf"(?<={_LETTER}{_LETTER}){_DIGIT}{{1,3}}(?!{_DIGIT}|{_LETTER})"), ""),
    "verse_number": (re.compile(rf"^\s*[\[(]?{_DIGIT}{{1,4}}\s*(?:[\])]|[-–—.:_])+\s*(?={_LETTER})"), ""),
    "repetition": (
        re.compile(rf"(?:(?<!\s)\s++)?(?:[\[(]\s*(?:مكرر|مکرر|تكرار|تکرار)\s*[\])]|[×xX]\s?{_DIGIT})\s*$"),
        "",
    ),
}
"""Marks of a page that cling to a line: kind, what it looks like, what takes its place. A number that is a
word stands alone and stays."""
_MARKED: Final = re.compile(rf"{_DIGIT}|[¹²³⁰-⁹*\[(×xX]")
"""One of these stands in every such mark: most lines have none and need no closer look."""


@dataclass
class Cleaned:
    """A poem of verse alone, and what was taken out of it."""

    poem: Poem
    removed: list[Rejection]
    notes: Counter[str]
    """`cleaned.<kind>` per mark taken out of a line, `declared.differs` where counts differ a little."""


def clean_poem(poem: Poem) -> Cleaned:
    """The poem without non-poetic matter; every couplet taken out is a rejection with its reason.

    Raises:
        RecordRejected: `no_verse`, `prose_only`, `odd_hemistichs` or `couplets_missing`/`couplets_extra`.
    """
    notes: Counter[str] = Counter()
    lines = [_clean(couplet, poem.language, notes) for couplet in poem.couplets]
    reasons = {couplet.id: found for couplet in lines if (found := _not_verse(couplet, poem.language))}
    units = [couplet for couplet in lines if couplet.id not in reasons]
    reasons |= dict(_out_of_place(units))
    kept = tuple(couplet for couplet in lines if couplet.id not in reasons)
    if not kept:
        raise RecordRejected("no_verse", "; ".join(sorted({reason for reason, _ in reasons.values()})))
    _check_kind(kept)
    if any(reason == "odd_hemistich" for reason, _ in reasons.values()):
        _check_pairing(kept, poem.language)
    notes.update(_check_count(poem))
    removed = [remove(one, poem, *reasons[one.id]) for one in poem.couplets if one.id in reasons]
    return Cleaned(poem.model_copy(update={"couplets": kept}), removed, notes)


def _clean(couplet: Couplet, language: Language, notes: Counter[str]) -> Couplet:
    first = _form(couplet.first, language, notes)
    second = None if couplet.second is None else _form(couplet.second, language, notes)
    if first is couplet.first and second is couplet.second:
        return couplet
    return couplet.model_copy(update={"first": first, "second": second})


def _form(form: Form, language: Language, notes: Counter[str]) -> Form:
    text, found = clean_line(form.text)
    if not found:
        return form
    notes.update({f"cleaned.{kind}": count for kind, count in found.items()})
    return form.model_copy(update={"text": text, "key": key(text, language)})


def clean_line(text: str) -> tuple[str, Mapping[str, int]]:
    """A line without such marks, and how many of each kind were taken out."""
    found: dict[str, int] = {}
    if not _MARKED.search(text):
        return text, found
    for kind, (pattern, replacement) in KINDS.items():
        text, count = pattern.subn(replacement, text)
        if count:
            found[kind] = count
    return (" ".join(text.split()), found) if found else (text, found)


Reason = tuple[str, str]
"""Name of a reason and the evidence."""


def _not_verse(couplet: Couplet, language: Language) -> Reason | None:
    """Why a couplet is no verse whatever stands around it; None when nothing speaks against it."""
    halves = couplet.halves
    texts = [half.text for half in halves]
    shown = " / ".join(texts)
    if not all(half.key for half in halves):
        return "hemistich_empty", f"a hemistich holds no letter: {shown!r}"
    if any(_MARKUP.search(half.raw) for half in halves):
        return "markup", f"holds markup: {shown!r}"
    if any(_LINK.search(text) for text in texts):
        return "link", f"holds an address: {shown!r}"
    if any(NUMBERED.match(text) for text in texts):
        return "number", f"a bare number: {shown!r}"
    if pack(language).script != "Latn" and _foreign(couplet, texts):
        return "foreign_letters", f"holds Latin letters: {shown!r}"
    if all(half.key in REFRAIN_MARKERS for half in halves):
        return "refrain_marker", f"only says that a refrain follows: {shown!r}"
    if couplet.second is None and FOOTNOTE.match(couplet.first.raw):
        return "footnote", f"a numbered gloss: {shown!r}"
    if NOTE.match(texts[0]) or (couplet.second is None and BRACKETED.match(texts[0])):
        return "editorial_note", f"an editor's note: {shown!r}"
    if couplet.kind != "paragraph" and _is_heading(texts):
        return "heading", f"a heading: {shown!r}"
    if couplet.kind in ("couplet", "band") and max(len(words(text)) for text in texts) > MOST_WORDS:
        return "prose", f"over {MOST_WORDS} words in one hemistich: {shown[:120]!r}"
    return None


def _foreign(couplet: Couplet, texts: Sequence[str]) -> bool:
    if couplet.kind == "couplet":
        return any(_LATIN.search(text) for text in texts)
    # Free verse may quote; only a line mostly of other letters is a leftover of the page.
    return arabic_share(" ".join(texts)) < 0.5


def _is_heading(texts: Sequence[str]) -> bool:
    """A line of few words that announces verse; a full couplet may begin with `he said` and is none."""
    whole = " ".join(texts)
    if len(words(whole)) > HEADING_WORDS or not HEADING.match(whole):
        return False
    return len(texts) == 1 or whole.rstrip().endswith((":", "："))


def _out_of_place(units: Sequence[Couplet]) -> Iterator[tuple[str, Reason]]:
    """What is no part of this poem though it might be one of another."""
    last = units[-1] if len(units) > 1 else None
    if last and last.second is None and is_dated(last.first.text):
        yield last.id, ("place_and_date", f"where and when it was written: {last.first.text!r}")
    whole = sum(unit.second is not None for unit in units)
    if not whole:
        return
    mostly = whole >= VERSE_SHARE * sum(unit.kind != "paragraph" for unit in units)
    for unit in units:
        shown = f"{unit.first.text[:120]!r}"
        if unit.kind == "paragraph":
            yield unit.id, ("prose", f"prose among verses: {shown}")
        elif unit.second is None and unit.kind == "couplet":
            yield unit.id, ("odd_hemistich", f"a couplet with one hemistich: {shown}")
        elif unit.second is None and unit.kind == "line" and mostly:
            yield unit.id, ("one_hemistich", f"a single line in a poem of couplets: {shown}")


def _check_kind(kept: Sequence[Couplet]) -> None:
    if all(couplet.kind == "paragraph" for couplet in kept):
        usual = median(len(words(couplet.first.text)) for couplet in kept)
        if usual >= PROSE_WORDS:
            raise RecordRejected("prose_only", f"{len(kept)} paragraphs of {usual:.0f} words and no verse")


def _check_pairing(kept: Sequence[Couplet], language: Language) -> None:
    """A lost hemistich may have shifted every pair behind it; a rhyme that still holds says it has not."""
    endings = [couplet.second.text for couplet in kept if couplet.second is not None]
    if len(endings) < 3 or not poem_rhyme(endings, language):
        raise RecordRejected(
            "odd_hemistichs",
            "a hemistich is missing and no common rhyme shows that the others are still paired",
        )


def _check_count(poem: Poem) -> dict[str, int]:
    """Counts as the source parsed them; places it left free count as possible couplets.

    Raises:
        RecordRejected: `couplets_missing` or `couplets_extra`, beyond `COUNT_SLACK`.
    """
    declared = poem.declared_couplets
    if declared is None:
        return {}
    parsed = sum(couplet.kind != "paragraph" for couplet in poem.couplets)
    free = poem.couplets[-1].position + 1 - len(poem.couplets)
    slack = max(COUNT_SLACK[0], int(COUNT_SLACK[1] * declared))
    if declared > parsed + free + slack:
        raise RecordRejected("couplets_missing", f"the source declares {declared} couplets and {parsed} came")
    if declared < parsed - slack:
        raise RecordRejected("couplets_extra", f"the source declares {declared} couplets and {parsed} came")
    return {} if parsed <= declared <= parsed + free else {"declared.differs": 1}
