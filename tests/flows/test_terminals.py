"""What a shell and a terminal are offered: names after Tab, silence on request, no colour where none is wanted."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest
from rich.console import Console
from typer.testing import CliRunner

from flows.cli import app
from mihakk.settings import settings
from releases.assemble import assemble
from releases.hub.embedded import EmbeddedHub
from reports.log_lines import LogObserver, observer_for
from reports.terminal import TerminalObserver
from tests.releases.release_material import idiom_items, release_arguments


def offered(words: str, **environment: str) -> list[str]:
    """What bash is given for the last word."""
    asked = {
        "_MIHAKK_COMPLETE": "complete_bash",
        "COMP_WORDS": words,
        "COMP_CWORD": str(len(words.split(" ")) - 1),
    }
    found = CliRunner().invoke(app, [], prog_name="mihakk", env=asked | environment)
    return found.stdout.split("\n")[:-1]


@pytest.mark.parametrize(
    ("words", "among"),
    [
        ("mihakk bui", "build"),
        ("mihakk build de", "demo"),
        ("mihakk lake verify pers", "persian"),
        ("mihakk review push arabic_", "arabic_verse"),
        ("mihakk show 5_che", "5_checked"),
        ("mihakk audit x.csv --off CH0", "CH01"),
        ("mihakk publish demo --override miss", "miss_rate"),
    ],
)
def test_tab_completes_names(words: str, among: str) -> None:
    found = offered(words)
    assert among in found
    assert all(one.startswith(words.rsplit(" ", maxsplit=1)[-1]) for one in found)


def test_tab_completes_a_config_beside_the_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.yaml").touch()
    (tmp_path / "minor").mkdir()
    assert offered("mihakk build mi") == ["mine.yaml", "minor/"]


def test_tab_completes_versions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MIHAKK_HUB", str(tmp_path / "hub"))
    settings.cache_clear()
    EmbeddedHub().publish(assemble(folder=tmp_path / "r", **release_arguments(idiom_items())))
    assert offered("mihakk pull touchstone 0.") == ["0.1.0"]
    assert offered("mihakk pull unknown 0.") == [""]


def test_quiet_leaves_errors_and_json() -> None:
    assert CliRunner().invoke(app, ["--quiet", "checks"]).stdout == ""
    assert json.loads(CliRunner().invoke(app, ["--quiet", "checks", "--json"]).stdout)
    wrong = CliRunner().invoke(app, ["--quiet", "build", "nowhere"])
    assert (wrong.exit_code, wrong.stdout) == (2, "")
    assert "nowhere.yaml" in wrong.stderr
    assert "CH01" in CliRunner().invoke(app, ["checks"]).stdout


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
        [sys.executable, "-m", "flows.cli", *words], env=known | environment, stdout=writer, stderr=writer
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
        child.wait(timeout=60)
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
