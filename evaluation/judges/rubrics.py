"""Rubrics by name, from `evaluation/rubrics/`."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from pathlib import Path

from mihakk.machinery.configs import load_config
from mihakk.machinery.errors import UsageError
from mihakk.machinery.ids import digest
from mihakk.schemas.evaluation import AnswerKind
from mihakk.schemas.rubric import Rubric

FOLDER = Path(__file__).parent.parent / "rubrics"


@cache
def rubric_named(name: str) -> Rubric:
    """A rubric.

    Raises:
        UsageError: There is none of that name, or it does not fit.
    """
    return load_config(FOLDER / f"{name}.yaml", Rubric)


def rubric_digest(rubric: Rubric) -> str:
    """Digest of everything a rubric says, so that any change of wording is another rubric."""
    return digest(rubric.model_dump(mode="json"))


def rubrics_of(names: Iterable[str], kinds: Iterable[tuple[AnswerKind, str]]) -> list[Rubric]:
    """The rubrics of those names, each of which judges at least one kind and task.

    Raises:
        UsageError: One judges nothing that was asked.
    """
    asked = set(kinds)
    found = [rubric_named(name) for name in names]
    for rubric in found:
        if not any(rubric.judges(kind, task) for kind, task in asked):
            wanted = ", ".join(rubric.tasks or rubric.kinds)
            raise UsageError(
                f"the rubric {rubric.name!r} judges {wanted}, and the suite asks none of that: "
                "leave it out of `judges.rubrics`"
            )
    return found
