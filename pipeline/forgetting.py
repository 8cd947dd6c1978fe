"""Deleting a person's data from a whole workspace: what can be is taken out, what is left is named."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from html import escape
from pathlib import Path
from typing import Literal

from mihakk.annotation.decisions.forgetting import forget, words_of
from mihakk.machinery.lake.storage import Storage
from mihakk.machinery.markdown import plain
from mihakk.machinery.settings import settings
from mihakk.machinery.unpacked import unpacked
from mihakk.pipeline.opened_review import OpenReview
from mihakk.releases.hub.embedded import EmbeddedHub
from mihakk.schemas.record import Record
from mihakk.schemas.rejection import Rejection, without_notes
from mihakk.schemas.review import Words
from mihakk.schemas.stages import RELEASED, REVIEWED

SHORTEST = 8
"""Letters from which a line of a note is searched for; a shorter one stands in many texts by chance."""
DELETED = b"[deleted]"
_SEAL = b'"seal":"'
_TEXTS = frozenset((".html", ".json", ".jsonl", ".md", ".csv", ".txt", ".log"))
_SKIPPED = frozenset((".git", ".venv", "node_modules"))
_TODO = {
    "published": "published, can't be recalled: withdraw the version (`mihakk release withdraw`)",
    "review": "a correction, an answer, or another person's words: it stays",
    "stage": "a text that reads the same, or a table of an older version: look, and build again",
    "journal": "a reply of a model quotes it: delete the file; the model is asked again",
    "server": "the labelling server keeps answers without their author: delete the project there",
    "file": "delete the file, or the words in it",
}


class Trace(Record):
    """A place that still holds a person's words or name."""

    place: str
    """A file; of the Hub's repositories `<benchmark> <version>:<file>`."""
    kind: Literal["published", "review", "stage", "journal", "server", "file"]

    @property
    def todo(self) -> str:
        """What it is, and what to do about it."""
        return _TODO[self.kind]


class Forgotten(Record):
    """What became of a person's data."""

    person: str
    rows: int
    """Rows of the review store that were rewritten or deleted."""
    rewritten: int
    """Rows of stages and files of reports from which words were taken out."""
    unsearched: int
    """Lines of theirs too short to be searched for."""
    left: tuple[Trace, ...]


def forget_person(
    opened: OpenReview,
    address: str,
    members: Mapping[int, str],
    *,
    names: Iterable[str] = (),
    runs: Path | None = None,
    folders: Iterable[Path] = (),
) -> Forgotten:
    """Deletes a person's data, then searches lake, runs, Hub, defect reports and the folders named.

    The store comes last of what is changed: killed before, it still knows the words to look for.

    Args:
        members: Addresses by number of who has an account on the labelling server.
        names: How else they may be called: each is searched for like their address.
        runs: Folder of runs' reports; that of the settings if None.
        folders: Where tables were exported to.

    Raises:
        UsageError: Nobody of that address has reviewed this.
    """
    runs = runs or settings().runs
    _, said = words_of(opened.stores, address, members)
    lines, short = _lines(said)
    wanted = _pattern([*lines, address, address.casefold(), *names])
    rewritten = sum(_edit(path, wanted) for path in _files(runs))
    for stage in (REVIEWED, RELEASED) if opened.build else ():
        found = opened.build.stage(stage) if opened.build else None
        if found is not None and found.finished():
            rewritten += found.rewrite_rejections(_without_notes)
    person, rows = forget(opened.stores, address, members)
    lake = opened.build.lake.url.rpartition("/")[0] if opened.build else str(Path(opened.label))
    left = {trace.place: trace for trace in _traces(lake, runs, folders, wanted)}
    return Forgotten(
        person=person, rows=rows, rewritten=rewritten, unsearched=short, left=tuple(left.values())
    )


def _without_notes(row: Rejection) -> Rejection:
    return row.model_copy(update={"detail": without_notes(row.reason, row.detail)})


def _lines(said: Iterable[Words]) -> tuple[list[str], int]:
    """The lines people wrote that are long enough to search for, and how many are not."""
    texts = [text for one in said for text in (_typed(one.text) if one.kind == "unusable" else [one.text])]
    lines = {line.strip() for text in texts for line in text.splitlines()} - {""}
    found = sorted(line for line in lines if len(line) >= SHORTEST)
    return found, len(lines) - len(found)


def _typed(annotation: str) -> list[str]:
    """The text boxes of an annotation that could not be used."""
    _, result = json.loads(annotation)
    values = [one.get("value") for one in result if isinstance(one, dict)] if isinstance(result, list) else []
    texts = [value.get("text") for value in values if isinstance(value, dict)]
    return [str(part) for text in texts if text for part in (text if isinstance(text, list) else [text])]


def _pattern(texts: Iterable[str]) -> re.Pattern[bytes]:
    """Finds texts as they stand in UTF-8, JSON, HTML, Markdown and CSV."""
    forms: set[str] = set()
    for text in filter(None, texts):
        for form in (text, " ".join(text.split())):
            forms |= {
                form,
                json.dumps(form)[1:-1],
                json.dumps(form, ensure_ascii=False)[1:-1],
                escape(form),
                escape(form, quote=False),
                escape(form).replace("&#x27;", "&#39;").replace("&quot;", "&#34;"),
                plain(form),
                form.replace('"', '""'),
            }
    longest = sorted(forms, key=lambda form: (-len(form), form))
    return re.compile(b"|".join(re.escape(form.encode()) for form in longest))


def _edit(path: Path, wanted: re.Pattern[bytes]) -> int:
    """Takes words out of a report; a sealed record and anything that is no text stays, and is named."""
    if path.suffix not in _TEXTS or not wanted.search(data := path.read_bytes()) or _SEAL in data:
        return 0
    storage = Storage(str(path.parent))
    storage.write(str(path), wanted.sub(DELETED, data))
    return 1


def _traces(lake: str, runs: Path, folders: Iterable[Path], wanted: re.Pattern[bytes]) -> Iterator[Trace]:
    def holds(data: bytes) -> bool:
        return any(wanted.search(part) for part in unpacked(data))

    known, storage, hub = settings(), Storage(lake), EmbeddedHub()
    for path in storage.files():
        if holds(storage.read(path)):
            yield Trace(place=path, kind=_kind(path[len(storage.root) :]))
    for name in hub.names():
        for place, data in hub.objects(name):
            if holds(data):
                yield Trace(place=f"{name} {place}", kind="published")
    places: list[tuple[Path, Literal["published", "server", "file"]]] = [
        (hub.root, "published"),
        (known.label_studio_home, "server"),
        *((folder, "file") for folder in (runs, known.errata, *folders)),
    ]
    for folder, kind in places:
        for file in _files(folder):
            if holds(file.read_bytes()):
                yield Trace(place=str(file), kind=kind)


def _kind(path: str) -> Literal["review", "stage", "journal", "file"]:
    parts = set(path.split("/"))
    if "journals" in parts:
        return "journal"
    if parts & {"decisions", "review", "people"}:
        return "review"
    return "stage" if any(re.match(r"\d_", part) for part in parts) else "file"


def _files(folder: Path) -> Iterator[Path]:
    """All files of a folder, or the one file; version control and installed programs are passed over."""
    if folder.is_file():
        yield folder
    for inner, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if name not in _SKIPPED)
        yield from (path for name in sorted(names) if (path := Path(inner, name)).is_file())
