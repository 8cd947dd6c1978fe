"""Labels of options as people and models write them: letters, alphabets, wrappers, marks."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from mihakk.machinery.text import codepoints as cp
from mihakk.machinery.text import key

ALPHABETS: Final[dict[str, tuple[str, ...]]] = {
    "latin": tuple("abcdefghij"),
    "arabic": tuple("ابجدهوزحطي"),
    "digits": tuple(map(str, range(1, 11))),
}
"""First labels of each alphabet, folded; Arabic letters in the order of abjad, as exams count."""

WRAPPERS: Final[tuple[tuple[str, str], ...]] = (
    ("$$", "$$"),
    ("$", "$"),
    ("**", "**"),
    ("*", "*"),
    ("__", "__"),
    ("_", "_"),
    ("`", "`"),
    ("(", ")"),
    ("[", "]"),
    ("{", "}"),
    ("«", "»"),
    ("“", "”"),
    ("‘", "’"),
    ('"', '"'),
    ("'", "'"),
    ("\\(", "\\)"),
    ("\\[", "\\]"),
    ("\\boxed{", "}"),
    ("\\text{", "}"),
    ("\\textbf{", "}"),
)
"""Taken off in pairs only: `(B` is no label."""
_OPENING: Final = frozenset(opened[0] for opened, _ in WRAPPERS)

TOKEN: Final = re.compile(f"(?:[^\\W_]|[{cp.MARKS}{cp.ZWNJ}{cp.ZWJ}])++")
_INVISIBLE: Final = str.maketrans(
    dict.fromkeys(cp.BIDI_CONTROLS + cp.ZERO_WIDTH + cp.SOFT_HYPHEN, "") | dict.fromkeys(cp.SPACES, " ")
)
_HAS_INVISIBLE: Final = re.compile(f"[{re.escape(''.join(map(chr, _INVISIBLE)))}]")
_LEADING: Final = re.compile(r"^(?:[>#•\-–—]+|\*(?!\*))\s+")
_TRAILING: Final = ").:-–—.،,؛;!؟?。 "
_ALEF_WORD: Final = "الف"
_LONGEST: Final = 8
"""Characters of the longest token that can be a label, marks and kashida included."""
_LONGEST_WRAPPED: Final = 64
"""Characters of the longest text that can be a label within wrappers and marks."""


@dataclass(frozen=True, eq=False)
class Labels:
    """The labels of one question, folded for comparison; remembered by, and so compared as objects."""

    own: dict[str, int]
    """Folded label to index."""
    parallel: dict[str, int]
    """Folded labels of other alphabets to index."""
    latin: frozenset[str]
    """The own labels that are Latin letters, as printed: in running text their case counts (`A`, not `a`)."""


@lru_cache(maxsize=1024)
def labels_of(labels: tuple[str, ...]) -> Labels:
    """The labels folded, with their counterparts in other alphabets.

    Raises:
        ValueError: Two labels read the same.
    """
    own = {fold(label): place for place, label in enumerate(labels)}
    if len(own) != len(labels) or "" in own:
        raise ValueError(f"labels that can't be told apart: {labels}")
    ours = {_script(label) for label in own}
    parallel = {
        letter: place
        for script, letters in ALPHABETS.items()
        if script not in ours
        for place, letter in enumerate(letters[: len(labels)])
    }
    latin = frozenset(one for one in labels if one.isascii() and one.isalpha())
    return Labels(own, parallel, latin)


@lru_cache(maxsize=4096)
def fold(token: str) -> str:
    """A label for comparison: one form of each letter, no marks or kashida; the word الف is its letter."""
    folded = key(token, "fa")
    return "ا" if folded == _ALEF_WORD else folded


def clean(text: str) -> str:
    """Text without invisible characters and with plain spaces; lines stay lines."""
    if text.isascii():
        return text.replace("\t", " ")
    return text.translate(_INVISIBLE) if _HAS_INVISIBLE.search(text) else text


def unwrapped(text: str) -> str:
    """Text without the wrappers that enclose all of it, bullets before it and marks after it."""
    whole, at, before = text, 0, None
    partners: dict[str, dict[int, int]] = {}
    while before != text:
        before = text
        text = _LEADING.sub("", text.strip())
        at += len(before.rstrip()) - len(text)
        text = text.rstrip(" \n")
        for opened, closed in WRAPPERS if text[:1] in _OPENING else ():
            last = at + len(text) - len(closed)
            if not text.startswith(opened) or not text.endswith(closed) or last <= at + len(opened):
                continue
            if opened == closed:
                is_whole = opened not in text[len(opened) : -len(closed)]
            else:
                if opened not in partners:
                    partners[opened] = _partners(whole, opened, closed)
                is_whole = partners[opened].get(at) == last  # not so in `(A) or (B)`
            if is_whole:
                text = text[len(opened) : -len(closed)]
                at += len(opened)
                break
        else:
            text = _without_mark(text)
    return text


def whole_label(text: str, labels: Labels) -> int | None:
    """Index of the label that the text is, and nothing else."""
    return labels.own.get(_folded_token(text), None)


def whole_parallel(text: str, labels: Labels) -> int | None:
    """Index of the label of another alphabet that the text is, and nothing else."""
    return labels.parallel.get(_folded_token(text), None)


def label_in_text(token: str, labels: Labels) -> int | None:
    """Index of the label a word of running text is; Latin letters in the case they are printed in."""
    if len(token) > _LONGEST:
        return None
    place = labels.own.get(fold(token))
    if place is not None and labels.latin and token.isascii() and token not in labels.latin:
        return None
    return place


def _folded_token(text: str) -> str:
    text = text.strip()
    return "" if len(text) > _LONGEST_WRAPPED else _folded_within(text)


@lru_cache(maxsize=1024)
def _folded_within(text: str) -> str:
    if "\\" not in text and len(TOKEN.findall(text)) != 1:
        return ""
    text = unwrapped(text)
    return fold(text) if len(text) <= _LONGEST and TOKEN.fullmatch(text) else ""


def _partners(text: str, opened: str, closed: str) -> dict[int, int]:
    """Where each opening mark is closed."""
    found: dict[int, int] = {}
    still_open: list[int] = []
    for place in range(len(text)):
        if text.startswith(closed, place):
            if still_open:
                found[still_open.pop()] = place
        elif text.startswith(opened, place):
            still_open.append(place)
    return found


def _without_mark(text: str) -> str:
    """Text without marks at its end; a bracket only where it closes nothing."""
    while text and text[-1] in _TRAILING:
        if text[-1] == ")" and "(" in text:
            break
        text = text[:-1]
    return text


def _script(label: str) -> str:
    if label.isdecimal():
        return "digits"
    return "latin" if label.isascii() else "arabic"
