"""Where a reply says which option it takes: beside the words of answering, never at a letter alone."""

from __future__ import annotations

import re
from bisect import bisect_left
from functools import lru_cache
from typing import Final, Literal, NamedTuple

from mihakk.evaluation.reading import cues
from mihakk.evaluation.reading.labels import TOKEN, Labels, fold, label_in_text
from mihakk.evaluation.reading.option_words import option_of, reach_of

Force = Literal["stated", "line", "called_right", "named", "maybe"]
"""How firmly: "the answer is B"; `B` as a line; "B is the right one"; "the closest is B", "I choose B";
"it could be B"."""

_REACH: Final = 160
"""Characters behind a word of answering within which its label stands."""
_FAR: Final = 8
"""Words other than the usual ones that may stand between the two, if "is" or a colon ends them."""
_BACK: Final = 48
"""Characters before a word of answering that are looked at."""
_LONGEST_CUE: Final = 16
_LONGEST_WORD: Final = 64
"""Folded letters that no word of answering has; marks may make one longer."""
_NEAR: Final = 3
"""Words within which a negation bears on a label."""
_ROUND: Final = 256
"""More characters than are looked at behind a label or an option's words, but for its sentence and line."""
_SENTENCE_OF: Final = 3
"""Words from which what follows a label may be a sentence, and not the option's words."""
_BREAK: Final = re.compile(r"(?<![.\d])\.(?!\.)(?=\D|\Z)|[!?؟؛;。]")
"""The end of a sentence; an ellipsis or the point of a number is none."""
_PLAIN: Final = re.compile(r" (is|هي|هو):? \(?(\w)\)?\.(?=\s|\Z)(?!\s?[A-Z]\.)")
"""The sentence that most replies end with, read without further ado."""
_BREAKS: Final = (". ", "\n", "? ", "! ", "؟", "؛", ";")
_STOP: Final = re.compile(r"[.!?؟؛;،,\n]")
_SENTENCE: Final = re.compile(r"[^.!?؟؛\n]*+(?:\.(?=\S)[^.!?؟؛\n]*+)*+")
_SENTENCE_END: Final = re.compile(r"[!?؟؛\n]|\.(?!\S)")
"""Where `_SENTENCE` stops."""
_PHRASE: Final = re.compile(r"[\W_]*+[^.!?؟\n]{0,100}")
MARKED: Final = re.compile(r"\s?[*_`»\"'\])}$]{0,8}\s?(?:[):](?!\w)|[.\-–—](?=[\s*_$)]|$))")
_ENDS: Final = re.compile(r"[*_`»\"'\])}$\\ \t\r]{0,12}+(?:[.,:،](?!\d)|[;؛!?؟)\n]|\Z)")
_NEXT_IN_BRACKETS: Final = re.compile(
    rf"(?:[,،;؛]|\b(?:or|and|أو|او|و|یا))\s{{0,2}}(?:or|and|أو|و|یا)?\s{{0,2}}[(\[]({TOKEN.pattern})[)\]]"
)
"""Another label in brackets as an equal of the one before it."""
_CLOSED: Final = re.compile(r"[)\]*}$\"'`»]{0,3}(?:\.(?:\s|\Z)|\n|\Z)")
_OPENERS: Final = {
    "(": ")",
    "[": "]",
    "{": "}",
    "«": "»",
    "“": "”",
    '"': '"',
    "'": "'",
    "`": "`",
    "*": "*",
    "$": "$",
}
_JOINT: Final = re.compile(r"[\s*_)\]]{0,6}[,،/&+][\s*_(\[]{0,6}")
_FORMULA_BEFORE: Final = re.compile(
    r"(?:[=+×·^°≈∆Δ−\d]\s?|\w_\{?|\w\(|(?<!boxed)(?<!text)(?<!bf)(?<!rm)(?<!it)(?<![\s{(*$])\{)\Z"
)
_FORMULA_BEHIND: Final = re.compile(
    r"\s*(?:[=^≈×+]|<(?![/A-Za-z])|\\[a-z])|\*\w|_\{?\w|[-'’′][A-Za-z0-9]|\.\s?[A-Z]\."
)
"""A unit, a variable, a name or a compound: no label."""
_ROMAN: Final = re.compile(r",?\s?(?:and|or|&|,)?\s?(?:I{2,3}|IV|VI{0,3})\b| only\b")
"""Behind an `I` that is a number: "I and II only"."""
_MARKS: Final = " .*_`»\"'])}$\\!"
"""What may stand behind the label that ends a reply."""


