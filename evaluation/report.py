"""The table of a suite's systems, with the notes that belong to it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from evaluation.judges.sheets import judge_sheets
from evaluation.rows import folders_of
from evaluation.running.earlier import EARLIER
from evaluation.table import load_scores, results
from evaluation.table.conditions import condition_sheet, conditions
from evaluation.table.moves import move_sheets, moves
from evaluation.table.render import markdown
from evaluation.table.sheets import Sheet, sheets
from schemas.suite import Suite, System


class Report(NamedTuple):
    """Tables of one suite."""

    sheets: list[Sheet]
    notes: list[str]


def score_files(folder: Path, systems: Sequence[System]) -> list[Path]:
    """The files of scores that systems have in a suite's folder."""
    return [
        path
        for system in systems
        for own in reversed(folders_of(folder, system.name))
        for file in ("scores.parquet", "judged.parquet")
        if (path := own / file).is_file()
    ]


def moved_since(systems: Sequence[System], folder: Path) -> list[Sheet]:
    """How figures and ranks moved since the release's version before; none where there was none.

    Raises:
        UsageError: The older scores and the newer ones don't compare.
    """
    before = score_files(folder / EARLIER, systems)
    return (
        move_sheets(moves(load_scores(before), load_scores(score_files(folder, systems)))) if before else []
    )


def report(suite: Suite, systems: Sequence[System], folder: Path) -> Report:
    """The tables of the systems that have scores in a suite's folder; also left there as `table.md`.

    Raises:
        UsageError: There are none, or they don't compare.
    """
    scores = load_scores(score_files(folder, systems))
    found = results(scores, categories=suite.categories, main=suite.main, seed=suite.seed)
    shown = sheets(found)
    if suite.compare:
        shown.append(condition_sheet(conditions(scores, suite.compare, seed=suite.seed)))
    shown += judge_sheets(folder)
    notes = [*found.notes]
    if small := [one.name for one in systems if not one.contender]:
        notes.append(f"{', '.join(small)}: small models that show the machinery at work, no contenders.")
    if not suite.pinned:
        notes.append("The suite pins no version: compare these figures with no other run's.")
    (folder / "table.md").write_text(markdown(shown, notes), encoding="utf-8")
    return Report(shown, notes)
