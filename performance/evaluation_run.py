"""What a call of `mihakk evaluate run` costs: `python -m performance.evaluation_run [SECONDS] [ITEMS]`.

A server of its own answers each call after so many seconds (2 when left out), 64 at once. Shown are the time
the run takes beside the least possible one, and the CPU of a call with and without Inspect around it.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
import time
from pathlib import Path

from evaluation.running.asking import Asked, reply_tokens
from evaluation.running.channel import Channel, chat_of
from evaluation.running.tasks import run_tasks
from evaluation.scoring import DEFAULT, metrics_named
from mihakk.llm.journal import Journal
from mihakk.llm.model import open_model
from mihakk.settings import settings
from performance._measure import model_server
from schemas.evaluation import Question
from schemas.suite import Suite, System

PLACES = 64


def questions(items: int) -> list[Asked]:
    """Choices of the length of a couplet's."""
    made = []
    for number in range(items):
        question = Question(
            item=f"i{number}",
            content_hash=f"h{number}",
            release="speed",
            version="0.1.0",
            digest="d" * 64,
            config="fa_continuation_choice",
            task="continuation_choice",
            kind="choice",
            language="fa",
            group=f"g{number // 8}",
            options=("که سودها کنی ار این سفر توانی کرد", "که عشق آسان نمود اول", "ببین تفاوت ره"),
            labels=("الف", "ب", "ج"),
            gold=(number % 3,),
        )
        made.append(Asked(question, f"{number}: " + "مصراع دوم کدام است؟ " * 20, "release", "0.1.0", 0, 1))
    return made


def main() -> None:
    """Prints one line a measurement."""
    latency = float(sys.argv[1]) if len(sys.argv) > 1 else 2.0
    asked = questions(int(sys.argv[2]) if len(sys.argv) > 2 else 2048)
    suite = Suite.model_validate({"name": "speed", "title": "Speed", "parts": [{"release": "speed@0.1.0"}]})
    for seconds, with_inspect in ((0.001, False), (0.001, True), (latency, True)):
        with tempfile.TemporaryDirectory() as folder:
            wall, cpu = measured(suite, asked, Path(folder), seconds, with_inspect)
        least = len(asked) * seconds / PLACES
        print(
            f"{'through Inspect' if with_inspect else 'client alone'}, {seconds:g} s a call: "
            f"{len(asked):,} calls in {wall:.1f} s (least {least:.1f} s, {wall / least:.2f} times), "
            f"{1000 * cpu / len(asked):.2f} ms of CPU a call"
        )


def measured(
    suite: Suite, asked: list[Asked], folder: Path, latency: float, with_inspect: bool
) -> tuple[float, float]:
    """Wall and CPU seconds of asking everything, once everything is imported and connected."""
    with model_server(latency, PLACES, "ب") as url:
        system = System.model_validate(
            {
                **{"name": "fast", "family": "scripted", "model": "fast", "revision": "1"},
                "serve": {"engine": "openai", "endpoints": [url]},
                "limits": {"concurrency": PLACES},
                "kind": "arabic",
                "open": True,
            }
        )
        with Journal(folder / "journal", "fast") as journal, open_model(system, settings()) as model:
            channel = Channel(system, model, journal, failures=folder / "failed", limits=suite.limits)
            asyncio.run(_ask_all(channel, suite, system, questions(1)))
            wall, cpu = time.monotonic(), time.process_time()
            if with_inspect:
                run_tasks(suite, asked, channel, metrics_named(DEFAULT), folder / "logs")
            else:
                asyncio.run(_ask_all(channel, suite, system, asked))
            return time.monotonic() - wall, time.process_time() - cpu


async def _ask_all(channel: Channel, suite: Suite, system: System, asked: list[Asked]) -> None:
    places = asyncio.Semaphore(PLACES)

    async def one(each: Asked) -> None:
        async with places:
            longest = reply_tokens(suite, system, each.question.kind)
            await channel.ask(chat_of([("user", each.prompt)], longest, 0))

    await asyncio.gather(*map(one, asked))


if __name__ == "__main__":
    main()
