"""A person's word binds for the tables they saw, opens or shuts the gate, and is told by the card."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from mihakk.pipeline.build import Build
from mihakk.pipeline.sign_off import sign, standing_sign_off
from mihakk.releases.assemble import assemble
from mihakk.releases.gates import gates
from mihakk.schemas.benchmark import BenchmarkConfig, SourceUse, TaskUse
from mihakk.schemas.manifest import ShardCounts, ShardManifest
from mihakk.schemas.sign_off import SignOff
from tests.releases.release_material import FACTS, hafez_config, idiom_items, release_arguments


@pytest.fixture
def build(tmp_path: Path) -> Build:
    config = BenchmarkConfig(
        name="small", title="S", sources=(SourceUse(use="x"),), tasks=(TaskUse(use="y"),)
    )
    return Build(config, str(tmp_path / "lake"), tmp_path / "run")


def reviewed(build: Build, digest: str) -> None:
    shard = ShardManifest(
        shard="a-0", digest="d", parts={"items": digest}, counts=ShardCounts(), seconds=0, started=""
    )
    build.stage("7_reviewed").finish([shard], inputs={}, config_digest="", code_version="")


def test_a_word_binds_for_the_tables_as_they_were(build: Build) -> None:
    reviewed(build, "one")
    assert standing_sign_off(build) is None
    sign(build, "reject", "Layla", "the split\nleaks")
    sign(build, "approve", "Layla")
    word = standing_sign_off(build)
    assert word is not None
    assert (word.decision, word.name) == ("approve", "Layla")
    reviewed(build, "two")
    assert standing_sign_off(build) is None
    reviewed(build, "one")
    assert standing_sign_off(build) == word


@pytest.mark.parametrize(
    ("decision", "says"), [("approve", "Layla approved"), ("reject", "Layla rejected"), (None, "Nobody")]
)
def test_only_an_approval_opens_the_gate_where_it_is_asked(decision: str | None, says: str) -> None:
    word = None
    if decision:
        word = SignOff.model_validate(
            {
                "tables": "t",
                "decision": decision,
                "name": "Layla",
                "decided_at": datetime(2026, 1, 2, tzinfo=UTC),
            }
        )
    facts = FACTS.model_copy(update={"sign_off": word})
    for asked in (False, True):
        gate = gates(idiom_items(), [], hafez_config(sign_off=asked), facts)[-1]
        assert gate.name == "sign_off"
        assert gate.shut == (asked and decision != "approve")
        assert says in gate.found


def test_the_card_names_who_signed_and_not_their_note(tmp_path: Path) -> None:
    word = SignOff(
        tables="t",
        decision="approve",
        name="ليلى <b>",
        note="see [here](x)",
        decided_at=datetime(2026, 1, 2, tzinfo=UTC),
    )
    facts = FACTS.model_copy(update={"sign_off": word})
    release = assemble(folder=tmp_path / "r", **release_arguments(idiom_items(), facts))
    card = (release.folder / "README.md").read_text("utf-8")
    assert "Signed off by ليلى " in card
    assert " on 2026-01-02." in card
    assert "see " + "\\[here" not in card
    assert "<b>" not in card
    assert "[here](x)" not in card
