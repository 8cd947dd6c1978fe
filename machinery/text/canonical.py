"""The canonical display form: what a reader sees, spelt one way, with nothing of the verse lost."""

import re
from typing import Final, NamedTuple

from mihakk.machinery.languages import ByLanguage, Pack, Writing
from mihakk.machinery.text import _orthography
from mihakk.machinery.text import codepoints as cp
from mihakk.schemas.record import Language


class Canonical(NamedTuple):
    """A text in canonical form and what was done to reach it."""

    text: str
    changes: dict[str, int]
    """How many times each kind of change was made; no key for a kind that was not."""


def canonicalize(raw: str, language: Language) -> Canonical:
    """The canonical form of `raw` with its changes counted by kind (docs/text.md lists the kinds).

    Marks, punctuation, digits and fill-in blanks stay. Lines stay lines; all other white space is one space.
    """
    changes: dict[str, int] = {}
    rule = _RULES[language]
    found = rule.suspect.findall(raw)
    lines = found and not _BREAKS.isdisjoint(found)
    text = _lines(raw, rule, changes) if lines else _line(raw, found, rule, changes)
    return Canonical(text, changes)


def canonical(raw: str, language: Language) -> str:
    """The canonical form of `raw` alone: `canonicalize` without its counts, and quicker on clean text."""
    rule = _RULES[language]
    if rule.unclean.search(raw) is not None or raw.strip(" ") != raw:
        return canonicalize(raw, language).text
    if rule.tidies and _orthography.loose(raw, yeh_hamza=rule.composes):
        return canonicalize(raw, language).text
    return _orthography.compose(raw)


class _Rule(NamedTuple):
    """What differs between the languages, compiled once."""

    writing: Writing
    tidies: bool
    """Zero-width non-joiners stay between letters."""
    composes: bool
    """Farsi yeh and hamza above become one letter."""
    suspect: re.Pattern[str]
    """A character that may have to change."""
    unclean: re.Pattern[str]
    """A suspect, or a space before a space or a mark."""
    folds: dict[str, tuple[str, str]]
    """(kind of change, what it becomes) of each suspect; those not in here are judged by their place."""


_BREAKS: Final = frozenset(cp.LINE_BREAKS)
_BLANK_LINES: Final = re.compile(r"\n{3,}")


def _lines(raw: str, rule: _Rule, changes: dict[str, int]) -> str:
    """The lines of `raw` one by one; blank lines between stanzas become one, those around them go."""
    lines = raw.splitlines()
    whole = "\n".join([_line(line, rule.suspect.findall(line), rule, changes) for line in lines])
    text = _BLANK_LINES.sub("\n\n", whole).strip("\n")
    _count(changes, "line_break", int(text != whole or "\n".join(lines) != raw))
    return text


def _line(line: str, found: list[str], rule: _Rule, changes: dict[str, int]) -> str:
    """One line; `found` are its suspects."""
    if found:
        line = _fold(line, found, rule, changes)
    if rule.composes and cp.HAMZA_ABOVE in line:
        line = _step(_orthography.compose_yeh(line), "yeh", changes)
    if rule.tidies and cp.ZWNJ in line:
        line = _step(_orthography.tidy_zwnj(line), "zwnj", changes)
    if cp.TATWEEL in line:
        line = _step(_orthography.drop_kashida(line), "kashida", changes)
    if _orthography.untidy(line):
        line = _step(_orthography.squeeze(line), "space", changes)
        line = _step(_orthography.attach_marks(line), "detached_mark", changes)
    composed = _orthography.compose(line)
    _count(changes, "nfc", int(composed != line))
    return composed


def _fold(line: str, found: list[str], rule: _Rule, changes: dict[str, int]) -> str:
    """The steps that need only know which characters the line has."""
    present = set(found)
    if rule.writing.final_yeh == "by_word" and cp.FARSI_YEH in present:
        line = _orthography.read_final_yeh(line, str.maketrans(rule.writing.variants))
    line = _orthography.spell_allah(line)
    # A line has few kinds of suspects: replacing each is quicker than translating every character.
    for char in sorted(present & rule.folds.keys()):
        kind, folded = rule.folds[char]
        _count(changes, kind, found.count(char))
        line = line.replace(char, folded)
    if not cp.FORM_MARKS.keys().isdisjoint(present):
        line = _step(_orthography.fold_form_marks(line), "presentation_form", changes)
    if cp.ZWJ in present and rule.writing.joiner != "kept":
        line = _step(_orthography.tidy_zwj(line), "zwj", changes)
    if rule.writing.joiner == "dropped" and cp.ZWNJ in present:
        line = _step(_orthography.drop_zwnj(line), "zwnj", changes)
    return line


def _step(result: tuple[str, int], kind: str, changes: dict[str, int]) -> str:
    _count(changes, kind, result[1])
    return result[0]


def _count(changes: dict[str, int], kind: str, n: int) -> None:
    if n:
        changes[kind] = changes.get(kind, 0) + n


def _rule(pack: Pack) -> _Rule:
    folds: dict[str, tuple[str, str]] = {}
    for kind, chars in cp.REMOVED.items():
        folds |= dict.fromkeys(chars, (kind, ""))
    folds |= dict.fromkeys(cp.SPACES, ("space_variant", " "))
    writing = pack.writing
    variants = writing.variants
    for form, letters in cp.FORM_LETTERS.items():
        folds[form] = ("presentation_form", "".join(variants.get(c, c) for c in letters))
    for letter, other in variants.items():
        folds[letter] = (cp.KIND_OF_LETTER.get(letter, "letter"), other)
    by_place = cp.LINE_BREAKS + cp.ZWJ + cp.TATWEEL + "".join(cp.FORM_MARKS)
    if writing.joiner == "dropped":
        by_place += cp.ZWNJ
    suspects = re.escape("".join(folds) + by_place)
    return _Rule(
        writing=writing,
        tidies=writing.joiner == "tidied",
        composes=writing.yeh_hamza == "composed",
        suspect=re.compile(f"[{suspects}]"),
        # One set to search for, spaces judged where they are found: alternatives would be slower.
        unclean=re.compile(f"[{suspects} ](?:(?<! )|(?=[ {cp.TYPED_MARKS}]))"),
        folds=folds,
    )


_RULES: Final = ByLanguage(_rule)
