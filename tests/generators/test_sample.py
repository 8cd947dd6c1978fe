"""A build of a part: balanced, the same couplets in every task, moved by nothing but its own records."""

from __future__ import annotations

from collections import Counter, defaultdict

import pytest

from mihakk.generators.generating import Generated, generate_shard, prepare
from mihakk.machinery.configs import validate
from mihakk.machinery.errors import UsageError
from mihakk.schemas.benchmark import BenchmarkConfig, SampleConfig
from mihakk.schemas.poem import Poem
from tests.generators.generated import config

TASKS = ("continuation", "continuation_choice", "metre_choice")


def made_of(poems: list[Poem], **sample: object) -> Generated:
    asked = SampleConfig.model_validate(sample)
    chosen = config(*TASKS).model_copy(update={"sample": asked})
    return generate_shard(poems, prepare(poems, chosen), chosen)


def couplets(made: Generated) -> dict[str, set[str]]:
    found = defaultdict(set)
    for item in made.items:
        found[item.task].add(item.origin.records[0])
    return found


def poems_of(made: Generated) -> set[str]:
    return {record.rpartition(":")[0] for records in couplets(made).values() for record in records}


def test_all_tasks_ask_about_the_same_couplets_of_the_same_poems(hafez: list[Poem]) -> None:
    made = made_of(hafez[:80], records=24, per_record=2)
    asked = couplets(made)
    assert set(asked) == set(TASKS)
    assert len(poems_of(made)) == 24
    assert len(asked["metre_choice"]) <= 48
    assert asked["continuation"] <= asked["metre_choice"]
    assert asked["continuation_choice"] <= asked["continuation"]
    assert all(
        count <= 2 for count in Counter(one.rpartition(":")[0] for one in asked["metre_choice"]).values()
    )
    gone = Counter(row.reason for row in made.rejected)
    assert gone["not_in_sample"] == 56


def test_metres_are_as_even_as_the_set_allows(hafez: list[Poem]) -> None:
    poems = hafez[:120]
    there = Counter(poem.metre(poem.couplets[0]) for poem in poems)
    drawn = poems_of(made_of(poems, records=30))
    taken = Counter(poem.metre(poem.couplets[0]) for poem in poems if poem.id in drawn)
    assert sum(taken.values()) == 30
    most = max(taken.values())
    assert all(taken[metre] in {most, most - 1} or taken[metre] == there[metre] for metre in there)


def test_a_poem_that_goes_is_replaced_by_one_and_moves_no_other(hafez: list[Poem]) -> None:
    poems = hafez[:60]
    before = poems_of(made_of(poems, records=20))
    for poem in poems[:12]:
        after = poems_of(made_of([one for one in poems if one is not poem], records=20))
        assert before - after == {poem.id} & before
        assert len(after - before) == len({poem.id} & before)


def test_a_misspelt_sample_is_an_error_that_names_the_key() -> None:
    given = {**config(*TASKS).model_dump(), "sample": {"record": 5}}
    with pytest.raises(UsageError, match="did you mean 'records'"):
        validate(given, BenchmarkConfig, "my.yaml")
