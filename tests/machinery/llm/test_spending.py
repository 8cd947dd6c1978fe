"""Caps on what models cost: over runs, processes, retries and kills, against the server's own sum."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mihakk.machinery.errors import ExternalFailure
from mihakk.machinery.llm.budget import BudgetSpent, Cap, Meter
from mihakk.machinery.llm.journal import Journal
from mihakk.machinery.llm.model import open_model
from mihakk.machinery.llm.scripted import Answer, Call, ScriptedServer
from mihakk.machinery.llm.spending import Ledger, account
from mihakk.machinery.llm.structured import Request
from mihakk.schemas.model import Budget, Limits, ModelConfig

Remote = Callable[..., ModelConfig]
Ask = Callable[[object], Request[int]]
PRICE = {"prompt": 1000, "completion": 3000, "currency": "EUR"}
RUN = """
import json, sys
from pathlib import Path
from mihakk.machinery.errors import ExternalFailure
from mihakk.machinery.llm.budget import Cap, Meter
from mihakk.machinery.llm.journal import Journal
from mihakk.machinery.llm.model import open_model
from mihakk.machinery.llm.spending import Ledger
from mihakk.machinery.llm.structured import in_words
from mihakk.schemas.model import Budget, ModelConfig
config = ModelConfig.model_validate(json.loads(sys.argv[1]))
folder, own, cap = Path(sys.argv[2]), sys.argv[3], Cap(("one", "two"), Budget(cost=float(sys.argv[4])))
requests = (in_words(f"{own}{n}", f"{own} {n} " + "كلمة " * 40, 150, 0) for n in range(5000))
with Journal(folder / own) as journal, Ledger(folder / "spending") as ledger:
    with open_model(config, meter=Meter(config, ledger, [cap])) as model:
        try:
            for _ in model.ask_all(requests, journal, ordered=False):
                pass
        except ExternalFailure as stopped:
            sys.exit(75 if "could pass `budget.cost`" in str(stopped) else str(stopped))
