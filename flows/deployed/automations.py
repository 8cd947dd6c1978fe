"""What the server does by itself: tells of failures and silence, buries dead runs, pulls decisions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from prefect.client.orchestration import SyncPrefectClient
from prefect.events.schemas.automations import AutomationCore
from prefect.exceptions import ObjectNotFound

from annotation.relay import EVENT
from mihakk.errors import UsageError

HEARTBEAT_LOST = 90
"""Seconds: three heartbeats missed, so the machine, the worker or the process is gone."""
SILENCE = 26 * 3600
"""Seconds after which a nightly job that has not come through has stopped without failing."""
ENDED = tuple(f"prefect.flow-run.{state}" for state in ("Completed", "Failed", "Cancelled", "Crashed"))
SUBJECT = "{{ flow.name }} {{ flow_run.name }}: {{ flow_run.state.name }}"
BODY = "{{ flow_run.state.message }}\n{{ flow_run|ui_url }}"

Plain = dict[str, Any]


def register(
    client: SyncPrefectClient, benchmark: str, jobs: Mapping[str, UUID], *, nightly: bool, notify: str = ""
) -> list[str]:
    """Makes or renews every automation of a benchmark; returns their names.

    Args:
        client: Of the server.
        benchmark: Its name, which the names of the automations carry.
        jobs: Flow name to deployment.
        nightly: Whether the nightly job is on a schedule, so that its silence means something.
        notify: `<block type>/<block name>` of a notification or webhook block; the `alert` job if empty.

    Raises:
        UsageError: There is no such block.
    """
    told = told_by(client, notify) if notify else None
    rules = {
        "a run failed": (_failure(jobs), told or _alert(jobs, FAILED)),
        "a run died": (_lost(jobs), CRASHED),
        "people have decided": (_annotated(benchmark), _run(jobs["review_pull"])),
    }
    if nightly:
        rules["no nightly run came through"] = (_silence(jobs), told or _alert(jobs, SILENT))
    for name, (trigger, action) in rules.items():
        wanted = {"name": f"mihakk {benchmark}: {name}", "trigger": trigger, "actions": [action]}
        automation = AutomationCore.model_validate({**wanted, "enabled": True})
        if standing := client.read_automations_by_name(automation.name):
            client.update_automation(standing[0].id, automation)
        else:
            client.create_automation(automation)
    return list(rules)


def _runs(jobs: Mapping[str, UUID], *wanted: str) -> Plain:
    """Runs of these deployments; a job started inside another is told of by the outer one."""
    names = wanted or tuple(name for name in jobs if name != "alert")
    return {
        "type": "event",
        "threshold": 1,
        "match": {"prefect.resource.id": "prefect.flow-run.*"},
        "match_related": {
            "prefect.resource.role": "deployment",
            "prefect.resource.id": [f"prefect.deployment.{jobs[name]}" for name in names],
        },
    }


def _failure(jobs: Mapping[str, UUID]) -> Plain:
    failed = ["prefect.flow-run.Failed", "prefect.flow-run.Crashed"]
    return {**_runs(jobs), "posture": "Reactive", "expect": failed}


def _lost(jobs: Mapping[str, UUID]) -> Plain:
    """A run whose heartbeats stop is dead; until it is marked so, it holds its job's only place."""
    beat = "prefect.flow-run.heartbeat"
    return {
        **_runs(jobs),
        "posture": "Proactive",
        "after": [beat],
        "expect": [beat, *ENDED],
        "for_each": ["prefect.resource.id"],
        "within": HEARTBEAT_LOST,
    }


def _silence(jobs: Mapping[str, UUID]) -> Plain:
    completed = ["prefect.flow-run.Completed"]
    return {**_runs(jobs, "nightly"), "posture": "Proactive", "expect": completed, "within": SILENCE}


def _annotated(benchmark: str) -> Plain:
    """The relay gathers hints, so each event is worth a pull; one that comes during a pull waits for it."""
    match = {"prefect.resource.id": f"mihakk.benchmark.{benchmark}"}
    return {"type": "event", "threshold": 1, "match": match, "posture": "Reactive", "expect": [EVENT]}


CRASHED: Plain = {
    "type": "change-flow-run-state",
    "state": "CRASHED",
    "message": "No heartbeat: the process, its worker or the machine is gone. The next run goes on.",
}
FAILED = {
    "job": "{{ flow.name }}: {{ flow_run.name }}",
    "state": "{{ flow_run.state.name }}",
    "message": "{{ flow_run.state.message }}",
    "run": "{{ flow_run.id | string }}",
}
SILENT = {"job": "nightly", "state": "silent", "message": "No nightly run has come through since yesterday."}


def told_by(client: SyncPrefectClient, block: str) -> Plain:
    """Sends through a notification or webhook block: from the server, so a dead worker is told of too."""
    kind, _, name = block.partition("/")
    try:
        document = client.read_block_document_by_name(name, kind)
    except ObjectNotFound as error:
        raise UsageError(
            f"Prefect has no block {block!r}: make one (Blocks in the UI) and name it as <type>/<name>, "
            "e.g. slack-webhook/team or webhook/pager"
        ) from error
    sent = {"block_document_id": str(document.id)}
    if kind == "webhook":
        return {**sent, "type": "call-webhook", "payload": f'{{"text": "{SUBJECT}"}}'}
    return {**sent, "type": "send-notification", "subject": SUBJECT, "body": BODY}


def _alert(jobs: Mapping[str, UUID], said: Mapping[str, str]) -> Plain:
    return _run(jobs["alert"], dict(said))


def _run(deployment: UUID, parameters: Plain | None = None) -> Plain:
    return {
        "type": "run-deployment",
        "source": "selected",
        "deployment_id": str(deployment),
        "parameters": parameters,
    }