_TELLING: Final = (cues.BECAUSE, cues.RIGHT | cues.ANSWER, cues.NEGATION | cues.MAYBE, cues.CHOOSE)
"""What behind an option tells whether it is called right or chosen."""
_MIGHT: Final = cues.MAYBE - {"can"}
"""As in "one might think the answer is B", but not in "we can say"."""
_ENDING: Final = cues.NEGATION | cues.BUT | cues.IF | cues.PLURAL


class Statement(NamedTuple):
    """One place that says which option is taken."""

    force: Force
    place: int | None
    """Of the option; None where several are named as equals."""
    start: int
    """Of the word of answering."""
    end: int
    """Of what it names."""


_MOST, _EVERY = 64, 32
"""Words of answering that a text may have, and one more for so many characters: the 3,250 replies of a model
that we have hold one in a hundred, and each takes time to read."""
Known = dict[tuple[int, int], Statement | None]
"""What words of answering state, by their start and end, whatever follows the text they were read in."""


def statements(
    text: str, labels: Labels, options: tuple[str, ...], known: Known | None = None
) -> list[Statement]:
    """All of them, in order; none where words of answering follow so closely that they state nothing.

    Args:
        text: What is read.
        labels: Of the question.
        options: Their words.
        known: What its beginnings, each of them whole lines, were read as; added to.
    """
    found: list[Statement] = []
    end = 0
    known = {} if known is None else known
    settled = len(text.rstrip()) - _REACH - reach_of(options) - _ROUND
    words = _cues(text)
    if len(words) > _MOST + len(text) // _EVERY:
        return []
    for start, behind in words:
        if start < end:
            continue
        if (start, behind) in known:
            one = known[start, behind]
        else:
            one = _statement(text, start, behind, labels, options)
            if behind < settled and _is_before_line(text, behind, settled):
                known[start, behind] = one
        if one is not None:
            found.append(one)
            end = one.end
    if found and counts_in_roman(text, labels):
        found = [one for one in found if one.force == "stated" or one.place != labels.own["i"]]
    return found


def _cue(text: str, start: int, end: int) -> str:
    """A word folded, or as much of it as no word of answering is as long as."""
    size = _LONGEST_WORD
    while start + size < end and len(fold(text[start : start + size])) <= _LONGEST_WORD:
        size *= 2
    return fold(text[start : min(end, start + size)])


def _is_before_line(text: str, at: int, stop: int) -> bool:
    """Whether the line is known that follows a label behind a word of answering, if it is looked at."""
    return "\n" not in text[at : at + _REACH] or text.find("\n", at + _REACH, stop + _REACH) >= 0


def _statement(
    text: str, start: int, behind: int, labels: Labels, options: tuple[str, ...]
) -> Statement | None:
    word = _cue(text, start, behind)
    if word in cues.ANSWER or word in cues.BOXED:
        return _answer(text, start, behind, labels, options)
    if word in cues.OPTION:
        return _option(text, start, behind, labels)
    if word in cues.RIGHT:
        return _right(text, start, behind, labels)
    return _chosen(text, start, behind, labels) if word in cues.CHOOSE else None


def counts_in_roman(text: str, labels: Labels) -> bool:
    """Whether statements are numbered I, II, III in it: then `I` is a label only where it is the answer."""
    return "I" in labels.latin and "II" in text


def _cues(text: str) -> list[tuple[int, int]]:
    """Where words stand that may be words of answering."""
    found = []
    lowered = text.lower()
    if len(lowered) != len(text):  # one letter has two small ones
        lowered = text.replace("İ", "I").lower()
    for word in cues.LATIN:
        at, end = lowered.find(word), 0
        while at >= 0:
            if not at or not text[at - 1].isalnum():
                # Marks within one long word: each of its parts ends where it does.
                end = match.end() if at >= end and (match := TOKEN.match(text, at)) else end
                found.append((at, end))
            at = lowered.find(word, at + len(word))
    if not text.isascii():
        found += [match.span() for match in cues.ARABIC.finditer(text)]
    return sorted(found)


