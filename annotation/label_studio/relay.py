"""Label Studio's webhooks as hints that people have worked: checked, gathered, and acted on once.

A webhook is sent once, waits a second at most and is lost where nobody listens, so it carries no answer: what
people decided is read by a pull, which finds everything whether or not its hint arrived.
"""

from __future__ import annotations

import asyncio
import base64
import hmac
import socket
from collections.abc import Callable
from datetime import UTC, datetime
from uuid import uuid4

import httpx
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse
from starlette.routing import Route

from mihakk.annotation.label_studio.calibration import calibration_of
from mihakk.annotation.label_studio.connection import Connection
from mihakk.annotation.label_studio.exchange import projects_of
from mihakk.annotation.label_studio.project import find_projects
from mihakk.machinery.errors import ExternalFailure, MihakkError, UsageError
from mihakk.machinery.settings import Settings

HEADER = "X-Mihakk-Secret"
"""Header in which the webhook carries the secret that only this relay and the server know."""
EVENT = "mihakk.review.annotated"
"""Name of the event that Prefect's automations trigger on; its payload holds `benchmark` and `config`."""
_ACTIONS = ("ANNOTATION_CREATED", "ANNOTATION_UPDATED", "ANNOTATIONS_DELETED")


class Hints:
    """Many hints, one action: it runs when they pause, never twice at once, and again if more came meanwhile.

    Args:
        act: What to do, in a thread of its own; a `MihakkError` is told and tried again.
        quiet: Seconds without a hint after which it is time to act.
        longest: Act after so many seconds even if hints keep coming.
        every: Act at least so often without any hint; None only on hints.
        again: Seconds after which a failed action is tried again.
    """

    def __init__(
        self,
        act: Callable[[], object],
        say: Callable[[str], None],
        *,
        quiet: float = 5,
        longest: float = 60,
        every: float | None = None,
        again: float = 60,
    ) -> None:
        self._act = act
        self._say = say
        self._quiet = quiet
        self._longest = longest
        self._every = every
        self._again = again
        self._asked = asyncio.Event()
        self._last = 0.0

    def hint(self) -> None:
        """Something happened; called in the event loop's thread."""
        self._last = asyncio.get_running_loop().time()
        self._asked.set()

    async def run(self) -> None:
        """Acts on hints until cancelled; an action under way is finished first."""
        while True:
            try:
                await asyncio.wait_for(self._asked.wait(), self._every)
            except TimeoutError:
                pass  # nothing was heard, but a hint may have been lost
            else:
                await self._pause()
            self._asked.clear()
            try:
                await asyncio.to_thread(self._act)
            except MihakkError as error:
                self._say(f"{error}; tried again in {self._again:.0f} s")
                asyncio.get_running_loop().call_later(self._again, self._asked.set)

    async def _pause(self) -> None:
        loop = asyncio.get_running_loop()
        latest = loop.time() + self._longest
        while (left := min(self._last + self._quiet, latest) - loop.time()) > 0:
            await asyncio.sleep(left)


def page_token(secret: str, benchmark: str, person: str) -> str:
    """What opens one person's page of explained answers; nobody can work it out without the secret."""
    return hmac.new(secret.encode(), f"{benchmark} {person}".encode(), "sha256").hexdigest()[:32]


def relay_app(
    benchmark: str, secret: str, hints: Hints, page_of: Callable[[str], str] = lambda _: ""
) -> Starlette:
    """The service: `POST /annotated/<benchmark>` with the secret in `X-Mihakk-Secret`, and `GET /health`.

    The answer doesn't wait for the action, for the annotator's Submit button waits for the answer.
    `GET /calibration/<benchmark>/<person>/<token>` is a person's page of explained calibration answers.

    Args:
        secret: What webhooks show, and what the tokens of pages are made of.
        page_of: Pseudonym to the person's page, HTML; empty where there is no such person.
    """

    async def annotated(request: Request) -> JSONResponse:
        if not hmac.compare_digest(request.headers.get(HEADER, "").encode(), secret.encode()):
            return JSONResponse({"detail": "the shared secret is missing or wrong"}, 401)
        if request.path_params["name"] != benchmark:
            return JSONResponse({"detail": "this relay serves another benchmark"}, 404)
        hints.hint()
        return JSONResponse({"heard": benchmark}, 202)

    async def calibration(request: Request) -> HTMLResponse:
        name, person = request.path_params["name"], request.path_params["person"]
        fits = hmac.compare_digest(
            page_token(secret, name, person).encode(), request.path_params["token"].encode()
        )
        page = await asyncio.to_thread(page_of, person) if fits and name == benchmark else ""
        return HTMLResponse(
            page or "There is no such page; ask for your link again.",
            200 if page else 404,
            {"Cache-Control": "no-store", "Referrer-Policy": "no-referrer"},
        )

    async def health(request: Request) -> JSONResponse:  # noqa: ARG001
        return JSONResponse({"status": "up"})

    return Starlette(
        routes=[
            Route("/annotated/{name}", annotated, methods=["POST"]),
            Route("/calibration/{name}/{person}/{token}", calibration, methods=["GET"]),
            Route("/health", health, methods=["GET"]),
        ]
    )


