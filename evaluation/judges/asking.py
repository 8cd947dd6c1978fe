"""One judge on many replies, through the journal."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from mihakk.evaluation.judges.prompt import (
    extracted,
    extraction_messages,
    extraction_schema,
    instructions,
    judged,
    judging_messages,
    judging_schema,
    material,
    order_of,
)
from mihakk.evaluation.judges.rubrics import rubric_digest
from mihakk.evaluation.rows import answer_key
from mihakk.evaluation.running.asking import Asked
from mihakk.machinery.llm.journal import Journal
from mihakk.machinery.llm.model import Model
from mihakk.machinery.llm.structured import Reply, Request
from mihakk.machinery.seeds import rng
from mihakk.machinery.text.reasoning import without_reasoning
from mihakk.schemas.evaluation import Answer, Judgement
from mihakk.schemas.rubric import Rubric

REPEATS = 3
"""How often an answer is judged that is drawn for the judge's agreement with itself."""


class Judged(NamedTuple):
    """An answer to be judged."""

    answer: Answer
    asked: Asked
    reply: str
    """Without the system's thoughts."""
    name: str
    """Key of the answer; a probe's altered copy has `+` and the probe behind it."""
    repeat: int = 0
    reply_first: bool = False

    def presentation(self, rubric: Rubric, seed: int) -> int:
        """Seeded order of the criteria: an altered copy's is that of the answer, or the other way round."""
        name = self.name.partition("+")[0]
        count = len(rubric.fields)
        drawn = rng(seed, f"{name} {rubric.name} {self.repeat}", "presentation").randrange(2 * count)
        return (drawn + count) % (2 * count) if self.reply_first else drawn


def judged_of(answer: Answer, asked: Asked) -> Judged | None:
    """The answer as a judge sees it; None where there is nothing to judge."""
    reply = without_reasoning(answer.reply).text.strip()
    return Judged(answer, asked, reply, answer_key(answer)) if reply and not answer.error else None


def asked_again(cases: Sequence[Judged], share: float, seed: int) -> list[Judged]:
    """The same cases, those drawn for self-consistency three times."""
    found = []
    for case in cases:
        drawn = rng(seed, case.name, "self_consistency").random() < share
        found += [case._replace(repeat=repeat) for repeat in range(REPEATS if drawn else 1)]
    return found


def judge_cases(
    model: Model,
    journal: Journal,
    rubric: Rubric,
    cases: Sequence[Judged],
    *,
    seed: int,
    answered: Callable[[], None] = lambda: None,
) -> Iterator[Judgement]:
    """Judgements in the order of the cases; what the journal holds is asked of nobody.

    Raises:
        ExternalFailure: The judge's server failed for good or its budget is spent; answered calls are kept.
        UsageError: Its key or model name is not accepted.
    """
    words: list[Reply[str] | None] = [None] * len(cases)
    if rubric.extract:
        words = list(model.ask_all((_extraction(rubric, case) for case in cases), journal))
    scored = [(case, found) for case, found in zip(cases, words, strict=True) if found is None or found.value]
    replies = model.ask_all((_judging(rubric, case, found, seed) for case, found in scored), journal)
    for case, found in zip(cases, words, strict=True):
        row = _row(model, rubric, case, seed)
        if found is None or found.value:
            yield _judgement(row, found, next(replies))
        else:
            yield _unanswered(row, rubric, found)
        answered()


def open_request(
    model: Model, journal: Journal, rubric: Rubric, case: Judged, seed: int
) -> Request[Any] | None:
    """The first request of a case's judgement that the journal does not answer; asks nobody."""
    found = None
    if rubric.extract:
        first = _extraction(rubric, case)
        if model.outstanding(first, journal) is not None:
            return first
        (found,) = model.ask_all([first], journal)
        if not found.value:
            return None
    judging = _judging(rubric, case, found, seed)
    return judging if model.outstanding(judging, journal) is not None else None


def _extraction(rubric: Rubric, case: Judged) -> Request[str]:
    language = case.asked.question.language
    return Request(
        tag=case.name,
        messages=extraction_messages(language, case.asked.prompt, case.reply),
        schema=extraction_schema(),
        validate=lambda value: extracted(case.reply, language, value),
        name="extraction",
        meta=_meta(rubric, case),
        variant=case.repeat,
    )


def _judging(
    rubric: Rubric, case: Judged, found: Reply[str] | None, seed: int
) -> Request[tuple[dict[str, int], str]]:
    order = order_of(rubric, case.presentation(rubric, seed))
    reply = case.reply if found is None else found.value or ""
    shown = material(rubric, case.asked, reply, reply_first=case.reply_first)
    return Request(
        tag=case.name,
        messages=judging_messages(rubric, case.asked.question.language, order, shown),
        schema=judging_schema(rubric, order),
        validate=lambda value: judged(rubric, value),
        name="judgement",
        meta=_meta(rubric, case),
        variant=case.repeat,
    )


def _meta(rubric: Rubric, case: Judged) -> dict[str, Any]:
    return {
        "answer": case.name,
        "item": case.answer.item,
        "rubric": rubric.name,
        "rubric_version": rubric.version,
        "instructions": instructions()["version"],
    }


def _judgement(
    row: Judgement, found: Reply[str] | None, reply: Reply[tuple[dict[str, int], str]]
) -> Judgement:
    scores, reason = reply.value or ({}, "")
    repaired = reply.asked_twice or (found is not None and found.asked_twice)
    return row.model_copy(
        update={
            "scores": scores,
            "reason": reason,
            "extracted": (found.value or "") if found is not None else "",
            "problem": reply.problem,
            "status": "invalid" if reply.value is None else "repaired" if repaired else "valid",
            "reply_key": reply.key,
        }
    )


def _unanswered(row: Judgement, rubric: Rubric, found: Reply[str]) -> Judgement:
    """No answer in the reply, which is worth the least; or no usable extraction, which is worth no score."""
    update: dict[str, Any] = {"reply_key": found.key, "problem": found.problem}
    if found.value is not None:
        update |= {
            "scores": {name: one.low for name, one in rubric.fields.items()},
            "reason": "no answer was found in the reply",
            "status": "repaired" if found.asked_twice else "valid",
        }
    return row.model_copy(update=update)


def _row(model: Model, rubric: Rubric, case: Judged, seed: int) -> Judgement:
    return Judgement(
        answer=case.name,
        judge=model.config.name,
        revision=model.revision,
        rubric=rubric.name,
        rubric_version=f"{rubric.version}.{instructions()['version']}",
        rubric_digest=rubric_digest(rubric),
        status="invalid",
        presentation=case.presentation(rubric, seed),
        repeat=case.repeat,
    )
