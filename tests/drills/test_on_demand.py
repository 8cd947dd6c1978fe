"""Jobs that a person or an event starts, and a failure of one of them that reaches the team's own webhook."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from mihakk.annotation.label_studio.relay import emit
from mihakk.machinery.settings import ROOT, Settings
from mihakk.pipeline.schedules import described
from tests.drills.pager import BLOCK
from tests.drills.test_nightly import place
from tests.end_to_end.conftest import Workshop
from tests.prefect_server import PATIENCE, PREFECT, PrefectServer

pytestmark = [pytest.mark.services, pytest.mark.timeout(900)]

QUESTIONS = [
    {"q": "ما عاصمة مصر؟", "a": "القاهرة", "b": "بغداد", "c": "دمشق", "d": "تونس", "gold": "A"},
    {"q": "ما عاصمة العراق؟", "a": "القاهرة", "b": "بغداد", "c": "دمشق", "d": "تونس", "gold": "B"},
    {"q": "ما عاصمة العراق؟", "a": "القاهرة", "b": "بغداد", "c": "دمشق", "d": "تونس", "gold": "C"},
]


def test_an_audit_is_asked_for_and_a_failed_pull_rings_the_pager(
    workshop: Workshop,
    prefect_server: PrefectServer,
    pager: tuple[str, list[str]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    address, told = pager
    prefect_server.run(sys.executable, "-c", BLOCK, address)
    prefect_server.deploy(workshop.config, "--notify", "webhook/pager")
    nowhere = {"MIHAKK_LABEL_STUDIO_HOME": str(tmp_path / "no-label-studio")}
    prefect_server.worker(**place(workshop, "asked"), **nowhere)

    source = tmp_path / "capitals.jsonl"
    source.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in QUESTIONS), "utf-8")
    audit = prefect_server.submit(
        "audit/on-demand",
        source=str(source),
        mapping="question=q,choices=a+b+c+d,gold=gold",
        auditors="",
        out=str(tmp_path / "audited"),
    )
    assert prefect_server.ended(audit)["type"] == "COMPLETED"
    assert (tmp_path / "audited" / "report.html").exists()
    artifacts = {row["key"]: row["data"] for row in prefect_server.rows("artifacts")}
    assert "3 items, 0 unreadable rows" in artifacts["audit-summary"]
    assert '"flagged": 2' in artifacts["audit-subsets"], "two rows disagree: people decide on both"
    assert told == []

    monkeypatch.setenv("PREFECT_API_URL", prefect_server.url)
    emit(Settings(), "small", str(workshop.config))
    pull = prefect_server.deployment("review_pull/small")["id"]

    def pulled() -> list[dict[str, Any]]:
        return [run for run in prefect_server.rows("flow_runs") if run["deployment_id"] == pull]

    prefect_server.wait(pulled, PATIENCE, "the event started no pull")
    state = prefect_server.ended(pulled()[0]["id"])
    assert state["type"] == "FAILED"
    assert "mihakk review serve" in state["message"], "the fix is not said"
    prefect_server.wait(lambda: told, PATIENCE, "the webhook was not called")
    (page,) = told
    assert json.loads(page)["text"].startswith("review_pull ")
    assert json.loads(page)["text"].endswith(": Failed")
    assert json.loads(page)["reason"] == state["message"]
    assert pulled()[0]["id"] in json.loads(page)["link"]


def test_prefects_own_command_reads_the_same_file(prefect_server: PrefectServer) -> None:
    prefect_server.run(*PREFECT, "work-pool", "create", "--type", "process", "mihakk")
    prefect_server.run(*PREFECT, "--no-prompt", "deploy", "--all", cwd=ROOT, MIHAKK_ROOT=str(ROOT))
    found = {row["entrypoint"]: row for row in prefect_server.rows("deployments")}
    prefect_server.unschedule()
    assert found.keys() == {entry["entrypoint"] for entry in described()}
    assert found["mihakk.flows.deployed.nightly:nightly"]["pull_steps"] == [
        {"prefect.deployments.steps.set_working_directory": {"directory": str(ROOT)}}
    ]
    prefect_server.worker(MIHAKK_ROOT=str(ROOT))
    run = prefect_server.submit("alert/on-failure", job="a try", message="through Prefect's own command")
    assert prefect_server.ended(run)["type"] == "COMPLETED"
    (note,) = [row["data"] for row in prefect_server.rows("artifacts") if row["key"] == "alert"]
    assert "through Prefect's own command" in note
