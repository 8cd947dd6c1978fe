"""Each gate, open and shut."""

from __future__ import annotations

from typing import Any

import pytest

from mihakk.machinery.errors import UsageError
from mihakk.releases.gates import answered_by, gates, overridable, require
from mihakk.releases.release_facts import (
    AgreementFact,
    AuditorAgreementFact,
    MissRateFact,
    ReleaseFacts,
)
from mihakk.schemas.quality import Baseline
from tests.releases.release_material import FACTS, hafez_config, idiom_items, verdict_of

CAPABLE = tuple(one.model_copy(update={"capable": True}) for one in FACTS.auditors)


def solver(accuracy: float, low: float, task: str = "x") -> Baseline:
    """A solver that gets so many right, at least so many by its interval."""
    return Baseline(
        task=task,
        language="fa",
        name="rhyme_only",
        accuracy=accuracy,
        chance=0.33,
        questions=42,
        low=low,
        high=1.0,
    )


AUDITORS_AGREE = AuditorAgreementFact(criterion="all", scores=100, observed=0.8, ac1=0.6)


def found(
    facts: ReleaseFacts = FACTS, review: dict[str, Any] | None = None, **release: Any
) -> dict[str, bool]:
    """Names of the gates that are shut or met, by whether they are shut."""
    items = idiom_items()
    config = hafez_config(**release)
    if review:
        config = config.model_copy(update={"review": config.review.model_copy(update=review)})
    return {
        gate.name: gate.shut
        for gate in gates(items, [verdict_of(item) for item in items[:-1]], config, facts)
    }


def test_nothing_is_shut_that_the_config_does_not_ask_for() -> None:
    assert not any(found().values())


@pytest.mark.parametrize(
    ("name", "bad", "good", "asked"),
    [
        ("unresolved", {"unresolved": 3}, {"unresolved": 0}, {"review": {"unresolved": "wait"}}),
        ("capable_auditors", {}, {"auditors": CAPABLE}, {"require_capable_auditors": True}),
        ("capable_auditors", {"auditors": ()}, {"auditors": CAPABLE}, {"require_capable_auditors": True}),
        ("agreement", {"agreement": None}, {"agreement": AgreementFact(value=0.8, items=9, annotators=2)}, {"least_agreement": 0.67}),
        (
            "agreement",
            {"agreement": AgreementFact(value=0.66, items=9, annotators=2)},
            {"agreement": AgreementFact(value=0.67, items=9, annotators=2)},
            {"least_agreement": 0.67},
        ),
        (
            "agreement",
            {"agreement": AgreementFact(value=0.9, least=0.2, items=9, unanswered=9, annotators=2)},
            {"agreement": AgreementFact(value=0.9, least=0.7, items=9, unanswered=1, annotators=2)},
            {"least_agreement": 0.67},
        ),
        ("auditor_agreement", {"auditor_agreement": ()}, {"auditor_agreement": (AUDITORS_AGREE,)}, {"least_auditor_agreement": 0.6}),
        (
            "auditor_agreement",
            {"auditor_agreement": (AUDITORS_AGREE.model_copy(update={"ac1": 0.59}),)},
            {"auditor_agreement": (AUDITORS_AGREE,)},
            {"least_auditor_agreement": 0.6},
        ),
        (
            "miss_rate",
            {"miss_rate": MissRateFact(sampled=20, defective=0, upper_bound=0.139)},
            {"miss_rate": MissRateFact(sampled=300, defective=0, upper_bound=0.0099)},
            {"miss_rate_bound": 0.02},
        ),
        ("miss_rate", {}, {"miss_rate": MissRateFact(sampled=300, defective=0, upper_bound=0.01)}, {"miss_rate_bound": 0.02}),
        (
            "miss_rate",
            {"miss_rate": MissRateFact(sampled=300, defective=0, outdated=151, upper_bound=0.01)},
            {"miss_rate": MissRateFact(sampled=300, defective=0, outdated=150, upper_bound=0.01)},
            {"miss_rate_bound": 0.02},
        ),
        (
            "miss_rate",
            {"miss_rate": MissRateFact(sampled=150, defective=0, upper_bound=0.01, covered=0.97)},
            {"miss_rate": MissRateFact(sampled=150, defective=0, waiting=2, upper_bound=0.02, covered=0.99)},
            {"miss_rate_bound": 0.02},
        ),
        (
            "baselines",
            {"baselines": (solver(0.92, 0.81),)},
            {"baselines": (solver(0.92, 0.57),)},
            {},
        ),
        ("baselines", {"baselines": (solver(0.45, 0.44),)}, {"baselines": (solver(0.45, 0.42),)}, {"baseline_margin": 0.1}),
        (
            "baselines",
            {"baselines": (solver(0.92, 0.81), solver(0.92, 0.81, "y"))},
            {"baselines": (solver(0.92, 0.81),)},
            {"baseline_margins": {"x": 0.5}},
        ),
    ],
)  # fmt: skip
def test_a_gate_shuts_and_opens(
    name: str, bad: dict[str, Any], good: dict[str, Any], asked: dict[str, Any]
) -> None:
    assert found(FACTS.model_copy(update=bad), **asked)[name]
    assert not found(FACTS.model_copy(update=good), **asked)[name]


