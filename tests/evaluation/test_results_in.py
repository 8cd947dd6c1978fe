"""Results of other programs come in: written by the programs themselves, or short excerpts of published runs.

The excerpts (tests/fixtures/results) are from evaleval/every_eval_ever, MIT licence, commit 9bce413.
"""

from __future__ import annotations

import csv
import json
import shutil
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner, Result

import mihakk
from mihakk.evaluation.incoming.form import recognised
from mihakk.evaluation.joining import unjoined
from mihakk.evaluation.results import (
    Reading,
    beside,
    open_results,
    own_scores,
    right_by_accuracy,
    score_frame,
)
from mihakk.evaluation.statistics.items import item_statistics, item_worth, reliability
from mihakk.flows.cli import app
from mihakk.machinery.errors import UsageError

EXCERPTS = Path(__file__).parents[1] / "fixtures" / "results"
LETTERS = "ABCD"
MAP = ("--map", "id=id,question=question,choices=A+B+C+D,gold=answer")
"""Of `benchmark`, where every gold is the same letter and tells nothing of its column."""
QUESTIONS = [
    ("q1", "ما عاصمة مصر؟", ["القاهرة", "دمشق", "بغداد", "تونس"], "A"),
    ("q2", "ما عاصمة سوريا؟", ["القاهرة", "دمشق", "بغداد", "تونس"], "B"),
    ("q3", "ما عاصمة العراق؟", ["القاهرة", "دمشق", "بغداد", "تونس"], "C"),
    ("q4", "ما عاصمة لبنان؟", ["القاهرة", "دمشق", "بيروت", "تونس"], "C"),
]
ENGLISH = Reading(language="en")


def call(*words: str | Path, code: int = 0) -> Result:
    done = CliRunner(env={"COLUMNS": "250"}).invoke(app, ["evaluate", *map(str, words)])
    assert done.exit_code == code, done.output
    return done


def benchmark(folder: Path, rows: Any = QUESTIONS) -> Path:
    """A benchmark as its authors published it."""
    path = folder / "set.jsonl"
    lines = [
        {"id": name, "question": text, **dict(zip(LETTERS, options, strict=True)), "answer": gold}
        for name, text, options, gold in rows
    ]
    path.write_text("\n".join(json.dumps(one, ensure_ascii=False) for one in lines), encoding="utf-8")
    return path


def table(path: Path, *rows: dict[str, Any]) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return path


def accuracy(paths: list[Path], reading: Reading = ENGLISH) -> dict[str, float]:
    frame = score_frame(open_results(paths, reading))
    return frame[frame.metric == "accuracy"].groupby("model", observed=True)["value"].mean().to_dict()


def theirs(paths: list[Path]) -> dict[tuple[str, str], tuple[float, float]]:
    found = beside(own_scores(open_results(paths, ENGLISH)))
    return {(one.system, one.score): (one.theirs, one.ours) for one in found}


# Logs of other programs


def of_lm_eval(folder: Path, patch: pytest.MonkeyPatch) -> Path:
    """lm-eval asks its dummy model, whose likelihoods are drawn at random, a task of ours."""
    import huggingface_hub.constants  # noqa: F401 (it reads the variable once, and later tests are online)

    patch.setenv("HF_HUB_OFFLINE", "1")
    from lm_eval import simple_evaluate
    from lm_eval.loggers import EvaluationTracker

    task = {
        **{
            "task": "capitals",
            "dataset_path": "json",
            "test_split": "test",
            "output_type": "multiple_choice",
        },
        **{"dataset_kwargs": {"data_files": {"test": str(benchmark(folder))}}},
        **{"doc_to_text": "{{question}}", "doc_to_choice": ["A", "B", "C", "D"], "doc_to_target": "answer"},
        "metric_list": [{"metric": "acc"}],
    }
    ran = simple_evaluate(
        model="dummy", tasks=[task], log_samples=True, cache_requests=False, bootstrap_iters=0
    )
    tracker = EvaluationTracker(output_path=str(folder / "runs"))
    tracker.general_config_tracker.model_name_sanitized = "some__model"
    tracker.date_id = "2026-01-21T03-44-18.458309"
    tracker.save_results_samples("capitals", ran["samples"]["capitals"])
    (file,) = (folder / "runs").rglob("samples_capitals_*.jsonl")
    return file


