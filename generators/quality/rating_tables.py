"""What people are asked about generated items, as tables that a review project can be filled with."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from generators.corpus import form_text
from mihakk.seeds import rng
from schemas.idiom import Idiom
from schemas.item import ChoiceItem, Item
from schemas.record import Language, Record


class DistractorRating(Record):
    """How good is this wrong answer? 2 wrong but plausible, 1 too close or slightly off, 0 right or odd."""

    item: str
    task: str
    language: Language
    strategy: str
    model: str
    """Model that wrote the wrong answer; empty where none did."""
    question: str
    context: str
    right: str
    wrong: str


class SentenceReview(Record):
    """Would a speaker say this? Accept it, fix it, or write another."""

    item: str
    language: Language
    dialect: str
    phrase: str
    sentence: str
    explanation: str
    model: str


class ConnotationLabel(Record):
    """Is it said in praise, in blame, or neither? Asked of three people."""

    record: str
    language: Language
    dialect: str
    phrase: str
    explanation: str


def distractors_to_rate(
    items: Iterable[Item], *, per_strategy: int = 50, seed: int = 0
) -> list[DistractorRating]:
    """A sample of wrong answers, so many of each task, language and strategy (Kinayat rated 50 of each).

    Lines that were drawn by form alone (shuffled verses, labels of eras) need no rating and are left out.
    """
    groups: dict[tuple[str, str, str], dict[str, ChoiceItem]] = defaultdict(dict)
    for item in items:
        if isinstance(item, ChoiceItem) and item.origin.strategy not in ("shuffled", "labels", "as_frequent"):
            group = groups[item.task, item.language, item.origin.strategy]
            group.setdefault(item.pair_id or item.id, item)
    rows = []
    for _, found in sorted(groups.items()):
        chosen = sorted(found, key=lambda pair: rng(seed, pair, "rating").random())[:per_strategy]
        for pair in sorted(chosen):
            item = found[pair]
            wrong = [n for n in range(len(item.options)) if n not in item.gold]
            place = rng(seed, pair, "which").choice(wrong)
            rows.append(
                DistractorRating(
                    item=item.id,
                    task=item.task,
                    language=item.language,
                    strategy=item.origin.strategy,
                    model=item.origin.model,
                    question=item.question,
                    context=item.context,
                    right=item.options[item.gold[0]],
                    wrong=item.options[place],
                )
            )
    return rows


def sentences_to_review(items: Iterable[Item], idioms: Iterable[Idiom]) -> list[SentenceReview]:
    """Every sentence that a model wrote, once."""
    known = {idiom.id: idiom for idiom in idioms}
    rows: dict[str, SentenceReview] = {}
    for item in items:
        if item.metadata.get("sentence") != "written":
            continue
        idiom = known[item.origin.records[0]]
        phrase = form_text(idiom.phrase)
        sentence = item.fields.get("sentence") or item.fields.get("blanked", "").replace("____", phrase)
        rows.setdefault(
            idiom.id,
            SentenceReview(
                item=item.id,
                language=idiom.language,
                dialect=idiom.dialect,
                phrase=phrase,
                sentence=sentence,
                explanation=form_text(idiom.explanation),
                model=item.origin.model,
            ),
        )
    return [rows[name] for name in sorted(rows)]


def connotations_to_label(idioms: Iterable[Idiom], *, also_labelled: bool = False) -> list[ConnotationLabel]:
    """Idioms whose connotation people have still to say; with `also_labelled` the others too."""
    return [
        ConnotationLabel(
            record=idiom.id,
            language=idiom.language,
            dialect=idiom.dialect,
            phrase=form_text(idiom.phrase),
            explanation=form_text(idiom.explanation),
        )
        for idiom in idioms
        if also_labelled or idiom.connotation is None
    ]
