"""What the server does by itself: tells of failures, silence and sign-offs, ends dead runs, pulls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from prefect.client.orchestration import SyncPrefectClient
from prefect.events.schemas.automations import AutomationCore
from prefect.exceptions import ObjectNotFound

from mihakk.annotation.label_studio.relay import EVENT
from mihakk.machinery.errors import UsageError

HEARTBEAT_LOST = 90
"""Seconds: three heartbeats missed, so the machine, the worker or the process is gone."""
SILENCE = 26 * 3600
"""Seconds after which a nightly job that has not come through has stopped without failing."""
DROPPED = "mihakk.blind.dropped"
"""Sent by whoever takes in answers to a blind release; its payload holds the parameters of `score`."""
RUN = "prefect.flow-run."
BEAT, PAUSED, COMPLETED = f"{RUN}heartbeat", f"{RUN}Paused", f"{RUN}Completed"
FAILED = (f"{RUN}Failed", f"{RUN}Crashed")
ENDED = (COMPLETED, f"{RUN}Cancelled", *FAILED)
REMINDER = 24 * 3600
"""Seconds after which a sign-off that nobody has given is asked for again."""
STATE = "flow_run.state.name"
WAITS = "'waits for a sign-off'"
STILL_WAITS = "'still waits for a sign-off, since a day'"
REASON = "flow_run.state.message"
SIGN = "'Read the artifact sign-off of this run, then resume it with approve or reject.'"

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

    def told(state: str, reason: str) -> Plain:
        text = f"flow.name ~ ' ' ~ flow_run.name ~ ': ' ~ {state}"
        return told_by(client, notify, text, reason) if notify else _alert(jobs, state, reason)

    rules = {
        "a run failed": (_runs(jobs, expect=FAILED), told(STATE, REASON)),
        # Until a dead run is marked so, it holds its job's only place.
        "a run died": (_missing(jobs, after=BEAT, expect=(BEAT, *ENDED), within=HEARTBEAT_LOST), CRASHED),
        # A release pauses for nothing but a person's sign-off.
        "a sign-off waits": (_runs(jobs, "release", expect=[PAUSED]), told(WAITS, SIGN)),
        "a sign-off still waits": (
            _missing(jobs, "release", after=PAUSED, expect=(f"{RUN}Running", *ENDED), within=REMINDER),
            told(STILL_WAITS, SIGN),
        ),
        "people have decided": (_told_of(benchmark, EVENT), _run(jobs["review_pull"])),
        "answers were dropped": (_told_of(benchmark, DROPPED), _run(jobs["score"], SCORED)),
    }
    if nightly:
        silence = (
            told_by(client, notify, "'nightly: silent'", SILENT, of_run=False)
            if notify
            else _run(jobs["alert"], SILENT_RUN)
        )
        never = _runs(jobs, "nightly", expect=[COMPLETED], posture="Proactive", within=SILENCE)
        rules["no nightly run came through"] = (never, silence)
    for name, (trigger, action) in rules.items():
        wanted = {"name": f"mihakk {benchmark}: {name}", "trigger": trigger, "actions": [action]}
        automation = AutomationCore.model_validate({**wanted, "enabled": True})
        if standing := client.read_automations_by_name(automation.name):
            client.update_automation(standing[0].id, automation)
        else:
            client.create_automation(automation)
    return list(rules)


def _runs(jobs: Mapping[str, UUID], *wanted: str, expect: Sequence[str], **more: Any) -> Plain:
    """A trigger on events of runs of these deployments, of all but `alert` where none is named.

    A job started inside another is told of by the outer one.
    """
    names = wanted or tuple(name for name in jobs if name != "alert")
    return {
        "type": "event",
        "threshold": 1,
        "posture": "Reactive",
        "match": {"prefect.resource.id": f"{RUN}*"},
        "match_related": {
            "prefect.resource.role": "deployment",
            "prefect.resource.id": [f"prefect.deployment.{jobs[name]}" for name in names],
        },
        "expect": list(expect),
        **more,
    }


def _missing(jobs: Mapping[str, UUID], *wanted: str, after: str, expect: Sequence[str], within: int) -> Plain:
    """A trigger that fires for a run when none of the events expected follows one of `after` in time."""
    more = {"posture": "Proactive", "after": [after], "for_each": ["prefect.resource.id"], "within": within}
    return _runs(jobs, *wanted, expect=expect, **more)


def _told_of(benchmark: str, event: str) -> Plain:
    """Each event is worth a run; one that comes during a run waits for it."""
    match = {"prefect.resource.id": f"mihakk.benchmark.{benchmark}"}
    return {"type": "event", "threshold": 1, "match": match, "posture": "Reactive", "expect": [event]}


SCORED: Plain = {
    name: f"{{{{ event.payload.{name} | default('') }}}}"
    for name in ("board", "inbox", "store", "public", "suite", "answers", "site")
}
"""What the event leaves out is empty, as the flow has it."""
CRASHED: Plain = {
    "type": "change-flow-run-state",
    "state": "CRASHED",
    "message": "No heartbeat: the process, its worker or the machine is gone. The next run goes on.",
}
SILENT = "'No nightly run has come through since yesterday: look at the server and its workers.'"
SILENT_RUN = {
    "job": "nightly",
    "state": "silent",
    "message": "No nightly run has come through since yesterday: look at the server and its workers.",
}


def told_by(client: SyncPrefectClient, block: str, text: str, reason: str, *, of_run: bool = True) -> Plain:
    """Sends through a notification or webhook block: from the server, so a dead worker is told of too.

    Args:
        client: Of the server.
        block: `<block type>/<block name>`.
        text: Template expression of what happened.
        reason: Template expression of why, with what to do.
        of_run: Whether a run set it off, which is then named and linked.

    A webhook gets JSON with the fields text, reason, run and link; the template engine escapes each.
    """
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
        fields = {"text": text, "reason": reason}
        if of_run:
            fields |= {"run": "flow_run.id|string", "link": "flow_run|ui_url"}
        shown = ", ".join(f'"{name}": {{{{ ({value})|tojson }}}}' for name, value in fields.items())
        return {**sent, "type": "call-webhook", "payload": f"{{{shown}}}"}
    link = "\n{{ flow_run|ui_url }}" if of_run else ""
    body = f"{{{{ {reason} }}}}{link}"
    return {**sent, "type": "send-notification", "subject": f"{{{{ {text} }}}}", "body": body}


def _alert(jobs: Mapping[str, UUID], state: str, reason: str) -> Plain:
    # Without `ui_url`: a server knows it only once it has checked a template of a message or webhook.
    said = {
        "job": "{{ flow.name }}: {{ flow_run.name }}",
        "state": f"{{{{ {state} }}}}",
        "message": f"{{{{ {reason} }}}}",
        "run": "{{ flow_run.id | string }}",
    }
    return _run(jobs["alert"], said)


def _run(deployment: UUID, parameters: Plain | None = None) -> Plain:
    return {
        "type": "run-deployment",
        "source": "selected",
        "deployment_id": str(deployment),
        "parameters": parameters,
    }
