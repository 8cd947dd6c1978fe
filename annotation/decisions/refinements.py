"""What people's answers on refined docstrings come to: accepted, edited, rejected, disputed or still open."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from annotation.decisions.votes import votes_of
from annotation.screens.ratings import Label
from annotation.screens.refinements import TEMPLATE
from validators.code.refinement import Decided


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
