"""Asking: in order, once, within bounds and budget."""

from __future__ import annotations

import asyncio
import itertools
import json
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mihakk.machinery.errors import ExternalFailure, UsageError
from mihakk.machinery.llm.journal import Journal
from mihakk.machinery.llm.model import open_model
from mihakk.machinery.llm.scripted import Answer, Call, ScriptedServer
from mihakk.machinery.llm.server import Server
from mihakk.machinery.llm.structured import Request
from mihakk.schemas.model import Embedded, ModelConfig
from mihakk.scrapers.crawl import answered
from tests.machinery.llm.counting import Ask, Remote, count, numbers

LONG = 120.0
"""Seconds that nobody waits for."""


def test_replies_come_in_order_and_are_asked_once(remote: Remote, ask: Ask, journal: Journal) -> None:
    def slow_first(call: Call) -> Answer:
        return Answer(text=count(call).text, delay=0.15 if call.said == "0" else 0.0)

    with ScriptedServer(slow_first) as server:
        with open_model(remote(server.url)) as model:
            replies = list(model.ask_all(numbers(ask, 30), journal))
        assert [reply.value for reply in replies] == list(range(30))
        with open_model(remote(server.url)) as model:
            again = list(model.ask_all(numbers(ask, 30), journal))
            assert not model.running
        assert again == replies
        assert len(server.calls) == 30
    entry = journal.get(replies[7].key)
    assert entry is not None
    assert (entry.meta["item"], entry.text, entry.finish_reason) == ("7", '{"n": 7}', "stop")


def test_a_slow_reply_holds_up_no_request_where_no_order_is_needed(
    remote: Remote, ask: Ask, journal: Journal
) -> None:
    def never_first(call: Call) -> Answer:
        return Answer(text=count(call).text, delay=LONG if call.said == "0" else 0.0)

    limits = {"concurrency": 4, "timeout_seconds": 2 * LONG}
    with ScriptedServer(never_first) as server, open_model(remote(server.url, **limits)) as model:
        stream = model.ask_all(numbers(ask, 60), journal, ordered=False)
        others = [next(stream).value for _ in range(59)]
        with pytest.raises(KeyboardInterrupt):
            stream.throw(KeyboardInterrupt())
    assert sorted(others) == list(range(1, 60))