@pytest.mark.parametrize("fresh", [False, pytest.param(True, marks=pytest.mark.drill)])
def test_likelihoods_of_lm_eval_come_in_from_its_own_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fresh: bool
) -> None:
    """The file in the fixtures was written by lm-eval 0.4.13 as the drill writes one anew."""
    name = "samples_capitals_2026-01-21T03-44-18.458309.jsonl"
    file = of_lm_eval(tmp_path, monkeypatch) if fresh else EXCERPTS / "some__model" / name
    assert recognised(file)[0] == "lm-eval"
    joined = open_results([file])
    assert joined.systems == ["some__model"]
    assert {one.item: one.gold for one, _ in joined.answers} == {
        "q1": (0,),
        "q2": (1,),
        "q3": (2,),
        "q4": (2,),
    }
    lines = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    own = sum(line["acc"] for line in lines) / 4
    assert theirs([file])["some__model", "acc"] == (own, own)
    to_set = open_results([file], Reading(), benchmark_of(str(benchmark(tmp_path))))
    assert (to_set.by, len(to_set.answers)) == ("id", 4)


def test_a_published_sample_of_lm_eval_in_writing_comes_in() -> None:
    joined = open_results([next(EXCERPTS.glob("samples_*.jsonl"))], ENGLISH)
    question, given = joined.answers[0]
    assert (question.kind, question.answer, given.own) == ("answer", "3", {"exact_match": 0.0})
    assert str(given.more["reply"]).startswith(" 1. The graph of")


@pytest.mark.parametrize("form", ["eval", "json"])
def test_logs_come_in_as_inspect_writes_them(tmp_path: Path, form: Any) -> None:
    from inspect_ai.log import EvalConfig, EvalDataset, EvalLog, EvalSample, EvalSpec, write_eval_log
    from inspect_ai.model import ModelOutput
    from inspect_ai.scorer import Score

    samples = [
        EvalSample(
            **{"id": name, "epoch": 1, "input": text, "choices": options, "target": gold},
            output=ModelOutput.from_content("m/one", f"ANSWER: {letter}"),
            scores={"choice": Score(value="C" if gold == letter else "I", answer=letter)},
        )
        for (name, text, options, gold), letter in zip(QUESTIONS, "ABCD", strict=True)
    ]
    dataset = EvalDataset(name="capitals", samples=4)
    spec = EvalSpec(
        created="2026-01-01T00:00:00", task="t", dataset=dataset, model="m/one", config=EvalConfig()
    )
    file = tmp_path / f"log.{form}"
    write_eval_log(EvalLog(status="success", eval=spec, samples=samples), str(file))
    assert recognised(file)[0] == "inspect"
    assert accuracy([file]) == {"m/one": 0.75}
    assert theirs([file]) == {("m/one", "choice"): (0.75, 0.75)}


