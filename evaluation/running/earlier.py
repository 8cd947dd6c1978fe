"""Scores on the version before: kept when a newer one is asked about, to see how figures and ranks moved."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from evaluation.rows import read_batches
from schemas.evaluation import Score

EARLIER: Final = "earlier"
"""Folder, inside a suite's, of the scores on the version before."""


def keep_earlier(scores: Path, versions: Mapping[str, str]) -> None:
    """Keeps a file of scores that is about to be overwritten, where it is of other versions.

    Args:
        scores: `SUITE/SYSTEM/scores.parquet`; kept as `SUITE/earlier/SYSTEM/scores.parquet`.
        versions: Release to the version that is asked about now.
    """
    if not scores.is_file():
        return
    found: dict[str, str] = {}
    for batch in read_batches(scores, Score, ("release", "version")):
        columns = batch.to_pydict()
        found |= dict(zip(columns["release"], columns["version"], strict=True))
    if found == versions:
        return
    kept = scores.parent.parent / EARLIER / scores.parent.name / scores.name
    kept.parent.mkdir(parents=True, exist_ok=True)
    unfinished = kept.with_name(f".{kept.name}.tmp")
    shutil.copyfile(scores, unfinished)
    unfinished.replace(kept)
