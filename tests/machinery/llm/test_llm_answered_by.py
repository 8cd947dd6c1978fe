"""Which model answered: journalled with each reply, compared with the config, and never used undeclared."""

from __future__ import annotations

from pathlib import Path

import orjson
import pytest

from mihakk.machinery.configs import load_config
from mihakk.machinery.errors import ExternalFailure
from mihakk.machinery.llm.journal import Journal
from mihakk.machinery.llm.model import open_model
from mihakk.machinery.llm.scripted import Answer, Call, Script, ScriptedServer
from mihakk.schemas.model import ModelConfig
from tests.machinery.llm.counting import Ask, Remote, count, numbers


def _by(name: str, fingerprint: str | None = None) -> Script:
    def script(call: Call) -> Answer:
        return Answer(text=count(call).text, model=name, system_fingerprint=fingerprint)

    return script


def test_the_answering_model_and_its_fingerprint_are_journalled(
    remote: Remote, ask: Ask, journal: Journal
) -> None:
    with ScriptedServer(_by("scripted-1", "fp_1")) as server, open_model(remote(server.url)) as model:
        list(model.ask_all(numbers(ask, 2), journal))
    told = {(one.response_model, one.system_fingerprint) for one in journal.entries()}
    assert told == {("scripted-1", "fp_1")}


def test_another_model_stops_the_run_and_the_message_says_what_to_write_where(
    ask: Ask, journal: Journal, tmp_path: Path
) -> None:
    path = tmp_path / "judge.yaml"
    with ScriptedServer(_by("scripted-1-2026-08-06")) as server:
        serve = f"{{engine: openai, endpoints: ['{server.url}']}}"
        path.write_text(f"name: judge\nfamily: scripted\nmodel: scripted-1\nserve: {serve}\n")
        with open_model(load_config(path, ModelConfig)) as model, pytest.raises(ExternalFailure) as stopped:
            list(model.ask_all(numbers(ask, 40), journal))
        assert len(server.calls) < 40
        said = str(stopped.value)
        line = 'served_as: ["scripted-1-2026-08-06"]'
        wanted = ("'scripted-1'", "'scripted-1-2026-08-06'", str(path), line)
        assert [one for one in wanted if one not in said] == []
        path.write_text(f"{path.read_text()}{line}\n")
        answered = len(list(journal.entries()))
        with open_model(load_config(path, ModelConfig)) as model:
            replies = list(model.ask_all(numbers(ask, 40), journal))
        assert [one.value for one in replies] == list(range(40))
        assert len(list(journal.entries())) == 40
        assert len(server.calls) == 40
        assert answered > 0


def test_replies_of_another_model_are_asked_anew_once_the_alias_is_gone(
    remote: Remote, ask: Ask, tmp_path: Path
) -> None:
    folder = tmp_path / "journals"
    with ScriptedServer(_by("other")) as server, Journal(folder, "own") as journal:
        declared = remote(server.url).model_copy(update={"served_as": ("other",)})
        with open_model(declared) as model:
            list(model.ask_all(numbers(ask, 3), journal))
    for calls in (3, 0):
        with ScriptedServer(_by("scripted-1")) as server, Journal(folder, "own") as journal:
            with open_model(remote(server.url)) as model:
                assert all(model.known(model.key(ask(n)), journal) is None for n in range(3)) == bool(calls)
                assert [one.value for one in model.ask_all(numbers(ask, 3), journal)] == [0, 1, 2]
            assert len(server.calls) == calls


def test_a_journal_without_names_is_read_and_no_answered_call_repeated(
    remote: Remote, ask: Ask, tmp_path: Path
) -> None:
    folder = tmp_path / "journals"
    with (
        ScriptedServer(_by("scripted-1")) as server,
        Journal(folder, "own") as journal,
        open_model(remote(server.url)) as model,
    ):
        list(model.ask_all(numbers(ask, 3), journal))
    path = next(folder.glob("*.jsonl"))
    older = []
    for line in path.read_bytes().splitlines():
        entry = orjson.loads(line)
        for name in ("response_model", "system_fingerprint", "seal"):
            del entry[name]
        older.append(orjson.dumps(entry))
    path.write_bytes(b"\n".join(older) + b"\n")
    with ScriptedServer(_by("scripted-1")) as server, Journal(folder, "own") as journal:
        with open_model(remote(server.url)) as model:
            assert [one.value for one in model.ask_all(numbers(ask, 3), journal)] == [0, 1, 2]
        assert server.calls == []


def test_a_reply_that_names_no_model_counts_and_is_journalled_as_unnamed(
    remote: Remote, ask: Ask, journal: Journal
) -> None:
    body = b'{"choices":[{"message":{"content":"{\\"n\\": 0}"},"finish_reason":"stop"}]}'
    with ScriptedServer(lambda _: Answer(body=body)) as server, open_model(remote(server.url)) as model:
        assert [one.value for one in model.ask_all(numbers(ask, 1), journal)] == [0]
    assert [one.response_model for one in journal.entries()] == [""]


def test_a_fingerprint_that_changes_stops_nothing_and_is_journalled(
    remote: Remote, ask: Ask, journal: Journal
) -> None:
    def script(call: Call) -> Answer:
        return Answer(text=count(call).text, system_fingerprint=f"fp_{call.number % 2}")

    with ScriptedServer(script) as server, open_model(remote(server.url)) as model:
        assert len(list(model.ask_all(numbers(ask, 4), journal))) == 4
    assert {one.system_fingerprint for one in journal.entries()} == {"fp_0", "fp_1"}
