"""How far form alone goes on every choice task: the table of docs/tasks.md, and what that page leaves out.

    python -m performance.baselines

All model-free choice tasks of Hafez, of the tracked samples, of our own idioms and, where MIHAKK_SHARED_DATA
has it, of Taymur's book: scraped, curated and generated as a build does, without embeddings.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from mihakk.generators.quality.item_quality import Baseline, measure_quality
from mihakk.generators.task import TASKS
from mihakk.machinery.settings import ROOT
from mihakk.pipeline.build import Build
from mihakk.pipeline.engines.choose import open_engine
from mihakk.pipeline.observer import Silent
from mihakk.pipeline.run import run_pipeline
from mihakk.pipeline.steps.order import INGEST, MAKE
from mihakk.schemas.benchmark import BenchmarkConfig
from mihakk.schemas.item import ITEM_ROWS
from mihakk.schemas.stages import GENERATED
from performance._measure import BESIDE

SHOWN = (
    *("all_cues", "options_only", "longest", "shortest", "word_overlap", "stem_overlap", "trigram_overlap"),
    *("rarest", "options_met", "rhyme_only", "rhyme_shown", "capital_first"),
)
SAMPLES = {
    "Hafez": [("hafez", "poem", "", "")],
    "Arabic samples": [
        ("files", "poem", "ar", "data/samples/arabic_explained.jsonl"),
        ("files", "poem", "ar", "data/samples/arabic_poems.jsonl"),
    ],
    "sonnets": [("files", "poem", "en", "data/samples/english_sonnets.jsonl")],
    "our idioms": [("files", "idiom", "ar", "data/samples/egyptian_idioms.jsonl")],
}
TAYMUR = ROOT / "configs" / "sources" / "kinayat_openiti.yaml"


def configs() -> Iterator[tuple[str, BenchmarkConfig]]:
    """Each set of records with all choice tasks that it can feed without a model."""
    for name, parts in SAMPLES.items():
        uses = [
            {
                "use": source,
                "name": f"source_{n}",
                "options": {
                    "path": path,
                    "prefix": Path(path).stem,
                    "kind": kind,
                    "language": language,
                    "licence": "CC0-1.0",
                    "least_yield": 1,
                }
                if path
                else {},
            }
            for n, (source, kind, language, path) in enumerate(parts)
        ]
        yield name, _config(uses, parts[0][1])
    if BESIDE.is_dir():
        declared = TAYMUR.read_text(encoding="utf-8").replace("$MIHAKK_SHARED_DATA", str(BESIDE))
        yield "Taymur", _config([yaml.safe_load(declared)], "idiom")


def _config(sources: list[dict[str, Any]], reads: str) -> BenchmarkConfig:
    names = [name for name, task in TASKS if task.reads == reads and not task.needs_model]
    return BenchmarkConfig.model_validate(
        {
            "name": "baselines",
            "title": "baselines",
            "seed": 20261121,
            "sources": sources,
            "tasks": [{"use": name} for name in names if name != "paraphrase_cued_choice"],
            "embeddings": "none",
        }
    )


def measured() -> dict[str, dict[str, Baseline]]:
    """Baselines by name, by set, task and language."""
    found: dict[str, dict[str, Baseline]] = {}
    for name, config in configs():
        with tempfile.TemporaryDirectory() as folder, open_engine("processes", 1) as engine:
            build = Build(config, folder, Path(folder))
            run_pipeline(build, engine, Silent(), (*INGEST, MAKE[0]))
            items = list(build.stage(GENERATED).read_all("items", ITEM_ROWS))
        for one in measure_quality(items, seed=config.seed).baselines:
            found.setdefault(f"`{one.task}` {one.language}, {name}", {})[one.name] = one
    return found


def main() -> None:
    """Prints the table: share right, and the lower end of its interval in brackets."""
    print("| task | questions | chance | " + " | ".join(f"`{name}`" for name in SHOWN) + " |")
    print("|---" * (3 + len(SHOWN)) + "|")
    for row, mine in measured().items():
        cells = [
            f"{_share(one.accuracy)} [{_share(one.low)}]" if (one := mine.get(name)) else "" for name in SHOWN
        ]
        by_chance = mine["random"]
        print(f"| {row} | {by_chance.questions:,} | {_share(by_chance.chance)} | " + " | ".join(cells) + " |")


def _share(value: float) -> str:
    return f"{value:.3f}".removeprefix("0")


if __name__ == "__main__":
    main()
