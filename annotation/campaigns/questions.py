"""What campaigns may ask about, template by template: every question there is, before a sample is drawn."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

from annotation.screens.ratings import (
    connotation_task,
    correctness_task,
    depth_task,
    distractor_task,
    label_task,
    reply_task,
    sentence_task,
    text_task,
    wrong_idiom_task,
)
from schemas.campaign import CampaignTemplate
from schemas.evaluation import Answer
from schemas.finding import Finding
from schemas.idiom import Idiom
from schemas.item import AnswerItem, ChoiceItem, ExplanationItem, Item
from schemas.poem import Poem
from schemas.record import Form, Language

BY_FORM = ("shuffled", "labels", "as_frequent")
"""Strategies whose wrong options need no rating: they are what a rule says they are."""
TRUE = "true_explanation"
"""Kind of an option that is no answer though it is true: where the wrong one is asked for."""
BLANK = "____"


@dataclass(frozen=True)
class Question:
    """One question that people may be asked."""

    key: str
    """What it is about; stays while the record, item or reply exists."""
    record: str
    language: Language
    strata: Mapping[str, str]
    task: Callable[[str], dict[str, Any]]
    """Makes the task, under the name it is to have on the server."""
    before: Mapping[str, str] = field(default_factory=dict)
    """Field of the record to its text, of all fields that an answer may change."""
    hidden: bool = False
    """The key would tell people what they must not know: they get a name without meaning."""
    remade: bool = False
    """The pipeline itself makes its text anew after people refused it; they are asked about the new one."""


class Candidate(NamedTuple):
    """An idiom that could be the wrong option."""

    id: str
    phrase: str
    meaning: str


@dataclass(frozen=True)
class DrawnReply:
    """A reply as `mihakk evaluate vouch --draw` leaves it for people."""

    id: str
    """The answer's name in judgements."""
    template: CampaignTemplate
    language: Language
    question: str
    text: str
    reference: str
    reply: str


def option_questions(items: Iterable[Item]) -> Iterator[Question]:
    """Each wrong option of each question, once for both orders."""
    seen: set[str] = set()
    for item in items:
        if not isinstance(item, ChoiceItem) or item.origin.strategy in BY_FORM:
            continue
        if (name := item.pair_id or item.id) in seen:
            continue
        seen.add(name)
        strata = {**_item_strata(item), "strategy": item.origin.strategy}
        kinds = item.option_kinds or ("",) * len(item.options)
        for place, text in enumerate(item.options):
            if place not in item.gold and kinds[place] != TRUE:
                yield Question(
                    key=f"{item.id}#{place}",
                    record=item.origin.records[0],
                    language=item.language,
                    strata=strata,
                    task=_unnamed(distractor_task, item, place),
                    before={"wrong": text},
                    remade=True,
                )


def sentence_questions(items: Iterable[Item], idioms: Mapping[str, Idiom]) -> Iterator[Question]:
    """Every sentence that a model wrote, once."""
    seen: set[str] = set()
    for item in items:
        idiom = idioms.get(item.origin.records[0])
        if item.metadata.get("sentence") != "written" or idiom is None or idiom.id in seen:
            continue
        seen.add(idiom.id)
        phrase = idiom.phrase.shown
        sentence = item.fields.get("sentence") or item.fields.get("blanked", "").replace(BLANK, phrase)
        yield Question(
            key=idiom.id,
            record=idiom.id,
            language=idiom.language,
            strata=_idiom_strata(idiom),
            task=_unnamed(sentence_task, idiom, sentence),
            before={
                "sentence": sentence,
                "model": item.origin.model,
                "family": item.origin.model_family,
                "prompt_version": item.origin.prompt_version,
            },
        )


def wrong_idiom_questions(
    sentences: Iterable[tuple[Idiom, str, Sequence[Candidate]]],
) -> Iterator[Question]:
    """Every sentence with a blank, each with its right idiom and those that could stand beside it."""
    for idiom, blanked, candidates in sentences:
        yield Question(
            key=idiom.id,
            record=idiom.id,
            language=idiom.language,
            strata=_idiom_strata(idiom),
            task=_unnamed(
                wrong_idiom_task, idiom, blanked, [(one.phrase, one.meaning) for one in candidates]
            ),
            before={"blanked": blanked, **{str(n): one.id for n, one in enumerate(candidates, 1)}},
        )


def connotation_questions(idioms: Iterable[Idiom], *, labelled: bool = False) -> Iterator[Question]:
    """Idioms whose connotation nobody has said; with `labelled` the others too."""
    for idiom in idioms:
        if labelled or idiom.connotation is None:
            yield Question(
                key=idiom.id,
                record=idiom.id,
                language=idiom.language,
                strata=_idiom_strata(idiom),
                task=_unnamed(connotation_task, idiom),
                before={"connotation": idiom.connotation or ""},
            )


