"""Where a model's thoughts end and its answer begins."""

from __future__ import annotations

from typing import Final, NamedTuple

MARKS: Final[tuple[tuple[str, str], ...]] = (
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("<thought>", "</thought>"),
    ("<reasoning>", "</reasoning>"),
    ("<seed:think>", "</seed:think>"),
    ("[THINK]", "[/THINK]"),
    ("◁think▷", "◁/think▷"),
    ("<|START_THINKING|>", "<|END_THINKING|>"),
    ("<|channel|>analysis<|message|>", "<|channel|>final<|message|>"),
)
"""How known models open and end a thought. Chat templates may have opened it in the prompt already."""


class Spoken(NamedTuple):
    """A reply without its thought."""

    text: str
    cut: bool
    """The thought was opened and never ended: there is no answer in it."""


def without_reasoning(reply: str) -> Spoken:
    """What follows the last end of a thought; nothing where a thought was opened and not ended."""
    if "<" not in reply and "[" not in reply and "◁" not in reply:
        return Spoken(reply, cut=False)
    for opened, ended in MARKS:
        if ended in reply:
            reply = reply.rpartition(ended)[2]
        elif opened in reply:
            before, _, _ = reply.partition(opened)
            return Spoken(before.strip(), cut=True)
    return Spoken(reply, cut=False)
