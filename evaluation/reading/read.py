"""Which reader reads an answer, and what came of it."""

from __future__ import annotations

from collections.abc import Sequence

from mihakk.evaluation.reading.likelihood import read_likelihoods
from mihakk.evaluation.reading.program import read_program
from mihakk.evaluation.reading.reading import READERS, UNREAD, Reading
from mihakk.evaluation.reading.verses import read_verses
from mihakk.evaluation.reading.written import is_too_long, read_written
from mihakk.schemas.evaluation import AnswerStatus, Method, Question


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
