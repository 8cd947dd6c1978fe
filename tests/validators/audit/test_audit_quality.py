"""Seeded defects: what they are, and that a known auditor is measured as what it is."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from typing import Any

import pytest

from mihakk.machinery.llm.journal import Journal
from mihakk.machinery.llm.scripted import Answer, Call, ScriptedServer
from mihakk.machinery.settings import settings
from mihakk.schemas.finding import Finding
from mihakk.schemas.item import ChoiceItem
from mihakk.schemas.model import AuditorsConfig
from mihakk.validators.audit.audit_quality import ALL, measure_quality, table
from mihakk.validators.audit.auditing import open_panel
from mihakk.validators.audit.defects import DEFECTS, injections, seed_defects
from mihakk.validators.audit.prompt import sample
from mihakk.validators.audit.rates import agreement

MANY = 60


@pytest.fixture
def many(items: list[Any]) -> list[Any]:
    """Sixty choice and sixty answer items, all different."""
    answers = [
        items[8].model_copy(
            update={
                "id": f"fa-completion-{n:04}",
                "question": f"واژهٔ پایانی بیت {n} چیست و چرا؟",
                "answer": f"دل{n}",
            }
        )
        for n in range(MANY)
    ]
    choices = [
        items[0].model_copy(
            update={
                "id": f"ar-idiom_meaning-{n:04}",
                "question": f"ما معنى المثل المصري رقم {n} في قولهم: اللي فات مات؟",
                "options": tuple(f"معنى {n} {m}" for m in range(4)),
            }
        )
        for n in range(MANY)
    ]
    return [*choices, *answers]


def rules(items: Any) -> list[Finding]:
    """Two checks of known worth: one exact, one that also objects to every seventh item."""
    found = []
    for item in items:
        if isinstance(item, ChoiceItem) and len(set(item.options)) < len(item.options):
            found.append(Finding(check="XX01", severity="block", subject=item.id, detail="d"))
        if "7" in item.id:
            found.append(Finding(check="XX02", severity="report", subject=item.id, detail="d"))
    return found


def test_at_least_fifteen_kinds_each_changing_one_thing(many: list[Any]) -> None:
    assert len({defect.kind for defect in DEFECTS}) == len(DEFECTS) >= 15
    seeded = seed_defects(many, seed=1, per_kind=10)
    texts = len(injections())
    assert texts >= 20
    assert len(seeded) == 10 * (len(DEFECTS) - 1) + texts
    injected = [twin.bad.question for twin in seeded if twin.defect.kind == "injection"]
    assert all(any(question.endswith(text) for question in injected) for text in injections())
    covered = {key for defect in DEFECTS for key in defect.criteria}
    assert len(covered) == 10
    for twin in seeded:
        assert sample(twin.bad) != sample(twin.clean), twin.defect.kind
        assert twin.bad.id == f"{twin.clean.id}~{twin.defect.kind}"
        assert type(twin.bad).model_validate(twin.bad.model_dump()) == twin.bad
    assert seed_defects(list(reversed(many)), seed=1, per_kind=10) == seeded
    assert seed_defects(many, seed=2, per_kind=10) != seeded


def test_a_wrong_gold_is_another_answer(many: list[Any]) -> None:
    for twin in seed_defects(many, 0, 200, [d for d in DEFECTS if d.kind in ("wrong_gold", "injection")]):
        before, after = json.loads(sample(twin.clean)), json.loads(sample(twin.bad))
        name = "marked_correct" if "options" in before else "reference_answer"
        assert before[name] != after[name]
        if twin.defect.kind == "injection":
            assert len(after["question"]) > len(before["question"])


@pytest.mark.parametrize("known_as", [(0.8, 0.05), (0.3, 0.2)])
def test_an_auditor_of_known_recall_comes_out_inside_its_interval(
    auditors: Callable[..., AuditorsConfig],
    journal: Journal,
    many: list[Any],
    said: Callable[..., str],
    known_as: tuple[float, float],
) -> None:
    recall, false_alarm = known_as
    defects = [defect for defect in DEFECTS if defect.kind in ("wrong_gold", "mojibake", "duplicate_option")]
    truth = {sample(twin.bad): twin.defect for twin in seed_defects(many, 5, 60, defects)}

    def known(call: Call) -> Answer:
        user = call.body["messages"][1]["content"]
        chance = int(hashlib.sha256(user.encode()).hexdigest()[:8], 16) / 2**32
        defect = truth.get(user)
        if defect is None:
            return Answer(text=said(*(["spelling_accuracy"] if chance < false_alarm else [])))
        zeros = ["answer_alignment"] if defect.kind == "wrong_gold" else ["spelling_accuracy"]
        return Answer(text=said(*(zeros if chance < recall else [])))

    with (
        ScriptedServer(known) as one,
        ScriptedServer(lambda _: Answer(text=said())) as two,
        open_panel(auditors(one.url, two.url, concurrency=8), settings()) as panel,
    ):
        report = measure_quality(
            many, rules, panel, journal, per_kind=60, seed=5, defects=defects, repeats=20
        )
    rows = report.rows("auditor:one")
    for kind in ("wrong_gold", "mojibake", ALL):
        low, high = rows[kind].recall.interval
        assert low <= recall <= high, kind
        low, high = rows[kind].false_alarms.interval
        assert low <= false_alarm <= high, kind
    assert rows["wrong_gold"].wrong_criterion.hits == 0
    assert rows["mojibake"].wrong_criterion.value == 1.0
    assert rows["wrong_gold"].recall.cases == 60
    blind = report.rows("auditor:two")[ALL]
    assert (blind.recall.hits, blind.false_alarms.hits) == (0, 0)
    assert report.rows("check:XX01")["duplicate_option"].recall.value == 1.0
    assert report.rows("rules")["duplicate_option"].recall.value == 1.0
    assert report.rows("rules")[ALL].false_alarms.hits == 0
    assert report.rows("check:XX02")[ALL].false_alarms.hits > 0
    assert report.rows("policy:strict")["wrong_gold"].recall.hits == rows["wrong_gold"].recall.hits
    assert report.rows("policy:qimma")["wrong_gold"].recall.hits == 0
    assert [one.repeated.observed for one in report.auditors] == [1.0, 1.0]
    assert report.auditors[0].invalid.hits == 0
    shown = table(report)
    assert "| wrong_gold |" in shown
    assert "check:" not in shown
    assert "XX01" in table(report, ["check:XX01"])


def test_rules_alone_cost_no_call(many: list[Any]) -> None:
    report = measure_quality(many, rules, None, None, per_kind=5)
    assert {row.detector for row in report.kinds} == {"rules", "check:XX01", "check:XX02"}
    assert report.auditors == ()
    assert report.between is None


def test_agreement_beyond_chance() -> None:
    assert agreement([1, 0, 1, 0], [1, 0, 1, 0]).kappa == 1.0
    assert agreement([1, 1, 0, 0], [1, 0, 1, 0]).kappa == 0.0
    always = agreement([1] * 10, [1] * 10)
    assert (always.observed, always.kappa, always.ac1) == (1.0, None, 1.0)
    skewed = agreement([1] * 98 + [0, 1], [1] * 98 + [1, 0])
    assert skewed.kappa is not None
    assert skewed.kappa < 0
    assert skewed.ac1 is not None
    assert skewed.ac1 > 0.95
    assert agreement([], []).observed is None
    with pytest.raises(ValueError, match="longer"):
        agreement([1], [1, 0])
