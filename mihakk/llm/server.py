"""Model servers that a run starts itself, each a child process on loopback; here local weights, embedded.

A crash of native code then ends one child, not the run, and the run can say which model died and what it
printed last.
"""

from __future__ import annotations

import json
import os
import re
import select
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import Any, Self

from mihakk.errors import ExternalFailure
from mihakk.llm.weights import locate
from schemas.model import Embedded

START_SECONDS = 120.0
TAIL = 4000
STAMP = re.compile(r"^[\d.]+ [A-Z] ")
"""Time and level before a line of llama.cpp's log."""


class ChildServer:
    """A model server that runs as a child of this process while the `with` block lasts."""

    kind = "server"
    closing_seconds = 3.0
    _process: subprocess.Popen[bytes]

    def __init__(self, name: str) -> None:
        self.name = name
        self._address = ""
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as the child

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
        code = self._process.poll()
        if code is not None:
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


class Server(ChildServer):
    """One model served on loopback while the `with` block lasts.

    `threads: 0` gives each of the `share` models that run at once its part of the cores: llama.cpp collapses
    when more threads than cores wait for each other.

    Raises:
        UsageError: The weights are missing or damaged.
        ExternalFailure: The server did not start.
    """

    kind = "embedded server"

    def __init__(self, name: str, serve: Embedded, cache_folder: Path, share: int = 1) -> None:
        super().__init__(name)
        path = locate(serve.weights, cache_folder)
        settings = {
            "path": str(path),
            "model": name,
            "slots": serve.slots,
            "context": serve.context,
            "threads": serve.threads or max(1, (os.cpu_count() or 1) // max(1, share)),
        }
        ready, write_end = os.pipe()
        command = [sys.executable, "-m", "mihakk.llm.llamacpp", json.dumps(settings)]
        try:
            self._process = subprocess.Popen(
                [*command, str(write_end), str(os.getpid())],
                stdin=subprocess.PIPE,
                stdout=self._log,
                stderr=subprocess.STDOUT,
                pass_fds=(write_end,),
                cwd=Path(__file__).resolve().parents[2],
            )
        finally:
            os.close(write_end)
        try:
            self._address = self._first_line(ready)["address"]
        except BaseException:
            self._process.kill()
            self._process.wait()
            raise
        finally:
            os.close(ready)

    def _first_line(self, ready: int) -> dict[str, Any]:
        deadline = time.monotonic() + START_SECONDS
        received = b""
        while not received.endswith(b"\n"):
            left = deadline - time.monotonic()
            readable, _, _ = select.select([ready], [], [], max(0.0, left))
            if not readable:
                raise ExternalFailure(f"{self.title} was not ready in {START_SECONDS:.0f} s: {self._tail()}")
            block = os.read(ready, 4096)
            if not block:
                self._process.wait()
                raise ExternalFailure(
                    f"{self.title} did not start (exit {self._process.returncode}): {self._tail()}"
                )
            received += block
        return dict(json.loads(received))
