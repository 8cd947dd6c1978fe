"""A small benchmark of the repository's own samples, built as far as the audit, and built again after answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from mihakk.annotation.campaigns.drawing import draw
from mihakk.annotation.decisions.store import add, stored
from mihakk.annotation.screens.ratings import Label
from mihakk.pipeline.build import Build
from mihakk.pipeline.campaigns import questions
from mihakk.pipeline.engines.local import LocalEngine
from mihakk.pipeline.observer import Silent
from mihakk.pipeline.opened_review import review_of
from mihakk.pipeline.people import review_stores
from mihakk.pipeline.run import run_step
from mihakk.pipeline.steps.order import STEPS
from mihakk.schemas.benchmark import BenchmarkConfig
from mihakk.schemas.campaign import Drawn
from mihakk.schemas.item import ITEM_ROWS, Item
from tests.annotation.exported import pulled

IDIOMS = {
    "path": "data/samples/egyptian_idioms.jsonl",
    "kind": "idiom",
    "language": "ar",
    "licence": "CC0-1.0",
}
POEMS = {
    "path": "data/samples/arabic_poems.jsonl",
    "kind": "poem",
    "language": "ar",
    "licence": "public-domain",
}


def opened(
    folder: Path, *tasks: str, source: Mapping[str, Any] = IDIOMS, writer: str = "", **review: Any
) -> Build:
    """The benchmark, nothing of it built yet."""
    config = BenchmarkConfig.model_validate(
        {
            "name": "round",
            "title": "Round",
            "seed": 3,
            "sources": [{"use": "files", "options": dict(source)}],
            "curate": {"required": [], "unknown_metadata": "keep"},
            "tasks": [{"use": name} for name in tasks],
            "embeddings": "none",
            "audit": {"limit": 0},
            "release": {"authors": ["Mihakk contributors"]},
            "generator": {
                "name": "writer",
                "family": "scripted",
                "model": "m",
                "serve": {"engine": "openai", "endpoints": [writer]},
            }
            if writer
            else None,
            "review": {"overlap": 2, **review},
        }
    )
    return Build(config, str(folder / "lake"), folder / "run")


def built(build: Build, last: int = 6) -> dict[str, Item]:
    """Builds as far as a stage and gives the items."""
    engine = LocalEngine(1)
    try:
        for step in STEPS[:last]:
            run_step(step, build, engine, Silent())
    finally:
        engine.close()
    return {item.id: item for item in build.stage(STEPS[last - 1].stage).read_all("items", ITEM_ROWS)}


def asked(build: Build, template: str) -> tuple[list[Drawn], list[dict[str, Any]]]:
    """Draws the campaign's sample as a push does; the questions and their tasks."""
    campaign = next(one for one in build.config.review.campaigns if one.template == template)
    stores = review_stores(build)
    before = [row for row in stored(stores.campaigns, Drawn) if row.template == template]
    done = {(row.subject, row.content_hash) for row in stored(stores.labels, Label)}
    drew = draw(questions(review_of(build), campaign), campaign, before, done)
    add(stores.campaigns, Drawn, drew.new)
    return [row for row in stored(stores.campaigns, Drawn) if row.template == template], drew.tasks


def answered(
    build: Build,
    template: str,
    tasks: Sequence[dict[str, Any]],
    answers: Mapping[str, Sequence[Mapping[str, str]]],
) -> None:
    """Brings home what people answered, from an export of Label Studio."""
    pulled(review_stores(build), template, tasks, answers)
