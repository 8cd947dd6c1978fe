"""A server that answers with what it was sent: no key stays on disk."""

from __future__ import annotations

import base64
import json
import textwrap
from collections.abc import Callable
from pathlib import Path

import orjson
import pytest

from mihakk.llm.journal import Journal
from mihakk.llm.model import open_model
from mihakk.llm.redaction import WITHHELD
from mihakk.llm.scripted import Answer, Call, ScriptedServer
from tests.mihakk.llm.counting import Ask, Remote, numbers

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


def echoed(text: str, folder: Path, remote: Remote, ask: Ask, monkeypatch: pytest.MonkeyPatch) -> bytes:
    """What a journal keeps of a server that replies with that text."""
    monkeypatch.setenv("OWN_KEY", KEY)
    with ScriptedServer(lambda _: Answer(text=text)) as server, Journal(folder, "own") as journal:
        config = remote(server.url, api_key_env="OWN_KEY")
        with open_model(config) as model:
            list(model.ask_all(numbers(ask, 1), journal))
    return b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())


FORMS: dict[str, Callable[[str], str]] = {
    "JSON's escapes": lambda key: "".join(f"\\u{ord(one):04x}" for one in key),
    "HTML's numbers": lambda key: "".join(f"&#{ord(one)};" for one in key),
    "a URL": lambda key: "".join(f"%{ord(one):02X}" for one in key),
    "base64": lambda key: base64.b64encode(key.encode()).decode(),
    "base64, one letter later": lambda key: base64.b64encode(b"x" + key.encode()).decode(),
    "base64, two letters later": lambda key: base64.urlsafe_b64encode(b"Bearer:?" + key.encode()).decode(),
    "base64 in lines": lambda key: "\n".join(textwrap.wrap(base64.b64encode(key.encode()).decode(), 12)),
    "base64 twice": lambda key: base64.b64encode(base64.b64encode(key.encode())).decode(),
    "hex": lambda key: key.encode().hex(),
    "hex with colons": lambda key: ":".join(f"{one:02X}" for one in key.encode()),
    "lines": lambda key: f"{key[:9]}\n{key[9:]}",
    "single letters": " ".join,
    "fields": lambda key: json.dumps({"head": key[:13], "tail": key[13:]}),
    "capitals": str.upper,
    "backwards": lambda key: key[::-1],
    "half of it": lambda key: key[:14],
}


@pytest.mark.parametrize("form", FORMS)
def test_no_form_that_a_key_can_be_read_from_stays(
    form: str, remote: Remote, ask: Ask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = FORMS[form](KEY)
    kept = echoed(f"I was sent: {said}, thanks", tmp_path / "journals", remote, ask, monkeypatch)
    assert WITHHELD.encode() in kept
    assert said.encode() not in kept
    assert orjson.dumps(said)[1:-1] not in kept
