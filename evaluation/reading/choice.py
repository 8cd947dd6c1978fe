"""Which option a reply chooses.

A reply falls into its thought, its answer and what it runs on with (`run_on`); only the answer is read. The
first rule that fires decides, and what none reads is unparsed:

| rule | reads |
|---|---|
| tag | the last `<answer>` that holds anything, closed or cut by a stop string, and nothing outside it |
| label_line | the reply that is a label and nothing else; or its last such line, if nothing is stated later |
| option_text | the reply that is one option's words and nothing else, but for its label in any alphabet |
| other_alphabet | the reply that is a label of another alphabet and nothing else: `B` or `2` for ب |
| answer_line | the label, or the option's words, last stated to be the answer or the right option |
| called_right | the one label that is called right: "B is correct" |
| label_start | the one label that begins the first, the last or its option's line, before `) . : -` |
| option_line | the one option whose words, as in `option_text`, fill lines of their own |
| label_named | the label last chosen or named beside a word of answering; or that ends a finished reply |
| option_named | the one option whose words end a phrase of a finished reply, and no other's do |

A stated answer gives way to a later one, or to any rule's behind a word that takes it back ("wait"), noted
as `changed_answer`; not to the same sentence with the next label, again and again (`run_on`).
Words are matched whole and folded, never fuzzily. A statement that names several labels gives none.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
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
    found_options,
    is_list,
    only_option,
    option_of,
    option_words,
)
from mihakk.evaluation.reading.reading import UNREAD, Reading
from mihakk.evaluation.reading.run_on import without_run_on
from mihakk.evaluation.reading.statements import (
    MARKED,
    Known,
    Statement,
    alone,
    counts_in_roman,
    ending_label,
    is_repeated,
    last_sentence,
    revised_at,
    statements,
)
from mihakk.evaluation.reading.tags import last_tag
from mihakk.machinery.text import key
from mihakk.machinery.text.reasoning import without_reasoning

RULES: Final = {
    "tag": "tag/1",
    "label_line": "label_line/3",
    "option_text": "option_text/1",
    "other_alphabet": "other_alphabet/1",
    "answer_line": "answer_line/2",
    "called_right": "called_right/1",
    "label_start": "label_start/2",
    "option_line": "option_line/1",
    "label_named": "label_named/2",
    "option_named": "option_named/2",
}
_STATING: Final = frozenset(RULES) - {"label_start", "option_line", "label_named", "option_named"}
"""Rules behind whose reading a question is a new one; behind the others it may belong to the reasons."""
_LONGEST_LABEL_LINE: Final = 32
_START: Final = re.compile(rf"^[\s>#*_\-•\"'«(\[`$]*({TOKEN.pattern})")
_FINISHED: Final = tuple(".!?؟。)]}»\"'`$|")
_SHORT: Final = 240
"""Characters of a reply that may end without a mark; a longer one that does was cut."""
_STOP: Final = re.compile(r"[.!?؟؛;،,]")
_LONGEST_CUE: Final = 16
_SHORT_FOR_ANSWER: Final = frozenset(["a", "ج"])
_ARTICLES: Final = frozenset(["A", "I"])
"""Where a long reply ends in one of them, it was cut behind the first word of a sentence."""
_NEAR: Final = 3
"""Words within which a negation bears on a label."""
_ENDS: Final = cues.BECAUSE | cues.COPULA | cues.RIGHT
"""Words that go on after an option's, as in "X is the right one"."""
_LONGEST_LIST: Final = 512
_LIST_SEPARATOR: Final = re.compile(r"[\s,،;؛/&+*()\[\]]*")

_Word = tuple[str, int, int]
"""A word with its start and end in the line."""


class _Pick(NamedTuple):
    """What a rule found: one label, or none where it gives several and only one can be meant."""

    place: int | None
    rule: str
    notes: tuple[str, ...] = ()


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
    notes: tuple[str, ...] = ("thought_cut",) if spoken.cut else ()
    if not text:
        return UNREAD._replace(notes=notes)
    known, words = labels_of(tuple(labels)), tuple(options)
    stated: Known = {}

    def answers(part: str) -> bool:
        if multiple:
            return bool(_several(part, known))
        if last_tag(part) is not None:
            return _one(part, known, words, cut=False, stated=stated) is not None
        found = _whole(part, known, words) or _said(
            part, statements(part, known, words, stated), known, cut=False
        )
        return found is not None and found.rule in _STATING

    text, is_run_on = without_run_on(text, words, answers)
    cut = cut and not is_run_on
    if is_run_on:
        notes += ("run_on",)
    tag = last_tag(text)
    inside = tag.content if tag else text
    if tag and not tag.closed:
        notes += ("cut_tag",)
    if multiple:
        picks = _several(inside, known)
        rule = RULES["tag" if tag else "label_line"] if picks else ""
        return Reading(inside if picks else "", picks, rule, notes, format_ok=bool(picks))
    found = _one(inside, known, words, cut=cut, stated={} if tag else stated)
    if found is None:
        return UNREAD._replace(notes=notes)
    notes += tuple(note for note in found.notes if note not in notes)
    if found.place is None:
        return UNREAD._replace(notes=(*notes, "several"))
    if found.rule == "other_alphabet":
        notes = (*notes, "other_alphabet")
    return Reading(
        text=labels[found.place],
        picks=(found.place,),
        rule=RULES["tag" if tag else found.rule],
        notes=notes,
        format_ok=len(reply) <= _LONGEST_LABEL_LINE and TOKEN.fullmatch(reply.strip()) is not None,
    )


