"""Written replies to choices and questions: what evaluation reads and every release carries a copy of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from mihakk.evaluation.reading.answer import read_answer
from mihakk.evaluation.reading.choice import read_choice
from mihakk.evaluation.reading.reading import LONGEST, READERS, UNREAD, Reading
from mihakk.evaluation.reading.run_on import up_to_stop
from mihakk.machinery.text import key
from mihakk.machinery.text.reasoning import without_reasoning

__all__ = ["LONGEST", "READERS", "is_too_long", "key", "read_written"]


def is_too_long(reply: str) -> bool:
    """Whether a reply has over `LONGEST` characters beside its thoughts."""
    return len(without_reasoning(reply).text) > LONGEST


def read_written(
    kind: Literal["choice", "answer"],
    reply: str,
    labels: Sequence[str] = (),
    options: Sequence[str] = (),
    *,
    multiple: bool = False,
    cut: bool = False,
    stops: Sequence[str] = (),
) -> Reading:
    """What a reply answers; one that is too long answers nothing, noted as `too_long`.

    Args:
        kind: A choice, or a question answered in words.
        reply: As it came.
        labels: Of a choice, as the prompt shows them.
        options: Their words.
        multiple: Several options may be chosen.
        cut: The reply ended at the token limit.
        stops: Strings at which its run was to stop; what follows the first of them is no part of the reply.
    """
    if stops and (ended := up_to_stop(reply, stops)) != reply:
        reading = read_written(kind, ended, labels, options, multiple=multiple)
        return reading._replace(notes=(*reading.notes, "stop_string"))
    if not reply:
        return UNREAD
    if is_too_long(reply):
        return UNREAD._replace(notes=("too_long",))
    if kind == "choice":
        return read_choice(reply, labels, options, multiple=multiple, cut=cut)
    return read_answer(reply)
