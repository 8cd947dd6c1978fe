"""The table of a suite's systems, with the notes that belong to it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from mihakk.evaluation.judges.run import marks_of
from mihakk.evaluation.judges.sheets import judge_sheets
from mihakk.evaluation.rows import folders_of
from mihakk.evaluation.running.asking import Asked, Fetch, asked_of_suite
from mihakk.evaluation.running.run import EARLIER
from mihakk.evaluation.table import load_scores, results
from mihakk.evaluation.table.conditions import condition_sheet, conditions
from mihakk.evaluation.table.moves import move_sheets, moves
from mihakk.evaluation.table.overall import Averaging
from mihakk.evaluation.table.render import markdown
from mihakk.evaluation.table.results import Results
from mihakk.evaluation.table.sheets import Sheet, sheets
from mihakk.schemas.suite import Suite, System

if TYPE_CHECKING:
    import pandas as pd


class Report(NamedTuple):
    """Tables of one suite."""

    sheets: list[Sheet]
    notes: list[str]


def score_files(
    folder: Path, systems: Sequence[System], names: Sequence[str] = ("scores.parquet", "judged.parquet")
) -> list[Path]:
    """The files of scores, or of other `names`, that systems have in a suite's folder."""
    return [
        path
        for system in systems
        for own in reversed(folders_of(folder, system.name))
        for name in names
        if (path := own / name).is_file()
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


def prompts_of(suite: Suite, fetch: Fetch, sealed: frozenset[str]) -> dict[str, Asked]:
    """Item to its question in the first wording; none where some are `sealed`."""
    if sealed:
        return {}
    return {one.question.item: one for one in asked_of_suite(suite, fetch) if not one.wording}


def results_of(suite: Suite, scores: pd.DataFrame) -> Results:
    """The tables of some scores, averaged as a suite says."""
    return results(scores, Averaging.of(suite), seed=suite.seed)


def report(suite: Suite, systems: Sequence[System], folder: Path) -> Report:
    """The tables of the systems that have scores in a suite's folder; also left there as `table.md`.

    Raises:
        UsageError: There are none, or they don't compare.
    """
    scores = load_scores(score_files(folder, systems))
    found = results_of(suite, scores)
    shown, notes = sheets(found), [*found.notes]
    if suite.compare:
        rows = conditions(scores, suite.compare, seed=suite.seed, all_shared=False)
        shown.append(condition_sheet(rows))
        told = {(row["first"], row["second"]) for row in rows}
        notes += [
            f"{first} and {second} share no record: not compared."
            for first, second in suite.compare
            if (first, second) not in told
        ]
    shown += judge_sheets(folder)
    if small := [one.name for one in systems if not one.contender]:
        notes.append(f"{', '.join(small)}: small models that show the machinery at work, no contenders.")
    notes += marks_of(suite, systems)
    if not suite.pinned:
        notes.append("The suite pins no version: compare these figures with no other run's.")
    (folder / "table.md").write_text(markdown(shown, notes), encoding="utf-8")
    return Report(shown, notes)
