"""Where the texts of a blind release stand in public: files, folders and published releases are searched.

What is asked about is looked up by its fingerprints, so that marks, spaces and letter variants hide nothing;
an answer is read off where it stands in the same passage.
"""

from __future__ import annotations

import gzip
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from mihakk.machinery.errors import UsageError
from mihakk.machinery.text import key
from mihakk.machinery.unpacked import strings
from mihakk.releases.content.checksum import MANIFEST
from mihakk.releases.content.fingerprints import about_marks, fingerprints
from mihakk.releases.content.item_tables import data_files
from mihakk.releases.printed import rows_of

LINES = 24
"""Of a passage: some couplets, or an entry of a dictionary. Half of it stands in the next one too."""
_ESCAPED = re.compile(r"\\u(0[0-9a-fA-F]{3})")
"""A letter as JSON may write it."""
_BY_LINE = (".jsonl", ".ndjson", ".tsv", ".csv")

Found = Mapping[str, Sequence[str]]
"""Id of an item -> letters of every passage that holds what it asks about."""


def passages(source: Path) -> Iterator[str]:
    """Passages of a file, of every file below a folder, or of a release.

    Raises:
        UsageError: There is no such file, or it can't be read.
    """
    if not source.exists():
        raise UsageError(f"there is no {source} to look anything up in")
    if source.is_dir() and ((source / MANIFEST).is_file() or any(data_files(source))):
        yield from ("\n".join(strings(row)) for row in rows_of(source))
        return
    for path in sorted(source.rglob("*")) if source.is_dir() else [source]:
        if path.is_file() and ".git" not in path.parts:
            yield from _passages_of(path)


def _passages_of(path: Path) -> Iterator[str]:
    try:
        data = path.read_bytes()
        text = (gzip.decompress(data) if path.suffix == ".gz" else data).decode("utf-8", "replace")
    except (OSError, EOFError) as error:
        raise UsageError(f"{path} can't be read: {error}") from error
    lines = _ESCAPED.sub(lambda found: chr(int(found[1], 16)), text).splitlines()
    if path.name.removesuffix(".gz").endswith(_BY_LINE):
        yield from lines
        return
    for start in range(0, max(1, len(lines) - LINES // 2), LINES // 2):
        yield "\n".join(lines[start : start + LINES])


def look_up(rows: Iterable[Mapping[str, Any]], sources: Iterable[Path]) -> dict[str, list[str]]:
    """Id of a row -> the passages that hold what it asks about, as letters; of rows found nowhere, none."""
    asking: dict[str, list[str]] = defaultdict(list)
    for row in rows:
        for mark in about_marks(row):
            asking[mark].append(row["id"])
    found: dict[str, list[str]] = defaultdict(list)
    for source in sources:
        for passage in passages(source):
            names = {name for mark in fingerprints([passage]) for name in asking.get(mark, ())}
            letters = key(passage, "ar") if names else ""
            for name in names:
                found[name].append(letters)
    return dict(found)
