"""The program that a reply answers with."""

from __future__ import annotations

import re
from typing import Final

from evaluation.reading.reading import UNREAD, Reading
from evaluation.reading.reasoning import without_reasoning
from validators.code.problem import defines

RULES: Final = {"fence": "fence/1", "whole": "whole/1", "definition": "definition/1", "body": "body/1"}
_FENCE: Final = re.compile(
    r"^```[ \t]*(?:[Pp]ython3?|py)?[ \t]*\n(.*?)(?:^[ \t]*```|\Z)", re.DOTALL | re.MULTILINE
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
    began = re.search(rf"^(?:(?:import|from) .*\n+)*def {re.escape(entry_point)}\b", text, re.MULTILINE)
    if began is None:
        return ""
    lines = text[began.start() :].splitlines(keepends=True)
    for end in range(len(lines), 0, -1):
        if defines(program := "".join(lines[:end]), entry_point):
            return program
    return ""
