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
STATUS = {"redone": "redone", "part": "in part", "cannot": "can't be"}
MADE = "Made by `python -m tools.docs_reproductions` from `docs/reproductions.yaml`; a test compares."


class Entry(Record):
    """One table, figure or analysis of a paper."""

    of: str
    """Where it stands: `table 3`."""
    what: str
    status: Literal["redone", "part", "cannot"]
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
            "# The papers, redone",
            "",
            "Each table, figure and analysis of the five papers whose tasks and metrics Mihakk has: what",
            "comes out here, what is printed, how it differs, and what can't be redone. Figures called",
            "redone are computed anew by the tests, from the printed tables or, where their folder is there,",
            "from the authors' public files; they agree to the last printed digit unless the page says",
            "otherwise.",
            f"Settings are in [As published](evaluation.md#as-published). {MADE}",
            "",
            "| paper | " + " | ".join(STATUS.values()) + " |",
            "|---|" + "---:|" * len(STATUS),
            *rows,
            "",
        ]
    )


def _page(paper: Paper) -> str:
    lines = [f"# {paper.title}, redone", "", paper.files, ""]
    for status, title in (("redone", "Redone"), ("part", "Redone in part"), ("cannot", "Can't be redone")):
        own = [one for one in paper.entries if one.status == status]
        if own:
            lines += [f"## {title}", "", *_table(own, status), ""]
    return "\n".join([*lines, MADE, ""])


def _table(own: list[Entry], status: str) -> list[str]:
    if status == "cannot":
        return ["| of | what | why |", "|---|---|---|", *(f"| {e.of} | {e.what} | {e.why} |" for e in own)]
    head = ["| of | what | ours | printed | how | what differs or is missing |", "|---|---|---|---|---|---|"]
    return [*head, *map(_row, own)]


def _row(one: Entry) -> str:
    how = f"`{one.command}`" if one.command else "tests"
    cells = (one.of, one.what, one.ours or "–", one.theirs or "–", how, one.why or "–")
    return f"| {' | '.join(cells)} |"


def main() -> None:
    """Writes the pages."""
    for path, text in pages().items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
