"""Which option a reply chooses.

Rules in this order; the first that fires decides, and what none reads is unparsed:

| rule | reads |
|---|---|
| tag | the last `<answer>` that holds anything, closed or cut by a stop string, and nothing outside it |
| label_line | the reply, or the last line, that is a label and nothing else |
| option_text | the reply that is one option's words and nothing else, but for its label in any alphabet |
| other_alphabet | the reply that is a label of another alphabet and nothing else: `B` or `2` for ب |
| answer_line | the label, or the option's words, named by the last line that says which the answer is |
| label_start | the one label that lines begin with, before `) . : -` |
| option_line | the one option whose words, as in `option_text`, fill lines of their own |
| label_named | the one label of the last line to name any, in brackets, before `) . : -` or at its end |
| option_named | the one option whose words end a phrase of the reply, and no other's do |

Words are matched whole and folded, never fuzzily. A line that gives several labels for the answer gives none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from mihakk.evaluation.reading import cues
from mihakk.evaluation.reading.labels import (
    TOKEN,
    Labels,
    clean,
    fold,
    label_in_text,
    labels_of,
    unwrapped,
    whole_label,
    whole_parallel,
)
from mihakk.evaluation.reading.option_words import (
    answered_option,
    found_options,
    is_list,
    only_option,
    option_of,
    option_words,
)
from mihakk.evaluation.reading.reading import UNREAD, Reading
from mihakk.evaluation.reading.reasoning import without_reasoning
from mihakk.evaluation.reading.tags import last_tag
from mihakk.machinery.text import key

RULES: Final = {
    "tag": "tag/1",
    "label_line": "label_line/2",
    "option_text": "option_text/1",
    "other_alphabet": "other_alphabet/1",
    "answer_line": "answer_line/1",
    "label_start": "label_start/1",
    "option_line": "option_line/1",
    "label_named": "label_named/1",
    "option_named": "option_named/1",
}
_LONGEST_LABEL_LINE: Final = 32
_MARKED: Final = re.compile(r"\s?[*_`»\"'\])]*\s?(?:[):](?!\w)|[.\-–—](?=[\s*_]|$))")
_START: Final = re.compile(rf"^[\s>#*_\-•\"'«(\[`$]*({TOKEN.pattern})")
_OPENERS: Final = {"(": ")", "[": "]", "«": "»", "“": "”", '"': '"', "'": "'", "`": "`", "*": "*", "$": "$"}
_STOP: Final = re.compile(r"[.!?؟؛;،,]")
_LONGEST_CUE: Final = 16
_NEAR: Final = 3
"""Words within which a negation bears on a label."""
_ENDS: Final = cues.BECAUSE | cues.COPULA | cues.RIGHT
"""Words that go on after an option's, as in "X is the right one"."""
_BLANK: Final = re.compile(r"\s*+\Z")
_LONGEST_LIST: Final = 512
_LIST_SEPARATOR: Final = re.compile(r"[\s,،;؛/&+*()\[\]]*")


_Word = tuple[str, int, int]
"""A word with its start and end in the line."""


class _Pick(NamedTuple):
    """What a rule found: one label, or several where only one can be meant."""

    place: int | None
    rule: str


_SEVERAL: Final = _Pick(None, "")


