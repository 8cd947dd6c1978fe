"""Judges held against people: vouched for or not, and means corrected by what people scored."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

from mihakk.evaluation.judges.people import draw, read_people
from mihakk.evaluation.judges.rubrics import rubric_named
from mihakk.evaluation.judges.run import cases_of, store_judged
from mihakk.evaluation.judges.scores import VOUCHED
from mihakk.evaluation.rows import answer_key, read_rows
from mihakk.flows.commands.evaluate_run import judge_job
from mihakk.machinery.errors import UsageError
from mihakk.machinery.ids import sha256
from mihakk.machinery.llm.scripted import Answer as Said
from mihakk.machinery.llm.scripted import Call, ScriptedServer
from mihakk.releases.assemble import assemble
from mihakk.schemas.evaluation import Answer, Question
from tests.evaluation.judge_campaign import Campaign, schema_of
from tests.releases.release_material import hafez_items, release_arguments

SYSTEMS = ("s1", "s2", "s3", "s4", "s5", "s6", "s7")
SHARES = dict(zip(SYSTEMS, (0.05, 0.1, 0.15, 0.6, 0.65, 0.7, 0.75), strict=True))
"""How often a system's answer is fully right; else it is 0, 1 or 2."""


def number(text: str, below: int) -> int:
    return int(sha256(text.encode())[:8], 16) % below


def quality(system: str, question: Question) -> int:
    name = f"{system} {question.item}"
    return 3 if number(name, 1000) < 1000 * SHARES[system] else number(f"which {name}", 3)


def judging(noise: int) -> object:
    """A judge that sees the truth, one answer in `noise` by one point too high; 0 for one that guesses."""

    def script(call: Call) -> Said:
        reply = json.loads(call.body["messages"][1]["content"])["reply"]
        if "extracted" in schema_of(call)["properties"]:
            return Said(text=json.dumps({"extracted": reply}))
        name = f"{call.body['model']} {reply}"
        truth = int(reply.split()[1])
        given = number(name, 4) if not noise else min(3, truth + (number(name, noise) == 0))
        return Said(text=json.dumps({"reason": "so", "scores": {"correctness": given}}))

    return script


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("vouched") / "release"
    assemble(folder=folder, **release_arguments(hafez_items(40)))
    return folder


def held(folder: Path, release: Path, noise: int, drawn: int = 140) -> Campaign:
    """Judged, drawn, scored by three people who see the truth, and compared."""
    campaign = Campaign(folder, release, systems=SYSTEMS)
    wanted = sorted(name for name, one in campaign.questions.items() if one.kind == "answer")
    chosen = set(sorted(wanted, key=lambda name: number(name, 1 << 30))[:40])
    campaign.questions = {name: one for name, one in campaign.questions.items() if name in chosen}
    campaign.suite["parts"][0]["only"] = ["continuation_completion"]
    campaign.answer(lambda name, one: f"کیفیت {quality(name, one)} {name} {one.item}")
    with ScriptedServer(judging(noise)) as server:  # type: ignore[arg-type]
        campaign.write(server.url)
        assert campaign.call("judge").exit_code == 0
    done = campaign.call("vouch", "--draw", str(drawn))
    assert done.exit_code == 0, done.output
    shown = [json.loads(line) for line in (campaign.out / "for_people.jsonl").read_text("utf-8").splitlines()]
    with (folder / "people.csv").open("w", encoding="utf-8", newline="") as out:
        table = csv.writer(out)
        table.writerow(["answer", "annotator", "rubric", "field", "score"])
        for one in shown:
            for person in ("annotator-01", "annotator-02", "annotator-03"):
                table.writerow([one["id"], person, one["rubric"], "correctness", one["reply"].split()[1]])
    done = campaign.call("vouch", "--scores", str(folder / "people.csv"))
    assert done.exit_code == 0, done.output
    (folder / "told.txt").write_text(" ".join(done.output.split()), encoding="utf-8")
    return campaign


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory, release: Path) -> Campaign:
    return held(tmp_path_factory.mktemp("good"), release, noise=6)


def truths(campaign: Campaign) -> dict[str, float]:
    worded = [one for one in campaign.questions.values() if one.kind == "answer"]
    return {name: float(np.mean([quality(name, one) for one in worded])) for name in SYSTEMS}


