"""The quality of a build's items, measured once per set and stored beside the stages."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from mihakk.ids import digest
from mihakk.lake.seal import seal, unsealed
from pipeline.build import Build, code_version, whole_input
from pipeline.rows import records
from schemas.stages import CURATED, GENERATED, RELEASED

if TYPE_CHECKING:
    from generators.quality.item_quality import ItemQuality

EMBEDDED = 60
"""Questions per task whose options are embedded: a minute of the bundled model for ten tasks."""


def measured(build: Build, items: Iterable[Any]) -> ItemQuality:
    """Baselines, spreads and gold positions of the items to be released.

    Kept as `quality/<digest>.json` under everything they depend on, for the release's card, its gates and the
    report show the same figures.

    Args:
        build: A build whose items have been reviewed.
        items: All rows of its reviewed items; not read where the figures are kept.
    """
    from generators.corpus import build_corpus
    from generators.quality.item_quality import ItemQuality, measure_quality
    from mihakk.embeddings import open_embedder

    name = digest(
        [
            whole_input(build, RELEASED),
            code_version(("generators",)),
            build.config.embeddings,
            build.config.seed,
            EMBEDDED,
        ]
    )
    storage = build.lake.storage
    path = storage.path("quality", f"{name}.json")
    if storage.exists(path):
        with suppress(ValueError):  # damaged: it is measured again
            return ItemQuality.model_validate(unsealed(storage.read(path)))
    curated = (
        record for shard in build.stage(CURATED).shards() for record in records(build, GENERATED, shard)
    )
    found = measure_quality(
        list(items),
        embedder=open_embedder(build.config.embeddings),
        corpus=build_corpus(curated, build_seed=build.config.seed),
        seed=build.config.seed,
        most_embedded=EMBEDDED,
    )
    for old in storage.list(storage.path("quality")):
        storage.remove(storage.path("quality", old))
    storage.write(path, seal(found.model_dump_json().encode()))
    return found
