"""Questions with known answers, template by template: sound ones and defective ones."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any, NamedTuple

import orjson

from mihakk.annotation.campaigns.figures import LABELS, SAYS, needed_votes, says_of
from mihakk.annotation.campaigns.questions import (
    BY_FORM,
    TRUE,
    Candidate,
    Question,
    connotation_question,
    item_reply_question,
    label_question,
    option_question,
    sentence_question,
    text_question,
    wrong_idiom_question,
)
from mihakk.annotation.decisions.votes import Votes, settle, votes_of
from mihakk.annotation.screens.labelling import words
from mihakk.annotation.screens.ratings import Label
from mihakk.annotation.screens.tasks import review_task, sealed, value_name
from mihakk.annotation.teaching.planted import (
    METRE_TASK,
    answers_alike,
    mojibake,
    plant,
    plantable,
    relabelled,
)
from mihakk.machinery.ids import digest
from mihakk.machinery.seeds import rng
from mihakk.machinery.taxonomy import vocabulary
from mihakk.schemas.benchmark import ReviewConfig
from mihakk.schemas.calibration import Basis, Known, Side
from mihakk.schemas.campaign import Drawn
from mihakk.schemas.idiom import Idiom
from mihakk.schemas.item import AnswerItem, ChoiceItem, ExplanationItem, Item
from mihakk.schemas.poem import Poem
from mihakk.schemas.record import Form, Language
from mihakk.schemas.review import Resolution


class As(NamedTuple):
    """In which way questions are known."""

    side: Side
    basis: Basis
    accepts: Mapping[str, Sequence[str]]
    """Control to the answers that are right."""


KEPT = As("sound", "agreed", {"decision": ("keep",)})
CHANGED = As("defective", "agreed", {"decision": ("fix", "discard")})
GARBAGE = As("defective", "planted", {"plausibility": ("0",)})
PLAUSIBLE = As("sound", "unflagged", {"plausibility": ("1", "2")})
LABELLED = As("sound", "source", dict.fromkeys(LABELS, ("right", "unsure")))
SOUND_TEXT = As("sound", "unflagged", {"state": ("sound",)})
DAMAGED = As("defective", "planted", {"state": ("corrected", "hopeless")})
MIXED = As("defective", "planted", {"verdict": ("edit", "replace")})
NONE_SERVES = As("defective", "planted", {"wrong": ("none",)})


def known(
    task: dict[str, Any], base: str, kind: str, known_as: As, right: str = "", *, says: str = ""
) -> Known:
    """A known question of a task as it is sent; see `Known` for the rest."""
    data = task["data"]
    return Known(
        template=data["template"],
        language=data["screen"],
        subject=data["sample_id"],
        content_hash=data["content_hash"],
        base=base,
        side=known_as.side,
        kind=kind,
        basis=known_as.basis,
        accepts={name: tuple(values) for name, values in known_as.accepts.items()},
        right=right,
        says=says,
        task=orjson.dumps(task, option=orjson.OPT_SORT_KEYS).decode(),
    )


def known_items(
    items: Sequence[Item],
    passed: Collection[str],
    resolved: Mapping[str, Resolution],
    seed: int,
    busy: Collection[str] = (),
) -> Iterator[Known]:
    """For the quality review: defects planted in sound items, and items that people have settled.

    Where people have settled nothing yet, items to which neither rules nor auditors object stand for sound
    ones; the pass mark has to leave room for the few of them that are not.

    Args:
        items: Of the benchmark, one order of each pair is used.
        passed: Ids of items that neither rules nor auditors object to.
        resolved: By item, what people settled about it as it stands now.
        busy: Ids of items that people are still asked about; they are no calibration.
    """
    alike = answers_alike(items)
    for item in items:
        told = resolved.get(item.id)
        if isinstance(item, ChoiceItem) and item.order != 0:
            continue
        base = (item.pair_id or item.id) if isinstance(item, ChoiceItem) else item.id
        task = review_task(relabelled(item, "calibration"), priority=0)
        if told is not None and told.by_several:
            basis: Basis = "adjudicated" if told.by == "adjudicator" else "agreed"
            if told.outcome == "keep":
                kind = "kept" if item.id in passed else "kept_though_odd"
                yield known(task, base, kind, KEPT._replace(basis=basis))
                yield from _planted(item, base, alike, seed)
            elif told.outcome == "discard":
                yield known(task, base, f"discarded_{told.reason or 'other'}", CHANGED._replace(basis=basis))
        elif item.id in passed and item.id not in busy:
            yield known(task, base, "unflagged", KEPT._replace(basis="unflagged"))
            yield from _planted(item, base, alike, seed)


def _planted(
    item: Item, base: str, alike: Mapping[tuple[str, Language], Sequence[str]], seed: int
) -> Iterator[Known]:
    for defect in plantable(item):
        draw = rng(seed, item.id, f"calibration {defect}")
        made = plant(item, defect, draw, alike[item.task, item.language], f"calibration {defect}")
        if made is not None:
            task = review_task(made.item, priority=0)
            yield known(task, base, defect, CHANGED._replace(basis="planted"), made.right)


def _renamed(question: Question, variant: str, kind: str, known_as: As, right: str = "") -> Known:
    """A question under a name of its own, so that an answer to it is no vote on what it was made from."""
    task = replace(question, key=_new_name(question.record, variant)).task()
    return known(task, question.record, kind, known_as, right)


def _new_name(name: str, variant: str) -> str:
    return f"{name.partition('#')[0].rpartition(':')[0] or 'q'}:{digest([name, 'calibration', variant])[:12]}"


def known_options(items: Iterable[Item], passed: Collection[str]) -> Iterator[Known]:
    """For the rating of wrong options: the right one twice, garbage, and a wrong one as it stands."""
    seen: set[str] = set()
    for item in items:
        if not isinstance(item, ChoiceItem) or item.origin.strategy in BY_FORM or item.id not in passed:
            continue
        base = item.pair_id or item.id
        places = [place for place in range(len(item.options)) if place not in item.gold]
        if base in seen or not places or TRUE in item.option_kinds or item.task == METRE_TASK:
            continue
        seen.add(base)
        place, right = places[0], item.options[item.gold[0]]
        for kind, text in (("right_twice", right), ("absurd", mojibake(item.options[place]))):
            question = option_question(relabelled(item, f"calibration {kind}"), place)
            task = question.showing({"wrong": text}).task()
            yield known(task, base, kind, GARBAGE, right)
        task = option_question(relabelled(item, "calibration"), place).task()
        yield known(task, base, "wrong_option", PLAUSIBLE)


def known_labels(poems: Iterable[Poem], seed: int) -> Iterator[Known]:
    """For the validation of labels: poems as their sources label them, and with another metre or era."""
    for poem in poems:
        named = {name: text for name, text in poem.source_labels.items() if name not in ("metre", "era")}
        question = label_question(poem.model_copy(update={"source_labels": named}))
        yield _renamed(question, "sound", "labels", LABELLED)
        metres = sorted({section.metre for section in poem.sections if section.metre})
        for name, value in (("metre", metres[0] if len(metres) == 1 else ""), ("era", poem.era)):
            if value and (other := _another(name, value, poem, seed)):
                labels = words("label_validation", poem.language)
                changed = question.showing({name: value_name(name, other, poem.language, labels)})
                known_as = As("defective", "planted", {name: ("wrong",)})
                yield _renamed(changed, name, f"wrong_{name}", known_as, _in_words(name, value, poem))


def _another(kind: Any, value: str, poem: Poem, seed: int) -> str:
    table = vocabulary(kind, poem.language)
    names = sorted(set(table.entries) - {value}) if table and value in table.entries else []
    return rng(seed, poem.id, f"calibration {kind}").choice(names) if names else ""


def _in_words(kind: Any, value: str, poem: Poem) -> str:
    table = vocabulary(kind, poem.language)
    entry = (table.entries.get(value) if table else None) or {}
    return str(entry.get(poem.language) or entry.get("name") or value)


def known_texts(records: Iterable[Poem | Idiom], seed: int) -> Iterator[Known]:
    """For the correction of texts: texts without findings, and the same damaged as re-encoding and OCR do."""
    for record in records:
        form: Form | None = None
        if isinstance(record, Idiom):
            form = record.explanation
        elif record.couplets:
            form = record.couplets[0].first
        text = form.shown if form else ""
        if len(text.split()) < 3:
            continue
        draw = rng(seed, record.id, "calibration text")
        question = text_question(record.id, text, record.language)
        yield _renamed(question, "sound", "text_sound", SOUND_TEXT)
        for kind, bad in (("reencoded", _reencoded(text, draw)), ("letters_moved", _moved(text, draw))):
            if bad != text:
                yield _renamed(text_question(record.id, bad, record.language), kind, kind, DAMAGED, text)


def _reencoded(text: str, draw: Any) -> str:
    words = text.split()
    place = draw.randrange(len(words))
    words[place] = mojibake(words[place])
    return " ".join(words)


def _moved(text: str, draw: Any) -> str:
    """Two letters of the longest word change places, as a tired typist or OCR leaves them."""
    words = text.split()
    place = max(range(len(words)), key=lambda index: len(words[index]))
    word = words[place]
    pairs = list(pairwise(word[1:]))
    at = [n for n, (one, two) in enumerate(pairs, 1) if one.isalpha() and two.isalpha() and one != two]
    if not at:
        return text
    index = draw.choice(at)
    words[place] = word[:index] + word[index + 1] + word[index] + word[index + 2 :]
    return " ".join(words)


def known_sentences(asked: Iterable[tuple[Idiom, str]], seed: int) -> Iterator[Known]:
    """For sentences of a dialect: the words of a sentence in another order."""
    for idiom, sentence in asked:
        mixed = sentence.split()
        if len(mixed) < 5:
            continue
        rng(seed, idiom.id, "calibration sentence").shuffle(mixed)
        if mixed != sentence.split():
            question = sentence_question(idiom, f"{' '.join(mixed)} {idiom.phrase.shown}")
            yield _renamed(question, "mixed", "mixed_words", MIXED, sentence)


def known_wrong_idioms(asked: Iterable[tuple[Idiom, str]]) -> Iterator[Known]:
    """For the choice of a wrong idiom: candidates of which each is the right one, so that none serves."""
    for idiom, blanked in asked:
        right = Candidate(idiom.id, idiom.phrase.shown, idiom.explanation.shown)
        question = wrong_idiom_question(idiom, blanked, [right, right])
        yield _renamed(question, "none", "none_serves", NONE_SERVES, right.phrase)


def known_connotations(idioms: Iterable[Idiom]) -> Iterator[Known]:
    """For connotation: idioms whose connotation the source says; praise is one side, blame the other."""
    for idiom in idioms:
        if (said := idiom.connotation) in ("positive", "negative"):
            side: Side = "sound" if said == "positive" else "defective"
            known_as = As(side, "source", {"idiom": (said,)})
            yield _renamed(connotation_question(idiom), "connotation", said, known_as)


def known_replies(template: str, items: Iterable[Item]) -> Iterator[Known]:
    """For replies of systems: the reference itself as a reply, and the reference of another item."""
    is_depth = template == "interpretive_depth"
    kind: type[ExplanationItem | AnswerItem] = ExplanationItem if is_depth else AnswerItem
    control, high, low = ("depth", range(6, 11), range(4)) if is_depth else ("correctness", [3], [0])
    mine = [item for item in items if isinstance(item, kind)]
    for item, other in zip(mine, [*mine[1:], *mine[:1]], strict=True):
        own, others = _reference(item), _reference(other)
        if isinstance(item, AnswerItem) and others in (own, *item.accepted):
            continue
        both: tuple[tuple[Side, str, str, Sequence[int]], ...] = (
            ("sound", "reference_reply", own, high),
            ("defective", "reply_to_another", others, low),
        )
        for side, kind_of, reply, points in both:
            name = f"reply-{digest([item.id, 'calibration', side])[:12]}"
            known_as = As(side, "planted", {control: [*map(str, points)]})
            yield known(item_reply_question(item, name, reply).task(name), item.id, kind_of, known_as, own)


def _reference(item: ExplanationItem | AnswerItem) -> str:
    if isinstance(item, AnswerItem):
        return item.answer
    return "\n".join(filter(None, [*item.explanations, item.overall]))


def settled_questions(
    questions: Iterable[Question], drawn: Iterable[Drawn], labels: Iterable[Label], config: ReviewConfig
) -> Iterator[Known]:
    """Questions of a campaign that people have settled: what they agreed on is the known answer."""
    votes = votes_of(labels)
    by_key = {question.key: question for question in questions}
    needs = needed_votes(config.campaigns, config.overlap)
    for row in drawn:
        question = by_key.get(row.key)
        given = votes.get((row.template, row.subject, row.content_hash), {})
        if question is None or question.hidden or len(given) < max(2, needs(row)):
            continue
        task = question.task(row.subject)
        if task["data"]["content_hash"] != row.content_hash:
            continue
        if (accepts := _agreed(row, given, needs(row), config.adjudicators)) is None:
            continue
        said = {value for values in accepts.values() for value in values}
        side: Side = "defective" if said & DEFECTIVE else "sound"
        task["data"] = sealed({**task["data"], "sample_id": _new_name(row.subject, "settled")})
        yield known(task, row.key, "people_agreed", As(side, "agreed", accepts))


def _agreed(
    row: Drawn, votes: Votes, overlap: int, adjudicators: Collection[str]
) -> dict[str, tuple[str, ...]] | None:
    """What people agree on, by the controls that matter; None where they don't agree."""
    controls = CONTROLS.get(row.template, ())
    if row.template in SAYS:
        found = settle(votes, overlap, says_of(row), adjudicators)
        return {name: (found.values[name],) for name in controls} if found else None
    given = {name: tuple({values[name] for values in votes.values()}) for name in controls}
    return given if given and all(len(said) == 1 for said in given.values()) else None


CONTROLS: Mapping[str, Sequence[str]] = {
    "distractor_rating": ("plausibility",),
    "connotation": ("idiom",),
    "label_validation": LABELS,
    "text_correction": ("state",),
    "dialect_sentence": ("verdict",),
    "wrong_idiom": ("wrong",),
}
"""By template the controls whose settled values are a known answer."""
DEFECTIVE = {"0", "negative", "wrong", "corrected", "hopeless", "edit", "replace", "none"}
"""What people say in these controls of what is not as it should be."""
