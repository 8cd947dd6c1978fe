"""The live dashboard: read-only pages over lakes, also while runs write to them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import duckdb
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from mihakk.machinery.errors import MihakkError
from mihakk.pipeline.build import Build
from mihakk.reports.dashboard.items import Filter, explore, rejected
from mihakk.reports.dashboard.overview import Gatherer
from mihakk.reports.dashboard.page import render
from mihakk.reports.dashboard.story import story
from mihakk.reports.dashboard.tables import Tables
from mihakk.reports.templates import policy
from mihakk.schemas.stages import STAGES

LOOPBACK = ("127.0.0.1", "localhost")


def dashboard_app(builds: Sequence[Build], hosts: Sequence[str] = LOOPBACK) -> Starlette:
    """The pages of some benchmarks.

    Args:
        builds: One per benchmark, each with its lake.
        hosts: Names that a request may call the server by; others are refused, so that no foreign page can
            read this one through a name of its own (DNS rebinding).
    """
    pages = Pages({build.config.name: Gatherer(build) for build in builds})
    routes = [
        Route("/", pages.home),
        Route("/{name}", pages.overview),
        Route("/{name}/state.json", pages.state),
        Route("/{name}/items", pages.items),
        Route("/{name}/items/{item:path}", pages.item),
        Route("/{name}/rejected", pages.rejected),
    ]
    return Starlette(
        routes=routes,
        middleware=[
            Middleware(ReadOnly),
            Middleware(TrustedHostMiddleware, allowed_hosts=list(hosts), www_redirect=False),
        ],
        exception_handlers={
            HTTPException: _missing,
            MihakkError: _unreadable,
            duckdb.Error: _unreadable,
            OSError: _unreadable,
        },
    )


class Pages:
    """One method per page."""

    def __init__(self, gatherers: Mapping[str, Gatherer]) -> None:
        self._gatherers = gatherers

    def home(self, _: Request) -> Response:
        """All benchmarks and how each stands."""
        return _page("home", benchmarks=[one.facts() for one in self._gatherers.values()])

    def overview(self, request: Request) -> Response:
        """One benchmark."""
        return _page("overview", facts=self._of(request).facts(), quotes=None)

    def state(self, request: Request) -> Response:
        """Level and notes as JSON, for monitoring."""
        facts = self._of(request).facts()
        notes = [{"level": note.level, "text": note.text} for note in facts.notes]
        return JSONResponse({"benchmark": facts.name, "level": facts.level, "notes": notes})

    def items(self, request: Request) -> Response:
        """The explorer."""
        build = self._of(request).build
        with Tables(build) as tables:
            page = explore(build, tables, Filter.of(request.query_params))
        return _page("items", name=build.config.name, title=build.config.title, page=page)

    def item(self, request: Request) -> Response:
        """One item's history."""
        build = self._of(request).build
        with Tables(build) as tables:
            found = story(build, tables, request.path_params["item"])
        if found is None:
            raise HTTPException(404, "No table, decision or release of this benchmark knows that item.")
        return _page("item", name=build.config.name, title=build.config.title, story=found)

    def rejected(self, request: Request) -> Response:
        """What a stage left out."""
        build, asked = self._of(request).build, request.query_params
        stage = asked.get("stage", "")
        stage = stage if stage in STAGES[:-1] else _with_rejects(build)
        with Tables(build) as tables:
            page = rejected(tables, stage, asked.get("reason", ""), Filter.of(asked).page)
        stages = STAGES[:-1]
        return _page("rejected", name=build.config.name, title=build.config.title, page=page, stages=stages)

    def _of(self, request: Request) -> Gatherer:
        found = self._gatherers.get(request.path_params["name"])
        if found is None:
            raise HTTPException(404, "This dashboard shows no benchmark of that name.")
        return found


class ReadOnly:
    """Takes GET and HEAD alone, and sends the headers that keep a page to itself."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        if scope["type"] != "http":
            return await self._app(scope, receive, send)
        if scope["method"] not in ("GET", "HEAD"):
            refused = Response("This dashboard is read-only.", 405, {"allow": "GET, HEAD"})
            return await refused(scope, receive, send)

        async def sealed(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", ()), *_headers()]
            await send(message)

        return await self._app(scope, receive, sealed)


def _headers() -> list[tuple[bytes, bytes]]:
    sent = {
        "content-security-policy": policy() + "; frame-ancestors 'none'",
        "x-content-type-options": "nosniff",
        "referrer-policy": "no-referrer",
        "cross-origin-resource-policy": "same-origin",
        "cache-control": "no-store",
    }
    return [(name.encode(), value.encode()) for name, value in sent.items()]


def _with_rejects(build: Build) -> str:
    """The first stage that left something out."""
    for stage in STAGES[:-1]:
        opened = build.stage(stage)
        if opened.finished() and opened.manifest().counts.rejected + opened.manifest().counts.merged:
            return stage
    return STAGES[0]


def _page(template: str, status: int = 200, **values: Any) -> HTMLResponse:
    return HTMLResponse(render(template, live=True, **values), status)


def _missing(_: Request, error: Exception) -> Response:
    status = getattr(error, "status_code", 404)
    return _page("error", status, heading="Not here", message=str(getattr(error, "detail", "")))


def _unreadable(_: Request, error: Exception) -> Response:
    said = str(error).splitlines()[0] if str(error) else type(error).__name__
    heading = "The tables can't be read just now"
    message = f"{said} If a run is writing them, load this page again in a moment."
    return _page("error", 503, heading=heading, message=message)