def agreement(campaign: Campaign) -> list[dict[str, Any]]:
    """The table's rows, that of both judges over everything first."""
    rows = pq.read_table(campaign.out / "agreement.parquet").to_pylist()
    return sorted(rows, key=lambda row: (row["group"], row["judge"]) != ("all", "both judges"))


def test_judges_that_see_the_truth_are_vouched_for_and_the_name_says_so(good: Campaign) -> None:
    told = (good.folder / "told.txt").read_text("utf-8")
    assert "answer: vouched for (140 answers" in told
    assert {one.metric for one in good.judged("s1")} == {"judged_answer"}
    whole, *rows = agreement(good)
    assert whole["kappa_low"] >= 0.6
    assert whole["people"] == 3
    assert whole["under"] == 0
    assert whole["bias"] > 0
    assert whole["systems"] == 7
    assert whole["system_low"] > 0.9
    assert whole["without_weakest"] is not None
    assert {row["judge"] for row in (whole, *rows)} == {"both judges", "judge-a", "judge-b"}


def test_scores_that_people_changed_count_beside_only(good: Campaign, tmp_path: Path) -> None:
    whole = agreement(good)[0]
    assert whole["kappa_after"] == whole["kappa"]
    with (good.folder / "people.csv").open(encoding="utf-8", newline="") as file:
        scored = list(csv.DictReader(file))
    with (tmp_path / "changed.csv").open("w", encoding="utf-8", newline="") as out:
        table = csv.DictWriter(out, [*scored[0], "first"])
        table.writeheader()
        for row in scored:
            table.writerow(row | {"score": 3 - int(row["score"]), "first": "True"})
            table.writerow(row | {"first": "False"})
    done = good.call("vouch", "--scores", str(tmp_path / "changed.csv"))
    changed = agreement(good)[0]
    assert good.call("vouch", "--scores", str(good.folder / "people.csv")).exit_code == 0
    assert done.exit_code == 0, done.output
    assert "not vouched for" in " ".join(done.output.split())
    assert changed["kappa_after"] == whole["kappa"]
    assert changed["kappa"] < 0


def test_corrected_means_are_nearer_the_truth_than_judges_and_ranked(good: Campaign) -> None:
    rows = {row["model"]: row for row in pq.read_table(good.out / "corrected.parquet").to_pylist()}
    truth = truths(good)
    gaps = [
        (abs(row["corrected"] - truth[name]), abs(row["judges"] - truth[name])) for name, row in rows.items()
    ]
    assert np.mean([one for one, _ in gaps]) < np.mean([other for _, other in gaps])
    held_in = [
        row["low"] <= truth[name] <= row["high"] for name, row in rows.items() if row["low"] is not None
    ]
    assert len(held_in) == len(SYSTEMS)
    assert sum(held_in) >= len(SYSTEMS) - 1
    assert max(row["rank_high"] for row in rows.values()) == len(SYSTEMS)
    assert rows["s1"]["rank_low"] >= 4


def test_judges_that_guess_are_not_vouched_for_and_corrected_all_the_same(
    tmp_path: Path, release: Path
) -> None:
    campaign = held(tmp_path, release, noise=0)
    told = (tmp_path / "told.txt").read_text("utf-8")
    assert "answer: not vouched for (140 answers" in told
    assert "These judges are not vouched for" in told
    assert {one.metric for one in campaign.judged("s1")} == {"judged_answer_not_vouched_for"}
    rows = {row["model"]: row for row in pq.read_table(campaign.out / "corrected.parquet").to_pylist()}
    truth = truths(campaign)
    assert sum(row["low"] <= truth[name] <= row["high"] for name, row in rows.items()) >= len(SYSTEMS) - 1


def test_another_revision_of_a_judge_is_another_judge(good: Campaign) -> None:
    job = judge_job(str(good.folder / "suite.yaml"), None, good.out)
    path = good.out / VOUCHED
    before = path.read_text("utf-8")
    try:
        path.write_text(before.replace("judge-a@r1", "judge-a@r0"), encoding="utf-8")
        store_judged(job)
        assert {one.metric for one in good.judged("s1")} == {"judged_answer_not_vouched_for"}
    finally:
        path.write_text(before, encoding="utf-8")
        store_judged(job)
    assert {one.metric for one in good.judged("s1")} == {"judged_answer"}


