"""Poems of Ganjoor's export, for benchmarks on real lines."""

from __future__ import annotations

import json
import tarfile
from collections.abc import Iterator
from pathlib import Path


def poems(path: Path) -> Iterator[dict[str, list[dict[str, str]]]]:
    """Ganjoor's poems with verses, from its export."""
    with tarfile.open(path) as tar:
        for member in tar:
            file = tar.extractfile(member) if member.name.endswith(".json") else None
            poem = json.load(file) if file else None
            if isinstance(poem, dict) and poem.get("Verses"):
                yield poem
