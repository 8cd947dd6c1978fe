"""Judges from their first score to corrected means, with people who answer on the templates' own screens."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

from mihakk.annotation.decisions.export import write_csv
from mihakk.annotation.screens.ratings import Label
from mihakk.machinery.ids import item_id, sha256
from mihakk.machinery.llm.scripted import Answer as Said
from mihakk.machinery.llm.scripted import Call, ScriptedServer
from mihakk.pipeline.campaigns import exported_labels
from mihakk.pipeline.people import review_stores
from mihakk.releases.assemble import assemble
from mihakk.schemas.item import ExplanationItem, Origin
from tests.evaluation.judge_campaign import Campaign, schema_of
from tests.pipeline.campaign_round import answered, asked, opened
from tests.releases.release_material import hafez_items, release_arguments

SYSTEMS = ("s1", "s2", "s3", "s4", "s5", "s6", "s7")
SHARES = dict(zip(SYSTEMS, (0.05, 0.1, 0.15, 0.6, 0.65, 0.7, 0.75), strict=True))
"""How often a system's answer is the best there is; else it is 0, 1 or 2."""
RUBRICS = {"answer_correctness": "answer", "interpretive_depth": "interpretive_depth"}
PARTS = ("literal", "theme", "culture", "style", "expression")
DEPTHS = ((0, 0, 0, 0, 0), (1, 1, 1, 0, 0), (1, 2, 1, 2, 1), (1, 2, 2, 3, 2))
"""The parts of a depth of 0, 3, 7 and 10."""
POEMS = 14


def chance(text: str, below: int) -> int:
    return int(sha256(text.encode())[:8], 16) % below


def quality(system: str, item: str) -> int:
    name = f"{system} {item}"
    return 3 if chance(name, 1000) < 1000 * SHARES[system] else chance(f"which {name}", 3)


def poem(number: int) -> ExplanationItem:
    """A ghazal's first couplet, with the second in the place of its explanation."""
    import hafez

    record, lines = f"own:poem{number}", hafez.get_poem(100 + number)["poem"]
    return ExplanationItem(
        id=item_id("verse_explanation", "fa", [record]),
        task="verse_explanation",
        language="fa",
        question=f"هر بیت را شرح بده: {lines[0]}",
        verses=(f"{lines[0]} / {lines[1]}",),
        explanations=(f"{lines[2]} / {lines[3]}",),
        metadata={"poet": "hafez"},
        origin=Origin(records=(record,), generator="verse_explanation", generator_version="1"),
        licence="public-domain",
    )


def judge(call: Call) -> Said:
    """Sees the truth, and is a step too kind to one answer in five."""
    reply = json.loads(call.body["messages"][1]["content"])["reply"]
    asked_for = schema_of(call)["properties"]
    if "extracted" in asked_for:
        return Said(text=json.dumps({"extracted": reply}))
    given = min(3, int(reply.split()[1]) + (chance(f"{call.body['model']} {reply}", 5) == 0))
    if "correctness" in asked_for["scores"]["properties"]:
        scores = {"correctness": given}
    else:
        scores = dict(zip(PARTS, DEPTHS[given], strict=True))
    return Said(text=json.dumps({"reason": "so", "scores": scores}))


def person(rubric: str, reply: str, who: int) -> dict[str, str]:
    """What one of three people answers on the screen: the truth, one time in twenty a step off."""
    truth = int(reply.split()[1])
    draw = chance(f"person {who} {reply}", 20)
    seen = min(3, max(0, truth + (1 if who % 2 else -1) * (draw == 0)))
    if rubric == "answer":
        return {"correctness": str(seen)}
    return {name: str(mark) for name, mark in zip(PARTS, DEPTHS[seen], strict=True)}


