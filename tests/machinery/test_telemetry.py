"""Nothing is sent to the makers of libraries, whatever the user's environment says."""

from __future__ import annotations

import json
import os
import subprocess
import sys

from mihakk.machinery.settings import ROOT
from mihakk.machinery.telemetry import NO_TELEMETRY

USE = """
import json, sys

reached = []
def refuse(event, arguments):
    if event == "socket.getaddrinfo":
        reached.append(str(arguments[0]))
        raise OSError("no network in this test")
sys.addaudithook(refuse)

{imports}
import huggingface_hub.constants as hub
from huggingface_hub.utils import _telemetry
from prefect.settings import get_current_settings
{uses}
_telemetry.send_telemetry("mihakk")
_telemetry._TELEMETRY_QUEUE.join()
off = {{"huggingface_hub": hub.HF_HUB_DISABLE_TELEMETRY, "prefect": not get_current_settings().server.analytics_enabled}}
print(json.dumps([sorted(set(reached)), off]))
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


def test_no_library_sends_telemetry_and_each_says_that_it_is_off() -> None:
    every = "import datasets, great_expectations, inspect_ai, lm_eval, prefect, scrapy"
    context = 'great_expectations.get_context(mode="ephemeral")'
    ours = printed(USE.format(imports=f"import mihakk.flows\n{every}", uses=context))
    assert ours == [[], {"huggingface_hub": True, "prefect": True}]


def test_without_us_an_address_is_looked_up() -> None:
    alone = printed(USE.format(imports="", uses=""))
    assert alone == [["huggingface.co"], {"huggingface_hub": False, "prefect": False}]


def test_what_is_started_inherits_it() -> None:
    inner = "import json, os; print(json.dumps(dict(os.environ)))"
    code = f"import mihakk, subprocess, sys; subprocess.run([sys.executable, '-c', {inner!r}], check=True)"
    environment = printed(code)
    assert isinstance(environment, dict)
    assert NO_TELEMETRY.items() <= environment.items()
