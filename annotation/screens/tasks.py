"""One item as an annotator sees it: a Label Studio task in which nothing of the item's text can run."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from hashlib import blake2b
from typing import Any, get_args

from mihakk.annotation.screens.corrections import form, showable
from mihakk.annotation.screens.labelling import MAX_OPTIONS, MAX_ROWS, words
from mihakk.machinery.ids import content_hash, digest
from mihakk.machinery.languages import pack
from mihakk.machinery.taxonomy import Kind, vocabulary, with_tables
from mihakk.schemas.audit import CRITICAL, Audit
from mihakk.schemas.finding import Finding
from mihakk.schemas.item import AnswerItem, ChoiceItem, Item
from mihakk.schemas.record import Language

TEMPLATE = "quality_review"
OWN_ANSWER = "own_answer"
"""Template that asks an item's question without its answer."""
PREFILL = "prefill-1"
"""`model_version` of the predictions that fill the text boxes with the item as it stands."""
_TAMPERED = "data_digest"
_PLACE = "<span></span>"
"""Where `numbered` writes a task's place."""
_INVISIBLE = re.compile("[\u200e\u200f\u202a-\u202e\u2066-\u2069\u061c\u2028\u2029\ufeff\ufffd]")


def review_task(
    item: Item,
    findings: Iterable[Finding] = (),
    audits: Iterable[Audit] = (),
    *,
    screen: Language | None = None,
    priority: int | None = None,
    after_answer: bool = False,
) -> dict[str, Any]:
    """Label Studio task for the quality review of one item.

    Nothing that checks or auditors say is in it, nor why the item is in the queue: whoever judges it judges
    alone. Its predictions fill text boxes only, never a verdict: a prefilled verdict anchors people.

    Args:
        findings, audits: Give its place in the queue where `priority` does not.
        screen: Language of the labels; the item's own when None.
        after_answer: People are to have answered its question (`own_answer_task`) before they see this.
    """
    return screen_task(
        TEMPLATE,
        item.id,
        item.language,
        content=content_hash(item),
        html=partial(_item, item),
        screen=screen,
        facts={"dialect": item.dialect, **item.metadata},
        provenance=_provenance(item),
        boxes=form(item),
        priority=urgency(list(findings), list(audits)) if priority is None else priority,
        task=item.task,
        own_question=question_hash(item) if after_answer and answerable(item) else "",
    )


def own_answer_task(item: Item, *, priority: int = 0) -> dict[str, Any]:
    """Label Studio task that asks an item's question and holds nothing else of the item.

    What is sent can be read in the page's source, so neither the answer nor the item's content hash, in which
    the answer could be found by trial, nor its metadata, which may be the answer, is in it.
    """
    return screen_task(
        OWN_ANSWER,
        item.id,
        item.language,
        content=question_hash(item),
        html=partial(_item, item, answered=False),
        facts={"dialect": item.dialect},
        priority=priority,
    )


def screen_task(
    template: str,
    subject: str,
    language: Language,
    *,
    content: str,
    html: Callable[[dict[str, Any]], str],
    screen: Language | None = None,
    facts: Mapping[str, str] | None = None,
    provenance: Mapping[str, str] | None = None,
    boxes: Mapping[str, str] | None = None,
    priority: int = 0,
    task: str = "",
    own_question: str = "",
) -> dict[str, Any]:
    """The task of any template, sealed; its predictions fill text boxes, and nothing else.

    Args:
        content: Digest of what is shown.
        html: Makes what is shown, of the words of the screen.
        screen: Language of the labels; the text's own when None.
        facts: Told in the line above.
        provenance: Told in the closed panel `source`.
        boxes: Texts by control name.
        task: Of an item; else the template.
        own_question: Digest of the question that people are to have answered before.
    """
    labels, filled = words(template, screen or language), dict(boxes or {})
    told = {
        labels["sources"].get(name, name): value_name(name, value, language, labels)
        for name, value in (provenance or {"id": subject}).items()
    }
    data = {
        "sample_id": subject,
        "content_hash": content,
        "priority": priority,
        "task": task or template,
        "template": template,
        "language": language,
        "screen": screen or language,
        "meta_html": meta(facts or {}, subject, language, labels),
        "item_html": html(labels),
        "provenance": told,
        "form": filled,
        **({"own_question": own_question} if own_question else {}),
    }
    return {"data": sealed(data), "predictions": [prefill(filled, subject)] if filled else []}


def answerable(item: Item) -> bool:
    """Whether an own answer can be compared with the reference: one option is right, or words are."""
    if isinstance(item, ChoiceItem):
        return len(item.gold) == 1 and len(item.options) <= MAX_OPTIONS
    return isinstance(item, AnswerItem)


def question_hash(item: Item) -> str:
    """Digest of what `own_answer_task` shows of an item; a corrected answer does not change it."""
    options = item.options if isinstance(item, ChoiceItem) else ()
    return digest([OWN_ANSWER, item.language, item.context, item.question, *options])


def sealed(data: dict[str, Any]) -> dict[str, Any]:
    """Task data with the digest of itself, so that a task edited by hand is noticed when it comes back."""
    body = {name: value for name, value in data.items() if name != _TAMPERED}
    return {**body, _TAMPERED: digest(body)}


def untouched(data: dict[str, Any]) -> bool:
    """Whether task data still is what was pushed."""
    return _TAMPERED in data and sealed(data)[_TAMPERED] == data[_TAMPERED]


