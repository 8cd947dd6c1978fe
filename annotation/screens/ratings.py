"""The seven small questions beside the quality review: what is shown, and the labels that come back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from mihakk.annotation.screens.corrections import showable
from mihakk.annotation.screens.tasks import escaped, screen_task
from mihakk.machinery.agreement import Level
from mihakk.machinery.ids import digest
from mihakk.machinery.languages import pack
from mihakk.schemas.record import Language, Record

LEVELS: dict[str, dict[str, Level]] = {
    "quality_review": {"decision": "nominal", "failed": "nominal", "confidence": "ordinal"},
    "own_answer": {"own": "nominal"},
    "label_validation": dict.fromkeys(("poet", "era", "genre", "metre"), "nominal"),
    "text_correction": {"state": "nominal", "kinds": "nominal"},
    "distractor_rating": {"correct": "nominal", "tempting": "nominal", "plausibility": "ordinal"},
    "dialect_sentence": {"verdict": "nominal"},
    "wrong_idiom": {"wrong": "nominal"},
    "connotation": {"idiom": "nominal", "explanation": "nominal"},
    "interpretive_depth": {
        **dict.fromkeys(("literal", "theme", "culture", "style", "expression"), "ordinal"),
        "depth": "interval",
    },
    "answer_correctness": {"correctness": "ordinal"},
    "prompt_refinement": {"verdict": "nominal", "meaning": "nominal"},
}
"""Level of measurement of each label that agreement is computed on, per template."""

DEPTH_PARTS = ("literal", "theme", "culture", "style", "expression")
"""Parts of interpretive depth, worth 1, 2, 2, 3 and 2 points; their sum is the label `depth`, 0 to 10."""


SCALES: dict[str, tuple[int, int]] = {
    "confidence": (1, 5),
    "plausibility": (0, 2),
    "correctness": (0, 3),
    "literal": (0, 1),
    "theme": (0, 2),
    "culture": (0, 2),
    "style": (0, 3),
    "expression": (0, 2),
    "depth": (0, 10),
}
"""Ends of the scale of each label that is a number."""


class Label(Record):
    """One person's answer to one small question about one subject."""

    subject: str
    """Id of the item, poem or idiom; `<item>#<i>` for option i, a meaningless name for a reply."""
    content_hash: str
    """Digest of what the person was shown."""
    annotator: str
    """Pseudonym."""
    template: str
    name: str
    """Control it was given in, e.g. `metre`, or `depth` for the sum of the five parts."""
    value: str
    """Stored alias, number or text; several aliases of one control are joined by a comma."""
    decided_at: datetime
    created_at: datetime | None = None
    """See `Review.created_at`."""
    seconds: float | None = None
    task: int | None = None
    """Label Studio's task id."""
    annotation: str = ""
    """See `Review.annotation`."""
    guideline: int = 0
    """See `Review.guideline`."""


@dataclass(frozen=True)
class Shown:
    """One part of a subject on the screen."""

    heading: str
    """Key of `shown` or `names` in the template's words; empty for no heading."""
    text: str
    marked: bool = False
    """The part everything else is judged by; shown in green."""
    verses: bool = False
    """A verse a line; they are numbered."""
    judged: bool = False
    """The part that is judged; it stands first."""


def rating_task(
    template: str,
    subject: str,
    language: Language,
    parts: Sequence[Shown],
    *,
    boxes: Mapping[str, str] | None = None,
    facts: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """Label Studio task of one small question, labelled in the language of its texts.

    `parts` are shown from top to bottom, what is judged before the others, `facts` in the closed panel
    `source`; `boxes` fill text boxes by control name.
    """

    def html(labels: Mapping[str, Any]) -> str:
        headings = {**labels.get("names", {}), **labels.get("shown", {})}
        body = "".join(_part(part, headings) for part in sorted(parts, key=lambda part: not part.judged))
        return f'<article dir="{pack(language).direction}" lang="{language}">{body}</article>'

    return screen_task(
        template,
        subject,
        language,
        content=digest([template, language, [(part.heading, part.text) for part in parts]]),
        html=html,
        facts={"dialect": (facts or {}).get("dialect", "")},
        provenance={name: showable(text) for name, text in (facts or {}).items() if text},
        boxes={name: showable(text) for name, text in (boxes or {}).items() if text},
    )


def plausibility(correct: str, tempting: str) -> str:
    """The rating of Kinayat (figure 16), 0 to 2, of what was said to its two questions.

    2: wrong, and tempts; 0: right as well, or tempts nobody; 1: what lies between.
    """
    if correct == "right" or tempting == "no":
        return "0"
    return "2" if (correct, tempting) == ("wrong", "yes") else "1"


def own_answer(values: Mapping[str, str]) -> str:
    """What a person answered to `own_answer`: words, an option's index, or `unknown`; empty where nothing."""
    return " ".join(values.get("typed", "").split()) or values.get("own", "")


def _part(part: Shown, headings: Mapping[str, str]) -> str:
    kind = ' class="key"' if part.marked else ""
    heading = f'<span class="head">{escaped(headings[part.heading])}</span>' if part.heading else ""
    if part.verses:
        lines = "".join(f"<li>{escaped(line)}</li>" for line in part.text.split("\n"))
        return f'{heading}<ol class="verses">{lines}</ol>'
    return f"<p{kind}>{heading}{'<br>' if heading else ''}<bdi>{escaped(part.text)}</bdi></p>"