def _one(text: str, labels: Labels, options: tuple[str, ...], *, cut: bool, stated: Known) -> _Pick | None:
    """The single label of a text."""
    if (found := _whole(text, labels, options)) is not None:
        return found
    said = statements(text, labels, options, stated)
    if (found := _said(text, said, labels, cut=cut)) is not None:
        return found
    lines = [line for line in text.splitlines() if line.strip()]
    is_finished = not cut and (len(text) <= _SHORT or text.rstrip(" *_").endswith(_FINISHED))
    return (
        _label_start(lines, labels, options)
        or _option_line(lines, labels, options, is_finished=is_finished)
        or _label_named(text, said, labels, is_finished=is_finished)
        or (_option_named(text, labels, options) if is_finished else None)
    )


def _whole(text: str, labels: Labels, options: tuple[str, ...]) -> _Pick | None:
    """The label, or the option's words, that a text is and nothing else."""
    if len(text) <= _LONGEST_LABEL_LINE and (place := whole_label(text, labels)) is not None:
        return _Pick(place, "label_line")
    if (place := option_of(text, labels, options)) is not None:
        return _Pick(place, "option_text")
    if len(text) <= _LONGEST_LABEL_LINE and (place := whole_parallel(text, labels)) is not None:
        return _Pick(place, "other_alphabet")
    return None


def _said(text: str, said: Sequence[Statement], labels: Labels, *, cut: bool) -> _Pick | None:
    """The label that is said to be the answer, or the one that is called right."""
    if (stated := _stated(text, said, labels, cut=cut)) is not None:
        return stated
    right = {one.place for one in said if one.force == "called_right"}
    return _Pick(right.pop() if len(right) == 1 else None, "called_right") if right else None


def _stated(text: str, said: Sequence[Statement], labels: Labels, *, cut: bool) -> _Pick | None:
    """The answer last stated, in a sentence or as a line that is a label; or what took its place later."""
    found = [one for one in said if one.force == "stated"]
    if len(found) > 1 or "\n" in text:
        lines = _label_lines(text, labels, cut=cut)
        inside = {one.end for one in found}
        lines = [one for one in lines if one.end not in inside]
        found = sorted([*found, *lines], key=lambda one: one.end)
    if not found:
        return None
    kept, notes = [found[0]], tuple[str, ...]()
    for before, one in pairwise(found):
        if one.place != before.place and one.force == before.force and is_repeated(text, before, one):
            notes = ("run_on",)
            break
        kept.append(one)
    final = kept[-1]
    rule = "answer_line" if final.force == "stated" else "label_line"
    places = [one.place for one in kept]
    if not notes and (since := revised_at(text, final.end)) is not None:
        later = [one for one in said if one.start >= since]
        place = later[-1].place if later else ending_label(text, labels) if not cut else None
        if place is not None:
            places.append(place)
            rule = later[-1].force if later and later[-1].force == "called_right" else "label_named"
    if len(set(places)) > 1:
        notes += ("changed_answer",)
    return _Pick(places[-1], rule, notes)


def _label_lines(text: str, labels: Labels, *, cut: bool) -> list[Statement]:
    """The lines that are labels; none where they go through all labels, as a list does.

    Nor where the reply was cut behind a label while other lines begin with others: a list that breaks off.
    """
    found: list[Statement] = []
    at = 0
    lines = text.split("\n")
    for line in lines:
        is_cut_word = line in _ARTICLES and at + len(line) == len(text) > _SHORT
        if (
            len(line) <= _LONGEST_LABEL_LINE
            and not is_cut_word
            and (place := whole_label(line, labels)) is not None
        ):
            found.append(Statement("line", place, at, at + len(line.rstrip())))
        at += len(line) + 1
    if not found or len({one.place for one in found}) == len(labels.own):
        return []
    if cut and found[-1].end == len(text):
        begun = {_started(line, labels) for line in lines[:-1]} - {None, found[-1].place}
        if begun:
            return []
    return found


