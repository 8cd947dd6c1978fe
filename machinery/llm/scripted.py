"""A model server that answers by script, over real HTTP: for tests, benchmarks and rehearsals of a run.

    with ScriptedServer(lambda call: Answer(text='{"ok":1}')) as server:
        ...  # endpoints=(server.url,)

As a process of its own, with fixed latency:
`python -m mihakk.machinery.llm.scripted --latency 0.05 --slots 64`.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any
from zlib import crc32

import orjson
from aiohttp import web


@dataclass(frozen=True)
class Call:
    """One request as it arrived."""

    number: int
    """Counted from 0 over the server's life."""
    body: dict[str, Any]
    headers: Mapping[str, str]
    at: float
    """The loop's clock, seconds."""

    @property
    def said(self) -> str:
        """The last message."""
        return str(self.body["messages"][-1]["content"])


@dataclass(frozen=True)
class Answer:
    """What the server does with a call."""

    text: str = ""
    """Content of the reply."""
    finish_reason: str = "stop"
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    delay: float = 0.0
    """Seconds before anything is sent."""
    body: bytes | None = None
    """Sent instead of a chat completion."""
    drop: bool = False
    """Close the connection without a word."""
    endless: bool = False
    """Never stop sending."""
    model: str | None = None
    """The model it says it is; the one that was asked for where None."""
    system_fingerprint: str | None = None


Script = Callable[[Call], Answer]


class ScriptedServer:
    """Serves on loopback from a thread of its own while the `with` block lasts.

    Args:
        script: Called for every request, in the server's thread.
        slots: Calls answered at once, the others wait their turn; None for any number.
        port: 0 for a free one; a fixed one to come back where an earlier server died.
    """

    def __init__(self, script: Script, slots: int | None = None, port: int = 0) -> None:
        self.calls: list[Call] = []
        self.abandoned: list[int] = []
        """Numbers of calls whose sender went away before the answer."""
        self.port = port
        self._script = script
        self._slots = slots
        self._loop = asyncio.new_event_loop()
        self._ready = threading.Event()
        self._over: asyncio.Event
        self._thread = threading.Thread(target=self._run, name="scripted model server", daemon=True)

    @property
    def url(self) -> str:
        """Base URL of the OpenAI-compatible API."""
        return f"http://127.0.0.1:{self.port}/v1"

    def start(self) -> ScriptedServer:
        """Returns once connections are accepted."""
        self._thread.start()
        if not self._ready.wait(30):
            raise RuntimeError("the scripted server did not start")
        return self

    def stop(self) -> None:
        """Dies: open connections are cut, not drained."""
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._over.set)
        self._thread.join(timeout=30)

    def __enter__(self) -> ScriptedServer:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_until_complete(self._serve())
        self._loop.close()

    async def _serve(self) -> None:
        self._over = asyncio.Event()
        self._turns = asyncio.Semaphore(self._slots) if self._slots else None
        app = web.Application(client_max_size=64 << 20)
        app.router.add_post("/v1/chat/completions", self._chat)
        app.router.add_get("/health", _health)
        runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.05, handler_cancellation=True)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", self.port, reuse_address=True)
        await site.start()
        self.port = runner.addresses[0][1]
        self._ready.set()
        await self._over.wait()
        await runner.cleanup()
        left = asyncio.all_tasks() - {asyncio.current_task()}
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)

    async def _chat(self, request: web.Request) -> web.StreamResponse:
        call = Call(
            len(self.calls), orjson.loads(await request.read()), dict(request.headers), self._loop.time()
        )
        self.calls.append(call)
        answer = self._script(call)
        try:
            if self._turns is None:
                await asyncio.sleep(answer.delay)
            else:
                async with self._turns:
                    await asyncio.sleep(answer.delay)
        except asyncio.CancelledError:
            self.abandoned.append(call.number)
            raise
        if answer.drop:
            if request.transport is not None:
                request.transport.abort()
            return web.Response(status=500)
        if answer.endless:
            return await self._endless(request)
        return web.Response(
            body=answer.body if answer.body is not None else _completion(call, answer),
            status=answer.status,
            headers=answer.headers,
            content_type="application/json",
        )

    async def _endless(self, request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        await response.write(b'{"choices":[{"message":{"content":"')
        while not self._over.is_set():
            await response.write(b"a" * 1024)
            await asyncio.sleep(0.01)
        return response


async def _health(_: web.Request) -> web.Response:
    return web.json_response({"status": "ok"})


def _completion(call: Call, answer: Answer) -> bytes:
    if answer.status >= 400:
        return orjson.dumps({"error": {"message": answer.text or "scripted failure", "code": answer.status}})
    prompt = sum(len(message["content"]) for message in call.body["messages"]) // 4
    return orjson.dumps(
        {
            "id": f"scripted-{call.number}",
            "object": "chat.completion",
            "created": 0,
            "model": call.body["model"] if answer.model is None else answer.model,
            "system_fingerprint": answer.system_fingerprint,
            "choices": [
                {
                    "index": 0,
                    "message": {"role": "assistant", "content": answer.text},
                    "finish_reason": answer.finish_reason,
                }
            ],
            "usage": {
                "prompt_tokens": prompt,
                "completion_tokens": len(answer.text) // 4,
                "total_tokens": prompt + len(answer.text) // 4,
            },
        }
    )


def main() -> None:
    """Serves fixed replies until standard input ends; prints the base URL first."""
    parser = argparse.ArgumentParser(description="A model server with fixed latency and fixed replies.")
    parser.add_argument("--latency", type=float, default=0.05, help="seconds a call takes")
    parser.add_argument("--slots", type=int, default=None, help="calls answered at once")
    parser.add_argument("--reply", nargs="+", default=['{"ok":1}'], help="contents; the prompt decides which")
    chosen = parser.parse_args()
    answers = [Answer(text=reply, delay=chosen.latency) for reply in chosen.reply]
    with ScriptedServer(
        lambda call: answers[crc32(call.said.encode()) % len(answers)], chosen.slots
    ) as server:
        sys.stdout.write(json.dumps({"url": server.url}) + "\n")
        sys.stdout.flush()
        sys.stdin.read()


if __name__ == "__main__":
    main()
