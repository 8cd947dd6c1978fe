"""The structural steps of the canonical form: joiners, kashida, white space, marks that lost their letter.

Each takes one line and gives it back with the number of changes made.
"""

import re
import unicodedata
from typing import Final

from mihakk.machinery.text import codepoints as cp

_L: Final = f"[{cp.LETTERS}]"
_M: Final = f"[{cp.MARKS}]"
_T: Final = cp.TATWEEL
_WORD: Final = f"[^\\W_{_T}]"
_LETTER: Final = r"[^\W_]"  # letter, digit or tatweel
_JOINING: Final = "[" + "".join(c for c in cp.LETTERS if c not in cp.NON_JOINING) + "]"

# --- letters ----------------------------------------------------------------------------------------
_ALLAH_AFTER_ALEF: Final = re.compile(f"([اٱ]{_M}*){cp.ALLAH_LIGATURE}")
_FINAL_FARSI_YEH: Final = re.compile(f"{cp.FARSI_YEH}(?=({_M}*)(?!{_L}|{_M}))")
_NOT_OF_WORD: Final = re.compile(f"[^{cp.LETTERS}{cp.MARKS}]")
_LONGEST_STEM: Final = 40  # characters, marks included: more than any word of the list has
_OPEN: Final = (cp.FATHA, cp.FATHATAN)
_ONE_MARK: Final = re.compile(_M)
_YEH_AND_HAMZA: Final = re.compile(f"{cp.FARSI_YEH}({_M}*?){cp.HAMZA_ABOVE}")


def spell_allah(line: str) -> str:
    """Alef and then the ligature of الله, which has an alef of its own, as one word: many pages type both."""
    return _ALLAH_AFTER_ALEF.sub(r"\1لله", line) if cp.ALLAH_LIGATURE in line else line


def read_final_yeh(line: str, variants: dict[int, str]) -> str:
    """The final Farsi yeh of Arabic words as alef maksura where word or vowel says so, else yeh.

    Args:
        line: One line.
        variants: Letters of other keyboards to Arabic ones.
    """

    def read(match: re.Match[str]) -> str:
        start = match.start()
        stem = _NOT_OF_WORD.split(line[max(0, start - _LONGEST_STEM) : start])[-1]
        bare = _ONE_MARK.sub("", stem).translate(variants) + cp.ALEF_MAKSURA
        maksura = not match[1] and (stem.endswith(_OPEN) or bare in cp.MAKSURA_WORDS)
        return cp.ALEF_MAKSURA if maksura else cp.YEH

    return _FINAL_FARSI_YEH.sub(read, line)


def compose_yeh(line: str) -> tuple[str, int]:
    """Farsi yeh and hamza above, which Unicode does not compose, as the one letter ئ."""
    return _YEH_AND_HAMZA.subn(cp.YEH_WITH_HAMZA + r"\1", line)


# Most text that is not in NFC is so by the order people type: shadda first. Swapping those is exact, and
# several times quicker than composing anew.
_TYPED_ORDER: Final = [
    (cp.SHADDA + vowel, vowel + cp.SHADDA) for vowel in "\u064b\u064c\u064d\u064e\u064f\u0650"
]


def compose(line: str) -> str:
    """The line in NFC."""
    if unicodedata.is_normalized("NFC", line):
        return line
    for typed, ordered in _TYPED_ORDER:
        line = line.replace(typed, ordered)
    return line if unicodedata.is_normalized("NFC", line) else unicodedata.normalize("NFC", line)


# --- isolated forms of marks ------------------------------------------------------------------------
_FORM_MARKS: Final = re.compile(f"(?<=[{cp.LETTERS}{cp.MARKS}{_T}])[{''.join(cp.FORM_MARKS)}]+")
_FORM_MARK_TABLE: Final = str.maketrans(cp.FORM_MARKS)


def fold_form_marks(line: str) -> tuple[str, int]:
    """Isolated forms of marks become marks where a letter can carry them; elsewhere they show the mark."""
    count = sum(map(len, _FORM_MARKS.findall(line)))
    return _FORM_MARKS.sub(lambda m: m[0].translate(_FORM_MARK_TABLE), line), count


# --- joiners ----------------------------------------------------------------------------------------
_ZWNJ_AND_MARKS: Final = re.compile(f"{cp.ZWNJ}[{cp.ZWNJ}{cp.MARKS}]+")
# Begins with the ZWNJ itself, which keeps the search for it quick: not behind a letter, or not before one.
_LOOSE_ZWNJ: Final = re.compile(f"{cp.ZWNJ}(?:(?<!{_LETTER}{cp.ZWNJ})(?<!{_M}{cp.ZWNJ})|(?!{_LETTER}))")
_LOOSE_ZWJ: Final = re.compile(
    f"(?<!{cp.HEH}){cp.ZWJ}+|(?<={cp.HEH}){cp.ZWJ}+(?={_WORD}|{_M}|{_T}|{cp.ZWNJ})"
    f"|(?<=[{cp.LETTERS}{cp.MARKS}]{cp.HEH}){cp.ZWJ}+|(?<={cp.HEH}{cp.ZWJ}){cp.ZWJ}+"
)


