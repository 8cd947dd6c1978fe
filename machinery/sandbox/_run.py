"""Solutions against tests, each in its own sandbox; and what the examples of a docstring really print."""

from __future__ import annotations

import os
import socket
import subprocess
import time
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, Final, Literal, NamedTuple

import orjson

from mihakk.machinery.errors import ExternalFailure
from mihakk.machinery.sandbox._bubblewrap import Limits, require_sandbox, start

Status = Literal["passed", "failed", "raised", "time", "ended", "invalid"]
"""failed: a test does not hold; raised: the solution can't be loaded or raises; time: a limit of time is
reached; ended: its process ended before it answered; invalid: the tests themselves can't be run."""
_SAID: Final = 1 << 20
"""Bytes of a verdict that are read."""


@dataclass(frozen=True)
class Trial:
    """A solution and the tests it has to pass."""

    solution: str
    """The whole program."""
    tests: str
    """Statements that call the entry point, or that define `check(candidate)`."""
    entry_point: str
    prompt: str = ""
    """What the problem shows: helper functions that it defines are known to the tests."""


class Outcome(NamedTuple):
    """What came of a trial."""

    status: Status
    detail: str = ""
    calls: int = 0
    """Calls of the entry point."""
    seconds: float = 0.0
    """Wall clock, the start of both interpreters included."""

    @property
    def passed(self) -> bool:
        """Whether all tests hold."""
        return self.status == "passed"


class Example(NamedTuple):
    """What one example of a docstring does."""

    printed: str
    raised: str
    """Exception and message; empty where there is none."""


def run_trials(trials: Iterable[Trial], limits: Limits | None = None, workers: int = 0) -> Iterator[Outcome]:
    """Outcomes in the order of the trials, `workers` at once; as many as there are cores when 0.

    Raises:
        UsageError: No sandbox can be had here.
        ExternalFailure: A sandbox could not be started.
    """
    require_sandbox()
    with ThreadPoolExecutor(workers or os.cpu_count() or 1) as pool:
        yield from pool.map(lambda trial: run_trial(trial, limits), trials)


def run_trial(trial: Trial, limits: Limits | None = None) -> Outcome:
    """One solution against its tests; errors as `run_trials`."""
    require_sandbox()
    allowed = limits or Limits()
    here, there = socket.socketpair()
    began = time.monotonic()
    name = {"entry_point": trial.entry_point}
    # What tests compute between calls is the benchmark's own affair: they only share the wall clock.
    of_tests = replace(allowed, memory=max(allowed.memory, Limits.memory))
    with here, there:
        solution = start(_bytes(trial.solution), "solution", name, allowed, stdin=there)
        try:
            told = {**name, "prompt": trial.prompt}
            tests = start(_bytes(trial.tests), "tests", told, of_tests, stdin=here)
        except BaseException:
            solution.end()
            raise
    here.close()
    there.close()
    out: bytes | None = None
    problem: bytes = b""
    try:
        out, problem = tests.process.communicate(timeout=allowed.seconds)
    except subprocess.TimeoutExpired:
        pass
    finally:
        exceeded = solution.memory.exceeded
        told_by_solution = solution.end()
        tests.end()
    seconds = time.monotonic() - began
    if exceeded:
        return Outcome("ended", f"its processes held over {allowed.memory >> 20} MiB together", 0, seconds)
    if out is None:
        return Outcome("time", f"after {allowed.seconds:g} s", 0, seconds)
    return _outcome(out, problem, told_by_solution, solution.process.returncode, seconds)


def run_examples(program: str, sources: Sequence[str], limits: Limits | None = None) -> list[Example] | str:
    """What the examples of a docstring do, one after the other; a text where the program can't be loaded.

    All in one process: it is for a benchmark's own reference, whose word is taken.

    Raises:
        UsageError: No sandbox can be had here.
    """
    require_sandbox()
    allowed = limits or Limits()
    box = start(_bytes(program), "examples", {"examples": list(sources)}, allowed, stdin=subprocess.DEVNULL)
    try:
        out, _ = box.process.communicate(timeout=allowed.seconds)
    except subprocess.TimeoutExpired:
        return f"not done after {allowed.seconds:g} s"
    finally:
        box.end()
    said = _verdict(out)
    if "found" not in said:
        return str(said.get("unloadable", "its process ended"))
    return [Example(one["printed"], one["raised"]) for one in said["found"]]


def _outcome(out: bytes, problem: bytes, of_solution: bytes, code: int | None, seconds: float) -> Outcome:
    said = _verdict(out)
    status = said.get("status", "")
    if status == "absent" or (not status and problem):
        told = (problem or of_solution).decode(errors="replace").strip().splitlines()
        raise ExternalFailure(f"a sandbox could not be started: {told[-1] if told else 'no message'}")
    if not status:
        return Outcome("invalid", "their process ended before a verdict", 0, seconds)
    detail = str(said.get("detail", ""))
    if status == "ended" and code == _XCPU:
        status, detail = "time", "processor time"
    return Outcome(status, detail, int(said.get("calls", 0)), seconds)


_XCPU: Final = 128 + 24
"""Exit code of bubblewrap where its process was ended for its processor time."""


def _verdict(out: bytes) -> dict[str, Any]:
    with suppress(orjson.JSONDecodeError):
        said = orjson.loads(out[:_SAID])
        if isinstance(said, dict):
            return said
    return {}


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
