"""Probes: what is proof, what is evidence, and what is only chance."""

from __future__ import annotations

import pytest

from evaluation.contamination import cut_canary, cut_in_middle, shuffled_twin
from evaluation.metrics.continued import continues, names_canary
from generators.abilities import ability_of
from generators.task import TASKS
from tests.evaluation.material import VERSES

GUID = "b8a60ff7-6c1c-5d2c-8f4a-111111111111"
CANARY = f"Benchmark data of demo: please keep it out of training corpora. Canary GUID {GUID}"


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