def test_a_published_run_of_helm_comes_in_with_its_own_scores_beside(tmp_path: Path) -> None:
    (folder,) = (EXCERPTS / "helm").iterdir()
    joined = open_results([folder], ENGLISH)
    assert [given.reply for _, given in joined.answers] == [" D"] * 3
    assert accuracy([folder]) == {"openai/gpt2": pytest.approx(1 / 3)}
    assert theirs([folder])["openai/gpt2", "exact_match"] == pytest.approx((1 / 3, 1 / 3))
    alone = shutil.copy(folder / "per_instance_stats.json", tmp_path / "per_instance_stats.json")
    with pytest.raises(UsageError, match="shows no question"):
        open_results([Path(alone)], ENGLISH)
    shown = [
        {"instance_id": "id147", "predicted_text": " D", "mapped_output": "a", "train_trial_index": 0, "stats": {}},
        {"instance_id": "id11", "predicted_text": " D", "train_trial_index": 0, "stats": {},
         "perturbation": {"name": "robustness"}},
    ]  # fmt: skip
    shutil.copy(folder / "scenario_state.json", tmp_path / "scenario_state.json")
    (tmp_path / "display_predictions.json").write_text(json.dumps(shown), encoding="utf-8")
    found = open_results([tmp_path / "display_predictions.json"], ENGLISH)
    assert [(one.item, given.reply) for one, given in found.answers] == [("id147", "a")]
    assert [one[1] for one in unjoined(found.refused)] == ["perturbed"]


def lighteval(
    choices: list[str], gold: Any, chances: list[float], text: list[str], acc: int
) -> dict[str, Any]:
    """A row as LightEval 0.13 writes it."""
    doc = {"id": "7", "query": "Question: which?\nAnswer:", "choices": choices, "gold_index": gold}
    response = {"logprobs": chances, "text": text, "text_post_processed": text}
    return {"doc": doc, "metric": {"acc": acc}, "model_response": response}


def test_details_of_lighteval_come_in_by_likelihood_and_in_writing(tmp_path: Path) -> None:
    folder = tmp_path / "details" / "owner" / "model" / "2026-08-10T17-22-11.385681"
    folder.mkdir(parents=True)
    for name, row in (
        ("anli:r1|0", lighteval([" True", " Neither", " False"], 2, [-0.6, -0.1, -0.3], [], 0)),
        ("squad|0", lighteval([" an empire"], [0], [], ["an empire"], 1)),
    ):
        path = folder / f"details_{name}_2026-08-10T17-22-11.385681.parquet"
        pq.write_table(pa.Table.from_pylist([row]), path)
    joined = open_results([tmp_path / "details"], ENGLISH)
    assert joined.systems == ["model"]
    assert {one.config: (one.kind, right_by_accuracy(one, given)) for one, given in joined.answers} == {
        "anli:r1|0": ("choice", 0.0),
        "squad|0": ("answer", 1.0),
    }


def test_details_of_older_versions_of_lighteval_come_in(tmp_path: Path) -> None:
    path = tmp_path / "details_arc_2024-01-01T00-00-00.000000.parquet"
    row = {"full_prompt": "Q: which?\nA:", "choices": "['a', 'b']", "gold_index": [1], "metrics": {"acc": 1}}
    pq.write_table(pa.Table.from_pylist([row | {"predictions": "[[-2.0, False], [-1.0, True]]"}]), path)
    ((question, given),) = open_results([path], ENGLISH).answers
    assert (question.options, given.likelihoods, given.own) == (("a", "b"), (-2.0, -1.0), {"acc": 1.0})


# Tables


def test_a_table_joins_by_id_and_what_does_not_is_listed_by_system_and_reason(tmp_path: Path) -> None:
    rows = [
        {"id": f"q{n}", "s one": "ABCC"[n - 1], "two": "ABC"[n - 1] if n < 4 else ""} for n in (1, 2, 3, 4)
    ]
    rows += [{"id": "q9", "s one": "A", "two": "A"}, {"id": "q1", "s one": "B", "two": ""}]
    file, out = table(tmp_path / "answers.csv", *rows), tmp_path / "out"
    told = call("import", file, "--benchmark", benchmark(tmp_path), "--out", out)
    assert "s one: 2 answered_twice" in told.output
    assert "s one: 1 unknown_item, e.g. row 4: there is no item 'q9' among the 4 questions" in told.output
    assert "two: 1 of 4 questions have no answer" in told.output
    kept = pq.read_table(out / "s-one" / "rejected.parquet").to_pylist()
    assert sorted((one["record"], one["reason"]) for one in kept) == [
        ("q1", "answered_twice"),
        ("q1", "answered_twice"),
        ("q9", "unknown_item"),
    ]
    assert all(json.loads(one["body"])["id"] == one["record"] for one in kept)
    assert pq.read_table(out / "two" / "answers.parquet")["reply"].to_pylist() == ["أ", "ب", "ج"]


