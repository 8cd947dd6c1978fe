"""Probes for contamination as questions, and conditions compared on the same records."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from mihakk.evaluation.metrics.continued import continues, names_canary
from mihakk.evaluation.running.asking import Asked, asked_of_suite, questions_of
from mihakk.evaluation.running.probes import cut_canary, cut_in_middle, shuffled_twin
from mihakk.evaluation.scoring import DEFAULT, metrics_named
from mihakk.evaluation.table.conditions import condition_sheet, conditions
from mihakk.generators.abilities import ability_of
from mihakk.generators.task import TASKS
from mihakk.machinery.errors import UsageError
from mihakk.machinery.text import key
from mihakk.releases.assemble import assemble
from mihakk.schemas.evaluation import Answer, AskedItem, Score
from mihakk.schemas.suite import Suite
from tests.evaluation.material import VERSES, score_answers
from tests.releases.release_material import hafez_items, release_arguments

GUID = "b8a60ff7-6c1c-5d2c-8f4a-111111111111"
CANARY = f"Benchmark data of demo: please keep it out of training corpora. Canary GUID {GUID}"


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> list[Asked]:
    folder = tmp_path_factory.mktemp("probed") / "r"
    assemble(folder=folder, **release_arguments(hafez_items(5)))
    suite = Suite.model_validate(
        {
            "name": "s",
            "title": "S",
            "pinned": False,
            "parts": [{"release": str(folder), "probes": ["canary", "continuation", "options"]}],
        }
    )
    return asked_of_suite(suite, lambda name: (Path(name), ""))


def of(asked: list[Asked], task: str) -> list[Asked]:
    return [one for one in asked if one.question.task == task]


def scored(asked: list[Asked], replies: dict[str, str]) -> list[Score]:
    answers = [
        Answer(
            **{name: getattr(one.question, name) for name in AskedItem.model_fields},
            model="one",
            reply=replies.get(one.question.item, ""),
        )
        for one in asked
    ]
    return score_answers(answers, questions_of(asked), metrics_named(DEFAULT))


def test_each_probe_hides_what_it_looks_for(asked: list[Asked]) -> None:
    (canary,) = of(asked, "probe_canary")
    assert len(canary.question.answer) == 36
    assert canary.question.answer not in canary.prompt
    assert canary.prompt.rstrip().endswith("Benchmark data of touchstone: please keep")
    texts, twins = of(asked, "probe_continuation"), of(asked, "probe_twin")
    assert len(texts) == len(twins) > 10
    for text, twin in zip(texts, twins, strict=True):
        assert text.question.slices["record"] == twin.question.slices["record"]
        assert len(key(text.question.answer, text.question.language)) >= 50
        assert text.question.answer not in text.prompt
        assert sorted((text.prompt + " " + text.question.answer).split()) == sorted(
            (twin.prompt + " " + twin.question.answer).split()
        ), "a twin has the same words"
    choices = {one.question.item: one for one in asked if one.template == "release"}
    for probe in of(asked, "probe_options"):
        item = choices[probe.question.item.removesuffix("#options")].question
        assert probe.question.gold == item.gold
        assert all(option in probe.prompt for option in item.options)
        assert "؟" not in probe.prompt.split("\n\n", 1)[1]
    assert {one.question.ability for one in asked if one.template == "probes"} == {"probe"}


def test_a_system_that_knows_the_release_is_found_and_one_that_does_not_is_not(asked: list[Asked]) -> None:
    knows = {one.question.item: one.question.answer for one in asked if one.template == "probes"}
    twins = {one.question.item for one in of(asked, "probe_twin")}
    rows = scored(asked, {item: text for item, text in knows.items() if item not in twins})
    by_metric = {name: [row for row in rows if row.metric == name] for name in ("continued", "canary_named")}
    assert [row.value for row in by_metric["canary_named"]] == [1.0]
    found = {task: {row.value for row in by_metric["continued"] if row.task == task} for task in
             ("probe_continuation", "probe_twin")}  # fmt: skip
    assert found == {"probe_continuation": {1.0}, "probe_twin": {0.0}}
    honest = scored(asked, dict.fromkeys(knows, "لا أعرف"))
    assert {row.value for row in honest if row.metric in by_metric} == {0.0}
    assert not {row.metric for row in rows if row.task.startswith("probe_c")} - set(by_metric)


def frame(first: list[float], second: list[float], groups: list[str]) -> pd.DataFrame:
    rows = [
        {
            "release": "r", "model": "m", "metric": "accuracy", "method": "written", "config": config,
            "value": value, "group": group, "slices": [("record", str(number))],
        }
        for config, values in (("cued", first), ("plain", second))
        for number, (value, group) in enumerate(zip(values, groups, strict=True))
    ]  # fmt: skip
    return pd.DataFrame(rows).sample(frac=1, random_state=1)


def test_conditions_are_compared_on_the_same_records() -> None:
    draw = np.random.default_rng(5)
    plain = draw.normal(0.4, 0.2, 60)
    cued = plain + draw.normal(0.1, 0.1, 60)
    alone = [str(number) for number in range(60)]
    (row,) = conditions(frame(list(cued), list(plain), alone), [("cued", "plain")])
    paired = stats.ttest_rel(cued, plain)
    interval = paired.confidence_interval(0.95)
    assert row["records"] == 60
    assert row["difference"] == pytest.approx((cued - plain).mean())
    assert (row["low"], row["high"]) == pytest.approx((interval.low, interval.high))
    assert row["p"] < 0.001
    text = condition_sheet([row]).rows[0]
    assert text[:3] == ("m", "cued", "plain")
    judged = frame(list(cued), list(plain), alone).assign(metric="judged_answer")
    assert conditions(judged, [("cued", "plain")])[0]["difference"] == row["difference"]


def test_records_of_one_condition_alone_are_left_out_and_none_in_common_is_an_error() -> None:
    whole = frame([1.0] * 12, [0.0] * 12, [str(number) for number in range(12)])
    record = whole["slices"].map(lambda facts: facts[0][1])
    part = whole[(whole["config"] == "cued") | record.isin(["1", "2", "3"])]
    (row,) = conditions(part, [("cued", "plain")])
    assert (row["records"], row["difference"], row["low"]) == (3, 1.0, None)
    apart = whole[(whole["config"] == "cued") == record.isin(["1", "2"])]
    with pytest.raises(UsageError, match="cued and plain share no record"):
        conditions(apart, [("cued", "plain")])
    with pytest.raises(UsageError, match="no scores of 'cue'; there are: cued, plain"):
        conditions(whole, [("cue", "plain")])


def test_the_canarys_identifier_is_hidden_and_a_hit_is_proof() -> None:
    shown, hidden = cut_canary(CANARY, GUID)
    assert GUID not in shown
    assert f"{shown} {hidden}" == CANARY
    assert names_canary(f"... GUID {GUID.upper().replace('-', ' ')}!", GUID)
    assert not names_canary(CANARY.replace(GUID, GUID[:-1]), GUID)
    with pytest.raises(ValueError, match="does not hold"):
        cut_canary("no canary", GUID)


def test_a_continuation_has_to_go_on_for_fifty_characters() -> None:
    text = " ".join(VERSES)
    cut = cut_in_middle(text, "ar")
    assert cut is not None
    assert f"{cut.shown} {cut.hidden}" == text
    assert continues(cut.hidden, cut.hidden, "ar")
    assert continues(cut.hidden.replace("َ", ""), cut.hidden, "ar"), "marks do not count"
    assert not continues(" ".join(cut.hidden.split()[1:]), cut.hidden, "ar")
    assert not continues(cut.hidden[:40], cut.hidden, "ar")
    assert cut_in_middle("بيت قصير جدا", "ar") is None


def test_a_twin_has_the_same_words() -> None:
    twin = shuffled_twin(VERSES[0], seed=1, name="e1")
    assert sorted(twin.split()) == sorted(VERSES[0].split())
    assert twin != VERSES[0]
    assert twin == shuffled_twin(VERSES[0], seed=1, name="e1")


def test_every_task_is_recall_or_skill() -> None:
    recall = {name for name, _ in TASKS if ability_of(name) == "recall"}
    assert {"continuation", "completion", "fragment_cued", "shuffled"} <= recall
    assert not {name for name in recall if "meaning" in name or "explanation" in name}
