"""How much of a model server the client uses, and what it costs: `python -m performance.audit_client`.

A server of its own process answers every call after a fixed latency L, at most C at once, so N calls can't be
done in less than N L / C. Printed: how close the client comes, and its CPU time per call (journal and checks
included). `--peers` measures the bare SDK and bare aiohttp on the same server.
"""

from __future__ import annotations

import argparse
import asyncio
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mihakk.machinery.llm.journal import Journal
from mihakk.machinery.llm.model import open_model
from mihakk.machinery.llm.structured import Request, payload
from mihakk.schemas.model import Limits, ModelConfig, Remote
from mihakk.validators.audit.auditing import request
from mihakk.validators.audit.prompt import SOUND
from mihakk.validators.audit.reply import Opinion
from performance._measure import choice_item, model_server

QUESTION = "ما الشطر الثاني الذي يتمم هذا البيت رقم {}؟\nقفا نبك من ذكرى حبيب ومنزل"
OPTIONS = (
    "بسقط اللوى بين الدخول فحومل",
    "وتأتي على قدر الكرام المكارم",
    "وأسمعت كلماتي من به صمم",
    "ويأتيك",
)


def config(url: str, concurrency: int) -> ModelConfig:
    """A model behind that URL."""
    return ModelConfig(
        name="bench",
        family="scripted",
        model="scripted",
        revision="1",
        serve=Remote(endpoints=(url,)),
        limits=Limits(concurrency=concurrency, timeout_seconds=60),
    )


def requests(n: int, start: int = 0) -> Iterator[Request[Opinion]]:
    """A stream of audit requests, made as they are drawn."""
    for i in range(start, start + n):
        yield request(choice_item(f"ar-bench-{i}", QUESTION.format(i), OPTIONS, i % 4))


def ours(n: int, latency: float, slots: int) -> None:
    """N calls at latency L over C slots, with journal and checks."""
    with (
        tempfile.TemporaryDirectory() as folder,
        model_server(latency, slots, SOUND) as url,
        Journal(Path(folder), "bench") as journal,
        # A quarter more in flight than the server has slots, as in practice: a slot then never waits for us.
        open_model(config(url, slots + slots // 4)) as model,
    ):
        list(model.ask_all(requests(slots), journal))  # connections and imports
        wall, cpu = time.perf_counter(), time.process_time()
        replies = sum(reply.value is not None for reply in model.ask_all(requests(n, slots), journal))
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    assert replies == n
    least = n * latency / slots
    print(
        f"{n} calls, L = {latency * 1000:.0f} ms, C = {slots}: {wall:.2f} s = {wall / least:.3f} x N L / C, "
        f"client CPU {1000 * cpu / n:.2f} ms a call"
    )


def peers(n: int, latency: float, slots: int) -> None:
    """The same payloads through the bare SDK and bare aiohttp, without journal and checks."""
    import aiohttp
    import openai

    with model_server(latency, slots, SOUND) as url:
        bodies = [payload(config(url, slots), one, one.messages) for one in requests(n)]

        async def sdk() -> None:
            async with openai.AsyncOpenAI(
                base_url=url, api_key="none", max_retries=0, http_client=openai.DefaultAioHttpClient()
            ) as client:

                async def one(body: dict[str, Any]) -> None:
                    rest = {key: value for key, value in body.items() if key not in ("model", "messages")}
                    await client.chat.completions.create(
                        model=body["model"],
                        messages=body["messages"],
                        extra_body=rest,
                    )

                await workers(one, bodies, slots)

        async def bare() -> None:
            async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:

                async def one(body: dict[str, Any]) -> None:
                    async with session.post(f"{url}/chat/completions", json=body) as reply:
                        await reply.json()

                await workers(one, bodies, slots)

        for name, run in (("openai SDK with aiohttp, bare", sdk), ("aiohttp, bare", bare)):
            wall, cpu = time.perf_counter(), time.process_time()
            asyncio.run(run())
            wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
            print(f"{name}: {wall:.2f} s, client CPU {1000 * cpu / n:.2f} ms a call")


async def workers(one, bodies, slots) -> None:  # type: ignore[no-untyped-def]
    """As many workers as slots over one queue."""
    source = iter(bodies)

    async def work() -> None:
        for body in source:
            await one(body)

    await asyncio.gather(*(work() for _ in range(slots)))


def main() -> None:
    """Runs what the arguments ask for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--peers", action="store_true")
    parser.add_argument("--calls", type=int, default=2048)
    chosen = parser.parse_args()
    for latency, slots in ((0.5, 64), (0.2, 32), (1.0, 256)):
        ours(chosen.calls, latency, slots)
    if chosen.peers:
        peers(chosen.calls, 0.2, 32)


if __name__ == "__main__":
    main()
