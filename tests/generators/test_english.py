"""Sonnets go through the same tasks, as in GhazalBench's parallel; lines by Shakespeare, in the public domain."""

from __future__ import annotations

from mihakk.generators.generating import generate_shard, prepare
from mihakk.generators.prompts import render
from mihakk.schemas.benchmark import BenchmarkConfig
from mihakk.schemas.item import ChoiceItem
from mihakk.schemas.poem import Poem, Section
from tests.generators.records import make_poem

SONNETS = {
    "18": [
        ("Shall I compare thee to a summer's day?", "Thou art more lovely and more temperate:"),
        ("Rough winds do shake the darling buds of May,", "And summer's lease hath all too short a date:"),
        ("So long as men can breathe, or eyes can see,", "So long lives this, and this gives life to thee."),
    ],
    "116": [
        ("Let me not to the marriage of true minds", "Admit impediments. Love is not love"),
        ("Love alters not with his brief hours and weeks,", "But bears it out even to the edge of doom."),
        ("If this be error and upon me proved,", "I never writ, nor no man ever loved."),
    ],
}
TASKS = (
    "continuation",
    "continuation_choice",
    "verse_choice",
    "shuffled",
    "shuffled_choice",
    "fragment_cued",
)


def sonnets() -> list[Poem]:
    return [
        make_poem(f"sonnet-{n}", list(pairs), language="en", poet="Shakespeare", metre="").model_copy(
            update={"sections": (Section(index=0, form="sonnet"),)}
        )
        for n, pairs in SONNETS.items()
    ]


def test_every_recall_task_takes_sonnets() -> None:
    config = BenchmarkConfig.model_validate(
        {
            "name": "test",
            "title": "test",
            "sources": [{"use": "files"}],
            "tasks": [{"use": task} for task in TASKS],
            "embeddings": "none",
            "task_groups": "shared",
        }
    )
    poems = sonnets()
    made = generate_shard(poems, prepare(poems, config), config)
    assert made.rejected == []
    assert {item.task for item in made.items} == set(TASKS)
    assert {item.language for item in made.items} == {"en"}
    choice = next(item for item in made.items if item.task == "continuation_choice")
    assert isinstance(choice, ChoiceItem)
    assert "A) " in render(choice, "en")
    assert {record.split(":")[0] for record in choice.origin.records} == {"sonnet-18", "sonnet-116"}
    cued = next(item for item in made.items if item.task == "fragment_cued" and "doom" in str(item))
    assert {cued.fields["word_1"], cued.fields["word_2"]} == {
        "bears",
        "doom",
    } or "doom" in cued.fields.values()


def test_apostrophes_stay_in_their_words() -> None:
    config = BenchmarkConfig.model_validate(
        {
            "name": "t",
            "title": "t",
            "sources": [{"use": "f"}],
            "tasks": [{"use": "shuffled"}],
            "embeddings": "none",
        }
    )
    poems = sonnets()
    made = generate_shard(poems, prepare(poems, config), config)
    item = next(item for item in made.items if "lease" in item.fields["shuffled"])
    assert "summer's" in item.fields["shuffled"].split()
