"""Analyses of printed tables and of scores, against figures that papers print and counts made by hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from mihakk.evaluation.published import FOLDER
from mihakk.evaluation.rows import write_rows
from mihakk.evaluation.scoring import metrics_named
from mihakk.evaluation.table import load_scores
from mihakk.evaluation.table.analyses import error_overlap, with_people, wrong_origins
from mihakk.flows.cli import app
from mihakk.schemas.evaluation import Score
from tests.evaluation.material import AR, choice, reply_to, score_answers


def analysed(*arguments: str) -> Any:
    done = CliRunner().invoke(app, ["evaluate", "analyse", *arguments, "--json"])
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def test_kinayats_regressions_on_size_come_out_as_printed() -> None:
    for table, printed in (("kn_09", "kn_17"), ("kn_03", "kn_18")):
        facts = FOLDER / "systems" / "kinayat.csv"
        found = analysed(str(FOLDER / f"{table}.csv"), "--systems", str(facts))["size"]
        rows = pd.read_csv(FOLDER / f"{printed}.csv").to_dict("records")
        assert [
            (row["column"], round(row["r2"], 3), round(row["slope"], 4), round(row["p"], 4)) for row in found
        ] == [tuple(row.values()) for row in rows]


def test_the_two_means_of_correlations_stand_beside_each_other() -> None:
    """BALSAM's three judges on creative writing: .579, .563, .765; it prints .636."""
    rng = np.random.default_rng(1)
    rows = []
    for column, r in (("1 & 2", 0.579), ("1 & 3", 0.563), ("2 & 3", 0.765)):
        first, other = rng.normal(size=(2, 40))
        first = (first - first.mean()) / first.std()
        other -= other.mean() + first * (other @ first) / (first @ first)
        second = r * first + np.sqrt(1 - r * r) * other / other.std()
        rows += [(column, x, y) for x, y in zip(first, second, strict=True)]
    found = with_people(pd.DataFrame(rows, columns=["column", "people", "figure"]))
    assert found["pearson"].round(3).tolist() == [0.579, 0.563, 0.765, 0.636, 0.646]


@pytest.fixture
def scores(tmp_path: Path) -> Path:
    """Six records asked about in two data sets by three systems; who misses what is known."""
    missed = {"plain": [3, 2, 1, 0, 0, 0], "context": [1, 2, 0, 0, 0, 0]}
    questions = {
        f"{config}-{n}": choice(
            f"{config}-{n}", 0, config=config, group=f"g{n}", slices={"record": f"r{n}"},
            option_kinds=("right", "same_poem", "other_poem", "other_poem"),
        )
        for config in missed
        for n in range(6)
    }  # fmt: skip
    answers = [
        reply_to(question, AR[1 + n % 2] if place < missed[config][n] else AR[0], model=f"s{place}")
        for (config, n), question in zip(
            ((config, n) for config in missed for n in range(6)), questions.values(), strict=True
        )
        for place in range(3)
    ]
    write_rows(
        tmp_path / "scores.parquet", score_answers(answers, questions, metrics_named(["accuracy"])), Score
    )
    return tmp_path / "scores.parquet"


def test_errors_and_wrong_picks_are_counted(scores: Path) -> None:
    frame = load_scores([scores])
    (row,) = error_overlap(frame).to_dict("records")
    assert (row["first"], row["second"], row["records"]) == ("context", "plain", 6)
    assert row["pearson"] == pytest.approx(np.corrcoef([1, 2, 0, 0, 0, 0], [3, 2, 1, 0, 0, 0])[0, 1])
    assert row["missed"][:2] == [("r1", 2, 2), ("r0", 1, 3)]
    origins = wrong_origins(frame).set_index(["column", "model", "kind"])
    assert origins.loc[("plain", "s0", "same_poem"), "share"] == pytest.approx(2 / 3)
    assert origins.loc[("plain", "s0", "other_poem"), "picks"] == 3
    assert {"overlap", "origins"} <= analysed(str(scores)).keys()


def test_people_are_compared_by_column_over_systems() -> None:
    found = analysed(str(FOLDER / "bl_06.csv"), "--people", str(FOLDER / "bl_02.csv"))["people"]
    named = {row["column"]: row for row in found}
    assert named["CW"]["pairs"] == 19, "systems of the same name in both tables"
    assert named["mean, arithmetic"]["pearson"] < named["mean, Fisher's z"]["pearson"]


@pytest.mark.parametrize(
    ("more", "says"),
    [([], "nothing to analyse"), (["--systems", str(FOLDER / "kn_03.csv")], "needs a column `model`")],
)
def test_what_can_not_be_analysed_is_said(more: list[str], says: str) -> None:
    done = CliRunner().invoke(app, ["evaluate", "analyse", str(FOLDER / "kn_03.csv"), *more])
    assert (done.exit_code, says in " ".join(done.output.split())) == (2, True)
