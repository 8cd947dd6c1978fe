"""Rubrics by name, from `evaluation/rubrics/`, in our words or in the authors' own."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from mihakk.evaluation.adapters.adapter import require_letters
from mihakk.machinery.configs import load_config
from mihakk.machinery.errors import UsageError
from mihakk.machinery.ids import digest
from mihakk.schemas.evaluation import AnswerKind
from mihakk.schemas.rubric import Rubric
from mihakk.schemas.suite import SuiteJudges

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
    ours = set() if rubric.prompt else {"published", "prompt"}
    return digest(rubric.model_dump(mode="json", exclude=ours))


def in_authors_words(rubric: Rubric, folder: Path) -> Rubric:
    """A rubric that asks in its authors' own prompt, from the user's copy below a folder.

    Raises:
        UsageError: No such prompt is known, or the file is missing or holds another.
    """
    known = rubric.published
    if known is None:
        raise UsageError(f"`judges.published`: no authors' prompt is known of the rubric {rubric.name!r}")
    path = folder / known.file
    if not path.is_file():
        raise UsageError(f"there is no file {path} with the prompt of the rubric {rubric.name!r}")
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".py":
        try:
            held = [one.value for one in ast.walk(ast.parse(text)) if isinstance(one, ast.Constant)]
        except SyntaxError as error:
            raise UsageError(f"{path} is no program of the authors' ({error})") from error
        text = max((one for one in held if isinstance(one, str)), key=len, default="")
    require_letters(text, known.digest, path, f"the prompt of the rubric {rubric.name!r}")
    return rubric.model_copy(update={"prompt": text.strip()})


def rubrics_of(judges: SuiteJudges, kinds: Iterable[tuple[AnswerKind, str]]) -> list[Rubric]:
    """A suite's rubrics, each of which judges at least one kind and task.

    Raises:
        UsageError: One judges nothing that was asked, or the authors' prompt of one can't be had.
    """
    asked = set(kinds)
    found = [rubric_named(name) for name in judges.rubrics]
    if judges.published:
        folder = Path(os.path.expandvars(judges.published))
        found = [in_authors_words(rubric, folder) for rubric in found]
    for rubric in found:
        if not any(rubric.judges(kind, task) for kind, task in asked):
            wanted = ", ".join(rubric.tasks or rubric.kinds)
            raise UsageError(
                f"the rubric {rubric.name!r} judges {wanted}, and the suite asks none of that: "
                "leave it out of `judges.rubrics`"
            )
    return found
