"""The words a reply answers with."""

from __future__ import annotations

import re
from typing import Final

from mihakk.evaluation.reading import cues
from mihakk.evaluation.reading.labels import TOKEN, fold
from mihakk.evaluation.reading.option_words import LONGEST_HEAD
from mihakk.evaluation.reading.reading import UNREAD, Reading
from mihakk.evaluation.reading.run_on import without_run_on
from mihakk.evaluation.reading.tags import last_tag, without_tags
from mihakk.machinery.text.reasoning import without_reasoning

RULES: Final = {
    "tag": "tag/1",
    "answer_head": "answer_head/1",
    "whole": "whole/1",
    "strict_tag": "strict_tag/1",
}
_STRICT: Final = re.compile(r"\s*<answer>(.*?)</answer>\s*", re.DOTALL)

_HEAD: Final = re.compile(
    r"^[ \t>#*_]*+(?:A|[Aa]nswer|ANSWER|ال(?:إجابة|جواب)|إجابة|جواب|پاسخ)[ *_]*+:", re.MULTILINE
)
"""Where a template asks for an answer: a question of the reply's own before it is no part of the answer."""


def read_answer(reply: str) -> Reading:
    """What the last answer tag holds, else the whole reply; nothing where that has neither letter nor digit.

    Words that say that the answer follows ("The answer is:", «پاسخ:») are no part of it. Quotes and marks
    stay: prose is compared with them, and recalled lines by their folded letters alone.
    """
    spoken = without_reasoning(reply)
    notes: tuple[str, ...] = ("thought_cut",) if spoken.cut else ()
    told, is_run_on = without_run_on(
        spoken.text,
        (),
        lambda before: last_tag(before) is not None or bool(_HEAD.search(spoken.text, len(before))),
    )
    notes += ("run_on",) if is_run_on else ()
    tag = last_tag(told)
    rule = "tag"
    if tag:
        text = tag.content
        notes += () if tag.closed else ("cut_tag",)
    else:
        whole = without_tags(told)
        text = _behind_head(whole)
        rule = "whole" if text == whole else "answer_head"
        notes += ("no_tag",)
    if not any(map(str.isalnum, text)):
        return UNREAD._replace(notes=notes)
    strict = _STRICT.fullmatch(spoken.text) is not None and spoken.text.count("<answer>") == 1
    return Reading(text, rule=RULES[rule], notes=notes, format_ok=strict)


def _behind_head(text: str) -> str:
    """A reply without a head that says that the answer follows, and nothing else, up to a colon."""
    head, mark, rest = text.partition(":")
    words = {fold(match[0]) for match in TOKEN.finditer(head)} if len(head) <= LONGEST_HEAD else set()
    is_head = mark and words & cues.ANSWER and words <= cues.ANSWER | cues.FILLER and rest.strip()
    return rest.strip() if is_head else text


def read_strict_tag(reply: str) -> Reading:
    """The content of a reply that is one closed answer tag and nothing else (GhazalBench's own reader)."""
    match = _STRICT.fullmatch(reply)
    if match is None:
        return UNREAD
    return Reading(match[1].strip(), rule=RULES["strict_tag"], format_ok=True)