def test_people_see_nothing_that_names_the_system_or_the_score(good: Campaign) -> None:
    lines = [json.loads(line) for line in (good.out / "for_people.jsonl").read_text("utf-8").splitlines()]
    assert {key for line in lines for key in line} == {
        "id", "rubric", "language", "question", "text", "reference", "reply",
    }  # fmt: skip
    answers = [one for name in SYSTEMS for one in read_rows(good.out / name / "answers.parquet", Answer)]
    by_key = {answer_key(one): one for one in answers}
    shown = [by_key[line["id"]] for line in lines]
    per_system = [sum(one.model == name for one in shown) for name in SYSTEMS]
    assert max(per_system) - min(per_system) <= 1, "every system is drawn as often"
    order = [one.model for one in shown]
    assert order != sorted(order)
    sizes = pq.read_table(good.out / "drawn.parquet").to_pylist()
    strata = {row["stratum"]: row["size"] for row in sizes}
    worded = [one for one in answers if one.kind == "answer"]
    assert sum(strata.values()) == len(worded), "weights add up to all answers"


def test_what_no_judge_could_score_comes_to_people_first(good: Campaign) -> None:
    job = judge_job(str(good.folder / "suite.yaml"), None, good.out)
    cases = {name: own for (name, _), own in cases_of(job).items()}
    means = {case.name: 1.0 for own in cases.values() for case in own}
    lost = [next(iter(cases["s4"])).name, next(iter(cases["s6"])).name]
    for name in lost:
        del means[name]
    chosen = draw(cases, means, rubric_named("answer"), 5)
    assert {case.name for _, case in chosen[:2]} == set(lost)
    assert all("unusable" in row.stratum for row, _ in chosen[:2])


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("answer,annotator,rubric,field,score\nx,p,answer,correctness,7\n", "it goes from 0 to 3"),
        ("answer,annotator,rubric,field,score\nx,p,answer,correctness,good\n", "'good' is not a score"),
        ("answer,annotator,rubric,field,score\nx,p,answer,depth,1\n", "has no field 'depth'"),
        ("answer,annotator,rubric,score\nx,p,answer,1\n", "it has no column 'field'"),
    ],
)
def test_a_table_that_does_not_fit_is_refused_by_row(tmp_path: Path, text: str, says: str) -> None:
    path = tmp_path / "people.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(UsageError, match=says):
        read_people(path, {"answer": rubric_named("answer")})


def test_labels_exported_from_the_review_are_read_as_they_are(tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    rows = ["subject,content_hash,annotator,template,name,value"]
    parts = {"literal": 1, "theme": 2, "culture": 0, "style": 3, "expression": 1}
    rows += [f"item@k1,h,p1,interpretive_depth,{name},{score}" for name, score in parts.items()]
    rows += ["item@k1,h,p2,interpretive_depth,depth,4", "item@k1,h,p3,interpretive_depth,style,1"]
    rows += ["k2,h,p1,answer_correctness,correctness,1", "k2,h,p1,answer_correctness,correctness,2"]
    path.write_text("\n".join(rows), encoding="utf-8-sig")
    rubrics = {name: rubric_named(name) for name in ("answer", "interpretive_depth")}
    found = read_people(path, rubrics)
    assert dict(found["interpretive_depth", "k1"].by) == {"p1": 7, "p2": 4}, "a part alone is no score"
    assert dict(found["answer", "k2"].by) == {"p1": 1}, "the first word is the independent one"
    assert dict(found["answer", "k2"].after) == {"p1": 2}


def test_scores_of_other_answers_alone_are_refused(good: Campaign, tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_text("answer,annotator,rubric,field,score\nx,p,answer,correctness,1\n", encoding="utf-8")
    done = good.call("vouch", "--scores", str(path))
    assert (done.exit_code, "scores no answer of this suite" in " ".join(done.output.split())) == (2, True)
    done = good.call("vouch")
    assert (done.exit_code, "give either --draw" in " ".join(done.output.split())) == (2, True)
