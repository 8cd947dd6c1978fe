"""Folders that results were imported into: what was asked, and what each system answered."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from mihakk.evaluation.benchmarks import named_by_item
from mihakk.evaluation.incoming.given import AskedThere, Given
from mihakk.evaluation.joining import Joined
from mihakk.evaluation.rows import read_rows, write_rows
from mihakk.machinery.errors import UsageError
from mihakk.schemas.evaluation import Answer, AskedItem, Question

QUESTIONS: Final = "questions.parquet"
"""In such a folder: what was asked."""
_ANSWERS: Final = ("answers.parquet", "*/answers.parquet")


def write_questions(folder: Path, joined: Joined) -> None:
    """Writes what was asked, so that a folder of results is understood without the benchmark."""
    write_rows(folder / QUESTIONS, list(joined.benchmark.questions.values()), Question)


def imported_in(path: Path) -> list[Path]:
    """The folder itself if results were imported into it, or those inside it that have some."""
    folders = [path] if (path / QUESTIONS).is_file() else [one.parent for one in path.glob(f"*/{QUESTIONS}")]
    return sorted(one for one in folders if _answers(one))


def _answers(folder: Path) -> list[Path]:
    return sorted(file for pattern in _ANSWERS for file in folder.glob(pattern))


def read_imported(folders: Sequence[Path]) -> Joined:
    """Results of some folders, over the same questions or over others.

    Raises:
        UsageError: Two folders ask an item differently, or a system answers one twice; or answers are those
            to other questions, which an earlier import left.
    """
    questions: dict[str, Question] = {}
    for folder in folders:
        for one in read_rows(folder / QUESTIONS, Question):
            if questions.setdefault(one.item, one).content_hash != one.content_hash:
                raise UsageError(
                    f"{folders[0]} and {folder} ask other questions as {one.item}: give one of them alone"
                )
    answers: list[tuple[Question, Given]] = []
    where: dict[tuple[str, str], Path] = {}
    for folder in folders:
        for path in _answers(folder):
            for answer in read_rows(path, Answer):
                question = questions.get(answer.item)
                if question is None or question.content_hash != answer.content_hash:
                    raise UsageError(
                        f"{path} answers other questions ({answer.item}) than {folder / QUESTIONS} holds: "
                        "it was left by an earlier import; remove its folder, or import into an empty one"
                    )
                if (first := where.setdefault((answer.model, answer.item), path)) != path:
                    raise UsageError(
                        f"{answer.model} answers {answer.item} in {first} and in {path}: remove the older"
                    )
                facts = answer.model_dump(
                    exclude_defaults=True, exclude=set(AskedItem.model_fields) | {"model"}
                )
                asked = AskedThere(path.parent.name, item=answer.item)
                answers.append((question, Given(asked, answer.model, more=facts)))
    if not answers:
        raise UsageError(f"{folders[0]} holds questions and no answers: import them again")
    return Joined(answers, [], "id", named_by_item(answers[0][0].release, questions))