def read_choice(
    reply: str,
    labels: Sequence[str],
    options: Sequence[str] = (),
    *,
    multiple: bool = False,
    cut: bool = False,
) -> Reading:
    """The option, or the options, a reply chooses.

    Args:
        reply: As it came.
        labels: As the prompt shows them, one per option.
        options: Their words, for replies that repeat one instead of its label.
        multiple: Several options may be chosen; then a list of labels is read, and nothing else.
        cut: The reply ended at the token limit, so that its last word may be no word.
    """
    spoken = without_reasoning(reply)
    text = clean(spoken.text).strip()
    thought_cut = ("thought_cut",) if spoken.cut else ()
    if not text:
        return UNREAD._replace(notes=thought_cut)
    known = labels_of(tuple(labels))
    tag = last_tag(text)
    inside = tag.content if tag else text
    notes = thought_cut + (("cut_tag",) if tag and not tag.closed else ())
    if multiple:
        picks = _several(inside, known)
        rule = RULES["tag" if tag else "label_line"] if picks else ""
        return Reading(inside if picks else "", picks, rule, notes, format_ok=bool(picks))
    found = _one(inside, known, tuple(options), cut=cut)
    if found is None or found.place is None:
        return UNREAD._replace(notes=(*notes, "several") if found else notes)
    if found.rule == "other_alphabet":
        notes = (*notes, "other_alphabet")
    return Reading(
        text=labels[found.place],
        picks=(found.place,),
        rule=RULES["tag" if tag else found.rule],
        notes=notes,
        format_ok=TOKEN.fullmatch(reply.strip()) is not None,
    )


def _one(text: str, labels: Labels, options: tuple[str, ...], *, cut: bool) -> _Pick | None:
    """The single label of a text; `_SEVERAL` where it gives more than one as its answer."""
    if len(text) <= _LONGEST_LABEL_LINE and (place := whole_label(text, labels)) is not None:
        return _Pick(place, "label_line")
    if (place := option_of(text, labels, options)) is not None:
        return _Pick(place, "option_text")
    if len(text) <= _LONGEST_LABEL_LINE and (place := whole_parallel(text, labels)) is not None:
        return _Pick(place, "other_alphabet")
    lines = [line for line in text.splitlines() if line.strip()]
    return (
        _label_line(lines, labels, cut=cut)
        or _answer_line(lines, labels, options, cut=cut)
        or _label_start(lines, labels, options)
        or _option_line(lines, labels, options)
        or _label_named(lines, labels, options, cut=cut)
        or (None if cut else _option_named(lines, labels, options))
    )


def _option_line(lines: Sequence[str], labels: Labels, options: tuple[str, ...]) -> _Pick | None:
    place = only_option(lines, labels, options)
    return None if place is None else _Pick(place, "option_line")


def _label_line(lines: Sequence[str], labels: Labels, *, cut: bool) -> _Pick | None:
    """The last line that is a label; none where such lines go through all labels, as a list does.

    Nor where the reply was cut behind a label while other lines begin with others: a list that breaks off.
    """
    found = [
        place
        for line in lines
        if len(line) <= _LONGEST_LABEL_LINE
        and labels.hint.search(line)
        and (place := whole_label(line, labels)) is not None
    ]
    if not found or len(set(found)) == len(labels.own):
        return None
    if cut and whole_label(lines[-1], labels) is not None:
        begun = {_started(line, labels) for line in lines[:-1]} - {None, found[-1]}
        if begun:
            return None
    return _Pick(found[-1], "label_line")


def _answer_line(
    lines: Sequence[str], labels: Labels, options: tuple[str, ...], *, cut: bool
) -> _Pick | None:
    """What the last line saying which the answer is says it is."""
    for number in range(len(lines) - 1, -1, -1):
        line = lines[number]
        if (place := answered_option(line, labels, options)) is not None:
            return _Pick(place, "answer_line")
        if not labels.hint.search(line):
            continue
        words, folded = _words(line)
        is_end = not (cut and number == len(lines) - 1)
        for at in _named(folded, words, labels):
            if _joined(line, words, folded, at, labels):
                return _SEVERAL
            if not _can_be_label(line, words[at], is_end=is_end):
                continue
            return _Pick(label_in_text(words[at][0], labels), "answer_line")
    return None


