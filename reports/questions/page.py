"""One offline page of questions to hand to a scholar."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from pathlib import Path

from reports.questions.sample import Question
from reports.templates import templates, write_page


def write_questions_page(name: str, questions: Sequence[Question], path: Path) -> None:
    """Writes the page: every text in its own direction, options in the item's order, each with its reason."""
    groups = [
        (task, language, list(group))
        for (task, language), group in groupby(questions, lambda one: (one.item.task, one.item.language))
    ]
    page = templates(Path(__file__).parent).get_template("questions.html.jinja")
    write_page(page, path, name=name, groups=groups, total=len(questions))