CELLS: list[tuple[str, list[Any], list[Any]]] = [
    ("letters of one alphabet", ["A", "(b)", "C", "D"], [1, 1, 1, 0]),
    ("letters of another", ["أ", "ب", "ج", "د"], [1, 1, 1, 0]),
    ("places from 0", [0, 1, 2, 3], [1, 1, 1, 0]),
    ("right and wrong", [1, 0, 1, 1], [1, 0, 1, 1]),
    ("true and false", ["True", "False", "True", "True"], [1, 0, 1, 1]),
    ("likelihoods", ["[-1, -2, -2, -3]"] * 4, [1, 0, 0, 0]),
]


@pytest.mark.parametrize(("cells", "right"), [one[1:] for one in CELLS], ids=[one[0] for one in CELLS])
def test_what_the_cells_hold_is_told_by_the_cells(tmp_path: Path, cells: list[Any], right: list[int]) -> None:
    rows = [{"id": f"q{n}", "one": cells[n - 1], "two": cells[n - 1]} for n in (1, 2, 3, 4)]
    file = table(tmp_path / "a.csv", *rows)
    found = mihakk.compare(str(file), str(benchmark(tmp_path)))
    assert found.cells["figure"].tolist() == [pytest.approx(sum(right) / 4)] * 2


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([{"id": f"q{n}", "one": n} for n in (1, 2, 3, 4)], "count from 0 or from 1"),
        ([{"id": f"q{n}", "one": "a long reply in words"} for n in (1, 2)], "name the systems' columns"),
        ([{"0": "q1", "1": "A", "2": "B"}], "its columns have no names (0, 1, 2)"),
        ([{"one": "A"}, {"one": "B"}], "2 rows are not the 4 of the benchmark"),
        ([{"id": "x1", "one": "A"}], "there is no item 'x1' among the 4 questions"),
    ],
)
def test_a_table_that_does_not_say_what_it_is_is_refused_with_the_fix(
    tmp_path: Path, rows: list[dict[str, Any]], message: str
) -> None:
    file = table(tmp_path / "a.csv", *rows)
    done = call("import", file, "--benchmark", benchmark(tmp_path), "--out", tmp_path / "out", code=2)
    assert message in " ".join(done.output.split())


def test_zero_and_one_of_two_options_have_to_be_declared(tmp_path: Path) -> None:
    pairs = [(name, text, options[:2], "AB"[n % 2]) for n, (name, text, options, _) in enumerate(QUESTIONS)]
    lines = [
        {"id": name, "question": text, "options": options, "answer": gold}
        for name, text, options, gold in pairs
    ]
    asked = pd.DataFrame(lines)
    given = pd.DataFrame({"id": [one[0] for one in pairs], "one": [0, 0, 0, 0], "two": [0, 1, 0, 1]})
    with pytest.raises(UsageError, match="every question has two options"):
        mihakk.compare(given, asked)
    assert sorted(mihakk.compare(given, asked, cells="index0").cells["figure"]) == [0.5, 1.0]
    assert sorted(mihakk.compare(given, asked, cells="correct").cells["figure"]) == [0.0, 0.5]


def test_rows_join_by_the_words_of_their_questions_and_by_their_order(tmp_path: Path) -> None:
    asked = str(benchmark(tmp_path))
    words = [{"question": f"السؤال: {one[1]}", "one": one[3], "two": "A"} for one in reversed(QUESTIONS)]
    assert open_results([table(tmp_path / "a.csv", *words)], Reading(), benchmark_of(asked)).by == "text"
    arabic = [{"سؤال" if name == "question" else name: cell for name, cell in row.items()} for row in words]
    assert open_results([table(tmp_path / "c.csv", *arabic)], Reading(), benchmark_of(asked)).by == "text"
    plain = [{"one": one[3], "two": "A"} for one in QUESTIONS]
    joined = open_results([table(tmp_path / "b.csv", *plain)], Reading(join="order"), benchmark_of(asked))
    assert joined.by == "order"
    assert {given.system: right_by_accuracy(one, given) for one, given in joined.answers[-2:]} == {
        "one": 1.0,
        "two": 0.0,
    }