class _Behind(NamedTuple):
    """What stands behind a word of answering."""

    place: int | None
    start: int
    end: int
    seen: frozenset[str]
    """The words in between."""


def _answer(text: str, start: int, end: int, labels: Labels, options: tuple[str, ...]) -> Statement | None:
    before = _before(text, start)
    if cues.IF & set(before[-_NEAR:]) or (cues.NEGATION | cues.ORDINAL) & set(before[-2:]):
        return None
    behind = _behind(text, end, labels, options, far=True)
    if behind is None:
        return _right(text, start, end, labels)
    if behind.place is not None and _is_denied(text, behind.end):
        return None
    says = behind.seen & (cues.COPULA | cues.RIGHT) or ":" in text[end : behind.start]
    if not says and behind.seen & cues.OPTION and text[start].isascii():
        return None  # "answer choice B suggests ..."
    is_thought = behind.seen & cues.MAYBE or _MIGHT & set(before[-_NEAR:])
    return Statement("maybe" if is_thought else "stated", behind.place, start, behind.end)


def _option(text: str, start: int, end: int, labels: Labels) -> Statement | None:
    """Stated ("the right option is B"), called right ("option B is right"), named ("the closest is B")."""
    before = _before(text, start)
    if (cues.IF | cues.MAYBE | cues.NOT | cues.ORDINAL) & set(before[-_NEAR:]) or "would" in before[-_NEAR:]:
        return None
    behind = _behind(text, end, labels, (), far=False)
    if behind is None or (behind.place is not None and _is_denied(text, behind.end)):
        return None
    says = behind.seen & cues.COPULA or ":" in text[end : behind.start]
    is_right = bool(behind.seen & cues.RIGHT) or (says and bool(set(before[-_NEAR:]) & cues.RIGHT))
    if is_right and not set(before[-_NEAR:]) & cues.WRONG:
        return Statement("stated", behind.place, start, behind.end)
    if says:
        return Statement("named", behind.place, start, behind.end)
    since, stop = _sentence_of(text, behind.end)
    reasons, right, denied, chosen = (
        places[bisect_left(places, behind.end)] for places in _telling(text, since, stop)
    )
    if right < reasons:
        return None if denied < reasons else Statement("called_right", behind.place, start, behind.end)
    is_chosen = chosen < reasons or set(before[-2 * _NEAR :]) & cues.CHOOSE
    if not is_chosen or set(before) & cues.NEGATION:
        return None
    return Statement("named", behind.place, start, behind.end)


def _right(text: str, start: int, end: int, labels: Labels) -> Statement | None:
    """The label before it, as in "B is the right one"."""
    opened = max(0, start - _BACK)
    words = [(one[0], *one.span()) for one in TOKEN.finditer(text, opened, start)]
    says, following = False, start
    for at in range(len(words) - 1, -1, -1):
        word, began, ended = words[at]
        if _STOP.search(text, ended, following):
            return None
        folded, place = fold(word), label_in_text(word, labels)
        if place is not None:
            before = fold(words[at - 1][0]) if at else ""
            if before in cues.OPTION:
                return None  # the word for option speaks for it
            is_one = before not in cues.JOINER | cues.IF | cues.NEGATION and not (
                at
                and _JOINT.fullmatch(text, words[at - 1][2], began)
                and label_in_text(words[at - 1][0], labels) is not None
            )
            if says and is_one and not _is_formula(text, began, ended) and not _is_denied_behind(text, end):
                return Statement("called_right", place, began, end)
            return None
        if folded in cues.COPULA:
            says = True
        elif folded not in cues.FILLER:
            return None
        following = began
    return None


def _chosen(text: str, start: int, end: int, labels: Labels) -> Statement | None:
    before = _before(text, start)
    if set(before[-_NEAR:]) & (cues.NEGATION | cues.IF):
        return None
    behind = _behind(text, end, labels, (), far=False)
    return behind and Statement("named", behind.place, start, behind.end)