def prefill(boxes: dict[str, str], sample: str) -> dict[str, Any]:
    """Prediction that fills text boxes; region ids are digests, so equal tasks are equal bytes."""
    return {
        "model_version": PREFILL,
        "result": [
            {
                "id": blake2b(f"{sample}\x1f{name}".encode(), digest_size=5).hexdigest(),
                "from_name": name,
                "to_name": "item",
                "type": "textarea",
                "value": {"text": [text]},
            }
            for name, text in sorted(boxes.items())
        ],
    }


def urgency(findings: Sequence[Finding], audits: Sequence[Audit]) -> int:
    """How early people should see an item, 0 and up: unmet criteria, critical ones twice, and findings."""
    unmet = sum(
        1 + (name in CRITICAL) for audit in audits for name, score in audit.scores.items() if score == 0
    )
    invalid = sum(audit.status == "invalid" for audit in audits)
    rules = sum({"block": 10, "flag": 4, "report": 0}[finding.severity] for finding in findings)
    return unmet + 3 * invalid + rules


def escaped(text: str) -> str:
    """Text as HTML: markup inert, invisible controls spelled out, lines kept."""
    inert = html.escape(showable(text), quote=True)
    shown = _INVISIBLE.sub(lambda m: f'<span class="control">U+{ord(m.group()):04X}</span>', inert)
    return shown.replace("\r\n", "\n").replace("\n", "<br>")


def numbered(tasks: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The tasks in their order, each with its place: `12 of 66` in the language of its screen."""
    placed = []
    for number, task in enumerate(tasks, 1):
        data = task["data"]
        place = words(data["template"], data["screen"])["position"].format(number, len(tasks))
        shown = data["meta_html"].replace(_PLACE, f'<span class="place">{place}</span> · ', 1)
        placed.append({**task, "data": sealed({**data, "meta_html": shown})})
    return placed


def meta(facts: Mapping[str, str], subject: str, language: Language, labels: Mapping[str, Any]) -> str:
    """The line above the item: facts under their names, each value in words rather than as an id."""
    parts = [
        f'<span class="head">{escaped(labels["fields"][name])}</span> '
        f"<bdi>{escaped(value_name(name, value, language, labels))}</bdi>"
        for name, value in facts.items()
        if value and name in labels["fields"]
    ]
    return f"<div>{_PLACE}{' · '.join([*parts, f'<code>{escaped(subject)}</code>'])}</div>"


def value_name(field: str, value: str, language: Language, labels: Mapping[str, Any]) -> str:
    """What a metre, era, genre, poet, dialect or form is called on the screen; else the value itself."""
    known = with_tables(language)
    table = next((vocabulary(kind, known) for kind in get_args(Kind) if kind == field), None)
    entry = (table.entries.get(value) if table else None) or {}
    names = (known, "name", "ar", "pattern")
    return str(next((entry[name] for name in names if entry.get(name)), labels["values"].get(value, value)))


def _item(item: Item, labels: Mapping[str, Any], *, answered: bool = True) -> str:
    classes, body = ["review"], []
    if item.context:
        classes.append("has-context")
        body.append(f'<blockquote dir="auto">{escaped(item.context)}</blockquote>')
    body.append(f'<p class="question"><b>{escaped(item.question)}</b></p>')
    if isinstance(item, ChoiceItem):
        classes += ["has-gold", *(f"o{i}" for i in range(len(item.options)))]
        right = item.gold if answered else ()
        body += [_option(labels["letters"], i, text, i in right) for i, text in enumerate(item.options)]
    elif isinstance(item, AnswerItem):
        classes.append("has-answer")
        if answered:
            answers = " ⁄ ".join(escaped(text) for text in (item.answer, *item.accepted))
            body.append(f'<p>{_heading(labels["shown"]["answer"])}<span class="key">{answers}</span></p>')
    else:
        rows = len(item.verses)
        classes += [f"v{i}" for i in range(rows)] if rows <= MAX_ROWS else ["has-verses"]
        pairs = zip(item.verses, item.explanations, strict=True)
        listed = "".join(f"<li><b>{escaped(verse)}</b><br>{escaped(told)}</li>" for verse, told in pairs)
        body.append(f'<ol class="verses">{listed}</ol>')
        if item.overall:
            classes.append("has-overall")
            body.append(f"<p>{_heading(labels['shown']['overall'])}{escaped(item.overall)}</p>")
    return (
        f'<article class="{" ".join(classes)}" dir="{pack(item.language).direction}" lang="{item.language}">'
        f"{''.join(body)}</article>"
    )


def _heading(text: str) -> str:
    return f'<span class="head">{escaped(text)}</span><br>'


def _option(letters: Sequence[str], index: int, text: str, gold: bool) -> str:
    letter = letters[index] if index < len(letters) else str(index + 1)
    mark, kind = ("✓ ", ' class="key"') if gold else ("", "")
    return f"<p{kind}>{letter}. {mark}<bdi>{escaped(text)}</bdi></p>"


def _provenance(item: Item) -> dict[str, str]:
    origin = item.origin
    facts = {
        "records": " ".join(origin.records),
        "generator": f"{origin.generator} {origin.generator_version}",
        "strategy": origin.strategy,
        "model": origin.model,
        "licence": item.licence,
        "attribution": item.attribution,
    }
    return {name: showable(text) for name, text in facts.items() if text}
