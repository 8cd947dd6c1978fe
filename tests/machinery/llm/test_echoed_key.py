"""A server that answers with what it was sent: no key stays on disk."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from mihakk.machinery.llm.journal import Journal
from mihakk.machinery.llm.model import open_model
from mihakk.machinery.llm.scripted import Answer, Call, ScriptedServer
from tests.machinery.llm.counting import Ask, Remote, numbers

KEY = "sk-secret-0123456789abcdef"


@pytest.mark.parametrize("reply", ['{"n": 0, "said": "HEADER"}', "you sent HEADER", '{"choices": "HEADER"}'])
def test_a_server_that_echoes_the_authorization_header_leaves_no_key_in_a_journal(  # noqa: PLR0917
    remote: Remote,
    ask: Ask,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    reply: str,
    measured: Callable[[str, float], None],
) -> None:
    monkeypatch.setenv("OWN_KEY", KEY)
    sent: list[str] = []

    def script(call: Call) -> Answer:
        sent.append(call.headers["Authorization"])
        return Answer(text=reply.replace("HEADER", sent[-1]))

    folder = tmp_path / "journals"
    with ScriptedServer(script) as server, Journal(folder, "own") as journal:
        config = remote(server.url)
        serve = config.serve.model_copy(update={"api_key_env": "OWN_KEY"})
        with open_model(config.model_copy(update={"serve": serve})) as model:
            replies = list(model.ask_all(numbers(ask, 2), journal))
    assert set(sent) == {f"Bearer {KEY}"}
    written = b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())
    assert b"Bearer ***" in written
    measured("no-key-in-a-journal", written.count(KEY.encode()))
    assert not any(KEY in str(one) for one in replies)