def test_a_sample_that_is_not_answered_bars_publication_though_no_bound_is_set() -> None:
    whole = MissRateFact(sampled=300, defective=0, upper_bound=0.01)
    part = whole.model_copy(update={"sampled": 298, "waiting": 2, "unanswered": {"fa/era_choice": 2}})
    undrawn = whole.model_copy(update={"covered": 0.999, "unanswered": {"ar/metre_choice": 0}})
    for fact, bars in ((whole, False), (part, True), (undrawn, True)):
        found = gates(idiom_items(), [], hafez_config(), FACTS.model_copy(update={"miss_rate": fact}))
        (gate,) = [one for one in found if one.name == "miss_rate"]
        assert (gate.shut, gate.bars_publication) == (False, bars)
        assert all(name in gate.found for name in fact.unanswered)


def test_a_full_audit_needs_every_item_seen() -> None:
    items = idiom_items()
    config = hafez_config(require_full_audit=True)
    part = gates(items, [verdict_of(item) for item in items[1:]], config, FACTS)
    assert [gate.name for gate in part if gate.shut] == ["full_audit"]
    assert not any(gate.shut for gate in gates(items, [verdict_of(item) for item in items], config, FACTS))


def test_one_giant_work_that_no_split_can_part_shuts_a_large_release() -> None:
    base = idiom_items()[0]

    def items(works: int) -> list[Any]:
        return [
            base.model_copy(
                update={
                    "id": f"i{n}",
                    "question": f"q{n}",
                    "fields": {"n": str(n)},
                    "origin": base.origin.model_copy(update={"records": (f"poem{n % works}:{n}",)}),
                }
            )
            for n in range(1000)
        ]

    def splits(works: int, **release: Any) -> Any:
        return next(g for g in gates(items(works), [], hafez_config(**release), FACTS) if g.name == "splits")

    assert splits(1).shut
    assert "the largest (poem0) with 100.0%" in splits(1).found
    assert not splits(500).shut


def test_an_unknown_licence_always_shuts() -> None:
    items = (idiom_items()[0].model_copy(update={"licence": ""}),)
    shut = [
        gate for gate in gates(items, [], hafez_config(licence="all-rights-reserved"), FACTS) if gate.shut
    ]
    assert [gate.name for gate in shut] == ["licences"]
    assert "(empty): 1" in shut[0].found
    assert "all-rights-reserved" in shut[0].found


def test_the_refusal_names_every_shut_gate_and_its_remedy() -> None:
    config = hafez_config(require_capable_auditors=True, miss_rate_bound=0.01)
    with pytest.raises(
        UsageError, match=r"2 conditions.*\n  capable_auditors: .*\n  miss_rate: .*miss_rate_sample"
    ):
        require(gates(idiom_items(), [], config, FACTS))
    require(gates(idiom_items(), [], hafez_config(), FACTS))


@pytest.mark.parametrize(
    ("answered", "declared", "passes"),
    [
        (("m-2026-08-06",), ("m",), False),
        (("m", "other"), ("m",), False),
        (("m-2026-08-06",), ("m", "m-2026-08-06"), True),
        (("",), ("m",), True),
        ((), ("m",), True),
    ],
)
def test_replies_of_an_undeclared_model_bar_a_publication_and_unnamed_ones_are_told(
    answered: tuple[str, ...], declared: tuple[str, ...], *, passes: bool
) -> None:
    told = {"answered_by": answered, "names": declared}
    gate = answered_by([one.model_copy(update=told) for one in CAPABLE])
    assert gate.bars_publication is not passes
    assert ("not known who answered" in gate.found) == (answered in ((), ("",)))
    with pytest.raises(UsageError, match="served_as"):
        overridable("answered_by", "we looked at it")
