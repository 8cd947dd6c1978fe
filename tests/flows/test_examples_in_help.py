"""Every command's help ends with an example, and the example is a command that the parser takes."""

from __future__ import annotations

import shlex
from typing import Any

import pytest
import typer

from mihakk.flows.cli import app
from tests.flows.test_messages import leaves

COMMANDS = sorted((path, command) for path, command in leaves(typer.main.get_command(app)))


@pytest.mark.parametrize(("path", "command"), COMMANDS, ids=[" ".join(path) for path, _ in COMMANDS])
def test_the_example_of_a_command_is_one_that_it_takes(path: tuple[str, ...], command: Any) -> None:
    shown = [
        line.strip() for line in (command.help or "").splitlines() if line.strip().startswith("Example:")
    ]
    assert shown, f"the help of `mihakk {' '.join(path)}` has no line `Example: mihakk ...`"
    for line in shown:
        words = shlex.split(line.removeprefix("Example:"))
        assert words[: len(path) + 1] == ["mihakk", *path]
        command.make_context(path[-1], words[len(path) + 1 :]).close()