def _behind(text: str, at: int, labels: Labels, options: tuple[str, ...], *, far: bool) -> _Behind | None:
    """The label, or the option's words, behind a word of answering; nothing where the sentence ends first."""
    if (plain := _PLAIN.match(text, at)) and (place := label_in_text(plain[2], labels)) is not None:
        return _Behind(place, *plain.span(2), frozenset((fold(plain[1]),)))
    seen: set[str] = set()
    last, before, odd, has_line, says = "", at, 0, False, False
    for match in TOKEN.finditer(text, at, at + _REACH):
        word, (start, end) = match[0], match.span()
        gap = text[before:start]
        if len(gap) > 1 and ("\n" in gap or _BREAK.search(gap)):
            is_new_line = not has_line and (":" in gap or _is_heading(text, at, seen))
            if not is_new_line or _BREAK.search(gap):
                return None
            has_line = True
        folded, may_be_label, is_either, is_usual = _kind_of(word, labels)
        says = says or ":" in gap
        if not odd or last in cues.COPULA or ":" in gap:
            place = None
            if may_be_label:
                place = _label(text, word, start, end, labels, direct=not has_line, strict=bool(odd))
            if place is not None:
                is_told_again = has_line and _is_listed(text, place, end, labels)
                one = alone(text, place, end, labels)
                # An option may be "A and B" itself.
                one = _words_of_option(text, start, labels, options)[0] if one is None else one
                return None if is_told_again else _Behind(one, start, end, frozenset(seen))
            if is_either:
                return _Behind(None, start, end, frozenset(seen))
            place, stop = _words_of_option(text, start, labels, options) if says and options else (None, end)
            if place is not None:
                return _Behind(place, start, stop, frozenset(seen))
        if is_usual:
            seen.add(folded)
            says = says or folded in cues.COPULA
        else:
            odd += 1
            if folded in _ENDING or not far or odd > _FAR:
                return None
        last, before = folded, end
    return None


@lru_cache(maxsize=4096)
def _kind_of(word: str, labels: Labels) -> tuple[str, bool, bool, bool]:
    """A word folded, and whether it may be a label, names several, and may stand before a label."""
    folded = fold(word) if len(word) < _LONGEST_CUE else ""
    may_be_label = label_in_text(word, labels) is not None or (
        len(word) == 1 and word.upper() in labels.latin
    )
    is_either = folded in cues.EITHER or _is_run_of_labels(word, labels)
    return folded, may_be_label, is_either, folded in cues.FILLER or folded in cues.MAYBE


@lru_cache(maxsize=1024)
def _words_of_option(
    text: str, start: int, labels: Labels, options: tuple[str, ...]
) -> tuple[int | None, int]:
    """The option whose words fill the rest of the line, or of the sentence, and where that ends."""
    rest = text[start : start + reach_of(options) + 1].partition("\n")[0]
    place = option_of(rest.rstrip(" ."), labels, options)
    if place is None and (cut := _BREAK.search(rest)):
        place = option_of(rest[: cut.start()], labels, options)
    return place, start + len(rest)


def _is_listed(text: str, place: int, end: int, labels: Labels) -> bool:
    """Whether the next line begins with another label: the options are told again, not one of them."""
    line = text.find("\n", end)
    following = TOKEN.search(text, line + 1, line + 8) if line >= 0 else None
    if following is None or "\n" in text[line + 1 : following.start()]:
        return False
    other = label_in_text(following[0], labels)
    return other not in (None, place) and MARKED.match(text, following.end()) is not None


def _label(
    text: str, word: str, start: int, end: int, labels: Labels, *, direct: bool, strict: bool
) -> int | None:
    """The label that a word is, where nothing around it makes it a formula, a unit, a name or an article."""
    place = label_in_text(word, labels)
    if place is None:
        if not (direct and len(word) == 1 and word.upper() in labels.latin and is_wrapped(text, start, end)):
            return None
        place = labels.own[fold(word)]
    if _is_formula(text, start, end) or (word == "I" and _ROMAN.match(text, end)):
        return None
    if strict or word in ("A", "I") or word.isdecimal() or fold(word) in cues.JOINER:
        behind = TOKEN.search(text, end)
        follows = fold(behind[0]) if behind and "\n" not in text[end : behind.start()] else ""
        is_clear = (
            is_wrapped(text, start, end)
            or MARKED.match(text, end) is not None
            or _ENDS.match(text, end) is not None
            or (not strict and follows in cues.BECAUSE | cues.COPULA | cues.RIGHT)
        )
        if not is_clear:
            return None
    return place


