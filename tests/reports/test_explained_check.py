"""`mihakk checks ID` explains one check."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from mihakk.flows.cli import app
from mihakk.reports.explained_check import explain
from mihakk.validators.checks.check import CHECKS
from mihakk.validators.checks.effect import precision


def call(*words: str) -> str:
    done = CliRunner(env={"COLUMNS": "400"}).invoke(app, ["checks", *words])
    assert done.exit_code == 0, done.output
    return done.output


def test_a_check_is_explained_with_its_effect_precision_and_example() -> None:
    told = call("du03")
    rates = precision("DU03")
    assert told.startswith("DU03: no other item gives the same question another answer")
    assert "Effect: flag: the item goes to people" in told
    assert f"people read {rates.read} findings, {rates.right} were right" in told
    assert "Leave it out: --off DU03, or in a config `checks: {off: [DU03]}`" in told


def test_options_of_the_example_are_named_as_findings_name_them() -> None:
    lines = call("CH03").splitlines()
    assert "a fact of shape: an option stands there twice" in "".join(lines)
    named = [line.strip().split(":")[0] for line in lines if line.startswith("  option")]
    assert named == ["option 1 (A)", "option 2 (B)", "option 3 (C)"]


def test_programs_get_the_same_as_json() -> None:
    told = json.loads(call("CH03", "--json"))
    assert (told["id"], told["severity"], told["example"]["kind"]) == ("CH03", "block", "choice")
    assert {"title", "looks", "by_definition", "right", "read", "interval", "why"} <= told.keys()


@pytest.mark.parametrize("identifier", CHECKS.names())
def test_every_check_of_ours_has_a_text_and_an_example(identifier: str) -> None:
    found = explain(identifier)
    assert found.looks
    assert found.why
    assert found.example["kind"]


def test_what_is_no_check_is_answered_with_the_nearest() -> None:
    done = CliRunner().invoke(app, ["checks", "CH33"])
    assert done.exit_code == 2
    assert "there is no check 'CH33'; did you mean" in done.output
