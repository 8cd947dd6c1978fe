"""A refined docstring as people see it: the change word by word, right to left, the task, its solution."""

from __future__ import annotations

from typing import Any, Final

from annotation.screens.labelling import DIRECTION, words
from annotation.screens.ratings import Shown, rating_task
from annotation.screens.tasks import escaped, sealed
from schemas.record import Language
from validators.code.refinement import Refinement, word_diff

TEMPLATE: Final = "prompt_refinement"
_TAGS: Final = {"equal": "span", "delete": "del", "insert": "ins"}


def refinement_task(
    refinement: Refinement, prompt: str, solution: str, language: Language = "ar"
) -> dict[str, Any]:
    """Is a docstring better as a model would have it, and does it still ask the same?"""
    headings = words(TEMPLATE, language)["shown"]
    parts = [
        Shown("change", refinement.before),
        Shown("change", refinement.after),
        Shown("reason", refinement.reason),
        Shown("prompt", prompt),
        Shown("solution", solution),
    ]
    made = rating_task(
        TEMPLATE,
        refinement.problem,
        language,
        parts,
        boxes={"fix_docstring": refinement.after},
        facts={"kinds": ", ".join(refinement.kinds), "model": refinement.model},
    )
    diff = "".join(
        f"<{_TAGS[one.op]}>{escaped(one.text)}</{_TAGS[one.op]}>"
        for one in word_diff(refinement.before, refinement.after)
    )
    body = [f'<p>{_heading(headings["change"])}<span dir="rtl" class="diff">{diff}</span></p>']
    if refinement.reason:
        body.append(f"<p>{_heading(headings['reason'])}<bdi>{escaped(refinement.reason)}</bdi></p>")
    for name, text in (("prompt", prompt), ("solution", solution)):
        body.append(f'<p>{_heading(headings[name])}</p><pre dir="ltr">{escaped(text)}</pre>')
    page = f'<article dir="{DIRECTION[language]}" lang="{language}">{"".join(body)}</article>'
    return {**made, "data": sealed({**made["data"], "item_html": page})}


def _heading(text: str) -> str:
    return f"<small>{escaped(text)}</small><br>"
