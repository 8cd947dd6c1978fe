"""Where words of a person stand outside the review's stores: tables, reports, releases and their history."""

from __future__ import annotations

import gzip
import html
import io
import json
import subprocess
from collections.abc import Callable, Collection, Iterable, Iterator
from functools import partial
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from schemas.record import Record

_LEAST = 6
"""Letters of a text that can be told from others; shorter ones would be found everywhere."""
_CHUNK = 64 << 20
"""A larger file is not one that this pipeline writes text to."""


class Trace(Record):
    """One file, or one file of a published version, that holds words of a person."""

    place: str
    """Path, of a file in a version relative to its repository."""
    version: str = ""
    """Tag of a release; empty for a file that lies there now."""

    @property
    def recalled(self) -> bool:
        """Whether it can be deleted or written anew here: a published version can't."""
        return not self.version


def traces(folders: Iterable[Path], repositories: Iterable[Path], words: Collection[str]) -> list[Trace]:
    """Files and published versions that hold any of some texts.

    Args:
        folders: Searched whole; Parquet and gzip are read as what they hold.
        repositories: Folders of releases; every tag is searched.
        words: Texts as the person wrote them.
    """
    wanted = [form for word in words if len(word.strip()) >= _LEAST for form in _forms(word.strip())]
    if not wanted:
        return []
    found = [
        Trace(place=str(path))
        for folder in folders
        for path in sorted(folder.rglob("*"))
        if path.is_file() and ".git" not in path.parts and _holds(path.name, path.read_bytes, wanted)
    ]
    for repository in repositories:
        found += _in_versions(repository, wanted)
    return found


def _forms(word: str) -> set[str]:
    """A text as it stands in files: plain, as JSON with and without escapes, as HTML, line by line."""
    lines = [line for line in word.splitlines() if len(line.strip()) >= _LEAST] or [word]
    plain = {word, *lines}
    return {
        form
        for one in plain
        for form in (one, json.dumps(one)[1:-1], json.dumps(one, ensure_ascii=False)[1:-1], html.escape(one))
    }


def _in_versions(repository: Path, wanted: Collection[str]) -> Iterator[Trace]:
    seen: dict[str, bool] = {}
    for tag in _git(repository, "tag").decode().split():
        for line in _git(repository, "ls-tree", "-r", "-z", tag).decode().split("\0"):
            about, _, name = line.partition("\t")
            if not name:
                continue
            blob = about.split()[2]
            if blob not in seen:
                read = partial(_git, repository, "cat-file", "blob", blob)
                seen[blob] = _holds(name, read, wanted)
            if seen[blob]:
                yield Trace(place=f"{repository.name}/{name}", version=tag)


def _git(repository: Path, *arguments: str) -> bytes:
    if not (repository / ".git").exists():
        return b""
    return subprocess.run(["git", "-C", str(repository), *arguments], check=True, capture_output=True).stdout


def _holds(name: str, read: Callable[[], bytes], wanted: Collection[str]) -> bool:
    data = read()
    if len(data) > _CHUNK:
        return False
    try:
        text = _text(name, data)
    except (OSError, pa.ArrowInvalid, EOFError):
        text = data.decode("utf-8", "replace")
    return any(word in text for word in wanted)


def _text(name: str, data: bytes) -> str:
    if name.endswith(".gz"):
        return _text(name.removesuffix(".gz"), gzip.decompress(data))
    if name.endswith(".parquet"):
        return "\n".join(map(str, pq.read_table(io.BytesIO(data)).to_pylist()))
    return data.decode("utf-8", "replace")
