"""Questions with known answers, template by template: sound ones and defective ones."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

import orjson

from annotation.campaigns.figures import SAYS, needed_votes, says_of
from annotation.campaigns.questions import BY_FORM, TRUE, Question
from annotation.decisions.votes import settle, votes_of
from annotation.screens.ratings import (
    Label,
    connotation_task,
    correctness_task,
    depth_task,
    distractor_task,
    label_task,
    sentence_task,
    text_task,
    wrong_idiom_task,
)
from annotation.screens.tasks import review_task, sealed
from annotation.teaching.planted import METRE_TASK, mojibake, plant, plantable, relabelled
from mihakk.groups import grouped
from mihakk.ids import digest
from mihakk.seeds import rng
from mihakk.taxonomy import vocabulary
from schemas.benchmark import ReviewConfig
from schemas.calibration import Basis, Known, Side
from schemas.campaign import Drawn
from schemas.idiom import Idiom
from schemas.item import AnswerItem, ChoiceItem, ExplanationItem, Item
from schemas.poem import Poem
from schemas.record import Form
from schemas.review import Resolution

KEEP = {"decision": ("keep",)}
CHANGE = {"decision": ("fix", "discard")}
LABELS_OF_A_POEM = ("poet", "era", "genre", "metre")


def known(
    task: dict[str, Any],
    base: str,
    side: Side,
    kind: str,
    *,
    basis: Basis,
    accepts: Mapping[str, Sequence[str]],
    right: str = "",
    says: str = "",
) -> Known:
    """A known question of a task as it is sent; see `Known` for the rest."""
    data = task["data"]
    return Known(
        template=data["template"],
        language=data["screen"],
        subject=data["sample_id"],
        content_hash=data["content_hash"],
        base=base,
        side=side,
        kind=kind,
        basis=basis,
        accepts={name: tuple(values) for name, values in accepts.items()},
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
    alike = grouped(items, lambda item: (item.task, str(item.language)))
    for item in items:
        told = resolved.get(item.id)
        if isinstance(item, ChoiceItem) and item.order != 0:
            continue
        base = (item.pair_id or item.id) if isinstance(item, ChoiceItem) else item.id
        copy = relabelled(item, "calibration")
        if told is not None and told.by_several:
            basis: Basis = "adjudicated" if told.by == "adjudicator" else "agreed"
            if told.outcome == "keep":
                kind = "kept" if item.id in passed else "kept_though_odd"
                yield known(review_task(copy, priority=0), base, "sound", kind, basis=basis, accepts=KEEP)
                yield from _planted(item, base, alike, seed)
            elif told.outcome == "discard":
                kind = f"discarded_{told.reason or 'other'}"
                yield known(
                    review_task(copy, priority=0), base, "defective", kind, basis=basis, accepts=CHANGE
                )
        elif item.id in passed and item.id not in busy:
            yield known(
                review_task(copy, priority=0), base, "sound", "unflagged", basis="unflagged", accepts=KEEP
            )
            yield from _planted(item, base, alike, seed)


def _planted(
    item: Item, base: str, alike: Mapping[tuple[str, str], Sequence[Item]], seed: int
) -> Iterator[Known]:
    for defect in plantable(item):
        draw = rng(seed, item.id, f"calibration {defect}")
        made = plant(item, defect, draw, alike[item.task, item.language], f"calibration {defect}")
        if made is not None:
            task = review_task(made.item, priority=0)
            yield known(task, base, "defective", defect, basis="planted", accepts=CHANGE, right=made.right)


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
            options = [*item.options]
            options[place] = text
            changed = relabelled(item, f"calibration {kind}").model_copy(update={"options": tuple(options)})
            task = distractor_task(changed, place)
            yield known(
                task, base, "defective", kind, basis="planted", accepts={"plausibility": ("0",)}, right=right
            )
        task = distractor_task(relabelled(item, "calibration"), place)
        yield known(
            task, base, "sound", "wrong_option", basis="unflagged", accepts={"plausibility": ("1", "2")}
        )


def known_labels(poems: Iterable[Poem], seed: int) -> Iterator[Known]:
    """For the validation of labels: poems as their sources label them, and with another metre or era."""
    for poem in poems:
        yield known(
            label_task(_copied(poem, "sound")),
            poem.id,
            "sound",
            "labels",
            basis="source",
            accepts=dict.fromkeys(LABELS_OF_A_POEM, ("right", "unsure")),
        )
        metres = sorted({section.metre for section in poem.sections if section.metre})
        for name, value in (("metre", metres[0] if len(metres) == 1 else ""), ("era", poem.era)):
            if not value or not (other := _another(name, value, poem, seed)):
                continue
            sections = tuple(part.model_copy(update={"metre": other}) for part in poem.sections)
            changes = {"sections": sections} if name == "metre" else {name: other}
            yield known(
                label_task(_copied(poem, name, **changes)),
                poem.id,
                "defective",
                f"wrong_{name}",
                basis="planted",
                accepts={name: ("wrong",)},
                right=_in_words(name, value, poem),
            )


def _copied(poem: Poem, variant: str, **changes: Any) -> Poem:
    labels = {name: text for name, text in poem.source_labels.items() if name not in ("metre", "era")}
    name = f"{poem.id.partition(':')[0]}:{digest([poem.id, 'calibration', variant])[:12]}"
    return poem.model_copy(update={"id": name, "source_labels": labels, **changes})


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
        base, form = _text(record)
        text = form.shown if form else ""
        if len(text.split()) < 3:
            continue
        draw = rng(seed, record.id, "calibration text")
        sound: dict[str, tuple[str, ...]] = {"state": ("sound",)}
        damaged = {"state": ("corrected", "hopeless")}

        def name(variant: str, of: str = base) -> str:
            return f"{of.partition(':')[0]}:{digest([of, 'calibration', variant])[:12]}"

        task = text_task(name("sound"), text, record.language)
        yield known(task, base, "sound", "text_sound", basis="unflagged", accepts=sound)
        for kind, bad in (("reencoded", _reencoded(text, draw)), ("letters_moved", _moved(text, draw))):
            if bad != text:
                task = text_task(name(kind), bad, record.language)
                yield known(task, base, "defective", kind, basis="planted", accepts=damaged, right=text)


def _text(record: Poem | Idiom) -> tuple[str, Form | None]:
    if isinstance(record, Idiom):
        return record.id, record.explanation
    return record.id, record.couplets[0].first if record.couplets else None


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
        phrase, words = idiom.phrase.shown, sentence.split()
        if len(words) < 5:
            continue
        mixed = [*words]
        rng(seed, idiom.id, "calibration sentence").shuffle(mixed)
        if mixed != words:
            changed = idiom.model_copy(update={"id": _renamed(idiom.id, "mixed")})
            task = sentence_task(changed, f"{' '.join(mixed)} {phrase}")
            accepts = {"verdict": ("edit", "replace")}
            yield known(
                task, idiom.id, "defective", "mixed_words", basis="planted", accepts=accepts, right=sentence
            )


def known_wrong_idioms(asked: Iterable[tuple[Idiom, str]]) -> Iterator[Known]:
    """For the choice of a wrong idiom: candidates of which each is the right one, so that none serves."""
    for idiom, blanked in asked:
        phrase = idiom.phrase.shown
        meaning = idiom.explanation.shown
        changed = idiom.model_copy(update={"id": _renamed(idiom.id, "none")})
        task = wrong_idiom_task(changed, blanked, [(phrase, meaning)] * 2)
        yield known(
            task,
            idiom.id,
            "defective",
            "none_serves",
            basis="planted",
            accepts={"wrong": ("none",)},
            right=phrase,
        )


def known_connotations(idioms: Iterable[Idiom]) -> Iterator[Known]:
    """For connotation: idioms whose connotation the source says; praise is one side, blame the other."""
    for idiom in idioms:
        if idiom.connotation in ("positive", "negative"):
            side: Side = "sound" if idiom.connotation == "positive" else "defective"
            changed = idiom.model_copy(update={"id": _renamed(idiom.id, "connotation")})
            accepts = {"idiom": (str(idiom.connotation),)}
            yield known(
                connotation_task(changed), idiom.id, side, idiom.connotation, basis="source", accepts=accepts
            )


def known_replies(template: str, items: Iterable[Item]) -> Iterator[Known]:
    """For replies of systems: the reference itself as a reply, and the reference of another item."""
    is_depth = template == "interpretive_depth"
    kind: type[ExplanationItem | AnswerItem] = ExplanationItem if is_depth else AnswerItem
    make: Any = depth_task if is_depth else correctness_task
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
            task = make(item, f"reply-{digest([item.id, 'calibration', side])[:12]}", reply)
            accepts = {control: tuple(map(str, points))}
            yield known(task, item.id, side, kind_of, basis="planted", accepts=accepts, right=own)


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
        side: Side = "sound" if _is_sound(row.template, accepts) else "defective"
        task["data"] = sealed({**task["data"], "sample_id": _renamed(row.subject, "settled")})
        yield known(task, row.key, side, "people_agreed", basis="agreed", accepts=accepts)


def _agreed(
    row: Drawn, votes: Mapping[str, dict[str, str]], overlap: int, adjudicators: Collection[str]
) -> dict[str, tuple[str, ...]] | None:
    if row.template == "distractor_rating":
        given = {values["plausibility"] for values in votes.values()}
        return {"plausibility": tuple(given)} if len(given) == 1 else None
    if row.template == "connotation":
        given = {values["idiom"] for values in votes.values()}
        return {"idiom": tuple(given)} if len(given) == 1 else None
    if row.template not in SAYS:
        return None
    found = settle(dict(votes), overlap, says_of(row), adjudicators)
    if found is None:
        return None
    controls: dict[str, tuple[str, ...]] = {
        "label_validation": LABELS_OF_A_POEM,
        "text_correction": ("state",),
        "dialect_sentence": ("verdict",),
        "wrong_idiom": ("wrong",),
    }
    return {name: (found.values[name],) for name in controls[row.template]}


def _is_sound(template: str, accepts: Mapping[str, Sequence[str]]) -> bool:
    said = {value for values in accepts.values() for value in values}
    return not said & {
        "distractor_rating": {"0"},
        "connotation": {"negative"},
        "label_validation": {"wrong"},
        "text_correction": {"corrected", "hopeless"},
        "dialect_sentence": {"edit", "replace"},
        "wrong_idiom": {"none"},
    }.get(template, set())


def _renamed(name: str, variant: str) -> str:
    return f"{name.partition('#')[0].rpartition(':')[0] or 'q'}:{digest([name, 'calibration', variant])[:12]}"