def _option_line(
    lines: Sequence[str], labels: Labels, options: tuple[str, ...], *, is_finished: bool
) -> _Pick | None:
    place = only_option(lines, labels, options, is_finished=is_finished)
    return None if place is None else _Pick(place, "option_line")


def _label_start(lines: Sequence[str], labels: Labels, options: tuple[str, ...]) -> _Pick | None:
    """The one label that lines begin with; none where they begin with several, as repeated options do."""
    found: set[int | None] = set()
    if counts_in_roman("\n".join(lines), labels):
        return None
    for number, line in enumerate(lines):
        match = _START.match(line)
        if match is None or (place := label_in_text(match[1], labels)) is None:
            continue
        mark = MARKED.match(line, match.end())
        if mark is None or _called_wrong(line, place, options):
            continue
        behind = line[mark.end() :]
        if (other := whole_label(behind, labels)) is not None:
            place = other  # `ج: ب` is short for "answer: B"
        elif (other := option_of(behind, labels, options)) not in (None, place):
            if fold(match[1]) in _SHORT_FOR_ANSWER and ":" in mark[0]:
                place = other
        elif 0 < number < len(lines) - 1 and not _begins_option(behind, place, options):
            found.add(None)
            continue
        if alone(line, place, match.end(1), labels) is None:
            return _Pick(None, "label_start")
        found.add(place)
    found_one = found - {None}
    return _Pick(found_one.pop(), "label_start") if len(found) == len(found_one) == 1 else None


def _begins_option(text: str, place: int, options: tuple[str, ...]) -> bool:
    return bool(options) and key(text, "fa").startswith(key(options[place], "fa")[:_LONGEST_CUE])


def _started(line: str, labels: Labels) -> int | None:
    """The label before a mark at the start of a line."""
    match = _START.match(line)
    if match is None or (place := label_in_text(match[1], labels)) is None:
        return None
    return place if MARKED.match(line, match.end()) else None


def _called_wrong(line: str, place: int, options: tuple[str, ...]) -> bool:
    """Whether a line that begins with a label denies it, and not by the option's own words (`ب) خطأ`)."""
    _, folded = _words(line)
    said = [word for word in folded[1 : 2 + _NEAR] if word not in cues.COPULA][:1]
    if not set(said) & cues.NEGATION:
        return False
    return not (options and "".join(folded[1:]).startswith(key(options[place], "fa")[:_LONGEST_CUE]))


def _label_named(text: str, said: Sequence[Statement], labels: Labels, *, is_finished: bool) -> _Pick | None:
    """The label last chosen or named beside a word of answering, or at the end of a finished reply."""
    if named := [one for one in said if one.force == "named"]:
        return _Pick(named[-1].place, "label_named")
    if maybe := {one.place for one in said}:
        return _Pick(maybe.pop() if len(maybe) == 1 else None, "label_named")
    place = ending_label(text, labels) if is_finished else None
    return None if place is None else _Pick(place, "label_named")


def _option_named(text: str, labels: Labels, options: tuple[str, ...]) -> _Pick | None:
    """The one option that a reply names, undenied, if it ends a phrase of the last sentence: "it is X."."""
    wanted = option_words(options)
    if not wanted or is_list(text.splitlines(), labels):
        return None
    since = last_sentence(text)
    named, final = set(), None
    words, folded = _words(text)
    for place, first, last in found_options(folded, wanted):
        if any(_denied(text, words, folded, at, labels) for at in (first, last)):
            continue
        named.add(place)
        end = words[last][2]
        follows = folded[last + 1] if last + 1 < len(words) else ""
        goes_on = end < len(text) and text[end].isspace() and follows not in _ENDS
        if (
            words[first][1] >= since
            and not goes_on
            and not cues.JOINER & set(folded[max(0, first - _NEAR) : first])
        ):
            final = place
    return _Pick(final, "option_named") if final is not None and len(named) == 1 else None


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


def _several(text: str, labels: Labels) -> tuple[int, ...]:
    """The labels of a text, of its last such line, or of what follows a colon, that is a list of labels."""
    lines = [line for line in text.splitlines() if line.strip()]
    for candidate in (text, *reversed(lines)):
        if picks := _list(candidate, labels) or _list(candidate.rpartition(":")[2], labels):
            return picks
    return ()


def _list(text: str, labels: Labels) -> tuple[int, ...]:
    """Indices of the labels of a list such as `أ، ج`, `A and C` or `ACD`; none where it holds more."""
    return () if len(text) > _LONGEST_LIST else _short_list(text, labels)


@lru_cache(maxsize=256)
def _short_list(text: str, labels: Labels) -> tuple[int, ...]:
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