def test_a_folder_that_somebody_works_in_gives_children_no_modules(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[list[str]] = []

    def noted(command: list[str], **_: Any) -> None:
        started.append(command)
        raise OSError("not started in this test")

    monkeypatch.setattr("mihakk.machinery.llm.server.subprocess.Popen", noted)
    monkeypatch.setattr("mihakk.scrapers.crawl.subprocess.Popen", noted)
    monkeypatch.setattr("mihakk.machinery.llm.server.locate", lambda *_: tmp_path / "weights.gguf")
    with pytest.raises(OSError, match="not started"):
        Server("judge", Embedded(weights="smollm2-135m"), tmp_path)
    with pytest.raises(OSError, match="not started"):
        answered("{}")
    assert [command[1:3] for command in started] == [["-P", "-m"]] * 2


def test_equal_requests_in_flight_are_asked_once(remote: Remote, ask: Ask, journal: Journal) -> None:
    with ScriptedServer(lambda call: Answer(text='{"n":5}', delay=0.05)) as server:
        with open_model(remote(server.url)) as model:
            replies = list(model.ask_all((ask(5) for _ in range(12)), journal))
        assert {reply.value for reply in replies} == {5}
        assert len(server.calls) == 1


def test_the_key_changes_with_all_that_could_change_a_reply(remote: Remote, ask: Ask) -> None:
    base = remote("http://127.0.0.1:1/v1")
    moved = base.model_copy(update={"serve": remote("http://127.0.0.1:2/v1").serve})
    changed = [
        base.model_copy(update={"revision": "r2"}),
        base.model_copy(update={"model": "scripted-2"}),
        base.model_copy(update={"sampling": base.sampling.model_copy(update={"temperature": 0.5})}),
        base.model_copy(update={"sampling": base.sampling.model_copy(update={"seed": 1})}),
    ]

    def key(config: ModelConfig, request: Request[int]) -> str:
        with open_model(config) as model:
            return model.key(request)

    assert key(base, ask(1)) == key(moved, ask(1))
    assert len({key(base, ask(1)), key(base, ask(2)), *(key(one, ask(1)) for one in changed)}) == 6


def test_concurrency_is_bounded_and_requests_are_drawn_as_needed(
    remote: Remote, ask: Ask, journal: Journal
) -> None:
    running, most, drawn, answered = 0, 0, 0, 0
    lock = threading.Lock()

    def requests() -> Iterator[Request[int]]:
        nonlocal drawn
        for i in range(200):
            drawn += 1
            assert drawn - answered <= 4 * 3 + 1
            yield ask(i)

    class Counting(ScriptedServer):
        async def _chat(self, request: Any) -> Any:
            nonlocal running, most
            with lock:
                running += 1
                most = max(most, running)
            try:
                return await super()._chat(request)
            finally:
                with lock:
                    running -= 1

    with (
        Counting(lambda c: Answer(text=count(c).text, delay=0.002)) as server,
        open_model(remote(server.url, concurrency=3)) as model,
    ):
        for _ in model.ask_all(requests(), journal):
            answered += 1
    assert answered == 200
    assert most <= 3


def test_one_repair_request_and_no_more(remote: Remote, ask: Ask, journal: Journal) -> None:
    def script(call: Call) -> Answer:
        tag = call.body["messages"][1]["content"]
        repairing = len(call.body["messages"]) > 2
        if tag == "0" and not repairing:
            return Answer(text='```json\n{"n":0}\n```')
        if tag == "1":
            return Answer(text='{"n":true}')
        return Answer(text=json.dumps({"n": int(tag)}))

    with ScriptedServer(script) as server, open_model(remote(server.url)) as model:
        replies = list(model.ask_all(numbers(ask, 3), journal))
        assert [(r.value, r.asked_twice) for r in replies] == [(0, True), (None, True), (2, False)]
        assert replies[1].problem == "give one integer n"
        repairs = [call.body["messages"] for call in server.calls if len(call.body["messages"]) > 2]
        assert len(repairs) == 2
        assert "code fence" in next(m[-1]["content"] for m in repairs if m[1]["content"] == "0")
    assert len(journal) == 5


def test_asking_inside_a_running_event_loop(remote: Remote, ask: Ask, journal: Journal) -> None:
    async def inside(model: Any) -> list[int | None]:
        return [reply.value for reply in model.ask_all(numbers(ask, 7), journal)]

    with ScriptedServer(count) as server, open_model(remote(server.url)) as model:
        assert asyncio.run(inside(model)) == [*range(7)]
        assert len(server.calls) == 7


def test_leaving_early_keeps_calls_already_sent(remote: Remote, ask: Ask, journal: Journal) -> None:
    with ScriptedServer(lambda c: Answer(text=count(c).text, delay=0.1)) as server:
        with open_model(remote(server.url, concurrency=4)) as model:
            stream = model.ask_all(numbers(ask, 1000), journal)
            assert [reply.value for reply in itertools.islice(stream, 2)] == [0, 1]
            stream.close()
        assert len(journal) == len(server.calls) < 20


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_sends_no_more_than_is_on_the_wire(remote: Remote, ask: Ask, journal: Journal) -> None:
    """The first reply comes late, so that nobody looks at the others, none of which can be kept."""
    slow = ScriptedServer(lambda c: Answer(text=count(c).text, delay=1.0 if c.said == "0" else 0.0))
    with (
        slow as server,
        open_model(remote(server.url, concurrency=4)) as model,
        Path("/dev/full").open("ab", 0) as full,
    ):
        own, journal._out = journal._out, full
        with pytest.raises(ExternalFailure, match="No space left"):
            list(model.ask_all(numbers(ask, 100), journal))
        journal._out = own
        assert len(server.calls) <= 2 * 4


def test_an_interrupted_run_ends_at_once(remote: Remote, ask: Ask, journal: Journal) -> None:
    with ScriptedServer(lambda c: Answer(text=count(c).text, delay=0 if c.said == "0" else LONG)) as server:
        started = time.monotonic()
        with open_model(remote(server.url, timeout_seconds=2 * LONG)) as model:
            stream = model.ask_all(numbers(ask, 100), journal)
            assert next(stream).value == 0
            with pytest.raises(KeyboardInterrupt):
                stream.throw(KeyboardInterrupt())
        assert time.monotonic() - started < LONG
    assert len(journal) == 1


def test_weights_of_another_family_than_the_config_says(remote: Remote) -> None:
    config = remote("http://127.0.0.1:9/v1").model_copy(
        update={"serve": Embedded(weights="smollm2-135m"), "family": "llama"}
    )
    with pytest.raises(UsageError, match="family 'smollm'"), open_model(config):
        pass


def test_a_config_that_still_names_hedging_is_read(remote: Remote) -> None:
    config = remote("http://127.0.0.1:1/v1", hedge=True)
    assert config.limits == remote("http://127.0.0.1:1/v1").limits
