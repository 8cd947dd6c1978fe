"""Writes what was redone of each paper, from `docs/reproductions.yaml`: an index and a page a paper."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Literal

from pydantic import Field

from mihakk.machinery.configs import load_config
from mihakk.machinery.settings import ROOT
from mihakk.schemas.record import Record

LEDGER = ROOT / "docs" / "reproductions.yaml"
INDEX = ROOT / "docs" / "reproductions.md"
STATUS = {
    "redone": ("redone", "Redone from public files"),
    "printed": ("follows from what is printed", "Computed from printed figures alone"),
    "differs": ("comes out otherwise", "Computed, and comes out otherwise"),
    "run": ("can be run", "Can be run here: no figure of these was redone"),
    "cannot": ("can't be", "Can't be redone"),
}
"""Status to its column in the index and its heading on a page."""
INTRODUCTION = """\
# The papers, and what of them can be redone

Each table, figure and analysis of the five papers whose tasks and metrics Mihakk has:

- **redone**: the figure comes out of the authors' public files, to the printed digit;
- **follows from what is printed**: printed figures were held against each other, a mean against its cells, a
  share against its counts. Nothing was measured anew: it shows whether the arithmetic holds, not the figure;
- **comes out otherwise**: computed here, with another result;
- **can be run**: a command asks or judges in the paper's way as far as the page says; no figure was redone;
- **can't be**, and why.

Tests compute every figure that stands under "ours".
"""
MADE = "Made by `python -m tools.docs_reproductions` from `docs/reproductions.yaml`; a test compares."


class Entry(Record):
    """One table, figure or analysis of a paper."""

    of: str
    """Where it stands: `table 3`."""
    what: str
    status: Literal["redone", "printed", "differs", "run", "cannot"]
    ours: str = ""
    theirs: str = ""
    command: str = ""
    """How anybody gets ours."""
    measured: str = ""
    """Name of the function of `tests/docs/test_reproductions.py` that gives `ours` anew."""
    why: str = ""
    """What differs, what is missing, or why it can't be."""


class Paper(Record):
    """One paper."""

    id: str = Field(pattern=r"^[a-z]+$")
    title: str
    files: str
    """What of it is public, and what is read here."""
    entries: tuple[Entry, ...]


class Ledger(Record):
    """All papers."""

    papers: tuple[Paper, ...]


def papers() -> tuple[Paper, ...]:
    """The papers in the ledger's order."""
    return load_config(LEDGER, Ledger).papers


def pages() -> dict[Path, str]:
    """Every page by its path."""
    found = papers()
    own = {INDEX.parent / "reproductions" / f"{one.id}.md": _page(one) for one in found}
    return {INDEX: _index(found), **own}


def _index(found: tuple[Paper, ...]) -> str:
    rows = []
    for paper in found:
        counts = Counter(one.status for one in paper.entries)
        cells = " | ".join(str(counts[name]) for name in STATUS)
        rows.append(f"| [{paper.title}](reproductions/{paper.id}.md) | {cells} |")
    return "\n".join(
        [
            INTRODUCTION,
            f"Settings are in [As published](evaluation.md#as-published). {MADE}",
            "",
            "| paper | " + " | ".join(column for column, _ in STATUS.values()) + " |",
            "|---|" + "---:|" * len(STATUS),
            *rows,
            "",
        ]
    )


def _page(paper: Paper) -> str:
    lines = [f"# {paper.title}: what can be redone", "", paper.files, ""]
    for status, (_, title) in STATUS.items():
        own = [one for one in paper.entries if one.status == status]
        if own:
            lines += [f"## {title}", "", *_table(own, status), ""]
    return "\n".join([*lines, MADE, ""])


def _table(own: list[Entry], status: str) -> list[str]:
    if status == "cannot":
        return ["| of | what | why |", "|---|---|---|", *(f"| {e.of} | {e.what} | {e.why} |" for e in own)]
    if status == "run":
        rows = (f"| {e.of} | {e.what} | `{e.command}` | {e.why} |" for e in own)
        return ["| of | what | command | what differs or is missing |", "|---|---|---|---|", *rows]
    head = ["| of | what | ours | printed | how | what differs or is missing |", "|---|---|---|---|---|---|"]
    return [*head, *map(_row, own)]


def _row(one: Entry) -> str:
    how = f"`{one.command}`" if one.command else "tests"
    cells = (one.of, one.what, one.ours, one.theirs, how, one.why or "–")
    return f"| {' | '.join(cells)} |"


def main() -> None:
    """Writes the pages."""
    for path, text in pages().items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
