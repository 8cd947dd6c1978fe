"""Every field of a rubric is a column, and raters and judges read the same words at the same points."""

from __future__ import annotations

from typing import Final

import numpy as np
import pytest

from mihakk.annotation.screens.tasks import words
from mihakk.evaluation.judges.rubrics import rubric_digest, rubric_named
from mihakk.evaluation.judges.scores import Panel, judged_scores
from mihakk.evaluation.rows import answer_key, write_rows
from mihakk.evaluation.running.asking import Asked
from mihakk.evaluation.table import Results, load_scores, results
from mihakk.evaluation.table.overall import Averaging
from mihakk.evaluation.table.render import markdown
from mihakk.evaluation.table.sheets import sheets
from mihakk.schemas.evaluation import Judgement, Score
from tests.evaluation.material import reply_to, worded

PROSE: Final = rubric_named("prose")
JUDGES: Final = ("a@1", "b@1")
COUPLETS: Final = 24


def given(number: int, field: str, judge: str) -> int:
    """A score from 1 to 5 that differs by couplet, field and judge."""
    return 1 + (number // (1 + list(PROSE.fields).index(field)) + (judge == "b@1")) % 5


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Results:
    path = tmp_path_factory.mktemp("judged") / "scores.parquet"
    rows: list[Score] = []
    for config in ("fa_couplet_prose", "ar_couplet_prose"):
        facts = {"config": config, "task": "couplet_prose", "ability": "skill"}
        questions = [worded(f"{config}-{n}", "مرجع", group=f"g{n}", **facts) for n in range(COUPLETS)]
        answers = [reply_to(one, "نثر") for one in questions]
        judgements = [
            Judgement(
                **{"answer": answer_key(answer), "judge": judge.partition("@")[0], "revision": "1"},
                **{"rubric": "prose", "rubric_version": "1", "rubric_digest": rubric_digest(PROSE)},
                **{"scores": {name: given(n, name, judge) for name in PROSE.fields}, "status": "valid"},
            )
            for n, answer in enumerate(answers)
            for judge in JUDGES
        ]
        asked = {(one.item, 0): Asked(one, "", "p", "1", 0, 1) for one in questions}
        rows += judged_scores(answers, judgements, asked, Panel(PROSE, JUDGES, vouched=True))
    write_rows(path, rows, Score)
    averaging = Averaging({"prose": ["couplet_prose"]}, main={"couplet_prose": "judged_prose"})
    return results(load_scores([path]), averaging, resamples=100, permutations=100)


@pytest.mark.parametrize("field", PROSE.fields)
def test_each_field_has_mean_sd_interval_and_n(found: Results, field: str) -> None:
    name = "judged_prose" if field == "overall" else f"judged_prose_{field}_not_vouched_for"
    own = found.cells[(found.cells["metric"] == name) & (found.cells["config"] == "fa_couplet_prose")]
    (row,) = own.to_dict("records")
    values = [np.mean([given(n, field, judge) for judge in JUDGES]) for n in range(COUPLETS)]
    assert row["figure"] == pytest.approx(np.mean(values))
    assert row["sd"] == pytest.approx(np.std(values, ddof=1), abs=1e-6)
    assert row["ci_low"] < row["figure"] < row["ci_high"]
    assert row["items"] == COUPLETS
    assert np.isnan(row.get("rank_low") or np.nan) == (field != "overall"), "people vouch for totals alone"


def test_a_category_has_every_field_on_the_rubrics_own_scale(found: Results) -> None:
    own = found.averages[found.averages["level"] == "judged"]
    assert set(own["name"]) == {
        "prose · judged_prose",
        *(f"prose · judged_prose_{name}_not_vouched_for" for name in PROSE.fields if name != "overall"),
    }
    assert (own["figure"] > 1).all()
    assert set(own["items"]) == {2 * COUPLETS}
    assert (own["sd"] > 0).all()
    shown = markdown(sheets(found), found.notes)

    assert "| system | figure [95 %] | SD | items |" in shown


@pytest.mark.parametrize("rubric", ["answer", "interpretive_depth"])
def test_raters_and_judges_read_the_same_words_at_every_point(rubric: str) -> None:
    template = {"answer": "answer_correctness"}.get(rubric, rubric)
    for name, field in rubric_named(rubric).fields.items():
        assert sorted(field.anchors) == list(range(field.low, field.high + 1))
        for score, says in field.anchors.items():
            for language, text in says.items():
                shown = words(template, language)
                points = shown["scores"] if rubric == "answer" else shown["points"][name]
                assert points[str(score)] == f"{score} — {text}"


def test_every_point_of_kinayats_scale_has_words() -> None:
    """Figure 12 of the paper words all five."""
    assert sorted(rubric_named("meaning").fields["meaning"].anchors) == [1, 2, 3, 4, 5]
