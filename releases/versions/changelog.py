"""CHANGELOG.md: written from the diff, one section a version, newest first."""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from itertools import groupby
from pathlib import Path

from mihakk.machinery.markdown import code, plain
from mihakk.releases.versions.diff import KINDS, Change, ChangeKind, ReleaseDiff
from mihakk.releases.versions.withdrawal import mark_changelog
from mihakk.schemas.withdrawal import Withdrawal

LOG = "CHANGELOG.md"
CHANGES = "errata/changes.parquet"
LISTED = 500
"""Ids named per kind of change; `errata/changes.parquet` has them all."""

_HEADINGS: dict[ChangeKind, str] = {
    "added": "Added",
    "removed": "Removed",
    "gold_changed": "Gold changed",
    "text_changed": "Text changed",
    "renormalised": "Renormalised: the same words, written another way",
    "prompt_changed": "Prompt changed",
    "moved": "Moved to another config or split",
    "described": "Metadata, licence or origin changed (scores are not touched)",
}
_HEAD = """# Changelog

Scores of two versions can be compared only if no section between them says otherwise. From 1.0.0 on a change
of scores raises the first number; below 1.0.0 it raises the second. `errata/changes.parquet` lists every
change of the newest version.
"""


def write_history(
    folder: Path,
    version: str,
    items: int,
    previous: Path | None,
    changes: ReleaseDiff | None,
    *,
    withdrawn: Iterable[Withdrawal] = (),
) -> None:
    """Write the changelog of a release folder; without `changes` it is that of the version before."""
    log = folder / LOG
    older = previous / LOG if previous is not None else None
    text = older.read_text(encoding="utf-8") if older is not None and older.is_file() else ""
    if previous is None:
        text = prepend(first_section(version, items), "")
    elif changes is not None:
        text = prepend(section(version, changes), text)
    elif (previous / CHANGES).is_file():
        shutil.copyfile(previous / CHANGES, folder / CHANGES)
    log.write_text(mark_changelog(text, withdrawn), encoding="utf-8")


def first_section(version: str, items: int) -> str:
    """The section of a benchmark's first release."""
    return f"## {version}\n\nFirst release: {items} items.\n"


def section(version: str, diff: ReleaseDiff) -> str:
    """The section of a release that follows another."""
    lines = [f"## {version}", ""]
    if not diff.changes:
        lines += [f"The items are those of {diff.old}; only the papers around them changed.", ""]
        return "\n".join(lines)
    comparable = diff.level in ("none", "minor")
    lines += [
        f"Changes since {diff.old}: "
        + ", ".join(f"{count} {kind.replace('_', ' ')}" for kind, count in diff.counts.items() if count)
        + ".",
        "Scores can be compared with the version before."
        if comparable
        else "Scores can not be compared with those of the version before.",
        "",
    ]
    for kind in KINDS:
        changes = [change for change in diff.changes if change.kind == kind]
        if changes:
            lines += [f"### {_HEADINGS[kind]} ({len(changes)})", "", *_listing(changes), ""]
    return "\n".join(lines)


def _listing(changes: list[Change]) -> list[str]:
    lines = []
    by_reason = sorted(changes[:LISTED], key=lambda change: (change.reason, change.place, change.id))
    for (reason, place), group in groupby(by_reason, key=lambda change: (change.reason, change.place)):
        ids = ", ".join(code(change.id) for change in group)
        lines.append(f"- {plain(place)}{f' ({plain(reason)})' if reason else ''}: {ids}")
    if len(changes) > LISTED:
        lines.append(f"- and {len(changes) - LISTED} more in `errata/changes.parquet`")
    return lines


def prepend(section_text: str, changelog: str, head: str = _HEAD) -> str:
    """The changelog with a new section on top; an empty changelog gets its head."""
    older = changelog.removeprefix(head).lstrip("\n")
    return f"{head}\n{section_text.rstrip()}\n" + (f"\n{older}" if older else "")
