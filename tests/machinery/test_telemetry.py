"""Nothing is sent to the makers of libraries, whatever the user's environment says."""

from __future__ import annotations

import json
import os
import subprocess
import sys

from mihakk.machinery.settings import ROOT
from mihakk.machinery.telemetry import NO_TELEMETRY

SETTINGS = """
import json
import huggingface_hub.constants as hub
from prefect.settings import get_current_settings

off = not get_current_settings().server.analytics_enabled
print(json.dumps({"huggingface_hub": hub.HF_HUB_DISABLE_TELEMETRY, "prefect": off}))
"""
USE = """
import json, sys

reached = []
def refuse(event, arguments):
    if event == "socket.getaddrinfo":
        reached.append(str(arguments[0]))
        raise OSError("no network in this test")
sys.addaudithook(refuse)

import datasets, great_expectations, inspect_ai, lm_eval, prefect, scrapy
from huggingface_hub.utils import _telemetry
great_expectations.get_context(mode="ephemeral")
_telemetry.send_telemetry("mihakk")
_telemetry._TELEMETRY_QUEUE.join()
print(json.dumps(sorted(set(reached))))
"""


def printed(code: str) -> object:
    """What a new process prints, whose environment asks for all telemetry there is."""
    wish = {name: "" if value == "1" else "true" for name, value in NO_TELEMETRY.items()}
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, **wish, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_libraries_themselves_say_that_their_telemetry_is_off() -> None:
    assert printed("import mihakk.flows\n" + SETTINGS) == {"huggingface_hub": True, "prefect": True}
    assert printed(SETTINGS) == {"huggingface_hub": False, "prefect": False}


def test_no_address_is_looked_up_when_libraries_are_imported_and_used() -> None:
    assert printed("import mihakk.flows\n" + USE) == []
    assert printed(USE) == ["huggingface.co"]


def test_what_is_started_inherits_it() -> None:
    inner = "import json, os; print(json.dumps(dict(os.environ)))"
    code = f"import mihakk, subprocess, sys; subprocess.run([sys.executable, '-c', {inner!r}], check=True)"
    environment = printed(code)
    assert isinstance(environment, dict)
    assert NO_TELEMETRY.items() <= environment.items()