def _named(folded: Sequence[str], words: Sequence[_Word], labels: Labels) -> Iterator[int]:
    """Places of the labels that a word of the line introduces, by the last such word first."""
    calls_right = not cues.RIGHT.isdisjoint(folded)
    behind: int | None = None
    is_denied = False
    for start in range(len(words) - 1, -1, -1):
        word, is_label = folded[start], label_in_text(words[start][0], labels) is not None
        if start == 0 and is_label and len(folded) > 1 and folded[1] in cues.COPULA:
            says = set(_before_reasons(folded[1:]))
            if not says & cues.NEGATION and says & (cues.ANSWER | cues.RIGHT):
                yield 0
        elif behind is not None and (
            word in cues.ANSWER if word not in cues.OPTION else calls_right and not is_denied
        ):
            yield behind
        # Kept from word to word, for a line that looked ahead at each would take quadratic time.
        behind = start if is_label else behind if word in cues.FILLER else None
        is_denied = word not in cues.BECAUSE and (is_denied or word in cues.NEGATION)


def _before_reasons(folded: Sequence[str]) -> Sequence[str]:
    end = next((at for at, word in enumerate(folded) if word in cues.BECAUSE), len(folded))
    return folded[:end]


def _can_be_label(line: str, word: _Word, *, is_end: bool) -> bool:
    """Whether a word that is also a label is one here: و is "and" unless a mark or the line's end follows."""
    if fold(word[0]) not in cues.JOINER and word[0] != "A":
        return True
    is_marked = _MARKED.match(line, word[2]) is not None or _wrapped(line, word)
    return is_marked or (is_end and not TOKEN.search(line, word[2]))


def _joined(line: str, words: Sequence[_Word], folded: Sequence[str], at: int, labels: Labels) -> bool:
    """Whether another label follows as an equal: `A or B`, `A, B`."""
    after = at + 1
    if after < len(words) and folded[after] in cues.JOINER:
        after += 1
    elif after < len(words) and not re.fullmatch(r"\s*[,،/&+]\s*", line[words[at][2] : words[after][1]]):
        return False
    if after >= len(words):
        return False
    other = label_in_text(words[after][0], labels)
    return other is not None and other != label_in_text(words[at][0], labels)


def _label_start(lines: Sequence[str], labels: Labels, options: tuple[str, ...]) -> _Pick | None:
    """The one label that lines begin with; none where they begin with several, as repeated options do."""
    found = set()
    for line in lines:
        place = _started(line, labels)
        if place is None or _called_wrong(line, place, options):
            continue
        if _joined(line, *_words(line), 0, labels):
            return _SEVERAL
        found.add(place)
    return _Pick(found.pop(), "label_start") if len(found) == 1 else None


def _started(line: str, labels: Labels) -> int | None:
    """The label before a mark at the start of a line; in `ج: ب` (answer: B) the one behind the mark."""
    match = _START.match(line)
    if match is None or (place := label_in_text(match[1], labels)) is None:
        return None
    mark = _MARKED.match(line, match.end())
    if mark is None:
        return None
    behind = whole_label(line[mark.end() :], labels)
    return place if behind is None else behind


def _called_wrong(line: str, place: int, options: tuple[str, ...]) -> bool:
    """Whether a line that begins with a label denies it, and not by the option's own words (`ب) خطأ`)."""
    _, folded = _words(line)
    said = [word for word in folded[1 : 2 + _NEAR] if word not in cues.COPULA][:1]
    if not set(said) & cues.NEGATION:
        return False
    return not (options and "".join(folded[1:]).startswith(key(options[place], "fa")[:_LONGEST_CUE]))


def _label_named(
    lines: Sequence[str], labels: Labels, options: tuple[str, ...], *, cut: bool
) -> _Pick | None:
    """The one label of the last line to name any; lines that are or begin with one are not looked at."""
    for number in range(len(lines) - 1, -1, -1):
        line = lines[number]
        if not labels.hint.search(line):
            continue
        place = _started(line, labels)
        if whole_label(line, labels) is not None or (
            place is not None and not _called_wrong(line, place, options)
        ):
            continue
        words, folded = _words(line)
        ended = len(line.rstrip(" *_`.")) if number == len(lines) - 1 and not cut else len(line) + 1
        named = set()
        for at, word in enumerate(words):
            place = label_in_text(word[0], labels)
            if place is None or _denied(line, words, folded, at, labels):
                continue
            at_end = word[2] >= ended and folded[at] not in cues.JOINER
            if _wrapped(line, word) or _marked(line, word) or at_end:
                named.add(place)
            if _joined(line, words, folded, at, labels):
                return _SEVERAL
        if named:
            return _Pick(named.pop(), "label_named") if len(named) == 1 else _SEVERAL
    return None