def test_ids_that_are_those_of_other_questions_join_nothing(tmp_path: Path) -> None:
    rows = [{"id": f"q{n}", "question": f"another question {n}", "one": "A"} for n in (1, 2, 3, 4)]
    with pytest.raises(
        UsageError, match=r"the ids are those of other questions: q1 is «\.\.\.another question 1»"
    ):
        open_results([table(tmp_path / "a.csv", *rows)], Reading(), benchmark_of(str(benchmark(tmp_path))))


def benchmark_of(path: str) -> Any:
    from mihakk.evaluation.benchmarks import of_folder_or_file

    return of_folder_or_file(Path(path))


def test_a_table_that_has_questions_and_golds_needs_no_benchmark(tmp_path: Path) -> None:
    rows = [
        {"question": text, "choices": str(options), "gold": LETTERS.index(gold), "one": gold, "two": "A"}
        for _, text, options, gold in [*QUESTIONS, QUESTIONS[0]]
    ]
    found = mihakk.compare(str(table(tmp_path / "a.csv", *rows)))
    assert dict(zip(found.cells["model"], found.cells["figure"], strict=True)) == {"one": 1.0, "two": 0.4}


# Items and ranks


# Persons x items, worked through in Python with pingouin 0.7.0: `cronbach_alpha` gives .36302521 (KR-20 is
# Cronbach's alpha of right and wrong answers).
GUTTMAN = (
    *((1, 1, 1, 1, 1, 0), (1, 1, 1, 1, 0, 1), (1, 1, 1, 0, 1, 0), (1, 1, 0, 1, 0, 0)),
    *((1, 0, 1, 0, 0, 1), (1, 1, 0, 0, 0, 0), (0, 1, 0, 0, 0, 1), (0, 0, 0, 0, 0, 1)),
)


def test_what_items_are_worth_is_what_other_libraries_say() -> None:
    from scipy.stats import pearsonr, pointbiserialr

    scores = np.array(GUTTMAN, dtype=np.float64)
    assert reliability(scores) == pytest.approx(0.36302521008403366)
    found = item_statistics(scores)
    more = item_worth(scores, found.rest)
    for place in range(6):
        own, others = scores[:, place], np.delete(scores, place, axis=1).sum(axis=1)
        assert found.rest[place] == pytest.approx(pearsonr(own, others).statistic)
        assert more.total[place] == pytest.approx(pointbiserialr(own, scores.sum(axis=1)).statistic)
        interval = pearsonr(own, others).confidence_interval(0.95)
        assert (more.low[place], more.high[place]) == pytest.approx((interval.low, interval.high))
        assert more.without[place] == pytest.approx(reliability(np.delete(scores, place, axis=1)))
    assert more.without[5] > 0.7, "those who fail the others solve it"
    assert (more.like == -1).all(), "of six items two alike are no wonder"