@pytest.mark.slow
def test_judges_are_vouched_for_by_people_who_answered_on_the_screens(tmp_path: Path) -> None:
    release = tmp_path / "release"
    items = (*hafez_items(POEMS + 2), *map(poem, range(POEMS)))
    assemble(folder=release, **release_arguments(items, test_share=1.0))
    campaign = Campaign(tmp_path / "suite", release, rubrics=tuple(RUBRICS.values()), systems=SYSTEMS)
    campaign.suite["parts"][0]["only"] = ["continuation_completion", "verse_explanation"]
    # One a ghazal, so that there are clusters enough for an interval.
    first = {one.group: name for name, one in campaign.questions.items() if one.kind == "answer"}
    words = list(first.values())[:POEMS]
    deep = [name for name, one in campaign.questions.items() if one.kind == "explanation"]
    campaign.questions = {name: campaign.questions[name] for name in (*words, *deep)}
    campaign.answer(lambda name, one: f"درجة {quality(name, one.item)} {name} {one.item}")
    with ScriptedServer(judge) as server:
        campaign.write(server.url)
        done = campaign.call("judge")
        assert done.exit_code == 0, done.output
    done = campaign.call("vouch", "--draw", "80")
    assert done.exit_code == 0, done.output

    drawn_file = campaign.out / "for_people.jsonl"
    shown = [json.loads(line) for line in drawn_file.read_text("utf-8").splitlines()]
    replies = {(one["rubric"], one["id"]): one["reply"] for one in shown}
    campaigns: list[dict[str, Any]] = [
        {"template": template, "rows": str(drawn_file), "size": 200, "overlap": 3} for template in RUBRICS
    ]
    build = opened(tmp_path / "build", "completion", campaigns=campaigns)
    for template, rubric in RUBRICS.items():
        drawn, tasks = asked(build, template)
        assert len(drawn) == sum(one["rubric"] == rubric for one in shown) == 80
        assert not any(system in json.dumps(tasks, ensure_ascii=False) for system in ("judge-a", "family"))
        given = {
            row.subject: [person(rubric, replies[rubric, row.key], who) for who in range(3)] for row in drawn
        }
        answered(build, template, tasks, given)
    rows, first = exported_labels(review_stores(build))
    write_csv(people := tmp_path / "people.csv", rows, Label, first)
    done = campaign.call("vouch", "--scores", str(people))
    assert done.exit_code == 0, done.output

    agreement = pq.read_table(campaign.out / "agreement.parquet").to_pylist()
    corrected = pq.read_table(campaign.out / "corrected.parquet").to_pylist()
    for template, rubric in RUBRICS.items():
        whole = next(
            row
            for row in agreement
            if (row["rubric"], row["group"], row["judge"]) == (rubric, "all", "both judges")
        )
        assert whole["kappa_low"] >= 0.6, template
        assert (whole["people"], whole["answers"]) == (3, 80)
        assert whole["bias"] > 0, "too kind"
        assert whole["pearson"] < whole["system_pearson"], "systems are easier to tell apart than answers"
        assert whole["without_weakest"] is not None
        assert 0.8 < whole["between_people"] < 1
        assert f"{rubric}: vouched for (80 answers" in " ".join(done.output.split())
        chosen = words if rubric == "answer" else deep
        scale = (0, 1, 2, 3) if rubric == "answer" else tuple(map(sum, DEPTHS))
        rows = {row["model"]: row for row in corrected if row["rubric"] == rubric}
        truth = {name: float(np.mean([scale[quality(name, item)] for item in chosen])) for name in SYSTEMS}
        kind, left = (
            float(np.mean([row[figure] - truth[name] for name, row in rows.items()]))
            for figure in ("judges", "corrected")
        )
        assert kind > abs(left), "people take the kindness out"
        held = [
            row["low"] <= truth[name] <= row["high"] for name, row in rows.items() if row["low"] is not None
        ]
        assert sum(held) >= len(SYSTEMS) - 1 == len(held) - 1
    metrics = {one.metric for one in campaign.judged("s1") if not one.metric.endswith("_not_vouched_for")}
    assert metrics == {"judged_answer", "judged_interpretive_depth"}, (
        "ranked by from now on: totals, no fields"
    )
