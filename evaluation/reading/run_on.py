"""Where a reply leaves its question: at a stop string of its run, or at a question of its own."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Final, NamedTuple

from mihakk.machinery.text import key
from mihakk.machinery.text.reasoning import without_reasoning

_HINTS: Final = (
    *("uestion", "Q", "roblem", "PROBLEM", "xercise", "xample", "nstruction"),
    *("Human", "User", "USER", "Input", "INST", "<|", "=="),
)
_HINTS_ANY: Final = (*_HINTS, "سؤال", "تمر", "پرسش", "سوال", "مسئله", "مسألة", "س:", "س ")
"""Every text that has a head holds one; most hold none."""
_HEAD: Final = re.compile(
    r"^[ \t>#*_=\-]*+(?:"
    r"(?:(?:Next|New|Another|The next)[ ])?(?:[Qq]uestion|QUESTION|Q|[Pp]roblem|PROBLEM)"
    r"(?:[ ]?(?:#|No\.?)?[ ]?\d{1,4})?[ ]?[*_]*[:.)][*_]*"
    r"|(?:ال)?(?:سؤال|سوال|مسألة|مسئله|پرسش|س)(?:[ ]\w{1,10}){0,2}[ ]?[*_]*[:：)][*_]*"
    r"|(?:[Ee]xercise|[Ee]xample|تمرين|تمرین)[ ]?\d{1,3}(?:[*_]*[:.)]|[ \t]*$)"
    r"|(?:Human|User|Instruction|Input|USER)[*_]*:"
    r"|\[/?INST\]|<\|(?:im_start|user|start_header_id|eot_id|endoftext)"
    r")|^[ \t]*+(?:\#{1,6}|==+)[ \t]*+(?:[Ii]nstruction|[Qq]uestion|[Uu]ser|[Rr]esponse)\b",
    re.MULTILINE,
)
"""The line by which a prompt's template begins anew."""
_LISTED: Final = re.compile(
    r"^[ \t>*_\-•(\[]*+(?:[A-Ja-j]|الف|[أاآبجدهو]|[1-9١-٩۱-۹])[)\].:\-–][*_]*+[ \t]*+(\S.*)$", re.MULTILINE
)
"""A line of a list of options."""
_MOST_LISTED: Final = 20
_LEAST_ALIKE: Final = 4
"""Letters of the shortest option that is known again within a longer one."""
_MOST_HEADS: Final = 6
"""Heads looked at: what answers nothing before the sixth answers another question behind it."""


class OwnQuestion(NamedTuple):
    """Where a question of the reply's own begins."""

    start: int
    is_foreign: bool
    """Whether it lists options, and none of them is the question's: what follows can't be its answer."""


def up_to_stop(reply: str, stops: Sequence[str]) -> str:
    """A reply up to the first of the stop strings of its run: a server may not have heard of them.

    A thought is not looked into, nor is white space before the first word: no run stops before it begins.
    """
    thought = len(reply) - len(without_reasoning(reply).text)
    began = thought + len(reply[thought:]) - len(reply[thought:].lstrip())
    places = [place for stop in stops if stop and (place := reply.find(stop, began)) >= 0]
    return reply[: min(places)] if places else reply


def own_questions(text: str, options: Sequence[str]) -> Iterator[OwnQuestion]:
    """The questions that a reply goes on with, in order; a head that opens it is its question told again."""
    if "\n" not in text:
        return
    for hint in _HINTS if text.isascii() else _HINTS_ANY:
        if hint in text:
            break
    else:
        return
    heads = [match.span() for match in _HEAD.finditer(text)]
    own = {key(option, "fa") for option in options}
    for number, (start, end) in enumerate(heads[:_MOST_HEADS]):
        if not text[:start].strip():
            continue
        stop = heads[number + 1][0] if number + 1 < len(heads) else len(text)
        listed = [key(match[1], "fa") for match in _LISTED.finditer(text, end, stop)]
        is_own = any(_is_alike(one, option) for one in listed[:_MOST_LISTED] for option in own)
        yield OwnQuestion(start, is_foreign=len(listed) > 1 and not is_own)


def _is_alike(one: str, other: str) -> bool:
    """Whether two options are the same, or one is the other shortened."""
    return one == other or (min(len(one), len(other)) >= _LEAST_ALIKE and (one in other or other in one))


def without_run_on(text: str, options: Sequence[str], answers: Callable[[str], bool]) -> tuple[str, bool]:
    """A reply up to the question of its own behind its answer, and whether there was one.

    Args:
        text: The reply without its thought.
        options: Of the question that was asked.
        answers: Whether a text states an answer; a question before any is part of the reasoning.
    """
    for question in own_questions(text, options):
        before = text[: question.start]
        if question.is_foreign or answers(before):
            return before.rstrip(), True
    return text, False