def test_items_that_tell_nothing_are_named(tmp_path: Path) -> None:
    """Thirty systems of rising ability: one item none solves, one all, one the weak, two the very same."""
    draw = np.random.default_rng(5)
    answers = {}
    for place in range(40):
        answers[f"i{place}"] = draw.random(30) < np.linspace(0.1, 0.95, 30)
    answers |= {"none": np.zeros(30), "all": np.ones(30), "upside": np.arange(30) < 14, "copy": answers["i7"]}
    rows = [
        {"id": item, **{f"s{n}": int(one) for n, one in enumerate(right)}} for item, right in answers.items()
    ]
    asked = benchmark(tmp_path, [(item, f"سؤال {item}", list("وزحط"), "A") for item in answers])
    file = table(tmp_path / "a.csv", *rows)
    told = json.loads(call("items", imported(file, asked), "--csv", tmp_path / "i.csv", "--json").stdout)
    verdicts = {one["item"]: one["verdict"] for one in told["items"] if one["verdict"]}
    like = {one["item"]: one["like"] for one in told["items"] if one["like"]}
    assert verdicts == {"none": "never right", "all": "always right", "upside": "inverted"} | dict.fromkeys(
        like, "redundant"
    )
    assert like in ({"i7": "copy"}, {"copy": "i7"})
    assert (told["columns"][0]["never_right"], told["columns"][0]["inverted"]) == (1, 1)
    assert list(pd.read_csv(tmp_path / "i.csv")["item"])[:1] == ["upside"]


def imported(file: Path, asked: Path) -> Path:
    """The folder of a file's results, joined to the questions of the benchmark."""
    out = file.parent / "imported"
    call("import", file, "--benchmark", asked, *MAP, "--out", out)
    return out


def ranked(tmp_path: Path, right: dict[str, str]) -> tuple[Path, Path]:
    """Results over items with gold A, and what is right for each system as a string of 0 and 1."""
    count = len(next(iter(right.values())))
    asked = benchmark(tmp_path, [(f"q{n}", f"سؤال {n}", list("وزحط"), "A") for n in range(count)])
    rows = [{"id": f"q{n}", **{name: "BA"[int(one[n])] for name, one in right.items()}} for n in range(count)]
    return table(tmp_path / "a.csv", *rows), asked


def test_rows_that_are_removed_or_corrected_move_ranks_and_noise_is_called_noise(tmp_path: Path) -> None:
    # `one` leads by the first sixty items alone, which are wrong; `three` by two of a hundred.
    right = {
        "one": "1" * 60 + "10" * 70,
        "two": "0" * 60 + "1110" * 35,
        "three": "0" * 62 + "1110" * 34 + "11",
    }
    file, asked = ranked(tmp_path, right)
    out = tmp_path / "out"
    call("import", file, "--benchmark", asked, *MAP, "--out", out)
    (tmp_path / "gone.txt").write_text("\n".join(f"q{n}" for n in range(60)))
    told = json.loads(call("moves", out, "--without", tmp_path / "gone.txt", "--json").stdout)
    places = {one["model"]: (one["place_before"], one["place_after"]) for one in told["systems"]}
    assert places["one"] == (1, 3)
    pair = next(one for one in told["turned"] if {one["first"], one["second"]} == {"one", "two"})
    assert pair["first"] == "one"
    assert pair["change"]["high"] < 0
    assert pair["verdict"].startswith(("turned", "moved"))
    (tmp_path / "few.txt").write_text("q60\nq61\nq63")
    noise = json.loads(call("moves", out, "--without", tmp_path / "few.txt", "--json").stdout)["turned"]
    assert all(one["verdict"].startswith("noise") for one in noise)
    golds = tmp_path / "golds.csv"
    golds.write_text("id,gold\n" + "\n".join(f"q{n},B" for n in range(60)))
    fixed = json.loads(call("moves", out, "--corrected", golds, "--json").stdout)
    one = next(row for row in fixed["systems"] if row["model"] == "one")
    assert one["after"] == pytest.approx(70 / 200)
    assert one["changed"] == pytest.approx(-60 / 200)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--without", "gone.txt"), "none of its 1 items (x9) has scores; items are called like q0"),
        (("--corrected", "golds.csv"), "there is no item 'x9' among the 4 questions"),
        (("--without", "bad.csv"), "has the columns name: it needs item or id"),
        ((), "name the newer version, or the rows that change"),
    ],
)
def test_what_changes_has_to_be_there(tmp_path: Path, words: tuple[str, ...], message: str) -> None:
    file, asked = ranked(tmp_path, {"one": "1010", "two": "0101"})
    (tmp_path / "gone.txt").write_text("x9\n")
    (tmp_path / "golds.csv").write_text("id,gold\nx9,B\n")
    (tmp_path / "bad.csv").write_text("name\nx9\n")
    told = [tmp_path / word if "." in word else word for word in words]
    done = call("moves", imported(file, asked), *told, code=2)
    assert message in " ".join(done.output.split())


