"""Figures and ranks between two versions move by items that are named."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

from mihakk.evaluation.report import moved_since
from mihakk.evaluation.rows import write_rows
from mihakk.evaluation.running.run import EARLIER, keep_earlier
from mihakk.evaluation.running.suites import load_suite, load_systems
from mihakk.evaluation.scoring import metrics_named
from mihakk.evaluation.table import load_scores
from mihakk.evaluation.table.moves import Moves, move_sheets, moves
from mihakk.flows.cli import app
from mihakk.machinery.errors import UsageError
from mihakk.schemas.evaluation import Question, Score
from tests.evaluation.material import AR, choice, reply_to, score_answers

SYSTEMS = ("good", "fair", "poor")


def version(folder: Path, number: str, questions: list[Question], right: dict[str, set[str]]) -> Path:
    """Scores of all systems on one version: right on the items named."""
    questions = [one.model_copy(update={"version": number, "digest": number * 8}) for one in questions]
    by_id = {one.item: one for one in questions}
    answers = [
        reply_to(one, AR[one.gold[0] if one.item in right[name] else one.gold[0] - 1], model=name)
        for name in SYSTEMS
        for one in questions
    ]
    path = folder / number / "scores.parquet"
    write_rows(path, score_answers(answers, by_id, metrics_named(["accuracy"])), Score)
    return path


@pytest.fixture
def paths(tmp_path: Path) -> tuple[Path, Path]:
    """Twelve items; i0 is removed, i1's gold is corrected to what the good system had said, i20 is new."""
    old = [choice(f"i{number}") for number in range(12)]
    fixed = choice("i1", gold=3, content_hash="corrected")
    new = [fixed, *(one for one in old if one.item not in {"i0", "i1"}), choice("i20")]
    rest = [f"i{number}" for number in range(2, 12)]
    before = {
        "good": {*rest[:7]},
        "fair": {"i0", "i1", *rest[:6]},
        "poor": {"i0", *rest[:3]},
    }
    after = {
        "good": {"i1", "i20", *rest[:7]},
        "fair": {"i20", *rest[:6]},
        "poor": {*rest[:4]},
    }
    return version(tmp_path, "0.1.0", old, before), version(tmp_path, "0.2.0", new, after)


@pytest.fixture
def found(paths: tuple[Path, Path]) -> Moves:
    return moves(load_scores([paths[0]]), load_scores([paths[1]]))


def test_the_parts_are_those_worked_by_hand_and_add_up(found: Moves) -> None:
    rows = {row.model: row for row in found.systems}
    good = rows["good"]
    # 7 of 12; i0 goes: 7 of 11; i1 is right now: 8 of 11; i20 comes: 9 of 12.
    assert (good.before, good.after) == pytest.approx((7 / 12, 9 / 12))
    assert (good.answers, good.removed, good.changed, good.added) == pytest.approx(
        (0, 7 / 11 - 7 / 12, 1 / 11, 9 / 12 - 8 / 11)
    )
    # One more of the items that stayed is right for the poor system: 4 of 12, then 5.
    assert rows["poor"].answers == pytest.approx(1 / 12)
    for row in found.systems:
        parts = row.answers + row.removed + row.changed + row.added
        assert parts == pytest.approx(row.after - row.before)
    assert found.between == "demo 0.1.0 → demo 0.2.0"


def test_ranks_move_and_the_items_that_move_them_are_named(found: Moves) -> None:
    rows = {row.model: row for row in found.systems}
    assert rows["fair"].before > rows["good"].before
    assert rows["good"].after > rows["fair"].after
    assert {(row.item, row.what) for row in found.items} == {
        ("i0", "removed"),
        ("i1", "changed"),
        ("i20", "added"),
    }
    first = found.items[0]
    assert first.item == "i1", "a correction moves one up and another down"
    assert first.effects == pytest.approx({"good": 1 / 12, "fair": -1 / 12, "poor": 0})


def test_one_version_or_nothing_in_common_is_refused(paths: tuple[Path, Path], tmp_path: Path) -> None:
    old = load_scores([paths[0]])
    with pytest.raises(UsageError, match=r"both are scores of demo 0\.1\.0"):
        moves(old, old)
    other = version(tmp_path / "x", "0.3.0", [choice("z", config="else")], {name: set() for name in SYSTEMS})
    with pytest.raises(UsageError, match="no system has figures of one data set both"):
        moves(old, load_scores([other]))


def test_scores_on_the_version_before_are_kept_and_compared_with_the_newer(
    paths: tuple[Path, Path], tmp_path: Path
) -> None:
    suite = tmp_path / "suite"
    systems = [load_systems(load_suite("demo"))[0].model_copy(update={"name": "all"})]
    scores = suite / "all" / "scores.parquet"
    keep_earlier(scores, {"demo": "0.1.0"})
    scores.parent.mkdir(parents=True)
    shutil.copy(paths[0], scores)
    assert moved_since(systems, suite) == []
    keep_earlier(scores, {"demo": "0.1.0"})
    assert not (suite / EARLIER).exists(), "the same version again is no older one"
    keep_earlier(scores, {"demo": "0.2.0"})
    shutil.copy(paths[1], scores)
    keep_earlier(scores, {"demo": "0.2.0"})
    assert (suite / EARLIER / "all" / "scores.parquet").read_bytes() == paths[0].read_bytes()
    shown = moved_since(systems, suite)
    assert [sheet.title for sheet in shown] == [
        sheet.title for sheet in move_sheets(moves(*(load_scores([one]) for one in paths)))
    ]
    assert "corrected" in str(shown)


def test_the_command_takes_two_suites_folders(paths: tuple[Path, Path]) -> None:
    runner = CliRunner(env={"COLUMNS": "200"})
    done = runner.invoke(
        app, ["evaluate", "moves", *(str(path.parent.parent / path.parent.name) for path in paths)]
    )
    assert done.exit_code == 0, done.output
    assert "i1" in done.output
    assert "corrected" in done.output
    folders = [str(path.parent) for path in paths]
    told = json.loads(runner.invoke(app, ["evaluate", "moves", *folders, "--json"]).stdout)
    assert told["between"] == "demo 0.1.0 → demo 0.2.0"
    assert {row["model"] for row in told["systems"]} == set(SYSTEMS)
    assert told["items"][0]["item"] == "i1"
    done = runner.invoke(app, ["evaluate", "moves", str(paths[0].parent / "none"), str(paths[1].parent)])
    assert done.exit_code == 2
    assert "there are no scores" in " ".join(done.output.split())