def _option_named(lines: Sequence[str], labels: Labels, options: tuple[str, ...]) -> _Pick | None:
    """The one option whose words end a phrase, undenied, as in "its metre is X."; longest sought first."""
    wanted = () if is_list(lines, labels) else option_words(options)
    named = set()
    for line in lines if wanted else ():
        words, folded = _words(line)
        ended = len(line.rstrip())
        for place, first, last in found_options(folded, wanted):
            if any(_denied(line, words, folded, at, labels) for at in (first, last)):
                continue
            end = words[last][2]
            follows = folded[last + 1] if last + 1 < len(words) else ""
            if end < ended and line[end].isspace() and follows not in _ENDS:
                return None
            named.add(place)
    return _Pick(named.pop(), "option_named") if len(named) == 1 else None


def _words(line: str) -> tuple[list[_Word], list[str]]:
    """The words of a line with their places, and folded."""
    words = [(match[0], match.start(), match.end()) for match in TOKEN.finditer(line)]
    return words, [fold(word) if len(word) < _LONGEST_CUE else "" for word, _, _ in words]


def _denied(line: str, words: Sequence[_Word], folded: Sequence[str], at: int, labels: Labels) -> bool:
    """Whether the few words before or after a label, in its sentence, say that it is not the answer."""
    for before in range(at - 1, max(-1, at - 1 - _NEAR), -1):
        if folded[before] in cues.BUT or label_in_text(words[before][0], labels) is not None:
            break
        if folded[before] in cues.NOT:
            return True
    for after in range(at + 1, min(len(words), at + 1 + _NEAR)):
        if folded[after] in cues.BECAUSE | cues.BUT or _STOP.search(
            line, words[after - 1][2], words[after][1]
        ):
            break
        if folded[after] in cues.NEGATION:
            return True
    return False


def _wrapped(line: str, word: _Word) -> bool:
    _, start, end = word
    return start > 0 and end < len(line) and _OPENERS.get(line[start - 1]) == line[end]


def _marked(line: str, word: _Word) -> bool:
    """Whether `) . : -` follows; a stop behind an Arabic letter only at the line's end (د. is a title)."""
    text, _, end = word
    mark = _MARKED.match(line, end)
    if mark is None:
        return False
    return "." not in mark[0] or text.isascii() or _BLANK.match(line, mark.end()) is not None


def _several(text: str, labels: Labels) -> tuple[int, ...]:
    """The labels of a text, of its last such line, or of what follows a colon, that is a list of labels."""
    lines = [line for line in text.splitlines() if line.strip()]
    for candidate in (text, *reversed(lines)):
        if picks := _list(candidate, labels) or _list(candidate.rpartition(":")[2], labels):
            return picks
    return ()


def _list(text: str, labels: Labels) -> tuple[int, ...]:
    """Indices of the labels of a list such as `أ، ج`, `A and C` or `ACD`; none where it holds more."""
    if len(text) > _LONGEST_LIST:
        return ()
    text = unwrapped(text)
    found: set[int] = set()
    end = 0
    for match in TOKEN.finditer(text):
        if not _LIST_SEPARATOR.fullmatch(text[end : match.start()]):
            return ()
        end = match.end()
        word = match[0]
        if (place := labels.own.get(fold(word))) is not None:
            found.add(place)
        elif word.isascii() and word.isupper() and all(letter in labels.latin for letter in word):
            found |= {labels.own[fold(letter)] for letter in word}
        elif word.startswith("و") and (place := labels.own.get(fold(word[1:]))) is not None:
            found.add(place)
        elif fold(word) not in cues.JOINER:
            return ()
    return tuple(sorted(found)) if _LIST_SEPARATOR.fullmatch(text[end:].rstrip(".")) else ()
