"""The quality of a build's items, measured once per set and stored beside the stages."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from mihakk.machinery.ids import digest
from mihakk.machinery.lake.seal import seal, unsealed
from mihakk.pipeline.build import Build, code_version, whole_input
from mihakk.pipeline.rows import records
from mihakk.schemas.stages import CURATED, GENERATED, RELEASED

if TYPE_CHECKING:
    from mihakk.generators.quality.item_quality import ItemQuality

EMBEDDED = 60
"""Questions per task whose options are embedded: a minute of the bundled model for ten tasks."""


def measured(build: Build, items: Sequence[Any]) -> ItemQuality:
    """Baselines, spreads and gold positions of the items to be released.

    Kept as `quality/<digest>.json` under everything they depend on, for the release's card, its gates and the
    report show the same figures.

    Args:
        build: A build whose items have been reviewed.
        items: All rows of its reviewed items; not read where the figures are kept.
    """
    if (kept := standing_quality(build)) is not None:
        return kept
    from mihakk.generators.corpus import build_corpus
    from mihakk.generators.quality.item_quality import measure_quality
    from mihakk.machinery.embeddings import open_embedder

    curated = (
        record for shard in build.stage(CURATED).shards() for record in records(build, GENERATED, shard)
    )
    found = measure_quality(
        items,
        embedder=open_embedder(build.config.embeddings),
        corpus=build_corpus(curated, build_seed=build.config.seed),
        seed=build.config.seed,
        most_embedded=EMBEDDED,
    )
    storage = build.lake.storage
    for old in storage.list(storage.path("quality")):
        storage.remove(storage.path("quality", old))
    storage.write(_place(build), seal(found.model_dump_json().encode()))
    return found


def standing_quality(build: Build) -> ItemQuality | None:
    """What was measured of the items as they stand; None before it was, or where it is damaged."""
    from mihakk.generators.quality.item_quality import ItemQuality

    if not build.before(RELEASED).finished():
        return None
    storage, path = build.lake.storage, _place(build)
    if storage.exists(path):
        with suppress(ValueError):
            return ItemQuality.model_validate(unsealed(storage.read(path)))
    return None


def _place(build: Build) -> str:
    """Its file, named by everything that the figures depend on."""
    name = digest(
        [
            whole_input(build, RELEASED),
            code_version(("generators",)),
            build.config.embeddings,
            build.config.seed,
            EMBEDDED,
        ]
    )
    return build.lake.storage.path("quality", f"{name}.json")