def tidy_zwnj(line: str) -> tuple[str, int]:
    """A ZWNJ stays once, only between two letters or digits; a mark behind it goes to the letter before."""
    before = line.count(cp.ZWNJ)
    moved = sum(run.strip(cp.ZWNJ) != "" for run in _ZWNJ_AND_MARKS.findall(line))
    line = _ZWNJ_AND_MARKS.sub(lambda run: run[0].replace(cp.ZWNJ, "") + cp.ZWNJ, line)
    line = _LOOSE_ZWNJ.sub("", line)
    return line, moved + before - line.count(cp.ZWNJ)


def drop_zwnj(line: str) -> tuple[str, int]:
    """Arabic spelling has no ZWNJ."""
    return line.replace(cp.ZWNJ, ""), line.count(cp.ZWNJ)


def tidy_zwj(line: str) -> tuple[str, int]:
    """A ZWJ stays only behind the lone heh that abbreviates the Hijri era."""
    before = line.count(cp.ZWJ)
    line = _LOOSE_ZWJ.sub("", line)
    return line, before - line.count(cp.ZWJ)


# --- kashida ----------------------------------------------------------------------------------------
# A tatweel that carries a hamza is the hamza's seat, not ornament.
_STRETCH: Final = f"{_T}(?![{cp.HAMZA_ABOVE}{cp.HAMZA_BELOW}])"
_KASHIDA: Final = re.compile(
    # between two joined letters
    f"{_JOINING}{_M}*{cp.ZWNJ}?(?:{_STRETCH}{_M}*)+(?={cp.ZWNJ}?{_L})"
    # behind a letter that cannot join the next: short ones are ornament, long ones a blank between two words
    f"|{_L}{_M}*(?:{_STRETCH}{_M}*){{1,2}}(?={_L})"
    # under the last mark of a word
    f"|{_L}{_M}*(?:{_STRETCH})+{_M}+(?!{_L}|{_T}|{_M})"
)


def drop_kashida(line: str) -> tuple[str, int]:
    """Tatweel that only stretches a word goes; edge tatweels and runs on their own (blanks) stay."""
    before = line.count(_T)
    line = _KASHIDA.sub(lambda m: m[0].replace(_T, ""), line)
    return line, before - line.count(_T)


# --- white space and the marks lost in it -----------------------------------------------------------
_RUN: Final = re.compile(r" {2,}|^ | $")
_TYPED: Final = f"[{cp.TYPED_MARKS}]"
_LONE_MARK: Final = re.compile(f"(?<=[{cp.LETTERS}{cp.MARKS}]) ({_TYPED}+)(?= |$)")
_STRAY_MARK: Final = re.compile(f" ({_TYPED}+)({_L})(?=({_M}*))")
_SPACE_BEFORE: Final = re.compile(f" [ {cp.TYPED_MARKS}]")
_CLOSED: Final = frozenset(cp.VOWEL_SIGNS + "اآىٱ")


def untidy(line: str) -> bool:
    """Whether the line has spaces to squeeze or a mark behind a space."""
    return line.strip(" ") != line or _SPACE_BEFORE.search(line) is not None


def loose(line: str, *, yeh_hamza: bool) -> bool:
    """Whether a line that may keep ZWNJ and hamza above has one out of its place."""
    if cp.ZWNJ in line and _LOOSE_ZWNJ.search(line):
        return True
    return yeh_hamza and cp.HAMZA_ABOVE in line and _YEH_AND_HAMZA.search(line) is not None


def squeeze(line: str) -> tuple[str, int]:
    """Runs of spaces become one, those at the edges none."""
    count = len(_RUN.findall(line))
    return " ".join(filter(None, line.split(" "))), count


def attach_marks(line: str) -> tuple[str, int]:
    """Marks behind a space go back to their letter.

    One that stands alone belongs to the word before. One glued to the next word does too, unless that word
    has its vowel already; then to the next letter, unless that has one as well: then nothing is certain, and
    it stays to be seen (`corruption` reports it).
    """
    line, lone = _LONE_MARK.subn(r"\1", line)
    stray = 0

    def attach(match: re.Match[str]) -> str:
        nonlocal stray
        marks, letter, own = match[1], match[2], match[3]
        last = line[match.start() - 1] if match.start() else " "
        vowelled = any(mark in cp.VOWEL_SIGNS for mark in own)
        if last in cp.LETTERS and last not in _CLOSED and marks != own:
            stray += 1
            return f"{marks} {letter}"
        if last in _CLOSED and not vowelled:
            stray += 1
            return f" {letter}{marks}"
        return match[0]

    return _STRAY_MARK.sub(attach, line), lone + stray
