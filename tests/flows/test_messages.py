"""Every command meets every kind of bad config with one sentence that says what is wrong, and no traceback."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from mihakk.flows.cli import app

BAD = {
    "nowhere": (None, "there is no file nowhere.yaml"),
    "empty": (b"", "empty.yaml: it is empty; it must hold keys with values"),
    "list": (b"- a\n- b\n", "list.yaml: it holds a list"),
    "types": (b"name: 5\ntitle: [x]\nsources: 7\ntasks: []\n", "name is 5; it must be text; title is a list"),
    "negative": (
        b"name: n\ntitle: T\nsources: [{use: hafez}]\ntasks: [{use: continuation}]\naudit: {limit: -5}\n",
        "audit.limit is -5; it must be 0 or more",
    ),
    "misspelt": (b"name: n\ntitle: T\nsource: []\n", "did you mean 'sources'?"),
    "deep": (b"a: " + b"[" * 5000 + b"]" * 5000, "nested too deeply"),
    "binary": (b"\x00\xff\xfe\x01" * 100, "binary.yaml is not UTF-8 text (byte 1)"),
    "broken": (b"a: [1\nb: {", "broken.yaml is not YAML"),
}


def leaves(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    if not hasattr(command, "commands"):
        yield path, command
        return
    for name, one in command.commands.items():
        yield from leaves(one, (*path, name))


COMMANDS = dict(leaves(typer.main.get_command(app)))
SERVERS = {("serve",), ("deploy",), ("dashboard",), ("review", "serve"), ("review", "relay")}


def taking_a_config() -> list[tuple[str, ...]]:
    found = []
    for path, command in COMMANDS.items():
        first = next((one for one in command.params if one.param_type_name == "argument"), None)
        if first is not None and first.name == "config" and path not in SERVERS:
            found.append(path)
    return sorted(found)


def rest(path: tuple[str, ...]) -> list[str]:
    """What else the command needs."""
    needed = [one for one in COMMANDS[path].params if one.required and one.name != "config"]
    return [
        *("someone@example.org" for one in needed if one.param_type_name == "argument"),
        *(word for one in needed if one.param_type_name == "option" for word in (one.opts[0], "wrong_gold")),
    ]


def test_most_commands_take_a_config() -> None:
    assert len(taking_a_config()) > 10


# The commands share one reader: one of them meets all that it refuses, the others show that they use it.
@pytest.mark.parametrize(
    ("path", "kind"),
    [(("build",), kind) for kind in BAD]
    + [(path, kind) for path in taking_a_config() if path != ("build",) for kind in ("nowhere", "misspelt")],
    ids=lambda value: value if isinstance(value, str) else " ".join(value),
)
def test_a_bad_config_is_one_sentence(
    path: tuple[str, ...], kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    content, says = BAD[kind]
    if content is not None:
        Path(f"{kind}.yaml").write_bytes(content)
    done = CliRunner().invoke(app, [*path, f"{kind}.yaml", *rest(path)])
    assert isinstance(done.exception, SystemExit), done.exception
    assert done.exit_code == 2
    assert says in done.stderr
    assert done.stderr.startswith("Usage: ")
    assert "Traceback" not in done.stderr
    if kind != "broken":
        assert done.stderr.count("\n") == 1


def taking_a_path() -> list[tuple[str, ...]]:
    """Commands that take something else than a config, and servers aside."""
    every = [path for path, command in COMMANDS.items() if any(p.required for p in command.params)]
    # `pull` asks a Hub, `why` takes any words, and a key is made where it is not.
    aside = {("pull",), ("why",), ("evaluate", "team", "key")}
    return sorted(set(every) - set(taking_a_config()) - SERVERS - aside)


@pytest.mark.parametrize("path", taking_a_path(), ids=" ".join)
def test_what_is_not_there_is_one_sentence_with_the_way_out(
    path: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    words = []
    for one in COMMANDS[path].params:
        if one.required:
            words += [*([one.opts[0]] if one.param_type_name == "option" else []), "nowhere/x.jsonl"]
    done = CliRunner().invoke(app, [*path, *words])
    assert isinstance(done.exception, SystemExit), done.exception
    assert (done.exit_code, done.stderr.count("\n")) == (2, 1)
    assert done.stderr.startswith("Usage: ")
    assert "Errno" not in done.stderr
    assert re.search("[:;,.] .+", done.stderr.removeprefix("Usage: ")), "and the way out"


def ended(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "mihakk.flows.cli", *arguments],
        check=False,
        capture_output=True,
        encoding="utf-8",
        env=os.environ | environment,
        timeout=120,
    )


def test_a_locale_without_arabic_letters_stops_nothing(tmp_path: Path) -> None:
    saying = tmp_path / "sayings.jsonl"
    saying.write_text('{"id": "1", "text": "إيده طايلة", "explanation": "صاحب نفوذ"}\n', encoding="utf-8")
    plain = {"LC_ALL": "C", "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    options = ("-o", "kind=idiom", "-o", "language=ar", "-o", "licence=CC0-1.0")
    done = ended("source", "try", str(saying), *options, **plain)
    assert done.returncode == 0, done.stderr
    assert "إيده طايلة" in done.stdout


@pytest.mark.skipif(
    not Path("/proc/self").exists(), reason="a file system that takes no folders is Linux' own"
)
def test_a_lake_where_no_folder_can_be_made_is_one_sentence() -> None:
    done = CliRunner().invoke(app, ["build", "demo", "--lake", "/proc/none"])
    assert done.exit_code == 2
    assert "Set MIHAKK_LAKE to a folder on a disk" in done.stderr


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="a file system that takes no files is Linux' own")
@pytest.mark.parametrize(
    "words",
    [
        "review export demo --csv /proc/none/x.csv",
        "report demo --out /proc/none/x.html",
    ],
)
def test_a_path_that_cannot_be_written_is_one_sentence(words: str, tmp_path: Path) -> None:
    done = CliRunner().invoke(app, [*words.split(), "--lake", str(tmp_path)])
    assert done.exit_code == 2, done.exception
    assert done.stderr.startswith("Usage: /proc/none")
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("command", [["lake", "verify", "demo"], ["report-defect", "demo", "x"]])
def test_what_is_not_there_is_never_called_sound(command: list[str], tmp_path: Path) -> None:
    more = (
        ["--lake", str(tmp_path)] if command[0] == "lake" else ["--problem", "wrong_gold", "--evidence", "e"]
    )
    done = CliRunner().invoke(app, [*command, *more])
    assert done.exit_code == 2, done.output
    assert "run `mihakk build`" in done.stderr


def test_stages_of_a_lake_that_is_not_there_are_an_error(tmp_path: Path) -> None:
    done = CliRunner().invoke(app, ["show", "stages", "-b", "demo", "--lake", str(tmp_path)])
    assert done.exit_code == 2
    assert "run `mihakk build`" in done.stderr


def test_a_remedy_keeps_its_extra() -> None:
    said = CliRunner().invoke(app, ["doctor"], env={"COLUMNS": "300"}).stdout
    assert "-e '.'" not in said
