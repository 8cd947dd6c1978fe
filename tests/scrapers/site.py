"""A web site on loopback that serves what a test says, faults included, and notes what it was asked."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


@dataclass
class Site:
    """Routes by path; `asked` holds method, path with query, and headers of every request in order."""

    routes: dict[str, Handler] = field(default_factory=dict)
    asked: list[tuple[str, dict[str, str]]] = field(default_factory=list)
    url: str = ""

    def page(
        self,
        path: str,
        body: str | bytes = "",
        *,
        status: int = 200,
        content_type: str = "text/html",
        **headers: str,
    ) -> None:
        """Serves a fixed answer."""
        data = body.encode() if isinstance(body, str) else body

        async def handler(_request: web.Request) -> web.StreamResponse:
            return web.Response(body=data, status=status, headers={"Content-Type": content_type} | headers)

        self.routes[path] = handler

    def on(self, path: str) -> Callable[[Handler], Handler]:
        """Serves what a coroutine answers."""

        def add(handler: Handler) -> Handler:
            self.routes[path] = handler
            return handler

        return add

    def paths(self) -> list[str]:
        """What was asked, robots.txt left out."""
        return [path for path, _ in self.asked if path != "/robots.txt"]

    async def _serve(self, request: web.Request) -> web.StreamResponse:
        self.asked.append((request.path_qs, dict(request.headers)))
        handler = self.routes.get(request.path_qs) or self.routes.get(request.path) or self.routes.get("*")
        if handler is None:
            return web.Response(status=404, text="no such page")
        return await handler(request)


def serve(site: Site) -> Callable[[], None]:
    """Starts a site on a free port in a thread and gives the function that stops it."""
    loop = asyncio.new_event_loop()
    started = threading.Event()
    runner: dict[str, Any] = {}

    async def start() -> None:
        app = web.Application()
        app.router.add_route("*", "/{path:.*}", site._serve)
        runner["app"] = web.AppRunner(app, access_log=None)
        await runner["app"].setup()
        tcp = web.TCPSite(runner["app"], "127.0.0.1", 0, shutdown_timeout=0.1)
        await tcp.start()
        host, port = runner["app"].addresses[0][:2]
        site.url = f"http://{host}:{port}"
        started.set()

    def run() -> None:
        asyncio.set_event_loop(loop)
        loop.run_until_complete(start())
        loop.run_forever()
        loop.run_until_complete(runner["app"].cleanup())
        loop.close()

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    assert started.wait(10)

    def stop() -> None:
        loop.call_soon_threadsafe(loop.stop)
        thread.join(10)

    return stop
