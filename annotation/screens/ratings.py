"""The seven small questions beside the quality review: what is shown, and the labels that come back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from annotation.screens.corrections import showable
from annotation.screens.labelling import DIRECTION, words
from annotation.screens.tasks import escaped, meta, prefill, sealed, value_name
from mihakk.ids import digest
from schemas.idiom import Idiom
from schemas.item import AnswerItem, ChoiceItem, ExplanationItem
from schemas.poem import Poem
from schemas.record import Language, Record

Level = Literal["nominal", "ordinal", "interval"]

LEVELS: dict[str, dict[str, Level]] = {
    "quality_review": {"decision": "nominal", "failed": "nominal", "confidence": "ordinal"},
    "own_answer": {"own": "nominal"},
    "label_validation": dict.fromkeys(("poet", "era", "genre", "metre"), "nominal"),
    "text_correction": {"state": "nominal", "kinds": "nominal"},
    "distractor_rating": {"plausibility": "ordinal"},
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


def rating_task(
    template: str,
    subject: str,
    language: Language,
    parts: Sequence[Shown],
    *,
    boxes: Mapping[str, str] | None = None,
    facts: Mapping[str, str] | None = None,
    screen: Language | None = None,
    priority: int = 0,
) -> dict[str, Any]:
    """Label Studio task of one small question.

    `parts` are shown from top to bottom, `facts` in the closed panel `source`; `boxes` fill text boxes by
    control name. The labels are in the text's language unless `screen` names another.
    """
    labels = words(template, screen or language)
    headings = {**labels.get("names", {}), **labels.get("shown", {})}
    body = "".join(_part(part, headings) for part in parts)
    filled = {name: showable(text) for name, text in (boxes or {}).items() if text}
    data = {
        "sample_id": subject,
        "content_hash": digest([template, language, [(part.heading, part.text) for part in parts]]),
        "priority": priority,
        "task": template,
        "template": template,
        "language": language,
        "screen": screen or language,
        "meta_html": meta({"dialect": (facts or {}).get("dialect", "")}, subject, language, labels),
        "item_html": f'<article dir="{DIRECTION[language]}" lang="{language}">{body}</article>',
        "provenance": {name: showable(text) for name, text in (facts or {}).items() if text}
        or {"id": subject},
        "form": filled,
    }
    return {"data": sealed(data), "predictions": [prefill(filled, subject)] if filled else []}


def label_task(poem: Poem, **options: Any) -> dict[str, Any]:
    """Are the poem's poet, era, genre and metre right? Names as the source words them where it does."""
    metre = " · ".join(sorted({section.metre for section in poem.sections if section.metre}))
    known = {"poet": poem.poet, "era": poem.era, "genre": poem.genre, "metre": metre}
    verses = [" … ".join(half.shown for half in couplet.halves) for couplet in poem.couplets]
    labels = words("label_validation", poem.language)
    facts = [
        Shown(name, poem.source_labels.get(name) or value_name(name, value, poem.language, labels) or "؟")
        for name, value in known.items()
    ]
    origin = {"url": poem.provenance.url, "licence": poem.provenance.licence}
    parts = [*facts, Shown("", "\n".join(verses), verses=True)]
    return rating_task("label_validation", poem.id, poem.language, parts, facts=origin, **options)


def text_task(subject: str, text: str, language: Language, **options: Any) -> dict[str, Any]:
    """Is a text that OCR or re-encoding may have broken sound, and if not, how should it read?"""
    return rating_task(
        "text_correction", subject, language, [Shown("", text)], boxes={"fix_text": text}, **options
    )


def distractor_task(item: ChoiceItem, place: int, **options: Any) -> dict[str, Any]:
    """How good is the wrong option at that place, 0 to 2?"""
    right = " ⁄ ".join(item.options[i] for i in item.gold)
    question = "\n".join(filter(None, [item.context, item.question]))
    parts = [
        Shown("", question),
        Shown("right", right, marked=True),
        Shown("wrong", item.options[place]),
    ]
    facts = {"dialect": item.dialect}
    return rating_task(
        "distractor_rating", f"{item.id}#{place}", item.language, parts, facts=facts, **options
    )


def sentence_task(idiom: Idiom, sentence: str, **options: Any) -> dict[str, Any]:
    """Would speakers of the dialect say this sentence with the idiom?"""
    parts = [
        Shown("idiom", idiom.phrase.shown),
        Shown("meaning", idiom.explanation.shown),
        Shown("sentence", sentence, marked=True),
    ]
    facts = {"dialect": idiom.dialect, "licence": idiom.provenance.licence}
    boxes = {"fix_sentence": sentence}
    return rating_task(
        "dialect_sentence", idiom.id, idiom.language, parts, boxes=boxes, facts=facts, **options
    )


def wrong_idiom_task(
    idiom: Idiom, blanked: str, candidates: Sequence[tuple[str, str]], **options: Any
) -> dict[str, Any]:
    """Which idiom misleads and does not fit the sentence? Candidates are phrase and meaning, up to four."""
    right = f"{idiom.phrase.shown}: {idiom.explanation.shown}"
    others = [
        Shown(f"c{place}", ": ".join(filter(None, candidate)))
        for place, candidate in enumerate(candidates, 1)
    ]
    parts = [Shown("sentence", blanked), Shown("right", right, marked=True), *others]
    facts = {"dialect": idiom.dialect}
    return rating_task("wrong_idiom", idiom.id, idiom.language, parts, facts=facts, **options)


def connotation_task(idiom: Idiom, **options: Any) -> dict[str, Any]:
    """Does the idiom praise or blame, and does its explanation?"""
    parts = [
        Shown("idiom", idiom.phrase.shown),
        Shown("explanation", idiom.explanation.shown),
    ]
    facts = {"dialect": idiom.dialect}
    return rating_task("connotation", idiom.id, idiom.language, parts, facts=facts, **options)


def reply_task(
    template: str, subject: str, language: Language, *, asked: str, reference: str, reply: str, **options: Any
) -> dict[str, Any]:
    """How deep is a system's explanation of a poem, 0 to 10, or how right its answer, 0 to 3?

    `subject`, the reply's name on the server, must not tell who wrote it.
    """
    verses = template == "interpretive_depth"
    about = Shown("poem" if verses else "question", asked, verses=verses)
    parts = [about, Shown("reference", reference, marked=True), Shown("reply", reply)]
    return rating_task(template, subject, language, parts, **options)


def depth_task(item: ExplanationItem, subject: str, reply: str, **options: Any) -> dict[str, Any]:
    """How deep does a system's explanation of a poem go, in five parts that sum to 0-10?"""
    return reply_task(
        "interpretive_depth",
        subject,
        item.language,
        asked="\n".join(item.verses),
        reference="\n".join(filter(None, [*item.explanations, item.overall])),
        reply=reply,
        **options,
    )


def correctness_task(item: AnswerItem, subject: str, reply: str, **options: Any) -> dict[str, Any]:
    """How right is a system's answer, 0 to 3?"""
    return reply_task(
        "answer_correctness",
        subject,
        item.language,
        asked="\n".join(filter(None, [item.context, item.question])),
        reference=" ⁄ ".join((item.answer, *item.accepted)),
        reply=reply,
        **options,
    )


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