def alone(text: str, place: int, end: int, labels: Labels) -> int | None:
    """The label, or None where another follows as an equal: `A or B`, `A, B`, `(A) one, or (B) two`.

    Not so in `B, A is wrong`.
    """
    if _CLOSED.match(text, end):
        return place
    since, stop = _sentence_of(text, end)
    opened, others = _in_brackets(text, since, stop, labels)
    if opened >= end and any(last >= end for other, last in others if other != place):
        return None
    match = TOKEN.search(text, end, min(stop, end + 16))
    if match is None:
        return place
    if fold(match[0]) in cues.JOINER:
        match = TOKEN.search(text, match.end(), min(stop, match.end() + 16))
    elif not _JOINT.fullmatch(text, end, match.start()):
        return place
    other = label_in_text(match[0], labels) if match else None
    if match is None or other is None or other == place or _says(text, match.end(), stop):
        return place
    is_word = (
        match[0] in ("A", "I") and not _ENDS.match(text, match.end()) and not is_wrapped(text, *match.span())
    )
    return place if is_word else None


def _says(text: str, at: int, stop: int) -> bool:
    """Whether a verb follows: what stands before it begins a clause of its own."""
    match = TOKEN.search(text, at, min(stop, at + 16))
    return match is not None and fold(match[0]) in cues.COPULA and not _STOP.search(text, at, match.start())


def _sentence_of(text: str, at: int) -> tuple[int, int]:
    """Where the sentence that holds a place begins and ends."""
    ends = _sentence_ends(text)
    number = bisect_left(ends, at)
    return ends[number - 1] + 1 if number else 0, ends[number]


# A long sentence may hold hundreds of words of answering: it is read once, not anew behind each of them.
@lru_cache(maxsize=16)
def _sentence_ends(text: str) -> list[int]:
    return [*(match.start() for match in _SENTENCE_END.finditer(text)), len(text)]


@lru_cache(maxsize=16)
def _telling(text: str, since: int, stop: int) -> list[list[int]]:
    """Where words of each kind of `_TELLING` stand in a sentence, and its end behind them."""
    found: list[list[int]] = [[] for _ in _TELLING]
    for match in TOKEN.finditer(text, since, stop):
        word = fold(match[0]) if len(match[0]) < _LONGEST_CUE else ""
        for words, places in zip(_TELLING, found, strict=True):
            if word in words:
                places.append(match.start())
    return [[*places, stop] for places in found]


@lru_cache(maxsize=16)
def _in_brackets(text: str, since: int, stop: int, labels: Labels) -> tuple[int, tuple[tuple[int, int], ...]]:
    """Where a sentence opens its last bracket, and where it last joins each label in brackets to another."""
    opened = text.rfind("(", since, stop)
    found: dict[int, int] = {}
    at = since if opened >= 0 else stop
    # From each joiner, as of "B, or (A)" any may be the first behind the label.
    while match := _NEXT_IN_BRACKETS.search(text, at, stop):
        place = label_in_text(match[1], labels)
        if place is not None and not _says(text, match.end(), stop):
            found[place] = match.start()
        at = match.start() + 1
    return opened, tuple(found.items())


def is_wrapped(text: str, start: int, end: int) -> bool:
    """Whether a word stands in brackets, quotes or emphasis of its own."""
    if not start or end >= len(text) or _OPENERS.get(text[start - 1]) != text[end]:
        return False
    return start < 2 or not text[start - 2].isalnum() or text[start - 1] in "{*$"


def _is_formula(text: str, start: int, end: int) -> bool:
    before = text[max(0, start - 8) : start]
    return _FORMULA_BEFORE.search(before) is not None or _FORMULA_BEHIND.match(text, end) is not None


