"""What a terminal is given: no colour and no bars where none are wanted."""

from __future__ import annotations

import os
import pty
import subprocess
import sys

import pytest
from rich.console import Console

from mihakk.reports.log_lines import LogObserver, observer_for
from mihakk.reports.terminal import TerminalObserver


def test_a_dumb_terminal_gets_lines_instead_of_bars(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    assert isinstance(observer_for(Console(force_terminal=True), "auto"), TerminalObserver)
    monkeypatch.setenv("TERM", "dumb")
    assert isinstance(observer_for(Console(force_terminal=True), "auto"), LogObserver)


def on_a_terminal(*words: str, **environment: str) -> str:
    """What a command writes on a real pseudo-terminal."""
    reader, writer = pty.openpty()
    known = {
        name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "TERM", "FORCE_COLOR")
    }
    with subprocess.Popen(
        [sys.executable, "-m", "mihakk.flows.cli", *words],
        env=known | environment,
        stdout=writer,
        stderr=writer,
    ) as child:
        os.close(writer)
        said = b""
        while True:
            try:
                piece = os.read(reader, 65_536)
            except OSError:  # Linux' way to say that the other end is closed
                break
            if not piece:
                break
            said += piece
        child.wait(timeout=300)
    os.close(reader)
    return said.decode()


@pytest.mark.parametrize(
    ("environment", "colour", "escapes"),
    [
        ({"TERM": "xterm-256color"}, True, True),
        ({"TERM": "xterm-256color", "NO_COLOR": "1"}, False, True),
        ({"TERM": "dumb"}, False, False),
    ],
)
def test_colour_is_left_out_where_the_terminal_or_the_person_wants_none(
    environment: dict[str, str], colour: bool, escapes: bool
) -> None:
    said = on_a_terminal("build", "nowhere", **environment)
    assert "there is no file" in said
    assert ("\x1b[31m" in said or "\x1b[1;31m" in said) is colour
    assert ("\x1b[" in said) is escapes
