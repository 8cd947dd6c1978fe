"""The key goes to the server and nowhere else."""

from __future__ import annotations

import logging

import pytest

from mihakk.machinery.errors import ExternalFailure, UsageError
from mihakk.machinery.llm.journal import Journal
from mihakk.machinery.llm.model import open_model
from mihakk.machinery.llm.scripted import Answer, Call, ScriptedServer
from tests.machinery.llm.counting import Ask, Remote, count, numbers


def test_the_key_appears_nowhere(
    remote: Remote,
    ask: Ask,
    journal: Journal,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    secret = "sk-Zq81xNotToBeSeen77"
    monkeypatch.setenv("JUDGE_KEY", secret)
    caplog.set_level(logging.DEBUG)
    told: list[str] = []

    def script(call: Call) -> Answer:
        assert call.headers["Authorization"] == f"Bearer {secret}"
        answers = [
            Answer(status=500, text=f"key {secret} crashed"),
            Answer(status=400, text=f"{secret} is too long"),
            count(call),
        ]
        return answers[min(call.number, 2)]

    with ScriptedServer(script) as server:
        config = remote(server.url, api_key_env="JUDGE_KEY", concurrency=1)
        with open_model(config) as model:
            replies = list(model.ask_all(numbers(ask, 3), journal))
            told += [repr(replies), repr(config), repr(model), model.key(ask(1))]
    for status in (401, 503):
        with ScriptedServer(lambda _, s=status: Answer(status=s, text=f"bad key {secret}")) as server:
            config = remote(server.url, api_key_env="JUDGE_KEY", attempts=1)
            with open_model(config) as model, pytest.raises((UsageError, ExternalFailure)) as failure:
                list(model.ask_all((ask(n) for n in range(7, 9)), journal))
            told.append(f"{failure.value} {failure.value!r}")
    told += [path.read_text() for path in journal.folder.iterdir()]
    told += [record.getMessage() for record in caplog.records]
    assert [text[:300] for text in told if secret in text] == []


@pytest.mark.parametrize("url", ["http://me:secret@host/v1", "http://host/v1?key=secret", "host:80"])
def test_an_address_with_credentials_is_refused_without_repeating_them(remote: Remote, url: str) -> None:
    with pytest.raises(UsageError) as failure, open_model(remote(url)):
        pass
    assert "secret" not in str(failure.value)


def test_a_missing_key_is_said_before_any_call(remote: Remote, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("JUDGE_KEY", raising=False)
    with (
        pytest.raises(UsageError, match="JUDGE_KEY"),
        open_model(remote("http://127.0.0.1:1/v1", api_key_env="JUDGE_KEY")),
    ):
        pass
