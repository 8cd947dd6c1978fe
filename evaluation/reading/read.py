"""Which reader reads an answer, and what came of it."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from typing import Final

from mihakk.evaluation.reading.likelihood import read_likelihoods
from mihakk.evaluation.reading.reading import READERS, UNREAD, Reading
from mihakk.evaluation.reading.verses import read_verses
from mihakk.evaluation.reading.written import is_too_long, read_written
from mihakk.machinery.text.reasoning import without_reasoning
from mihakk.schemas.evaluation import AnswerStatus, Method, Question
from mihakk.validators.code.problem import defines


def reader_of(question: Question, method: Method) -> str:
    """The reader of an answer, with its version."""
    return READERS[question.kind if method == "written" else "likelihood"]


def read(
    question: Question, method: Method, reply: str, likelihoods: Sequence[float] = (), *, cut: bool = False
) -> Reading:
    """What a reply answers to a question; one over `LONGEST` characters answers nothing, noted as `too_long`.

    Args:
        question: What was asked.
        method: How the answer was had.
        reply: As it came; not looked at where likelihoods are compared.
        likelihoods: One per option, for the methods that compare them.
        cut: The reply ended at the token limit.
    """
    if method != "written":
        golds = len(question.gold) if question.multiple else 1
        return read_likelihoods(likelihoods, question.labels, golds) if likelihoods else UNREAD
    if question.kind in ("choice", "answer"):
        return read_written(
            question.kind, reply, question.labels, question.options, multiple=question.multiple, cut=cut
        )
    if not reply:
        return UNREAD
    if is_too_long(reply):
        return UNREAD._replace(notes=("too_long",))
    if question.kind == "code":
        return read_program(reply, question.entry_point)
    return read_verses(reply, question.verses)


def status_of(reading: Reading, reply: str, finish_reason: str, error: str) -> AnswerStatus:
    """What became of an answer; `read` where one was found, whatever else happened."""
    if error:
        return "error"
    if reading.found:
        return "read"
    if finish_reason == "content_filter":
        return "refused"
    return "unparsed" if reply.strip() else "empty"


RULES: Final = {"fence": "fence/1", "whole": "whole/1", "definition": "definition/1", "body": "body/1"}
_MOST_CUTS: Final = 200
"""Places at which a text behind a definition is cut before it is given up."""
_FENCE: Final = re.compile(
    r"^```[ \t]*+(?:[Pp]ython3?|py)?[ \t]*+\n(.*?)(?:^[ \t]*```|\Z)", re.DOTALL | re.MULTILINE
)


def read_program(reply: str, entry_point: str) -> Reading:
    """The program in a reply; whether it is right, or even parses, is for the tests to say.

    The last fenced block that defines the entry point, else the last fenced block at all; without a fence
    the whole reply where it parses and defines it, or what follows the definition's first line up to where
    it stops to parse; an indented text is taken for the body that completes the prompt.
    """
    spoken = without_reasoning(reply)
    notes: tuple[str, ...] = ("thought_cut",) if spoken.cut else ()
    blocks = [found[1] for found in _FENCE.finditer(spoken.text)]
    if blocks:
        cut = () if spoken.text.count("```") % 2 == 0 else ("cut_fence",)
        own = [block for block in blocks if defines(block, entry_point)] or blocks
        one = len(blocks) == 1 and not cut
        return Reading(own[-1], rule=RULES["fence"], notes=(*notes, *cut), format_ok=one)
    notes += ("no_fence",)
    if defines(spoken.text, entry_point):
        return Reading(spoken.text, rule=RULES["whole"], notes=notes)
    if program := _definition(spoken.text, entry_point):
        return Reading(program, rule=RULES["definition"], notes=notes)
    if re.match(r"\n*(?: {2,}|\t)\S", spoken.text):
        return Reading(spoken.text.strip("\n") + "\n", rule=RULES["body"], notes=notes)
    return UNREAD._replace(notes=notes)


def _definition(text: str, entry_point: str) -> str:
    """The longest program that begins at the definition, or at the imports right before it."""
    began = re.search(rf"^def {re.escape(entry_point)}\b", text, re.MULTILINE)
    if began is None:
        return ""
    before = text[: began.start()].splitlines(keepends=True)
    while before and (before[-1].startswith(("import ", "from ")) or not before[-1].strip()):
        before.pop()
    lines = text[len("".join(before)) :].lstrip("\n").splitlines(keepends=True)
    for _ in range(_MOST_CUTS):
        program = "".join(lines)
        try:
            ast.parse(program)
        except SyntaxError as error:
            # What does not parse at a line parses up to none behind it; in an f-string lines count anew.
            stopped = error.lineno if error.lineno and error.filename != "<fstring>" else len(lines)
            del lines[min(len(lines), stopped) - 1 :]
        except (ValueError, RecursionError, MemoryError):
            return ""
        else:
            return program if defines(program, entry_point) else ""
    return ""
