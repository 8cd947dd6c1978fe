"""No task prints what another one asks: couplets and idioms go to one group of tasks each."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import Any

import pytest

from mihakk.generators.abilities import RECALL
from mihakk.generators.generating import Generated, generate_shard, prepare
from mihakk.generators.task import TASKS
from mihakk.machinery.text import key
from mihakk.schemas.benchmark import BenchmarkConfig
from mihakk.schemas.idiom import Idiom
from mihakk.schemas.item import ChoiceItem, Item
from mihakk.schemas.poem import Poem

OF_POEMS = sorted(name for name, task in TASKS if task.reads == "poem" and not task.needs_model)
OF_MEANINGS = ("meaning_choice", "negation", "explanation", "completion")


def made_of(records: list[Any], tasks: tuple[str, ...] | list[str], **more: object) -> Generated:
    config = BenchmarkConfig.model_validate(
        {
            "name": "t",
            "title": "t",
            "sources": [{"use": "files"}],
            "tasks": [{"use": task} for task in tasks],
            "embeddings": "none",
            **more,
        }
    )
    return generate_shard(records, prepare(records, config), config)


def printed(item: Item) -> str:
    """All that a system reads of an item, as letters alone."""
    options = item.options if isinstance(item, ChoiceItem) else ()
    verses = getattr(item, "verses", ())
    return key(
        "".join([item.question, item.context, *item.fields.values(), *options, *verses]), item.language
    )


def couplets_told(poems: list[Poem], items: list[Item]) -> tuple[int, int]:
    """Recall items, and those whose couplet stands whole in what another task prints."""
    halves = {
        couplet.id: tuple(key(half.shown, poem.language) for half in couplet.halves)
        for poem in poems
        for couplet in poem.couplets
    }
    by_poem: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for item in items:
        by_poem[item.origin.records[0].rpartition(":")[0] or item.origin.records[0]].append(
            (item.task, printed(item))
        )
    recall = [item for item in items if item.task in RECALL]
    told = 0
    for item in recall:
        couplet = item.origin.records[0]
        others = by_poem[couplet.rpartition(":")[0]] + by_poem[couplet]
        told += any(
            task != item.task and all(half in text for half in halves[couplet]) for task, text in others
        )
    return len(recall), told


@pytest.fixture(scope="module")
def verse(records: list[Poem | Idiom]) -> list[Poem]:
    return [record for record in records if isinstance(record, Poem)]


def test_no_couplet_that_is_asked_for_stands_whole_in_another_tasks_prompt(verse: list[Poem]) -> None:
    recall, told = couplets_told(verse, made_of(verse, OF_POEMS, task_groups="shared").items)
    assert told > 0.9 * recall > 900
    made = made_of(verse, OF_POEMS)
    recall, told = couplets_told(verse, made.items)
    assert told == 0
    assert recall > 200
    assert {item.task for item in made.items} >= RECALL & set(OF_POEMS) - {"prose_cued"}


def test_an_idiom_is_asked_about_by_the_first_group_that_makes_an_item_of_it(
    records: list[Poem | Idiom],
) -> None:
    idioms = [record for record in records if isinstance(record, Idiom)]
    made = made_of(idioms, OF_MEANINGS)
    tasks: dict[str, set[str]] = defaultdict(set)
    for item in made.items:
        tasks[item.origin.records[0]].add(item.task)
    assert {frozenset(some) for some in tasks.values()} == {
        frozenset({"meaning_choice", "negation"}),
        frozenset({"explanation"}),
        frozenset({"completion"}),
    }
    alone = {item.origin.records[0] for item in made_of(idioms, OF_MEANINGS, task_groups="shared").items}
    assert tasks.keys() == alone
    counts = Counter(task for some in tasks.values() for task in some)
    assert min(counts.values()) > 0.1 * len(idioms)
    assert made.skipped["skipped.negation.other_task_group"] > 0


def test_a_record_or_task_more_moves_only_what_it_takes(verse: list[Poem]) -> None:
    few = ["continuation", "shuffled_choice", "metre_choice"]
    homes = {item.origin.records[0]: item.task for item in made_of(verse, few).items}
    fewer = {item.origin.records[0]: item.task for item in made_of(verse[::2], few).items}
    assert all(homes[couplet] == task for couplet, task in fewer.items() if couplet in homes)
    more = {item.origin.records[0]: item.task for item in made_of(verse, [*few, "verse_choice"]).items}
    moved = {task for couplet, task in more.items() if homes.get(couplet, task) != task}
    assert moved == {"verse_choice"}


def test_tasks_of_one_group_share_their_couplets_and_a_lone_group_has_all(verse: list[Poem]) -> None:
    made = made_of(verse, ["continuation", "shuffled", "verse_choice"])
    asked = defaultdict(set)
    for item in made.items:
        asked[item.task].add(item.origin.records[0])
    assert len(asked["continuation"] & asked["shuffled"]) > 0.9 * len(asked["shuffled"])
    assert not asked["continuation"] & asked["verse_choice"]
    alone = made_of(verse, ["continuation", "shuffled"])
    assert alone.items == made_of(verse, ["continuation", "shuffled"], task_groups="shared").items


def test_a_blind_release_is_kept_apart_by_itself(verse: list[Poem]) -> None:
    blind = {"blind": "age", "answers_recipient": "age1x"}
    tasks = ["continuation", "metre_choice"]
    assert made_of(verse, tasks, release=blind).items == made_of(verse, tasks, task_groups="shared").items
