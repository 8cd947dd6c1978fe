"""Items of a few tasks over a few records."""

from __future__ import annotations

from collections.abc import Sequence

from mihakk.generators.generating import Generated, generate_shard, prepare
from mihakk.schemas.benchmark import BenchmarkConfig
from mihakk.schemas.idiom import Idiom
from mihakk.schemas.poem import Poem


def config(*tasks: str, **options: object) -> BenchmarkConfig:
    """A benchmark of these tasks about the same texts, without embeddings, all in one split."""
    return BenchmarkConfig.model_validate(
        {
            "name": "test",
            "title": "test",
            "sources": [{"use": "files"}],
            "tasks": [{"use": task, "options": options} for task in tasks],
            "embeddings": "none",
            "task_groups": "shared",
            "release": {"test_share": 1},
        }
    )


def generate(records: Sequence[Poem | Idiom], *tasks: str, **options: object) -> Generated:
    """All items of these tasks over these records."""
    made = config(*tasks, **options)
    return generate_shard(records, prepare(records, made), made)
