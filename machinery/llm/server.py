"""Model servers that a run starts itself, each a child process on loopback: local weights, or vLLM.

A crash of native code then ends one child, not the run, and the run can say which model died and what it
printed last.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request
from contextlib import suppress
from pathlib import Path
from typing import Self

from mihakk.machinery.errors import ExternalFailure, UsageError
from mihakk.machinery.llm.weights import locate
from mihakk.machinery.ports import free_port
from mihakk.schemas.model import Embedded, Vllm

START_SECONDS = 120.0
POLL_SECONDS = 0.1
TAIL = 4000
STAMP = re.compile(r"^[\d.]+ [A-Z] ")
"""Time and level before a line of llama.cpp's log."""
SWITCHES = (
    *("--generation-config", "vllm"),
    "--enable-prompt-tokens-details",
    *("--structured-outputs-config", '{"backend":"xgrammar","disable_any_whitespace":true}'),
)
"""What the audit needs of vLLM; `args` of the config come after them, and the last word counts."""
GUARD = Path(__file__).with_name("guard.py")


class ChildServer:
    """A model server that runs as a child of this process while the `with` block lasts.

    Raises:
        ExternalFailure: The server ended before it was ready, or was not ready in time.
    """

    kind = "server"
    setting = ""
    """Where the config says how long it may take to start."""
    closing_seconds = 3.0
    death_seconds = 0.0
    """How long a dropped connection waits for the news that the server died."""

    def __init__(
        self,
        name: str,
        command: list[str],
        port: int,
        seconds: float,
        *,
        env: dict[str, str] | None = None,
    ) -> None:
        self.name = name
        self._address = f"http://127.0.0.1:{port}"
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as the child
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=self._log,
            stderr=subprocess.STDOUT,
            env=env,
        )
        try:
            self._await(seconds)
        except BaseException:
            self.close()
            raise

    @property
    def title(self) -> str:
        """What messages call it."""
        return f"the {self.kind} of {self.name!r}"

    @property
    def endpoint(self) -> str:
        """Base URL of the OpenAI-compatible API."""
        return f"{self._address}/v1"

    @property
    def pid(self) -> int:
        """Process id of the child."""
        return self._process.pid

    def check(self) -> None:
        """Raises ExternalFailure when the child has died."""
        with suppress(subprocess.TimeoutExpired):
            code = self._process.wait(self.death_seconds)
            raise ExternalFailure(
                f"{self.title} died (exit {code}); run again to go on. "
                f"Last log lines: {self._tail() or '(none)'}"
            )

    def close(self) -> None:
        """Ends the child; safe to call twice."""
        if self._process.stdin is not None:
            with suppress(OSError):
                self._process.stdin.close()
        try:
            self._process.wait(timeout=self.closing_seconds)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait(timeout=10)
        self._log.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _tail(self) -> str:
        # pread: the child writes through the same file position, which a seek would move.
        number = self._log.fileno()
        size = os.fstat(number).st_size
        text = os.pread(number, TAIL, max(0, size - TAIL)).decode("utf-8", "replace")
        lines = [STAMP.sub("", line).strip() for line in text.splitlines()[size > TAIL :]]
        return "; ".join(list(dict.fromkeys(filter(None, lines)))[-8:])

    def _await(self, seconds: float) -> None:
        deadline = time.monotonic() + seconds
        direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        while True:
            if (code := self._process.poll()) is not None:
                raise ExternalFailure(f"{self.title} did not start (exit {code}): {self._tail()}")
            with suppress(OSError), direct.open(f"{self._address}/health", timeout=5):
                return
            if time.monotonic() > deadline:
                raise ExternalFailure(
                    f"{self.title} was not ready in {seconds:g} s{self.setting}: {self._tail()}"
                )
            time.sleep(POLL_SECONDS)


class Server(ChildServer):
    """One model served from local weights.

    `threads: 0` gives each of the `share` models that run at once its part of the cores: llama.cpp collapses
    when more threads than cores wait for each other.

    Raises:
        UsageError: The weights are missing or damaged.
    """

    kind = "embedded server"

    def __init__(self, name: str, serve: Embedded, cache_folder: Path, share: int = 1) -> None:
        path = str(locate(serve.weights, cache_folder))
        port = free_port()  # late: joining weights takes long, and somebody else may take the port meanwhile
        settings = {
            "path": path,
            "model": name,
            "slots": serve.slots,
            "context": serve.context,
            "threads": serve.threads or max(1, (os.cpu_count() or 1) // max(1, share)),
            "port": port,
        }
        command = [
            sys.executable,
            "-P",  # nothing is imported from the folder that somebody works in
            "-m",
            "mihakk.machinery.llm.llamacpp",
            json.dumps(settings),
            str(os.getpid()),
        ]
        super().__init__(name, command, port, START_SECONDS)


class VllmServer(ChildServer):
    """One model served by vLLM, from an environment of its own.

    Raises:
        UsageError: There is no such interpreter.
    """

    kind = "vLLM server"
    setting = " (`serve.start_seconds`)"
    closing_seconds = 25.0
    death_seconds = 1.0

    def __init__(self, name: str, serve: Vllm) -> None:
        python = shutil.which(Path(serve.python).expanduser())
        if python is None:
            raise UsageError(
                f"`serve.python` of {name!r} names no program: {serve.python}. Give the interpreter of the "
                "environment that holds vLLM, such as .venv-vllm/bin/python"
            )
        port = free_port()
        # The module, not the `vllm` command: it finds no distribution of its name in builds for the CPU.
        command = [python, "-m", "vllm.entrypoints.openai.api_server", "--model", serve.model]
        command += ["--served-model-name", name, "--host", "127.0.0.1", "--port", str(port)]
        # Our own packages are no business of an environment that has other versions of everything.
        ours = {"PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV"}
        super().__init__(
            name,
            [sys.executable, str(GUARD), str(os.getpid()), *command, *SWITCHES, *serve.args],
            port,
            serve.start_seconds,
            env={key: value for key, value in os.environ.items() if key not in ours},
        )
