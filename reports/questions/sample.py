"""A sample of questions, each option with what it is, and the page of them to hand to a scholar."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from mihakk.generators.plain_meaning import plain_meaning
from mihakk.machinery.morphology import LIGHT, Morphology
from mihakk.machinery.seeds import rng
from mihakk.machinery.text import key
from mihakk.reports.templates import templates, write_page
from mihakk.schemas.idiom import Idiom
from mihakk.schemas.item import ChoiceItem, Item
from mihakk.schemas.poem import Poem

WHY: Mapping[str, str] = {
    "same_poem": "another line of the same poem",
    "other_poem": "a line of another poem in the same metre",
    "shuffled": "the same words in another order",
    "general": "written by a model that saw the right explanation alone",
    "role": "the right explanation with one semantic role changed",
    "other_explanation": "explains another idiom",
    "true_explanation": "explains this idiom, and the wrong explanation is asked for",
    "other_idiom": "another idiom, whose meaning does not fit the sentence",
    "other_label": "a label that the source does not give this text",
    "other_poet": "a poet who did not write it",
}
"""What is wrong with an option, by its kind."""


@dataclass(frozen=True, slots=True)
class Option:
    """One option as a reader sees it."""

    text: str
    right: bool
    kind: str
    why: str
    """Why it is wrong, and where it is from; empty for the right one."""


@dataclass(frozen=True, slots=True)
class Question:
    """One question as a reader sees it."""

    item: Item
    options: tuple[Option, ...]
    answers: tuple[str, ...]
    """Reference answers where there are no options."""


def sample_questions(
    items: Iterable[Item], *, task: str = "", language: str = "", size: int = 20, seed: int = 0
) -> list[Item]:
    """So many questions of each task and language, drawn by seed; two orders of a pair are one question."""
    groups: dict[tuple[str, str], dict[str, Item]] = {}
    for item in items:
        if task in ("", item.task) and language in ("", item.language):
            name = item.pair_id or item.id if isinstance(item, ChoiceItem) else item.id
            groups.setdefault((item.task, item.language), {}).setdefault(name, item)
    found: list[Item] = []
    for _, questions in sorted(groups.items()):
        drawn = sorted(questions, key=lambda name: rng(seed, name, "sample of questions").random())
        found += [questions[name] for name in drawn[:size]]
    return found


def explain_options(
    items: Sequence[Item], records: Iterable[Poem | Idiom] = (), morphology: Morphology = LIGHT
) -> list[Question]:
    """Each question with what its options are.

    Args:
        items: The questions.
        records: What items are made from; where an option is a record's own text, the record is named.
        morphology: What the items were made with.
    """
    wanted = {name for item in items for name in item.origin.records}
    origins = {pair: name for record in records for pair, name in _texts(record, wanted, morphology)}
    return [_question(item, origins) for item in items]


def _question(item: Item, origins: Mapping[tuple[str, str], str]) -> Question:
    if not isinstance(item, ChoiceItem):
        answers = (item.answer, *item.accepted) if item.kind == "answer" else item.explanations
        return Question(item, (), tuple(answers))
    kinds = item.option_kinds or ("",) * len(item.options)
    options = []
    for place, (text, kind) in enumerate(zip(item.options, kinds, strict=True)):
        if right := place in item.gold:
            options.append(Option(text, right, kind, ""))
            continue
        why = WHY.get(kind, kind.replace("_", " ") or "not said")
        told = [
            origins[name, key(text, item.language)]
            for name in item.origin.records
            if (name, key(text, item.language)) in origins
        ]
        options.append(Option(text, right, kind, f"{why}: {told[-1]}" if told else why))
    return Question(item, tuple(options), ())


def _texts(
    record: Poem | Idiom, wanted: set[str], morphology: Morphology
) -> Iterable[tuple[tuple[str, str], str]]:
    """((record, key of a text of it), what the text is) for the records that items name."""
    if isinstance(record, Idiom):
        if record.id in wanted:
            phrase = record.phrase.shown
            explained = record.explanation.shown
            meaning = plain_meaning(phrase, explained, record.language, morphology).text
            yield (record.id, key(meaning, record.language)), f"«{phrase}»"
            yield (record.id, key(phrase, record.language)), f"«{explained}»"
        return
    title = ", ".join(part for part in (record.poet, record.title) if part)
    for couplet in record.couplets:
        if couplet.id in wanted:
            for form in couplet.halves:
                place = f"{title}, couplet {couplet.position + 1}"
                yield (couplet.id, key(form.shown, record.language)), place


def write_questions_page(name: str, questions: Sequence[Question], path: Path) -> None:
    """Writes the page: every text in its own direction, options in the item's order, each with its reason."""
    groups = [
        (task, language, list(group))
        for (task, language), group in groupby(questions, lambda one: (one.item.task, one.item.language))
    ]
    page = templates(Path(__file__).parent).get_template("questions.html.jinja")
    write_page(page, path, name=name, groups=groups, total=len(questions))
