"""A vLLM server of its own environment, started for a run and ended with it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
import urllib.error
import urllib.request
from contextlib import suppress
from pathlib import Path

from mihakk.errors import ExternalFailure, UsageError
from mihakk.llm.server import ChildServer
from mihakk.ports import free_port
from schemas.model import Vllm

SWITCHES = (
    *("--generation-config", "vllm"),
    "--enable-prompt-tokens-details",
    *("--structured-outputs-config", '{"backend":"xgrammar","disable_any_whitespace":true}'),
)
"""What the audit needs of a server; `args` of the config come after them, and the last word counts."""
GUARD = Path(__file__).with_name("guard.py")
CLOSING_SECONDS = 25.0
POLL_SECONDS = 0.25
DEATH_SECONDS = 1.0
"""How long a dropped connection waits for the news that the server died."""


class VllmServer(ChildServer):
    """One model served by vLLM on loopback while the `with` block lasts.

    Raises:
        UsageError: There is no such interpreter.
        ExternalFailure: The server ended before it was ready, or was not ready in time.
    """

    kind = "vLLM server"
    closing_seconds = CLOSING_SECONDS

    def __init__(self, name: str, serve: Vllm) -> None:
        python = shutil.which(Path(serve.python).expanduser())
        if python is None:
            raise UsageError(
                f"`serve.python` of {name!r} names no program: {serve.python}. Give the interpreter of the "
                "environment that holds vLLM, such as .venv-vllm/bin/python"
            )
        super().__init__(name)
        port = free_port()
        self._address = f"http://127.0.0.1:{port}"
        # The module, not the `vllm` command: it finds no distribution of its name in builds for the CPU.
        command = [python, "-m", "vllm.entrypoints.openai.api_server", "--model", serve.model]
        command += ["--served-model-name", name, "--host", "127.0.0.1", "--port", str(port)]
        # Our own packages are no business of an environment that has other versions of everything.
        ours = {"PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV"}
        self._process = subprocess.Popen(
            [sys.executable, str(GUARD), str(os.getpid()), *command, *SWITCHES, *serve.args],
            stdin=subprocess.PIPE,
            stdout=self._log,
            stderr=subprocess.STDOUT,
            env={key: value for key, value in os.environ.items() if key not in ours},
        )
        try:
            self._await(serve.start_seconds)
        except BaseException:
            self.close()
            raise

    def check(self) -> None:
        """Raises ExternalFailure when the server has died; its guard reports that a moment later."""
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(DEATH_SECONDS)
        super().check()

    def _await(self, seconds: float) -> None:
        deadline = time.monotonic() + seconds
        direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        while True:
            if (code := self._process.poll()) is not None:
                raise ExternalFailure(f"{self.title} did not start (exit {code}): {self._tail()}")
            try:
                with direct.open(f"{self._address}/health", timeout=5):
                    return
            except (urllib.error.URLError, OSError):
                pass
            if time.monotonic() > deadline:
                raise ExternalFailure(
                    f"{self.title} was not ready in {seconds:g} s (`serve.start_seconds`): {self._tail()}"
                )
            time.sleep(POLL_SECONDS)