"""


def count(call: Call) -> Answer:
    return Answer(text=json.dumps({"n": int(call.body["messages"][1]["content"])}))


def spend(model: ModelConfig, folder: Path, journal: Journal, requests: Any, budget: Budget) -> None:
    """Asks until the cap is reached."""
    with Ledger(folder) as ledger:
        meter = Meter(model, ledger, [Cap((model.name,), budget)])
        with open_model(model, meter=meter) as opened, pytest.raises(BudgetSpent):
            list(opened.ask_all(requests, journal))


@pytest.mark.timeout(900)
def test_a_cap_holds_over_processes_one_of_them_killed_and_the_next_runs(tmp_path: Path) -> None:
    cap = 60.0
    served: list[float] = []

    def script(call: Call) -> Answer:
        text = "x" * 4 * (20 + 37 * call.number % 130)
        prompt = sum(len(message["content"]) for message in call.body["messages"]) // 4
        served.append((prompt * PRICE["prompt"] + len(text) // 4 * PRICE["completion"]) / 1e6)  # type: ignore[operator]
        return Answer(text=text, delay=0.02 + 0.001 * (call.number % 20))

    def start(url: str, name: str, own: str) -> subprocess.Popen[bytes]:
        config = {"name": name, "family": "f", "model": "m", "price": PRICE, "limits": {"concurrency": 8}}
        told = json.dumps({**config, "serve": {"engine": "openai", "endpoints": [url]}})
        return subprocess.Popen([sys.executable, "-c", RUN, told, str(tmp_path), own, str(cap)])

    with ScriptedServer(script) as server:
        running = [start(server.url, "one", "one1")]
        while not served:  # else the others, on a busy machine, may spend all before it begins
            time.sleep(0.01)
        running += [start(server.url, "two", name) for name in ("two1", "two2")]
        while sum(served) < cap / 4:
            time.sleep(0.01)
        running[0].kill()
        running[0].wait()
        running.append(start(server.url, "one", "one1"))
        assert [one.wait(300) for one in running[1:]] == [75] * 3
        asked = len(server.calls)
        assert start(server.url, "two", "two3").wait(300) == 75
    assert len(server.calls) - asked <= 1, "a run of the same month finds it spent"
    assert sum(served) <= 1.01 * cap, "those that the killed process never heard of counted"
    in_flight = 8 * max(served) * 2
    assert sum(served) >= cap - in_flight, "nor does it block more than it had in flight"
    told = account(tmp_path / "spending")
    assert {one.model for one in told} == {"one", "two"}
    assert 0 <= sum(one.calls for one in told) - len(served) <= 8, "killed before it could send them"
    assert sum(served) <= sum(one.at_most for one in told) <= cap


@pytest.mark.parametrize("budget", [Budget(calls=7), Budget(cost=0.25)])
def test_retries_and_later_runs_get_no_second_budget(
    tmp_path: Path, remote: Remote, ask: Ask, journal: Journal, budget: Budget
) -> None:
    def flaky(call: Call) -> Answer:
        return Answer(status=503) if call.number % 3 == 1 else count(call)

    with ScriptedServer(flaky) as server:
        config = ModelConfig.model_validate(
            remote(server.url, concurrency=2, attempts=9).model_dump() | {"price": {**PRICE, "prompt": 0}}
        )
        spend(config, tmp_path / "ledger", journal, map(ask, range(50)), budget)
        first = len(server.calls)
        spend(config, tmp_path / "ledger", journal, map(ask, range(50, 60)), budget)
        if budget.calls:
            assert first == len(server.calls) == 7, "a try that failed was sent, too"
        else:
            assert len(server.calls) == first > 7
        spend(config, tmp_path / "other", journal, map(ask, range(60, 99)), budget)
        assert len(server.calls) > first, "another benchmark has its own"


def test_an_answer_that_never_came_and_one_without_usage_count_at_their_most(
    tmp_path: Path, remote: Remote, ask: Ask, journal: Journal
) -> None:
    def script(call: Call) -> Answer:
        body = {"choices": [{"message": {"content": '{"n":1}'}, "finish_reason": "stop"}]}
        return Answer(drop=True) if call.number == 0 else Answer(body=json.dumps(body).encode())

    with ScriptedServer(script) as server:
        config = ModelConfig.model_validate(remote(server.url).model_dump() | {"price": PRICE})
        with Ledger(tmp_path / "ledger") as ledger, open_model(config, meter=Meter(config, ledger)) as model:
            assert [one.value for one in model.ask_all([ask(1)], journal)] == [1]
            assert model.meter.spent > 2 * 50 * 3000 / 1e6
    (told,) = account(tmp_path / "ledger")
    assert (told.calls, told.unsettled) == (2, 0)
    assert told.cost == pytest.approx(model.meter.spent)


def test_a_ledger_that_rots_or_cannot_be_written_never_lets_more_be_spent(
    tmp_path: Path, remote: Remote, ask: Ask, journal: Journal
) -> None:
    folder = tmp_path / "ledger"
    with ScriptedServer(count) as server:
        config = remote(server.url, concurrency=1)
        spend(config, folder, journal, map(ask, range(9)), Budget(calls=4))
        assert len(server.calls) == 4
        (path,) = folder.glob("*.jsonl")
        lines = path.read_bytes().splitlines(keepends=True)
        path.write_bytes(b"".join([lines[0].replace(b"call", b"coll"), *lines[1:], lines[0][:30]]))
        assert [(one.calls, one.unsettled) for one in account(folder)] == [(4, 0)]
        spend(config, folder, journal, map(ask, range(9, 18)), Budget(calls=6))
        file = tmp_path / "file"
        file.write_text("")
        with (
            Ledger(file / "ledger") as ledger,
            open_model(config, meter=Meter(config, ledger)) as model,
            pytest.raises(ExternalFailure, match=r"ledger of spending in .*Nothing was sent"),
        ):
            list(model.ask_all([ask(99)], journal))
    assert len(server.calls) == 6


def test_a_limit_of_one_run_names_what_has_taken_its_place() -> None:
    with pytest.raises(
        ValueError, match=r"`max_requests` is no limit any more: write `budget: \{calls: N\}`"
    ):
        Limits.model_validate({"max_requests": 7})