def label_questions(poems: Iterable[Poem]) -> Iterator[Question]:
    """Every poem, with its poet, era, genre and metre."""
    for poem in poems:
        metres = sorted({section.metre for section in poem.sections})
        yield Question(
            key=poem.id,
            record=poem.id,
            language=poem.language,
            strata={
                "language": poem.language,
                "era": poem.era,
                "genre": poem.genre,
                "metre": metres[0],
                "poet": poem.poet,
                "source": poem.provenance.source,
            },
            task=_unnamed(label_task, poem),
            before={"poet": poem.poet, "era": poem.era, "genre": poem.genre, "metre": " · ".join(metres)},
        )


def text_questions(records: Iterable[Poem | Idiom], findings: Iterable[Finding] | None) -> Iterator[Question]:
    """Texts of records in which a text check found damage; every text where `findings` is None."""
    found: dict[tuple[str, str], str] = {}
    for finding in findings or ():
        if finding.check.startswith("TX") and finding.where:
            found.setdefault((finding.subject, finding.where), finding.check)
    for record in records:
        for where, owner, name, text in _texts(record):
            if findings is None or (record.id, where) in found:
                subject = f"{owner}#{name}"
                yield Question(
                    key=subject,
                    record=owner,
                    language=record.language,
                    strata={
                        "language": record.language,
                        "source": record.provenance.source,
                        "check": found.get((record.id, where), ""),
                    },
                    task=_unnamed(text_task, subject, text, record.language),
                    before={name: text},
                )


def reply_questions(
    answers: Iterable[tuple[str, Answer]], items: Mapping[str, Item], template: CampaignTemplate
) -> Iterator[Question]:
    """Replies of systems, whose depth (`interpretive_depth`) or rightness (`answer_correctness`) is rated."""
    for name, answer in answers:
        item, reply = items.get(answer.item), answer.reply.strip()
        if not reply or answer.error:
            continue
        if template == "interpretive_depth" and isinstance(item, ExplanationItem):
            task = _named(depth_task, item, reply)
        elif template == "answer_correctness" and isinstance(item, AnswerItem):
            task = _named(correctness_task, item, reply)
        else:
            continue
        yield Question(
            key=name,
            record=item.id,
            language=item.language,
            strata={**_item_strata(item), "system": answer.model},
            task=task,
            hidden=True,
        )


def drawn_reply_questions(rows: Iterable[DrawnReply]) -> Iterator[Question]:
    """Replies that somebody else has drawn already, to hold judges against people."""
    for row in rows:
        yield Question(
            key=row.id,
            record=row.id,
            language=row.language,
            strata={"language": row.language},
            task=partial(_drawn_task, row),
            hidden=True,
        )


def _unnamed(make: Callable[..., dict[str, Any]], *about: Any) -> Callable[[str], dict[str, Any]]:
    """Makes the task under the name of what it is about."""
    return lambda _: make(*about)


def _named(make: Callable[..., dict[str, Any]], item: Item, reply: str) -> Callable[[str], dict[str, Any]]:
    """Makes the task of a reply under the name it is given."""
    return lambda name: make(item, name, reply)


def _drawn_task(row: DrawnReply, name: str) -> dict[str, Any]:
    asked = row.text if row.template == "interpretive_depth" else row.question
    return reply_task(row.template, name, row.language, asked=asked, reference=row.reference, reply=row.reply)


def _texts(record: Poem | Idiom) -> Iterator[tuple[str, str, str, str]]:
    """A record's own texts: the name that checks give the field, the id it belongs to, its name there."""
    forms: list[tuple[str, str, str, Form | None]]
    if isinstance(record, Idiom):
        forms = [(name, record.id, name, getattr(record, name)) for name in ("phrase", "explanation")]
    else:
        forms = [
            (f"couplets[{i}].{name}", couplet.id, name, getattr(couplet, name))
            for i, couplet in enumerate(record.couplets)
            for name in ("first", "second")
        ]
    for where, owner, name, form in forms:
        if form is not None:
            yield where, owner, name, form.shown


def _item_strata(item: Item) -> dict[str, str]:
    facts = {name: item.metadata.get(name, "") for name in ("era", "genre", "metre", "poet")}
    return {"language": item.language, "dialect": item.dialect, "task": item.task, **facts}


def _idiom_strata(idiom: Idiom) -> dict[str, str]:
    return {
        "language": idiom.language,
        "dialect": idiom.dialect,
        "genre": idiom.genre,
        "source": idiom.provenance.source,
    }