def test_six_published_runs_over_arabic_mmlu_from_files_to_suspects_and_moved_ranks(
    shared_data: Path, tmp_path: Path
) -> None:
    """The example of docs/evaluation.md; some 860 rows hold a question of IP spoofing in place of their own."""
    panel = shared_data / "panel"
    answers, asked = panel / "arabic_mmlu_answers.csv", panel / "arabic_mmlu_acegpt.jsonl"
    if not answers.is_file():
        pytest.skip(f"needs {answers}")
    began = time.process_time()
    out = tmp_path / "results"
    told = call("import", answers, "--benchmark", asked, "--out", out)
    assert "jais-13b_few_shot: 5,533 answers" in told.output
    call("suspects", out, "--csv", tmp_path / "suspects.csv")
    found = pd.read_csv(tmp_path / "suspects.csv")
    assert len(found) == 5533
    rows = [json.loads(line) for line in asked.read_text("utf-8").splitlines()]
    wrong = [row["id"] for row in rows if "IP" in row["question"]]
    (tmp_path / "wrong.txt").write_text("\n".join(wrong))
    moved = json.loads(call("moves", out, "--without", tmp_path / "wrong.txt", "--json").stdout)
    places = {one["model"]: (one["place_before"], one["place_after"]) for one in moved["systems"]}
    assert len(places) == 6
    assert places["AceGPT_13B_base_few_shot"] == (1, 1)
    assert time.process_time() - began < 60


# Frames


def test_frames_give_what_files_give_and_the_library_says_what_is_wrong() -> None:
    asked = pd.DataFrame(
        {"id": name, "q": text, "options": options, "gold": gold} for name, text, options, gold in QUESTIONS
    )
    mapping = "id=id,question=q,choices=options,gold=gold"
    wide = pd.DataFrame({f"s{n}": list("ABCC") for n in range(6)}, index=[one[0] for one in QUESTIONS])
    wide.loc["q4", ["s0", "s1", "s2", "s3", "s4"]] = "A"
    found = mihakk.suspects(wide, asked, mapping=mapping)
    assert (found["items"][0], found["other"][0], found["other_share"][0]) == ("q4", "القاهرة", 0.833333)
    long = [
        {"item": name, "model": system, "answer": wide.loc[name, system]}
        for name in wide.index
        for system in wide.columns
    ]
    assert mihakk.suspects(long, asked, mapping=mapping).equals(found)
    once = (row for row in long)
    assert mihakk.suspects(once, asked, mapping=mapping).equals(found)
    with pytest.raises(UsageError, match="as a generator, is empty the second time"):
        mihakk.suspects(once, asked, mapping=mapping)
    with pytest.raises(UsageError, match="no names"):
        mihakk.suspects(wide.reset_index().set_axis(range(7), axis=1), asked, mapping=mapping)
    with pytest.raises(UsageError, match="give rows as dicts"):
        mihakk.suspects([("q1", "A")], asked, mapping=mapping)
    with pytest.raises(UsageError, match="5 systems answered"):
        mihakk.suspects(wide.drop(columns="s5"), asked, mapping=mapping)


def test_a_file_of_no_known_format_is_refused_with_those_that_are(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("hello")
    with pytest.raises(UsageError, match=r"no file of results that is known: .*lighteval"):
        open_results([tmp_path / "a.txt"])
    (tmp_path / "empty").mkdir()
    with pytest.raises(UsageError, match="no file of results lies there"):
        open_results([tmp_path / "empty"])
