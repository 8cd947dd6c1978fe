"""CITATION.cff: how to cite a release."""

from __future__ import annotations

import yaml

from releases.facts import ReleaseFacts
from releases.licence import licences
from schemas.benchmark import BenchmarkConfig


def citation(config: BenchmarkConfig, facts: ReleaseFacts, version: str) -> str:
    """The file's text, Citation File Format 1.2.0."""
    entry: dict[str, object] = {
        "cff-version": "1.2.0",
        "message": "If you use this benchmark, please cite it with its version.",
        "type": "dataset",
        "title": config.release.title or config.title,
        "version": version,
        "authors": [{"name": author} for author in config.release.authors],
    }
    if config.release.licence in licences() and config.release.licence != "public-domain":
        entry["license"] = config.release.licence
    if facts.date:
        entry["date-released"] = facts.date
    if config.release.repository:
        entry["repository"] = f"https://huggingface.co/datasets/{config.release.repository}"
    if facts.sources:
        entry["references"] = [
            {
                "type": "generic",
                "title": source.title or source.name,
                "authors": [{"name": source.attribution or source.title or source.name}],
                **({"url": source.home} if source.home.startswith("http") else {}),
            }
            for source in facts.sources
        ]
    return yaml.safe_dump(entry, allow_unicode=True, sort_keys=False, width=110)
