"""A refined docstring put before people, word by word, and what their answers come to."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from mihakk.annotation.decisions.votes import votes_of
from mihakk.annotation.screens.corrections import showable
from mihakk.annotation.screens.ratings import Label
from mihakk.annotation.screens.tasks import escaped, screen_task
from mihakk.machinery.ids import digest
from mihakk.machinery.languages import pack
from mihakk.schemas.record import Language
from mihakk.validators.code.refinement import Decided, Refinement, marked_diff

TEMPLATE: Final = "prompt_refinement"


def refinement_task(
    refinement: Refinement, prompt: str, solution: str, language: Language = "ar"
) -> dict[str, Any]:
    """Is a docstring better as a model would have it, and does it still ask the same?

    The change is shown word by word, each line in its own direction, above the task and its solution.
    """
    shown = [
        ("change", refinement.before),
        ("change", refinement.after),
        ("reason", refinement.reason),
        ("prompt", prompt),
        ("solution", solution),
    ]

    def html(labels: Mapping[str, Any]) -> str:
        def heading(name: str) -> str:
            return f"<small>{escaped(labels['shown'][name])}</small><br>"

        diff = marked_diff(refinement.before, refinement.after, escaped)
        body = [f'<p>{heading("change")}</p><p class="diff">{diff}</p>']
        if refinement.reason:
            body.append(f"<p>{heading('reason')}<bdi>{escaped(refinement.reason)}</bdi></p>")
        for name, text in (("prompt", prompt), ("solution", solution)):
            body.append(f'<p>{heading(name)}</p><pre dir="ltr">{escaped(text)}</pre>')
        return f'<article dir="{pack(language).direction}" lang="{language}">{"".join(body)}</article>'

    facts = {"kinds": ", ".join(refinement.kinds), "model": refinement.model}
    return screen_task(
        TEMPLATE,
        refinement.problem,
        language,
        content=digest([TEMPLATE, language, shown]),
        html=html,
        provenance={name: showable(text) for name, text in facts.items() if text},
        boxes={"fix_docstring": showable(refinement.after)} if refinement.after else {},
    )


def decided(labels: Iterable[Label], hashes: Mapping[str, str], votes: int = 1) -> dict[str, Decided]:
    """Decision by problem, on what is shown now; a person's later answer replaces the earlier one.

    Problems that too few people answered are not among them. `hashes` give the content shown now.
    """
    answers = votes_of(sorted(labels, key=lambda one: one.decided_at))
    given = {problem: answers.get((TEMPLATE, problem, content), {}) for problem, content in hashes.items()}
    return {
        problem: _decided(problem, list(people.values()))
        for problem, people in given.items()
        if people and len(people) >= votes
    }


def _decided(problem: str, answers: list[dict[str, str]]) -> Decided:
    """One word of all: whoever says that the meaning changed rejects; those who differ dispute."""
    verdicts = {"reject" if one.get("meaning") != "same" else one.get("verdict", "reject") for one in answers}
    texts = {one.get("fix_docstring", "") for one in answers if one.get("verdict") == "edit"}
    verdict = verdicts.pop() if len(verdicts) == 1 else "disputed"
    if verdict == "edit" and len(texts) != 1:
        verdict = "disputed"
    text = texts.pop() if verdict == "edit" else ""
    return Decided.model_validate(
        {"problem": problem, "verdict": verdict, "text": text, "people": len(answers)}
    )
