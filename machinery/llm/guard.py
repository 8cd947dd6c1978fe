"""Runs a command and ends it, with all it has started, when the parent is gone: `guard.py PARENT COMMAND...`.

Its standard input is a pipe that only the parent holds open; a fork of the parent may hold it too, so the
parent's process id is watched as well.
"""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
from contextlib import suppress

GRACE_SECONDS = 15.0


def guard(parent: int, command: list[str]) -> int:
    """The command's exit code."""
    child = subprocess.Popen(command, stdin=subprocess.DEVNULL, start_new_session=True)
    while child.poll() is None and os.getppid() == parent:
        readable, _, _ = select.select([sys.stdin], [], [], 0.05)
        if readable and not os.read(sys.stdin.fileno(), 1):
            break
    with suppress(ProcessLookupError):
        os.killpg(child.pid, signal.SIGTERM)
    with suppress(subprocess.TimeoutExpired):
        child.wait(GRACE_SECONDS)
    with suppress(ProcessLookupError):
        os.killpg(child.pid, signal.SIGKILL)
    return child.wait()


if __name__ == "__main__":
    sys.exit(guard(int(sys.argv[1]), sys.argv[2:]) & 0xFF)
