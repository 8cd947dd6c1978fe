"""Every model-free task on the tracked samples and Hafez, as the demo runs them: all accounted for, all valid."""

from __future__ import annotations

from collections import Counter

import pytest

from mihakk.generators.generating import Generated, generate_shard, prepare
from mihakk.generators.prompts import render
from mihakk.generators.task import TASKS
from mihakk.machinery.ids import content_hash
from mihakk.machinery.text import key
from mihakk.schemas.benchmark import BenchmarkConfig
from mihakk.schemas.idiom import Idiom
from mihakk.schemas.item import ITEM, AnswerItem, ChoiceItem
from mihakk.schemas.poem import Poem

MODEL_FREE = [name for name, task in TASKS if not task.needs_model]


@pytest.fixture(scope="module")
def made(records: list[Poem | Idiom]) -> Generated:
    config = BenchmarkConfig.model_validate(
        {
            "name": "demo",
            "title": "demo",
            "sources": [{"use": "hafez"}],
            "tasks": [{"use": task} for task in MODEL_FREE],
            "embeddings": "none",
            "task_groups": "shared",
        }
    )
    return generate_shard(records, prepare(records, config), config)


def test_every_record_is_kept_or_rejected_with_a_reason(records: list[Poem | Idiom], made: Generated) -> None:
    ids = {record.id: record.id for record in records}
    ids |= {couplet.id: poem.id for poem in records if isinstance(poem, Poem) for couplet in poem.couplets}
    kept = {ids[item.origin.records[0]] for item in made.items}
    rejected = {row.record for row in made.rejected}
    assert not kept & rejected
    assert len(kept) + len(rejected) == len(records)
    assert all(row.reason and row.detail and row.body for row in made.rejected)


def test_items_are_valid_unique_and_have_all_their_origin(
    records: list[Poem | Idiom], made: Generated
) -> None:
    known = {record.id for record in records}
    known |= {couplet.id for poem in records if isinstance(poem, Poem) for couplet in poem.couplets}
    assert len({item.id for item in made.items}) == len(made.items)
    for item in made.items:
        assert ITEM.validate_python(item.model_dump()) == item
        assert set(item.origin.records) <= known
        assert item.origin.generator == item.task
        assert item.origin.model == ""
        assert item.question.strip()
        assert len(content_hash(item)) == 64
        if isinstance(item, ChoiceItem):
            assert len({key(option, item.language) for option in item.options}) == len(item.options)
        if isinstance(item, ChoiceItem | AnswerItem):
            gold = item.options[item.gold[0]] if isinstance(item, ChoiceItem) else item.answer
            assert gold not in item.fields.values()


def test_what_waits_for_other_sources_is_said(made: Generated) -> None:
    counts = Counter(item.task for item in made.items)
    without = {task for task in MODEL_FREE if not counts[task]}
    # The samples hold neither explanations and prose of verse nor sentences.
    assert without == {
        "couplet_prose",
        "meaning_in_context",
        "pragmatic_use",
        "prose_cued",
        "prose_cued_choice",
        "verse_explanation",
    }
    assert made.skipped["skipped.verse_explanation.no_explanations"] == 167
    assert made.skipped["skipped.pragmatic_use.no_sentence"] == 96


def test_answers_stay_out_of_prompts(made: Generated) -> None:
    for item in made.items[::17]:
        if isinstance(item, AnswerItem) and item.task not in ("completion", "explanation", "shuffled"):
            assert key(item.answer, item.language) not in key(render(item, item.language), item.language)
