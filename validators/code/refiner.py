"""The model that refines docstrings: asked through the journal; every rule checks its replies."""

from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

import orjson
from pydantic import BaseModel, ConfigDict

from mihakk.machinery.llm.journal import Journal
from mihakk.machinery.llm.model import Model
from mihakk.machinery.llm.structured import Request, closed_object, fitted
from mihakk.machinery.sandbox import Limits, run_trials
from mihakk.validators.code.docstring import Docstring, docstring_of, has_arabic, replaced
from mihakk.validators.code.problem import Problem
from mihakk.validators.code.refinement import Refinement, Status, change_kinds, objection

PROMPT: Final = "code_refinement"
VERSION: Final = "1"
SYSTEM: Final = """\
You edit the Arabic of programming tasks. You are given a Python function and its docstring. Correct the \
Arabic words of the docstring where they are wrong, unnatural or unclear, and leave all else as it stands.

Keep to these rules; a reply that breaks one is thrown away:
- Every line stays a line, with the same spaces at its beginning and end.
- Lines of code, examples (>>>) and their results, English words, names, digits and signs stay as they are.
- Meaning stays: no condition, number, negation or order of sorting is added, dropped or changed.
- No sentence is added or left out. Nothing tells how the task could be solved.
- Modern Standard Arabic; instructions in the imperative (أعد, اكتب, تحقق); الفاصلة العربية «،».
- Where the Arabic is right, give the docstring back unchanged.
- Where you are not sure of a word or a term, or would have to change the meaning, set needs_human to true.

Answer with one JSON object: {"docstring": the text between the quotes, "needs_human": true or false}."""
SCHEMA: Final = closed_object({"docstring": {"type": "string"}, "needs_human": {"type": "boolean"}})


class RefinedText(BaseModel):
    """A reply."""

    model_config = ConfigDict(extra="forbid", strict=True)

    docstring: str
    needs_human: bool


class _Sound(NamedTuple):
    """A problem that a model may be asked about."""

    problem: Problem
    docstring: Docstring


def refine(
    problems: Sequence[Problem], model: Model, journal: Journal, limits: Limits | None = None
) -> Iterator[Refinement]:
    """What becomes of each docstring, in order; nothing is changed yet, for people have the last word.

    A prompt that does not parse, or whose reference fails its tests, goes to people unasked. A reply is taken
    where it keeps every rule of `refinement.objection`, and the reference passes with the new prompt too.

    Raises:
        UsageError: No sandbox can be had here, or the model's config can't work.
        ExternalFailure: The model's server or the sandbox failed; answered calls are kept.
    """
    told: dict[str, Refinement] = {}
    sound = []
    outcomes = run_trials((one.trial for one in problems), limits)
    for problem, outcome in zip(problems, outcomes, strict=True):
        docstring = docstring_of(problem.prompt, problem.entry_point)
        if docstring is None:
            reason = "the prompt does not parse, or has no plain docstring"
        elif not outcome.passed:
            reason = "the reference does not pass the tests"
        elif not has_arabic(docstring.text):
            reason = "there is no Arabic in the docstring"
        else:
            sound.append(_Sound(problem, docstring))
            continue
        text = problem.prompt if docstring is None else docstring.text
        told[problem.id] = Refinement(
            problem=problem.id, line=problem.line, status="for_people", before=text, after=text, reason=reason
        )
    replies = list(zip(sound, model.ask_all(map(request, sound), journal), strict=True))
    changed = {
        one.problem.id: one.problem.asking(replaced(one.problem.prompt, one.docstring, reply.value.docstring))
        for one, reply in replies
        if reply.value is not None and reply.value.docstring != one.docstring.text
    }
    again = run_trials((one.trial for one in changed.values()), limits)
    fails = {name for name, outcome in zip(changed, again, strict=True) if not outcome.passed}
    for one, reply in replies:
        name = one.problem.id
        told[name] = _refinement(one, reply.value, reply.problem, model.config.name, name in fails)
    yield from (told[one.id] for one in problems)


def request(one: _Sound) -> Request[RefinedText]:
    """What the model is asked of one problem, and what its reply must be."""

    def check(value: dict[str, Any]) -> RefinedText:
        reply = fitted(RefinedText, value)
        if told := objection(one.problem, one.docstring, reply.docstring, needs_human=reply.needs_human):
            raise ValueError(told)
        return reply

    return Request(
        tag=one.problem.id,
        messages=[
            {"role": "system", "content": SYSTEM},
            {
                "role": "user",
                "content": f"The function:\n\n{one.problem.prompt}\n\nIts docstring, as a JSON string:\n\n"
                + orjson.dumps(one.docstring.text).decode(),
            },
        ],
        schema=SCHEMA,
        validate=check,
        name="refinement",
        meta={"prompt": f"{PROMPT}@{VERSION}", "record": one.problem.id},
    )


def _refinement(one: _Sound, reply: RefinedText | None, problem: str, model: str, fails: bool) -> Refinement:
    before = one.docstring.text
    after = reply.docstring if reply and not fails else before
    needs_human = reply is not None and reply.needs_human
    status: Status = "unchanged" if after == before else "proposed"
    reason = ""
    if reply is None or fails:
        status, reason = "refused", problem or "the reference fails with the new prompt"
    elif needs_human:
        status, reason = "for_people", "the model is not sure"
    return Refinement(
        problem=one.problem.id,
        line=one.problem.line,
        status=status,
        before=before,
        after=after,
        kinds=change_kinds(before, after),
        needs_human=needs_human,
        reason=reason,
        model=model,
    )
