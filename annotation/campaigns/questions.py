"""What campaigns may ask about, template by template: every question there is, before a sample is drawn."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from mihakk.annotation.screens.labelling import words
from mihakk.annotation.screens.ratings import Shown, rating_task
from mihakk.annotation.screens.tasks import value_name
from mihakk.schemas.campaign import CampaignTemplate
from mihakk.schemas.evaluation import Answer
from mihakk.schemas.finding import Finding
from mihakk.schemas.idiom import Idiom
from mihakk.schemas.item import AnswerItem, ChoiceItem, ExplanationItem, Item
from mihakk.schemas.poem import Poem
from mihakk.schemas.record import Form, Language

BY_FORM = ("shuffled", "labels", "as_frequent")
"""Strategies whose wrong options need no rating: they are what a rule says they are."""
TRUE = "true_explanation"
"""Kind of an option that is no answer though it is true: where the wrong one is asked for."""
BLANK = "____"


@dataclass(frozen=True)
class Question:
    """One question that people may be asked."""

    template: CampaignTemplate
    key: str
    """What it is about; stays while the record, item or reply exists. Also its name on the server."""
    record: str
    language: Language
    parts: tuple[Shown, ...]
    """What is shown, from top to bottom."""
    strata: Mapping[str, str]
    facts: Mapping[str, str] = field(default_factory=dict)
    """Told in the closed panel `source`, a dialect above the question."""
    boxes: Mapping[str, str] = field(default_factory=dict)
    """Control to the text that its box holds at first."""
    before: Mapping[str, str] = field(default_factory=dict)
    """Field of the record to its text, of all fields that an answer may change."""
    hidden: bool = False
    """The key would tell people what they must not know: they get a name without meaning."""
    remade: bool = False
    """The pipeline itself makes its text anew after people refused it; they are asked about the new one."""

    def task(self, name: str = "") -> dict[str, Any]:
        """The task for the server; a hidden question stands there under the name given."""
        subject = name if self.hidden else self.key
        return rating_task(
            self.template, subject, self.language, self.parts, boxes=self.boxes, facts=self.facts
        )

    def showing(self, texts: Mapping[str, str]) -> Question:
        """The same question with other texts under these headings."""
        return replace(
            self,
            parts=tuple(replace(one, text=texts.get(one.heading, one.text)) for one in self.parts),
        )


class Candidate(NamedTuple):
    """An idiom that could be the wrong option."""

    id: str
    phrase: str
    meaning: str


def option_question(item: ChoiceItem, place: int) -> Question:
    """How good is the wrong option at that place, 0 to 2?"""
    right = " ⁄ ".join(item.options[i] for i in item.gold)
    return Question(
        template="distractor_rating",
        key=f"{item.id}#{place}",
        record=item.origin.records[0],
        language=item.language,
        parts=(
            Shown("", "\n".join(filter(None, [item.context, item.question]))),
            Shown("right", right, marked=True),
            Shown("wrong", item.options[place]),
        ),
        strata={**_item_strata(item), "strategy": item.origin.strategy},
        facts={"dialect": item.dialect},
        before={"wrong": item.options[place]},
        remade=True,
    )


def option_questions(items: Iterable[Item]) -> Iterator[Question]:
    """Each wrong option of each question, once for both orders."""
    seen: set[str] = set()
    for item in items:
        if not isinstance(item, ChoiceItem) or item.origin.strategy in BY_FORM:
            continue
        if (name := item.pair_id or item.id) in seen:
            continue
        seen.add(name)
        kinds = item.option_kinds or ("",) * len(item.options)
        for place in range(len(item.options)):
            if place not in item.gold and kinds[place] != TRUE:
                yield option_question(item, place)


def _idiom_question(
    template: CampaignTemplate, idiom: Idiom, parts: Sequence[Shown], before: Mapping[str, str]
) -> Question:
    return Question(
        template=template,
        key=idiom.id,
        record=idiom.id,
        language=idiom.language,
        parts=tuple(parts),
        strata={
            "language": idiom.language,
            "dialect": idiom.dialect,
            "genre": idiom.genre,
            "source": idiom.provenance.source,
        },
        facts={"dialect": idiom.dialect},
        before=before,
    )


def sentence_question(idiom: Idiom, sentence: str, written_by: Mapping[str, str] | None = None) -> Question:
    """Would speakers of the dialect say this sentence with the idiom? `written_by`: facts about the model."""
    parts = [
        Shown("idiom", idiom.phrase.shown),
        Shown("meaning", idiom.explanation.shown),
        Shown("sentence", sentence, judged=True),
    ]
    question = _idiom_question("dialect_sentence", idiom, parts, {"sentence": sentence, **(written_by or {})})
    facts = {**question.facts, "licence": idiom.provenance.licence}
    return replace(question, facts=facts, boxes={"fix_sentence": sentence})


def sentence_questions(items: Iterable[Item], idioms: Mapping[str, Idiom]) -> Iterator[Question]:
    """Every sentence that a model wrote, once."""
    seen: set[str] = set()
    for item in items:
        idiom = idioms.get(item.origin.records[0])
        if item.metadata.get("sentence") != "written" or idiom is None or idiom.id in seen:
            continue
        seen.add(idiom.id)
        phrase, by = idiom.phrase.shown, item.origin
        sentence = item.fields.get("sentence") or item.fields.get("blanked", "").replace(BLANK, phrase)
        written_by = {"model": by.model, "family": by.model_family, "prompt_version": by.prompt_version}
        yield sentence_question(idiom, sentence, written_by)


def wrong_idiom_question(idiom: Idiom, blanked: str, candidates: Sequence[Candidate]) -> Question:
    """Which idiom misleads and does not fit the sentence, of up to four?"""
    right = f"{idiom.phrase.shown}: {idiom.explanation.shown}"
    others = [
        Shown(f"c{place}", ": ".join(filter(None, [one.phrase, one.meaning])))
        for place, one in enumerate(candidates, 1)
    ]
    parts = [Shown("sentence", blanked), Shown("right", right, marked=True), *others]
    before = {"blanked": blanked, **{str(n): one.id for n, one in enumerate(candidates, 1)}}
    return _idiom_question("wrong_idiom", idiom, parts, before)


def connotation_question(idiom: Idiom) -> Question:
    """Does the idiom praise or blame, and does its explanation?"""
    parts = [Shown("idiom", idiom.phrase.shown), Shown("explanation", idiom.explanation.shown)]
    return _idiom_question("connotation", idiom, parts, {"connotation": idiom.connotation or ""})


def connotation_questions(idioms: Iterable[Idiom], *, labelled: bool = False) -> Iterator[Question]:
    """Idioms whose connotation nobody has said; with `labelled` the others too."""
    return (connotation_question(idiom) for idiom in idioms if labelled or idiom.connotation is None)


def label_question(poem: Poem) -> Question:
    """Are the poem's poet, era, genre and metre right? Names as the source words them where it does."""
    metres = sorted({section.metre for section in poem.sections})
    known = {
        "poet": poem.poet,
        "era": poem.era,
        "genre": poem.genre,
        "metre": " · ".join(filter(None, metres)),
    }
    verses = [" … ".join(half.shown for half in couplet.halves) for couplet in poem.couplets]
    labels = words("label_validation", poem.language)
    named = [
        Shown(name, poem.source_labels.get(name) or value_name(name, value, poem.language, labels) or "–")
        for name, value in known.items()
    ]
    return Question(
        template="label_validation",
        key=poem.id,
        record=poem.id,
        language=poem.language,
        parts=(*named, Shown("", "\n".join(verses), verses=True)),
        strata={**known, "language": poem.language, "metre": metres[0], "source": poem.provenance.source},
        facts={"url": poem.provenance.url, "licence": poem.provenance.licence},
        before={**known, "metre": " · ".join(metres)},
    )


