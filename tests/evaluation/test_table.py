"""Tables: what they show, what they refuse to show, and that they are the same byte for byte."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sacrebleu

from mihakk.evaluation.rows import write_rows
from mihakk.evaluation.scoring import metrics_named
from mihakk.evaluation.statistics.cluster import clustered
from mihakk.evaluation.table import Results, load_scores, results, sliced
from mihakk.evaluation.table.overall import Averaging
from mihakk.evaluation.table.render import latex, markdown, terminal
from mihakk.evaluation.table.sheets import sheets
from mihakk.machinery.errors import UsageError
from mihakk.schemas.evaluation import Question, Score
from tests.evaluation.material import AR, OPTIONS, choice, reply_to, score_answers, worded

PAIRS = 24
METRICS = ("accuracy", "recall", "exact", "cer", "chrf")


def pair(number: int, **facts: Any) -> list[Question]:
    """A question in both orders of its options; two questions make a cluster."""
    common = {
        "group": f"g{number // 2}",
        "pair_id": f"p{number}",
        "slices": {"era": "عباسي" if number % 3 else "أموي"},
        **facts,
    }
    return [
        choice(f"c{number}-0", 0, order=0, **common),
        choice(f"c{number}-1", 3, order=1, options=tuple(reversed(OPTIONS)), **common),
    ]


CHOICES = [question for number in range(PAIRS) for question in pair(number)]
LINES = [worded(f"a{n}", f"بيت رقم {n} من القصيدة الطويلة", group=f"g{n}") for n in range(PAIRS)]
QUESTIONS = {one.item: one for one in (*CHOICES, *LINES)}

Says = Callable[[Question], str]


def knows(share: int) -> Says:
    """Chooses right, by its words, in `share` of 24 pairs, else the second option; recalls as many lines."""

    def says(question: Question) -> str:
        number = int(question.item.lstrip("abcn").partition("-")[0])
        if question.kind == "answer":
            return f"<answer>{question.answer}</answer>" if number < share else "<answer>لا أذكره</answer>"
        return question.labels[question.gold[0]] if number < share else AR[1]

    return says


SYSTEMS = {"weak": knows(6), "middle": knows(12), "strong": knows(21)}


def scores(
    systems: dict[str, Says] = SYSTEMS, questions: Sequence[Question] = (*CHOICES, *LINES), **facts: Any
) -> list[Score]:
    answers = [
        reply_to(one, says(one), model=name, **facts) for name, says in systems.items() for one in questions
    ]
    return score_answers(answers, QUESTIONS | {one.item: one for one in questions}, metrics_named(METRICS))


def made(folder: Path, rows: Sequence[Score], **options: Any) -> Results:
    write_rows(folder / "scores.parquet", rows, Score)
    return results(load_scores([folder / "scores.parquet"]), resamples=200, permutations=500, **options)


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Results:
    return made(tmp_path_factory.mktemp("scores"), scores())


def cell(found: Results, model: str, metric: str = "accuracy") -> dict[str, Any]:
    rows = found.cells[(found.cells["model"] == model) & (found.cells["metric"] == metric)]
    assert len(rows) == 1
    return dict(rows.iloc[0])


def test_a_cell_has_the_figure_and_its_clustered_interval(found: Results) -> None:
    row = cell(found, "middle")
    values = np.array([float(n < 12) for n in range(PAIRS) for _ in (0, 1)])
    expected = clustered(values, np.arange(PAIRS).repeat(2) // 2, bounds=(0.0, 1.0))
    assert row["figure"] == 0.5
    assert (row["se"], row["ci_low"], row["ci_high"]) == pytest.approx(
        (expected.se, expected.low, expected.high), abs=1e-6
    )
    assert (row["items"], row["clusters"], row["missing"]) == (48, 12, 0)
    assert row["plain_se"] == pytest.approx((0.25 / 47) ** 0.5, abs=1e-6)


def test_figures_over_many_answers_stand_beside_it(found: Results) -> None:
    row = cell(found, "middle")
    assert row["chance_adjusted"] == pytest.approx((0.5 - 0.25) / 0.75, abs=1e-6)
    assert (row["pair_accuracy"], row["consistency"]) == (0.5, 0.5)
    assert row["order_gap"] == 0
    picks = json.loads(row["position_preference_detail"])["picks"]
    assert picks == [12, 24, 0, 12]


def test_ranks_are_intervals_and_none_stands_alone(found: Results) -> None:
    strong, middle, weak = (cell(found, name) for name in ("strong", "middle", "weak"))
    assert (strong["rank_low"], strong["rank_high"], bool(strong["top"])) == (1, 1, True)
    assert weak["rank_high"] == 3
    assert not bool(weak["top"])
    assert middle["rank_low"] <= 2 <= middle["rank_high"]
    assert {"rank_low", "rank_high"} <= set(found.cells.columns)
    assert "rank" not in found.cells.columns


def test_where_less_is_better_the_least_is_first(found: Results) -> None:
    assert cell(found, "strong", "cer")["figure"] < cell(found, "weak", "cer")["figure"]
    assert cell(found, "strong", "cer")["rank_low"] == 1


def test_a_corpus_figure_is_sacrebleus_and_has_a_bootstrap_interval(found: Results) -> None:
    replies = [SYSTEMS["middle"](one).removeprefix("<answer>").removesuffix("</answer>") for one in LINES]
    whole = sacrebleu.corpus_chrf(replies, [[one.answer for one in LINES]], word_order=2)
    row = cell(found, "middle", "chrf")
    assert row["figure"] == pytest.approx(whole.score, abs=1e-5)
    assert row["ci_low"] < row["figure"] < row["ci_high"]


def test_pairs_of_systems_are_adjusted_for_their_number(found: Results) -> None:
    pairs = found.pairs[found.pairs["metric"] == "accuracy"].set_index(["first", "second"])
    assert list(pairs.index) == [("middle", "strong"), ("middle", "weak"), ("strong", "weak")]
    row = pairs.loc[("strong", "weak")]
    assert row["difference"] == pytest.approx((21 - 6) / 24, abs=1e-6)
    assert row["alike"] == pytest.approx(9 / 24, abs=1e-6)
    assert row["p_holm"] == pytest.approx(min(1, 3 * row["p"]))
    smallest = cell(found, "weak")["smallest_difference"]
    assert smallest == pytest.approx(2.8 * float(np.median(pairs["se"])), abs=1e-5)


def test_recall_and_skill_are_averaged_apart(found: Results) -> None:
    overall = found.averages[found.averages["level"] == "overall"]
    assert sorted(set(overall["ability"])) == ["recall", "skill"]
    assert set(overall["parts"]) == {1}


def test_several_tasks_are_averaged_by_category(tmp_path: Path) -> None:
    more = [question for n in range(PAIRS) for question in pair(n, task="negation", config="ar_negation")]
    more += [question for n in range(PAIRS) for question in pair(n, task="pragmatic_use", config="ar_use")]
    more = [one.model_copy(update={"item": f"{one.item[0]}{one.item[1:]}-{one.task}"}) for one in more]
    always = {"a": knows(24), "b": lambda one: AR[1] if one.task == "negation" else knows(12)(one)}
    rows = scores(always, [*CHOICES, *more])
    averaging = Averaging({"meaning": ["meaning_choice", "negation"], "use": ["pragmatic_use"]})
    found = made(tmp_path, rows, averaging=averaging)
    table = found.averages.set_index(["level", "name", "model"])["figure"]
    assert table["category", "meaning", "b"] == pytest.approx((0.5 + 0.0) / 2)
    assert table["overall", "overall", "b"] == pytest.approx((0.25 + 0.5) / 2), (
        "categories weigh alike, not items"
    )
    assert found.average_pairs["difference"].tolist() == [pytest.approx(1 - 0.375)]
    with pytest.raises(UsageError, match="task 'pragmatic_use' is in no category"):
        made(tmp_path, rows, averaging=Averaging({"meaning": ["meaning_choice", "negation"]}))
    with pytest.raises(UsageError, match="no scores of its main metric 'exact_set'"):
        made(tmp_path, rows, averaging=Averaging(main={"negation": "exact_set"}))


def test_a_system_that_lacks_a_part_has_no_average_and_one_that_lacks_an_item_no_figure(
    tmp_path: Path,
) -> None:
    more = [
        one.model_copy(update={"item": f"n{one.item}", "task": "negation", "config": "ar_negation"})
        for one in CHOICES
    ]
    whole = {"whole": knows(20)}
    rows = [*scores(whole, [*CHOICES, *more]), *scores({"lacks a part": knows(24)}, CHOICES)]
    rows += scores({"lacks an item": knows(24)}, [*CHOICES[1:], *more])
    found = made(tmp_path, rows)
    overall = found.averages[found.averages["level"] == "overall"].set_index("model")
    assert not np.isnan(overall.loc["whole", "figure"])
    assert np.isnan(overall.loc[["lacks a part", "lacks an item"], "figure"]).all()
    cells = found.cells.set_index(["model", "config"])
    gap = cells.loc[("lacks an item", "ar_meaning_choice")]
    assert np.isnan(gap["figure"])
    assert gap["note"] == "no answer to 1 of 48 items"
    assert "lacks an item" not in set(found.pairs[found.pairs["config"] == "ar_meaning_choice"]["first"])


def test_two_methods_are_two_columns(tmp_path: Path) -> None:
    likely = {"other": lambda _: ""}
    answers = [
        reply_to(one, method="likelihood", likelihoods=(-1.0, -2.0, -3.0, -4.0), model=name)
        for name in likely
        for one in CHOICES
    ]
    rows = [
        *scores({"one": knows(12)}, CHOICES),
        *score_answers(answers, QUESTIONS, metrics_named(["accuracy"])),
    ]
    found = made(tmp_path, rows)
    assert sorted(found.cells["method"]) == ["likelihood", "written"]
    assert found.pairs.empty, "systems measured by different methods are not compared"
    assert {sheet.title for sheet in sheets(found)} == {
        "demo/ar_meaning_choice · accuracy · likelihood",
        "demo/ar_meaning_choice · accuracy · written",
    }


def test_wordings_and_repeats_are_averaged_and_their_spread_shown(tmp_path: Path) -> None:
    rows = [
        score
        for variant, share in ((0, 6), (1, 12))
        for repeat in (0, 1)
        for score in scores({"one": knows(share + 6 * repeat)}, CHOICES, variant=variant, repeat=repeat)
    ]
    row = cell(made(tmp_path, rows), "one")
    assert row["figure"] == pytest.approx((6 + 12 + 12 + 18) / 96)
    assert (row["wording_low"], row["wording_high"]) == pytest.approx((9 / 24, 15 / 24))
    assert (row["wordings"], row["repeats"], row["answers"]) == (2, 2, 4 * 48)
    assert 0 < row["share_within"] < 1


def test_unread_cut_and_foreign_labels_are_counted(tmp_path: Path) -> None:
    def says(question: Question) -> str:
        gold, other = question.labels[question.gold[0]], question.labels[question.gold[0] - 1]
        return {
            "c0-0": "B",
            "c1-0": "لا أعرف",
            "c2-0": "",
            "c3-0": f"الجواب: {gold}\n\nالسؤال: كم؟\nأ) واحد\nب) اثنان\nالجواب: ب",
            "c4-0": f"الجواب: {other}. انتظر، هذا بعيد. الجواب: {gold}",
        }.get(question.item, gold)

    rows = [*scores({"one": says}, CHOICES, finish_reason="length")]
    row = cell(made(tmp_path, rows), "one")
    assert (row["unparsed"], row["empty"], row["other_alphabet"]) == pytest.approx(
        (1 / 48, 1 / 48, 1 / 48), abs=1e-6
    )
    assert (row["run_on"], row["changed_answer"]) == pytest.approx((1 / 48, 1 / 48), abs=1e-6)
    assert row["cut"] == 1.0
    assert row["figure"] == pytest.approx(45 / 48, abs=1e-6)


def test_few_clusters_have_no_interval(tmp_path: Path) -> None:
    found = made(tmp_path, scores({"one": knows(3), "two": knows(9)}, CHOICES[:36]))
    row = cell(found, "one")
    assert row["clusters"] == 9
    assert np.isnan([row["ci_low"], row["rank_low"]]).all()
    assert row["note"] == "9 cluster(s): too few for an interval"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"signature": "accuracy/0"},
            r"accuracy: scores scored by several versions of one rule.*accuracy/0 .*\(weak\)",
        ),
        ({"scorer": "accuracy/0"}, "several versions of one rule"),
        ({"reader": "choice/0"}, r"choice/0 \(weak\); choice/4 \(middle, strong\)"),
        ({"version": "0.2.0"}, r"several versions of one release: 0\.1\.0 d+ \(middle, strong\); 0\.2\.0"),
        ({"digest": "e" * 64}, "several versions of one release"),
        ({"digest": ""}, r"weak: scores of demo that don't say which version and digest"),
        ({"content_hash": "moved"}, "items that changed in between"),
    ],
)
def test_scores_that_do_not_compare_are_refused(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    rows = scores(questions=CHOICES)
    changed = [row.model_copy(update=change) if row.model == "weak" else row for row in rows]
    with pytest.raises(UsageError, match=message):
        made(tmp_path, changed)


def test_one_name_for_two_revisions_and_an_answer_twice_are_refused(tmp_path: Path) -> None:
    rows = scores(questions=CHOICES)
    with pytest.raises(UsageError, match="5 answers are there twice"):
        made(tmp_path, [*rows, *rows[:5]])
    other = [row.model_copy(update={"revision": "x", "repeat": 1}) for row in rows[:1]]
    with pytest.raises(UsageError, match="several revisions under one name"):
        made(tmp_path, [*rows, *other])


def test_rows_of_a_rule_that_is_no_longer_ours_are_not_shown_as_ours(tmp_path: Path) -> None:
    old = [
        row.model_copy(update={"scorer": "accuracy/0", "signature": "accuracy/0"})
        for row in scores(questions=CHOICES)
    ]
    with pytest.raises(UsageError, match=r"scored as accuracy/0, now accuracy/1: score again"):
        made(tmp_path, old)


def test_tables_are_the_same_bytes_in_any_order_of_rows(tmp_path: Path, found: Results) -> None:
    turned = made(tmp_path, scores()[::-1])
    assert text_of(turned) == text_of(found)
    first, second = (one.write(tmp_path / name) for one, name in ((found, "a"), (turned, "b")))
    assert [path.read_bytes() for path in first] == [path.read_bytes() for path in second]


def text_of(found: Results) -> str:
    return markdown(sheets(found), found.notes)


def test_the_seed_moves_the_draws_and_no_figure(tmp_path: Path, found: Results) -> None:
    other = made(tmp_path, scores(), seed=7)
    assert other.cells["figure"].equals(found.cells["figure"])
    assert other.cells["ci_low"].dropna().shape == found.cells["ci_low"].dropna().shape
    assert text_of(other) != text_of(found)


def test_slices_are_data_sets_of_their_own(tmp_path: Path) -> None:
    write_rows(tmp_path / "scores.parquet", scores(questions=CHOICES), Score)
    frame = load_scores([tmp_path / "scores.parquet"])
    found = results(sliced(frame, "era"), None, resamples=100, permutations=100)
    assert sorted(set(found.cells["config"])) == ["ar_meaning_choice era=أموي", "ar_meaning_choice era=عباسي"]
    assert found.averages.empty
    with pytest.raises(UsageError, match="no item has the fact 'metre'; there are: era"):
        sliced(frame, "metre")


def test_hard_items_come_first(found: Results) -> None:
    items = found.items[found.items["metric"] == "accuracy"]
    assert set(items["systems"]) == {3}
    assert items["right"].is_monotonic_increasing
    assert items["right"].iloc[0] == 0


def test_every_form_shows_the_same_and_says_how_it_was_made(found: Results) -> None:
    shown = sheets(found)
    page, source = markdown(shown, found.notes), latex(shown, found.notes)
    for text in ("strong", "0.875 [", "Smallest difference that is found four times in five"):
        assert text in page
        assert text in source
    assert r"95 \%" in source
    assert source.count(r"\begin{tabular}") == source.count(r"\end{tabular}") == len(shown)
    assert "accuracy/1, read by choice/4" in page
    assert "demo 0.1.0 (sha256 dddddddddddd)" in page
    from io import StringIO

    from rich.console import Console

    out = StringIO()
    Console(file=out, width=250).print(terminal(shown, found.notes))
    assert "0.875 [" in out.getvalue()


def test_no_scores_are_no_table(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no system has scores there: `mihakk evaluate run SUITE` first"):
        load_scores([])
