"""The end of the process: its exit code is the command's, not that of a library's clean-up."""

from __future__ import annotations

import subprocess
import sys

ABORTS_AFTER_PYTHON = """
import ctypes, sys
libc = ctypes.CDLL(None)
libc["__cxa_atexit"](ctypes.cast(libc.abort, ctypes.c_void_p), None, None)
from mihakk.flows.cli import main
sys.argv = ["mihakk", *sys.argv[1:]]
main()
"""


def ended(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", ABORTS_AFTER_PYTHON, *arguments]
    return subprocess.run(command, check=False, capture_output=True, text=True, timeout=120)


def test_a_library_that_aborts_while_leaving_does_not_fail_a_command_that_is_done() -> None:
    done = ended("tasks", "--json")
    assert done.returncode == 0, done.stderr
    assert '"continuation"' in done.stdout


def test_a_command_that_failed_keeps_its_code_and_message() -> None:
    failed = ended("build", "nowhere.yaml")
    assert failed.returncode == 2
    assert "nowhere.yaml" in failed.stderr
