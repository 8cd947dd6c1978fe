"""The string by which a benchmark's text can be found, and left out, in a training corpus."""

from __future__ import annotations

import uuid
from pathlib import Path

import pyarrow.parquet as pq

from mihakk.machinery.ids import digest
from mihakk.releases.content.item_tables import data_files
from mihakk.schemas.benchmark import BenchmarkConfig

_NAMESPACE = uuid.uuid5(uuid.NAMESPACE_DNS, "canary.mihakk")


def canary_guid(config: BenchmarkConfig, previous: Path | None = None) -> str:
    """GUID of a benchmark: one for all its versions, so that one search finds every copy, and its own.

    The first version derives it from what tells benchmarks of one name apart: title, publisher, seed, sources
    and tasks. Later versions keep it, whatever changes. A blind benchmark's seed may be secret and stays out.
    """
    kept = "" if previous is None else _canary_in(previous)
    if kept:
        return kept
    release = config.release
    own = [
        config.title,
        release.title,
        release.repository,
        sorted(release.authors),
        config.seed if release.blind == "off" else "secret",
        [(source.use, source.label, source.limit) for source in config.sources],
        [task.use for task in config.tasks],
    ]
    return str(uuid.uuid5(_NAMESPACE, f"{config.name}\n{digest(own)}"))


def canary_line(name: str, guid: str) -> str:
    """The sentence that stands in the card and, with the GUID, in every row; never in a prompt."""
    return f"Benchmark data of {name}: please keep it out of training corpora. Canary GUID {guid}"


def _canary_in(folder: Path) -> str:
    for _, _, path in data_files(folder):
        if "canary" in pq.read_schema(path).names:
            for text in pq.read_table(path, columns=["canary"]).column("canary").unique().to_pylist():
                return str(text)
    return ""