def listen(host: str, port: int) -> socket.socket:
    """A socket for the relay; port 0 takes a free one. `UsageError` where the port can't be taken."""
    try:
        return socket.create_server((host, port))
    except OSError as error:
        raise UsageError(f"the relay can't listen on {host}:{port} ({error}); name another --port") from error


async def relay(app: Starlette, hints: Hints, door: socket.socket) -> None:
    """Serves until interrupted; ends with the error where the action has a bug."""
    config = uvicorn.Config(app, log_level="warning", access_log=False, lifespan="off")
    async with asyncio.TaskGroup() as group:
        worker = group.create_task(hints.run())
        await uvicorn.Server(config).serve(sockets=[door])
        worker.cancel()


def register(connection: Connection, benchmark: str, base: str, secret: str) -> int:
    """Makes every project of a benchmark send the relay at `base` hints; returns how many projects there are.

    Registering again moves the webhook to the new address and secret: there is one per project.
    """
    projects, path = projects_of(connection, benchmark), f"/annotated/{benchmark}"
    projects += find_projects(connection, calibration_of(benchmark))
    for project in projects:
        wanted = {
            "url": base.rstrip("/") + path,
            "send_payload": False,
            "send_for_all_actions": False,
            "actions": list(_ACTIONS),
            "headers": {HEADER: secret},
            "is_active": True,
        }
        held = connection.get("/api/webhooks/", project=project.id)
        mine = [row["id"] for row in held if str(row["url"]).endswith(path)]
        if mine:
            connection.patch(f"/api/webhooks/{mine[0]}/", wanted)
        else:
            connection.post("/api/webhooks/", {**wanted, "project": project.id})
        for extra in mine[1:]:
            connection.delete(f"/api/webhooks/{extra}/")
    return len(projects)


def emit(settings: Settings, benchmark: str, config: str) -> None:
    """Tells Prefect that people have annotated; an automation on `EVENT` starts the flow that pulls.

    Raises:
        UsageError: Prefect refuses the credentials or the event.
        ExternalFailure: Prefect doesn't answer.
    """
    event = {
        "id": str(uuid4()),
        "occurred": datetime.now(UTC).isoformat(),
        "event": EVENT,
        "resource": {
            "prefect.resource.id": f"mihakk.benchmark.{benchmark}",
            "prefect.resource.name": benchmark,
        },
        "payload": {"benchmark": benchmark, "config": config},
    }
    address = f"{settings.prefect_api_url.rstrip('/')}/events"
    try:
        answer = httpx.post(address, json=[event], headers=_credentials(settings), timeout=30)
    except httpx.TransportError as error:
        raise ExternalFailure(
            f"Prefect at {address} does not answer ({type(error).__name__}); "
            "start it, or correct PREFECT_API_URL"
        ) from error
    if answer.status_code in (401, 403):
        raise UsageError(
            f"Prefect at {address} refuses the event ({answer.status_code}); "
            "set PREFECT_API_AUTH_STRING or PREFECT_API_KEY"
        )
    if answer.status_code >= 500:
        raise ExternalFailure(f"Prefect at {address} could not take the event ({answer.status_code})")
    if not answer.is_success:
        raise UsageError(f"{address} takes no events ({answer.status_code}); is PREFECT_API_URL right?")


def _credentials(settings: Settings) -> dict[str, str]:
    if key := settings.prefect_api_key:
        return {"Authorization": f"Bearer {key.get_secret_value()}"}
    if pair := settings.prefect_api_auth_string:
        return {"Authorization": f"Basic {base64.b64encode(pair.get_secret_value().encode()).decode()}"}
    return {}
