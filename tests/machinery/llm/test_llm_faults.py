"""Asking through faults: what is retried, what stops the run, and what is never asked twice."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from mihakk.machinery.errors import ExternalFailure, UsageError
from mihakk.machinery.llm import endpoint
from mihakk.machinery.llm.client import Broken, completion
from mihakk.machinery.llm.endpoint import FAILURES_TO_OPEN, PROBES_BEFORE_ABSENT
from mihakk.machinery.llm.journal import Journal
from mihakk.machinery.llm.model import open_model
from mihakk.machinery.llm.scripted import Answer, Call, ScriptedServer
from mihakk.machinery.llm.structured import Request
from tests.machinery.llm.counting import Ask, Remote, count, numbers


@pytest.mark.parametrize(
    "fault",
    [
        *(Answer(status=status) for status in (408, 409, 429, 500, 502, 503)),
        Answer(drop=True),
        Answer(body=b"<html>bad gateway</html>"),
        Answer(body=b'{"choices":[]}'),
        Answer(body=b"[]"),
        Answer(body=b"\xff\xfe"),
    ],
)
def test_what_may_pass_is_tried_again(remote: Remote, ask: Ask, journal: Journal, fault: Answer) -> None:
    def script(call: Call) -> Answer:
        return fault if call.number < 2 else count(call)

    with ScriptedServer(script) as server, open_model(remote(server.url)) as model:
        assert [reply.value for reply in model.ask_all(numbers(ask, 1), journal)] == [0]
        assert len(server.calls) == 3


@pytest.mark.parametrize("header", [{"Retry-After": "1"}, {"retry-after-ms": "900"}])
def test_a_pause_asked_for_is_kept(
    remote: Remote, ask: Ask, journal: Journal, header: dict[str, str]
) -> None:
    def script(call: Call) -> Answer:
        return Answer(status=429, headers=header) if call.number == 0 else count(call)

    with ScriptedServer(script) as server, open_model(remote(server.url)) as model:
        list(model.ask_all(numbers(ask, 1), journal))
        assert server.calls[1].at - server.calls[0].at >= 0.89


def test_a_storm_of_429_slows_the_client_and_loses_nothing(
    remote: Remote, ask: Ask, journal: Journal
) -> None:
    window: list[float] = []

    def at_most_ten_in_100_ms(call: Call) -> Answer:
        window[:] = [at for at in window if call.at - at < 0.1]
        if len(window) >= 10:
            return Answer(status=429, headers={"retry-after-ms": "50"})
        window.append(call.at)
        return count(call)

    with ScriptedServer(at_most_ten_in_100_ms) as server:
        with open_model(remote(server.url, concurrency=32)) as model:
            replies = list(model.ask_all(numbers(ask, 150), journal))
        assert [reply.value for reply in replies] == list(range(150))
        assert len(server.calls) < 300


@pytest.mark.parametrize(
    ("fault", "error", "said", "calls"),
    [
        (Answer(status=401, text="no"), UsageError, "config", 1),
        (Answer(status=403, text="no"), UsageError, "config", 1),
        (Answer(status=404, text="no"), UsageError, "config", 1),
        (Answer(status=400, text="unknown field"), UsageError, "refuses every", 40),
        (Answer(status=429, headers={"Retry-After": "3600"}), ExternalFailure, "3600 s", 1),
        (Answer(delay=60), ExternalFailure, "did not answer in 2 attempts", 40),
    ],
)
def test_what_ends_a_run_says_why(  # noqa: PLR0917
    remote: Remote, ask: Ask, journal: Journal, fault: Answer, error: type[Exception], said: str, calls: int
) -> None:
    with ScriptedServer(lambda _: fault) as server:
        config = remote(server.url, timeout_seconds=0.3 if fault.delay else 60, attempts=2)
        with open_model(config) as model, pytest.raises(error, match=said):
            list(model.ask_all(numbers(ask, min(calls, 10)), journal))
        assert len(server.calls) <= calls


def test_a_request_the_server_refuses_costs_that_item_alone(
    remote: Remote, ask: Ask, journal: Journal
) -> None:
    def script(call: Call) -> Answer:
        return Answer(status=400, text="prompt too long") if call.said == "1" else count(call)

    with ScriptedServer(script) as server, open_model(remote(server.url, concurrency=1)) as model:
        replies = list(model.ask_all(numbers(ask, 4), journal))
    assert [reply.value for reply in replies] == [0, None, 2, 3]
    assert "prompt too long" in replies[1].problem
    assert len(journal) == 3


def test_a_reply_that_never_ends_costs_that_item_alone(remote: Remote, ask: Ask, journal: Journal) -> None:
    def script(call: Call) -> Answer:
        return Answer(endless=True) if call.said == "3" else count(call)

    with ScriptedServer(script) as server:
        config = remote(server.url, timeout_seconds=1.5, attempts=2)
        with open_model(config) as model:
            replies = list(model.ask_all(numbers(ask, 12), journal))
    assert [reply.value for reply in replies if reply.tag != "3"] == [n for n in range(12) if n != 3]
    assert replies[3].value is None
    assert "no reply" in replies[3].problem


def test_a_server_that_was_never_there_is_given_up_after_a_few_probes(
    remote: Remote, ask: Ask, journal: Journal
) -> None:
    gone = ScriptedServer(count).start()
    gone.stop()
    with open_model(remote(gone.url, attempts=50)) as model:
        with pytest.raises(ExternalFailure, match="never answered; last error"):
            list(model.ask_all(numbers(ask, 40), journal))
        assert model.meter.asked <= 4 + FAILURES_TO_OPEN + PROBES_BEFORE_ABSENT


def test_one_call_that_gives_up_spares_those_in_line_their_probes(
    remote: Remote, ask: Ask, journal: Journal
) -> None:
    def dying(call: Call) -> Answer:
        return count(call) if call.number == 0 else Answer(drop=True)

    with ScriptedServer(dying) as server, open_model(remote(server.url, attempts=2)) as model:
        with pytest.raises(ExternalFailure, match="did not answer in 2 attempts"):
            list(model.ask_all(numbers(ask, 16), journal))
        assert len(server.calls) < 1 + 15 * 2


def test_a_server_that_dies_and_returns_is_waited_for(remote: Remote, ask: Ask, journal: Journal) -> None:
    first = ScriptedServer(count).start()
    second = ScriptedServer(count, port=first.port)

    def requests() -> Iterator[Request[int]]:
        for i in range(60):
            if i == 30:
                first.stop()
                threading.Timer(0.4, second.start).start()
            yield ask(i)

    with open_model(remote(first.url, attempts=12)) as model:
        replies = list(model.ask_all(requests(), journal))
    second.stop()
    assert [reply.value for reply in replies] == list(range(60))


def test_a_dead_server_stops_the_run_and_keeps_what_was_answered(
    remote: Remote, ask: Ask, journal: Journal
) -> None:
    def script(call: Call) -> Answer:
        return count(call) if int(call.said) < 10 else Answer(drop=True)

    with ScriptedServer(script) as server:
        with (
            open_model(remote(server.url, attempts=3)) as model,
            pytest.raises(ExternalFailure, match="did not answer in 3 attempts"),
        ):
            list(model.ask_all(numbers(ask, 40), journal))
        # Later requests may be sent before one that waits: what counts is that each sent call is kept.
        answered = {call.said for call in server.calls if int(call.said) < 10}
        assert answered
        assert len(journal) == len(answered)
    with ScriptedServer(count) as server, open_model(remote(server.url)) as model:
        assert len(list(model.ask_all(numbers(ask, 40), journal))) == 40
        assert len(server.calls) == 40 - len(answered)


def test_a_failing_endpoint_is_left_alone_and_the_others_do_its_work(
    remote: Remote, ask: Ask, journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        endpoint, "backoff", lambda _: 600.0
    )  # it rests until the end, however long that takes
    with (
        ScriptedServer(lambda c: Answer(text=count(c).text, delay=0.005)) as well,
        ScriptedServer(lambda _: Answer(status=503)) as sick,
    ):
        with open_model(remote(sick.url, well.url, attempts=8)) as model:
            replies = list(model.ask_all(numbers(ask, 200), journal))
        assert [reply.value for reply in replies] == list(range(200))
        assert len(well.calls) == 200
        assert FAILURES_TO_OPEN <= len(sick.calls) < FAILURES_TO_OPEN + 4


def test_calls_are_balanced_over_endpoints_by_their_speed(remote: Remote, ask: Ask, journal: Journal) -> None:
    enough = threading.Event()

    def quick(call: Call) -> Answer:
        if call.number == 25:
            enough.set()
        return count(call)

    def slow(call: Call) -> Answer:
        enough.wait(60)
        return count(call)

    with ScriptedServer(quick) as fast, ScriptedServer(slow) as late:
        # The late one holds the four calls it may be sent until the other has had all the rest.
        with open_model(remote(fast.url, late.url, timeout_seconds=90)) as model:
            list(model.ask_all(numbers(ask, 30), journal))
        assert 26 <= len(fast.calls) < 30, "the slower one helps and is spared"
        assert len(fast.calls) + len(late.calls) == 30


@pytest.mark.parametrize("count", ["18446744073709551616", "-1", "1e400", "1e300", '"many"'])
def test_a_reply_with_a_count_of_tokens_that_none_has_is_no_completion(count: str) -> None:
    usage = f'"usage": {{"prompt_tokens": {count}, "completion_tokens": 1}}'
    with pytest.raises(Broken, match="no chat completion"):
        completion(f'{{"choices": [{{"message": {{"content": "1"}}}}], {usage}}}'.encode(), 0.0)