def _is_run_of_labels(word: str, labels: Labels) -> bool:
    return 1 < len(word) <= len(labels.own) and word.isupper() and all(one in labels.latin for one in word)


def _is_heading(text: str, at: int, seen: set[str]) -> bool:
    """Whether nothing but such words stands in the line of a word of answering, as in `**Final answer**`."""
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return len(line) <= _BACK and not seen & cues.COPULA and set(_words(line)) <= cues.FILLER


def _before(text: str, at: int) -> list[str]:
    """The folded words before a place, in its sentence."""
    part = text[max(0, at - _BACK) : at]
    return _words(part[max(part.rfind(mark) for mark in _BREAKS) + 1 :])


def _is_denied(text: str, end: int) -> bool:
    """Whether what follows a label says that it is not the answer: `B is not ...`, `B is wrong`."""
    following = TOKEN.search(text, end, end + 2 * _LONGEST_CUE)
    if following is None or _STOP.search(text, end, following.start()):
        return False
    if (word := fold(following[0])) not in cues.COPULA:
        return word in cues.IS_NOT
    sentence = _SENTENCE.match(text, following.end(), following.end() + _BACK)
    return not cues.NEGATION.isdisjoint(_words(sentence[0] if sentence else "")[: _NEAR - 1])


def _is_denied_behind(text: str, end: int) -> bool:
    """Whether a negation ends the clause, as Persian has it: درست نیست."""
    words = _words(text[end : end + _BACK])
    return bool(words) and words[0] in cues.NEGATION


def _words(text: str) -> list[str]:
    return [fold(match[0]) if len(match[0]) < _LONGEST_CUE else "" for match in TOKEN.finditer(text)]


def is_repeated(text: str, first: Statement, second: Statement) -> bool:
    """Whether two statements stand side by side, as where a reply goes round in a circle.

    "The answer is A. The answer is B." changes no mind; a word like "wait" or a sentence of reasons does.
    """
    phrase = _PHRASE.match(text, first.end, second.start)
    of_option = _words(phrase[0]) if phrase else []
    if len(of_option) >= _SENTENCE_OF and not cues.TAKEN_BACK.isdisjoint(of_option):
        return False
    between = set(_words(text[phrase.end() if phrase else first.end : second.start]))
    said = set(_words(text[first.end : second.start]))
    return between <= cues.FILLER - cues.FINAL and not said & (cues.REVISED | cues.BUT)


def revised_at(text: str, since: int) -> int | None:
    """Where a word takes back what was said before it, if one does."""
    rest = text[since:].lower()
    if len(rest) < _NEAR:
        return None
    if rest.isascii() and not any(word in rest for word in cues.REVISED):
        return None
    for match in TOKEN.finditer(text, since):
        if len(match[0]) < _LONGEST_CUE and fold(match[0]) in cues.REVISED:
            return match.end()
    return None


def last_sentence(text: str) -> int:
    """Where the last sentence begins."""
    stop = len(text.rstrip(" .!?؟؛;。*_\n"))
    start = text.rfind("\n", 0, stop) + 1
    return max([start, *(match.end() for match in _BREAK.finditer(text, start, stop))])


def ending_label(text: str, labels: Labels) -> int | None:
    """The label that ends the last line: in brackets, or behind "so", "is" and the like."""
    line = text.rstrip()
    words = list(TOKEN.finditer(line, max(line.rfind("\n") + 1, len(line) - _BACK)))
    if not words:
        return None
    last = words[-1]
    place = label_in_text(last[0], labels)
    if place is None or line[last.end() :].strip(_MARKS) or _is_formula(line, *last.span()):
        return None
    before = _words(" ".join(one[0] for one in words[-1 - _NEAR : -1]))
    if not before:
        return None  # a line that is a label
    if before[-1] in cues.JOINER | cues.PLURAL | cues.EITHER or (
        set(before) & cues.NEGATION and not set(before) & cues.BUT
    ):
        return None
    is_led = before[-1] in cues.SO | cues.BUT | cues.FILLER
    return place if is_led or is_wrapped(line, *last.span()) else None
