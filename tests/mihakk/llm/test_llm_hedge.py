"""Hedging: a late call is sent to a second endpoint, the first answer counts, the other is called off."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

import pytest

from mihakk.errors import ExternalFailure, UsageError
from mihakk.llm.hedge import ASK_AGAIN, LEAST_ANSWERS, Pace, first_answer
from mihakk.llm.journal import Journal
from mihakk.llm.model import open_model
from mihakk.llm.scripted import Answer, Call, ScriptedServer
from tests.mihakk.llm.counting import Ask, Remote, count, numbers

CALLS = 80
LONG = 60.0


def stuck_at(*tags: str) -> Callable[[Call], Answer]:
    """A server that keeps the calls with these numbers waiting."""

    def script(call: Call) -> Answer:
        said = call.body["messages"][1]["content"]
        return Answer(text=count(call).text, delay=LONG if said in tags else 0.01)

    return script


def stuck_once(*tags: str) -> Callable[[Call], Answer]:
    """Servers that keep the calls with these numbers waiting when they first meet them, wherever that is."""
    met: set[str] = set()

    def script(call: Call) -> Answer:
        said = call.body["messages"][1]["content"]
        first = said in tags and said not in met
        met.add(said)
        return Answer(text=count(call).text, delay=LONG if first else 0.01)

    return script


def test_late_calls_are_answered_by_another_endpoint(remote: Remote, ask: Ask, journal: Journal) -> None:
    stuck = ("40", "55", "70")
    once_stuck = stuck_once(*stuck)
    with (
        ScriptedServer(once_stuck) as one,
        ScriptedServer(once_stuck) as two,
        open_model(remote(one.url, two.url, hedge=True, timeout_seconds=2 * LONG)) as model,
    ):
        replies = list(model.ask_all(numbers(ask, CALLS), journal))
        assert [reply.value for reply in replies] == list(range(CALLS))
        sent = len(one.calls) + len(two.calls)
        spent = model.spending
        assert spent.hedged >= len(stuck)
        assert spent.requests == sent == CALLS + spent.hedged
        assert spent.answered == CALLS
        deadline = time.monotonic() + LONG
        while len(one.abandoned) + len(two.abandoned) < len(stuck) and time.monotonic() < deadline:
            time.sleep(0.01)
        assert len(one.abandoned) + len(two.abandoned) >= len(stuck), "no stuck call was waited for"
        assert model._client is not None
        assert [e.in_flight for e in model._client.dispatcher.endpoints] == [0, 0]
    assert len(journal) == CALLS, "one answer a call is kept"


def test_what_was_sent_twice_counts_in_the_budget(remote: Remote, ask: Ask, journal: Journal) -> None:
    with (
        ScriptedServer(stuck_at("40")) as one,
        ScriptedServer(count) as two,
        open_model(remote(one.url, two.url, hedge=True, max_requests=30, concurrency=1)) as model,
    ):
        with pytest.raises(ExternalFailure, match="max_requests"):
            list(model.ask_all(numbers(ask, CALLS), journal))
        assert model.spending.requests == 30 == len(one.calls) + len(two.calls)


def test_a_call_that_was_late_too_early_is_sent_twice_once_it_may_be(
    remote: Remote, ask: Ask, journal: Journal
) -> None:
    """The first call is stuck before anybody knows how long calls take: nothing may be sent twice then."""
    first_stuck = stuck_once("0")
    with (
        ScriptedServer(first_stuck) as one,
        ScriptedServer(first_stuck) as two,
        open_model(remote(one.url, two.url, hedge=True, timeout_seconds=2 * LONG)) as model,
    ):
        replies = list(model.ask_all(numbers(ask, CALLS), journal))
        assert [reply.value for reply in replies] == list(range(CALLS))
        assert sum(call.body["messages"][1]["content"] == "0" for call in one.calls + two.calls) == 2


@pytest.mark.parametrize("hedge", [False, True])
def test_one_endpoint_or_no_wish_sends_every_call_once(
    remote: Remote, ask: Ask, journal: Journal, hedge: bool
) -> None:
    def slow_at_times(call: Call) -> Answer:
        return Answer(text=count(call).text, delay=0.2 if call.number % 25 == 24 else 0.0)

    with ScriptedServer(slow_at_times) as one, ScriptedServer(slow_at_times) as two:
        urls = (one.url,) if hedge else (one.url, two.url)
        with open_model(remote(*urls, hedge=hedge)) as model:
            assert len(list(model.ask_all(numbers(ask, CALLS), journal))) == CALLS
            assert model.spending.hedged == 0
        assert len(one.calls) + len(two.calls) == CALLS


def test_a_slow_service_is_not_asked_twice_as_much(remote: Remote, ask: Ask, journal: Journal) -> None:
    def slower(call: Call) -> Answer:
        return Answer(text=count(call).text, delay=0.005 if call.number < LEAST_ANSWERS else 0.05)

    with (
        ScriptedServer(slower) as one,
        ScriptedServer(slower) as two,
        open_model(remote(one.url, two.url, hedge=True)) as model,
    ):
        list(model.ask_all(numbers(ask, 2 * CALLS), journal))
        assert model.spending.hedged <= 0.1 * model.spending.requests + 1


def test_a_call_is_late_after_nineteen_twentieths_of_the_latest() -> None:
    pace = Pace()
    for seconds in range(LEAST_ANSWERS - 1):
        pace.add(float(seconds))
        assert pace.late() is None
    pace.add(19.0)
    assert pace.late() == 19.0
    for _ in range(300):
        pace.add(1.0)
    assert pace.late() == 1.0


def test_how_long_a_call_is_left_alone() -> None:
    pace = Pace()
    assert pace.wait(9.0, may=True) == ASK_AGAIN, "nobody knows yet what late is"
    for _ in range(LEAST_ANSWERS):
        pace.add(2.0)
    assert pace.wait(0.5, may=True) == 1.5
    assert pace.wait(0.5, may=False) == 1.5
    assert pace.wait(2.5, may=False) == ASK_AGAIN
    assert pace.wait(2.5, may=True) == 0


async def later(seconds: float, value: int | Exception) -> int:
    await asyncio.sleep(seconds)
    if isinstance(value, Exception):
        raise value
    return value


@pytest.mark.parametrize(
    ("one", "other", "answer"),
    [
        ((0.001, 1), (9.0, 2), 1),
        ((9.0, 1), (0.001, 2), 2),
        ((0.001, OSError("a")), (0.02, 2), 2),
        ((0.02, 1), (0.001, OSError("b")), 1),
    ],
)
def test_the_first_answer_counts_and_a_passing_failure_waits(
    one: tuple[float, int | Exception], other: tuple[float, int | Exception], answer: int
) -> None:
    async def race() -> int:
        calls = [asyncio.create_task(later(*call)) for call in (one, other)]
        found, winner = await first_answer(calls[0], calls[1], OSError)
        assert all(call.done() for call in calls)
        assert winner.result() == found
        return found

    assert asyncio.run(race()) == answer


@pytest.mark.parametrize(
    ("one", "other", "failure"),
    [
        ((0.001, OSError("a")), (0.02, OSError("b")), OSError),
        ((9.0, 1), (0.001, UsageError("wrong key")), UsageError),
    ],
)
def test_what_both_fail_with_or_never_passes_is_raised(
    one: tuple[float, int | Exception], other: tuple[float, int | Exception], failure: type[Exception]
) -> None:
    async def race() -> None:
        calls = [asyncio.create_task(later(*call)) for call in (one, other)]
        try:
            await first_answer(calls[0], calls[1], OSError)
        finally:
            assert all(call.done() for call in calls)

    with pytest.raises(failure):
        asyncio.run(race())
