"""prefect.yaml, the commands that bring it onto a server, and the automations that come with it."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from uuid import uuid4

import pytest
import yaml
from jinja2.sandbox import SandboxedEnvironment
from prefect.events.schemas.automations import AutomationCore
from prefect.exceptions import ObjectNotFound
from prefect.server.events.actions import RunDeployment
from prefect.server.utilities import user_templates
from prefect.utilities.importtools import import_object
from prefect.utilities.schema_tools.hydration import HydrationContext, hydrate

from mihakk.annotation.label_studio.relay import EVENT
from mihakk.flows.deployed.automations import register, told_by
from mihakk.flows.deployed.deployments import deployments
from mihakk.flows.deployed.job import DEPLOYED_CODE, open_job
from mihakk.machinery.errors import UsageError
from mihakk.machinery.settings import ROOT
from mihakk.pipeline.build import code_version
from mihakk.pipeline.schedules import described
from mihakk.schemas.schedule import Schedule

JOBS = {
    "ingest",
    "build",
    "review_push",
    "review_pull",
    "release",
    "nightly",
    "digest",
    "audit",
    "evaluate",
    "score",
    "alert",
}


class Automations:
    """As much of a server as registering needs."""

    def __init__(self) -> None:
        self.standing: dict[str, AutomationCore] = {}

    def read_automations_by_name(self, name: str) -> list[Any]:
        found = self.standing.get(name)
        return [type("Standing", (), {"id": name})] if found else []

    def create_automation(self, automation: AutomationCore) -> None:
        assert automation.name not in self.standing
        self.standing[automation.name] = automation

    def update_automation(self, name: str, automation: AutomationCore) -> None:
        assert name in self.standing
        self.standing[name] = automation

    def read_block_document_by_name(self, name: str, kind: str) -> Any:
        if name != "team":
            raise ObjectNotFound(Exception())
        return type("Document", (), {"id": uuid4()})


def test_every_job_is_deployed_one_at_a_time_and_tagged() -> None:
    found = {one.flow_name: one for one in deployments("configs/benchmarks/persian.yaml", pooled=True)}
    assert set(found) == JOBS
    for name in JOBS - {"alert", "audit", "evaluate", "score"}:
        assert found[name].name == "persian"
        assert found[name].parameters["config"] == "configs/benchmarks/persian.yaml"
    for name in JOBS - {"alert"}:
        assert found[name].concurrency_limit == 1, name
        assert found[name].tags == ["mihakk"]
        assert found[name].work_pool_name == "mihakk"
        assert found[name].job_variables["working_dir"] == str(ROOT)
        assert found[name].job_variables["env"]["PREFECT_FLOWS_HEARTBEAT_FREQUENCY"]
    assert {one.work_pool_name for one in deployments("demo", pooled=False)} == {None}


def test_a_worker_of_another_commit_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("mihakk.flows.deployed.job.secrets_from_blocks", lambda: None)  # needs a server
    made = next(one for one in deployments("demo", pooled=True) if one.flow_name == "build")
    monkeypatch.setenv(DEPLOYED_CODE, made.job_variables["env"][DEPLOYED_CODE])
    assert open_job("demo", str(tmp_path), "runs").config.name == "demo"
    code_version.cache_clear()
    monkeypatch.setattr("mihakk.pipeline.build._code_files", lambda packages: [ROOT / "prefect.yaml"])
    with pytest.raises(UsageError, match=r"runs other code .* bring both to one commit"):
        open_job("demo", str(tmp_path), "runs")
    with pytest.raises(UsageError, match="runs other code"):
        import_object("mihakk.flows.deployed.score:score").fn("board.yaml", inbox="i", store="s", public="p")
    code_version.cache_clear()


def test_a_configs_own_schedule_is_deployed_in_place_of_the_usual_one() -> None:
    own = [
        Schedule(job="ingest", cron="0 3 * * 1", timezone="Asia/Dubai"),
        Schedule(job="nightly", cron="0 4 * * 1"),
    ]
    found = {
        one.flow_name: [
            (made.schedule.cron, made.schedule.timezone, made.active) for made in one.schedules or []
        ]  # type: ignore[union-attr]
        for one in deployments("persian", pooled=True, own=own)
    }
    assert found.pop("ingest") == [("0 3 * * 1", "Asia/Dubai", True)]
    assert found.pop("nightly") == [("0 4 * * 1", "UTC", True)]
    assert not any(found.values())


def test_a_suite_is_put_by_the_jobs_that_make_releases() -> None:
    found = {one.flow_name: one.parameters for one in deployments("demo", pooled=True, suite="demo")}
    assert {name for name, parameters in found.items() if "suite" in parameters} == {"nightly", "release"}
    assert found["nightly"]["suite"] == found["release"]["suite"] == "demo"


def test_parameters_of_prefect_yaml_are_those_of_the_flows() -> None:
    for entry in described():
        schema = import_object(entry["entrypoint"]).parameters
        unknown = set(entry["parameters"]) - set(schema.properties)
        assert not unknown, entry["entrypoint"]
        for schedule in entry["schedules"]:
            assert schedule["timezone"]


def test_registering_twice_renews_and_adds_nothing() -> None:
    server, jobs = Automations(), {name: uuid4() for name in JOBS}
    first = register(server, "demo", jobs, nightly=True)  # type: ignore[arg-type]
    again = register(server, "demo", jobs, nightly=True)  # type: ignore[arg-type]
    assert first == again
    assert len(server.standing) == len(first) == 7
    died = server.standing["mihakk demo: a run died"]
    assert died.actions[0].type == "change-flow-run-state"
    decided = server.standing["mihakk demo: people have decided"]
    assert decided.trigger.expect == {EVENT}  # type: ignore[union-attr]
    register(server, "other", jobs, nightly=False)  # type: ignore[arg-type]
    assert len(server.standing) == 7 + 6


def test_the_alarm_is_filled_in_as_a_server_does_that_has_checked_no_template(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    filters = user_templates._sync_template_environment.filters
    monkeypatch.setattr(user_templates._sync_template_environment, "filters", {**filters})
    user_templates._sync_template_environment.filters.pop("ui_url", None)
    server, jobs = Automations(), {name: uuid4() for name in JOBS}
    register(server, "demo", jobs, nightly=True)  # type: ignore[arg-type]
    action = server.standing["mihakk demo: a run failed"].actions[0]
    made = RunDeployment.model_validate(action.model_dump())
    parameters = dict(made.parameters or {})
    made._upgrade_v1_templates(parameters)
    state = SimpleNamespace(name="Crashed", message='a "quoted"\nreason')
    run = SimpleNamespace(id=uuid4(), name="nightly demo", state=state)
    context = {"flow": SimpleNamespace(name="nightly"), "flow_run": run}
    filled = hydrate(
        parameters, HydrationContext(raise_on_error=True, render_jinja=True, jinja_context=context)
    )
    assert filled == {
        "job": "nightly: nightly demo",
        "state": "Crashed",
        "message": 'a "quoted"\nreason',
        "run": str(run.id),
    }


@pytest.mark.parametrize("rule", ["a run failed", "a sign-off waits", "a sign-off still waits"])
def test_a_webhook_gets_json_whatever_the_reason_holds(rule: str) -> None:
    server, jobs = Automations(), {name: uuid4() for name in JOBS}
    register(server, "demo", jobs, nightly=True, notify="webhook/team")  # type: ignore[arg-type]
    payload = server.standing[f"mihakk demo: {rule}"].actions[0].payload
    state = SimpleNamespace(name="Failed", message='a "quoted"\nreason, بيت {{ 7 * 7 }} \\')
    run = SimpleNamespace(id=uuid4(), name="nightly demo", state=state)
    engine = SandboxedEnvironment()
    engine.filters["ui_url"] = lambda _: "http://ui"
    found = json.loads(engine.from_string(payload).render(flow=SimpleNamespace(name="release"), flow_run=run))
    assert found["text"].startswith("release nightly demo: ")
    assert (found["run"], found["link"]) == (str(run.id), "http://ui")
    assert found["reason"] == state.message if rule == "a run failed" else "approve" in found["reason"]


def test_silence_has_no_run_to_name() -> None:
    server, jobs = Automations(), {name: uuid4() for name in JOBS}
    register(server, "demo", jobs, nightly=True, notify="webhook/team")  # type: ignore[arg-type]
    payload = server.standing["mihakk demo: no nightly run came through"].actions[0].payload
    assert json.loads(SandboxedEnvironment().from_string(payload).render())["text"] == "nightly: silent"


def test_failures_go_through_the_block_that_is_named() -> None:
    server, jobs = Automations(), {name: uuid4() for name in JOBS}
    register(server, "demo", jobs, nightly=True, notify="slack-webhook/team")  # type: ignore[arg-type]
    kinds = {name: one.actions[0].type for name, one in server.standing.items()}
    assert kinds["mihakk demo: a run failed"] == "send-notification"
    assert kinds["mihakk demo: no nightly run came through"] == "send-notification"
    assert told_by(server, "webhook/team", "'a'", "'b'")["type"] == "call-webhook"  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="slack-webhook/nobody"):
        told_by(server, "slack-webhook/nobody", "'a'", "'b'")  # type: ignore[arg-type]


def test_prefect_itself_reads_the_same_file() -> None:
    whole = yaml.safe_load(Path(ROOT / "prefect.yaml").read_text("utf-8"))
    assert whole["pull"][0]["prefect.deployments.steps.set_working_directory"]["directory"]
    assert {entry["work_pool"]["name"] for entry in whole["deployments"]} == {"mihakk"}
