"""Unusable replies: marked in the journal, a stop when they are many, asked again when they may be better."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from mihakk.machinery.errors import ExternalFailure
from mihakk.machinery.llm.journal import Journal
from mihakk.machinery.llm.model import open_model
from mihakk.machinery.llm.scripted import Answer, Call, ScriptedServer
from mihakk.machinery.llm.unusable import FirstReplies
from mihakk.schemas.model import UnusableLimit
from tests.machinery.llm.counting import Ask, Remote, count, numbers


def garbage(bad: Callable[[int], bool]) -> Callable[[Call], Answer]:
    """A server that sends prose for some of the numbers."""
    return lambda call: (
        Answer(text="Certainly! \x1b[31m") if bad(int(call.body["messages"][1]["content"])) else count(call)
    )


def ask_numbers(  # noqa: PLR0917
    remote: Remote, ask: Ask, journal: Journal, url: str, n: int, limit: UnusableLimit
) -> list[int | None]:
    first = FirstReplies("judge", limit)
    found: list[int | None] = []
    try:
        with open_model(remote(url)) as model, closing(model.ask_all(numbers(ask, n), journal)) as replies:
            for reply in replies:
                first.see(reply, journal)
                found.append(reply.value)
            first.end(journal)
    finally:
        if first.stopped:
            journal.ask_again()
    return found


@pytest.mark.parametrize(
    ("n", "bad", "stops"),
    [
        (40, range(0, 40, 2), False),  # 10 of the first 20: no more than half
        (40, [*range(0, 20, 2), 19], True),  # 11 of them
        (40, range(20, 40), False),  # only the first ones count
        (6, range(6), True),
        (4, range(4), False),  # half of all replies bad gives this once in sixteen times
        (5, range(3), False),
        (10, range(9), True),
    ],
)
def test_more_than_the_share_of_the_first_replies_stops(  # noqa: PLR0917
    remote: Remote, ask: Ask, journal: Journal, n: int, bad: list[int], stops: bool
) -> None:
    with ScriptedServer(garbage(lambda number: number in bad)) as server:
        if stops:
            with pytest.raises(
                ExternalFailure, match=r"judge: \d+ of its first \d+ replies are unusable"
            ) as stop:
                ask_numbers(remote, ask, journal, server.url, n, UnusableLimit())
            assert '"Certainly! \\u001b[31m"' in str(stop.value), "one example, with no control character"
        else:
            found = ask_numbers(remote, ask, journal, server.url, n, UnusableLimit())
            assert [value is None for value in found] == [number in bad for number in range(n)]


def test_after_a_stop_the_unusable_are_asked_again_and_the_usable_kept(
    remote: Remote, ask: Ask, tmp_path: Path
) -> None:
    limit = UnusableLimit(share=0.2, of_first=10)
    bad = {1, 3, 5}
    with Journal(tmp_path, "a") as journal:
        with ScriptedServer(garbage(bad.__contains__)) as server, pytest.raises(ExternalFailure):
            ask_numbers(remote, ask, journal, server.url, 10, limit)
        kept = {key for key in (entry.key for entry in journal.entries()) if key in journal}
    raw = (tmp_path / "a.jsonl").read_text(encoding="utf-8")
    assert raw.count('"text":"Certainly!') >= 2 * len(bad), "what was said is still there to be read"
    with Journal(tmp_path, "a") as journal:
        assert all(key in journal for key in kept), "usable replies are still there after reopening"
        with ScriptedServer(count) as server:
            assert ask_numbers(remote, ask, journal, server.url, 10, limit) == list(range(10))
            asked = {int(call.body["messages"][1]["content"]) for call in server.calls}
            assert bad <= asked
        assert journal.times_asked_again(map(str, range(10))) == {"1": 1, "3": 1, "5": 1}
    with Journal(tmp_path, "b") as journal, ScriptedServer(count) as server:
        assert ask_numbers(remote, ask, journal, server.url, 10, limit) == list(range(10))
        assert server.calls == [], "the later replies count from now on"


def test_below_the_share_they_are_marked_once_and_asked_again_only_on_request(
    remote: Remote, ask: Ask, tmp_path: Path
) -> None:
    limit = UnusableLimit()
    with ScriptedServer(garbage({2}.__contains__)) as server:
        for _ in range(3):
            with Journal(tmp_path, "a") as journal:
                assert ask_numbers(remote, ask, journal, server.url, 6, limit).count(None) == 1
        assert len(server.calls) == 7, "six numbers and one repair request"
        lines = [json.loads(line) for line in (tmp_path / "a.jsonl").read_text(encoding="utf-8").splitlines()]
        (mark,) = [line for line in lines if "unusable" in line]
        assert (mark["tag"], len(mark["calls"])) == ("2", 2)
        assert "not one JSON object" in mark["problem"]
    with Journal(tmp_path, "b") as journal, ScriptedServer(count) as server:
        assert journal.ask_again() == 1
        assert journal.ask_again() == 0
        assert ask_numbers(remote, ask, journal, server.url, 6, limit) == list(range(6))
        assert [call.body["messages"][1]["content"] for call in server.calls] == ["2"]


def test_a_journal_of_the_version_before_knows_no_marks_and_is_read_as_ever(
    remote: Remote, ask: Ask, tmp_path: Path
) -> None:
    with ScriptedServer(count) as server, Journal(tmp_path, "a") as journal:
        ask_numbers(remote, ask, journal, server.url, 6, UnusableLimit())
    with Journal(tmp_path, "a") as journal:
        assert (len(journal), journal.ask_again(), journal.times_asked_again(["1"])) == (6, 0, {})