def text_question(subject: str, text: str, language: Language) -> Question:
    """Is a text that OCR or re-encoding may have broken sound, and if not, how should it read?"""
    owner, _, name = subject.partition("#")
    return Question(
        template="text_correction",
        key=subject,
        record=owner,
        language=language,
        parts=(Shown("", text),),
        strata={"language": language},
        boxes={"fix_text": text},
        before={name: text},
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
                question = text_question(f"{owner}#{name}", text, record.language)
                check = found.get((record.id, where), "")
                strata = {**question.strata, "source": record.provenance.source, "check": check}
                yield replace(question, strata=strata)


def reply_question(
    template: CampaignTemplate, key: str, language: Language, *, asked: str, reference: str, reply: str
) -> Question:
    """How deep is a system's explanation of a poem, 0 to 10, or how right its answer, 0 to 3?"""
    verses = template == "interpretive_depth"
    return Question(
        template=template,
        key=key,
        record=key,
        language=language,
        parts=(
            Shown("poem" if verses else "question", asked, verses=verses),
            Shown("reference", reference, marked=True),
            Shown("reply", reply, judged=True),
        ),
        strata={"language": language},
        hidden=True,
    )


def item_reply_question(item: AnswerItem | ExplanationItem, key: str, reply: str) -> Question:
    """The question about a reply to an item: how right an answer is, or how deep an explanation."""
    if isinstance(item, AnswerItem):
        template: CampaignTemplate = "answer_correctness"
        asked = "\n".join(filter(None, [item.context, item.question]))
        reference = " ⁄ ".join((item.answer, *item.accepted))
    else:
        template, asked = "interpretive_depth", "\n".join(item.verses)
        reference = "\n".join(filter(None, [*item.explanations, item.overall]))
    return reply_question(template, key, item.language, asked=asked, reference=reference, reply=reply)


def reply_questions(
    answers: Iterable[tuple[str, Answer]], items: Mapping[str, Item], template: CampaignTemplate
) -> Iterator[Question]:
    """Replies of systems, whose depth (`interpretive_depth`) or rightness (`answer_correctness`) is rated."""
    for name, answer in answers:
        item, reply = items.get(answer.item), answer.reply.strip()
        if not reply or answer.error or not isinstance(item, AnswerItem | ExplanationItem):
            continue
        question = item_reply_question(item, name, reply)
        if question.template == template:
            yield replace(question, record=item.id, strata={**_item_strata(item), "system": answer.model})


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
