"""--json: every command that lists or ends with a result prints one JSON document, and nothing else, on stdout."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from mihakk.flows.cli import app
from mihakk.flows.commands.options import AsJson
from mihakk.machinery.settings import settings
from tests.archives import unpacked
from tests.end_to_end.test_older_lake import ARCHIVE
from tests.flows.test_messages import leaves

STAY = {("server",), ("serve",), ("dashboard",), ("review", "serve"), ("review", "relay")}
"""Servers: they run until they are stopped and end with no result."""


COMMANDS = [(path, one) for path, one in leaves(typer.main.get_command(app)) if path not in STAY]


@pytest.mark.parametrize(("path", "command"), COMMANDS, ids=[" ".join(path) for path, _ in COMMANDS])
def test_every_command_with_a_result_gives_it_as_json(path: tuple[str, ...], command: Any) -> None:
    found = [one for one in command.params if "--json" in getattr(one, "opts", ())]
    assert found, f"{' '.join(path)} lacks --json: take AsJson and print_json"
    assert found[0].help == AsJson.__metadata__[0].help, "one wording for all"


RUN = (
    "sources",
    "tasks",
    "checks",
    "doctor",
    "new sayings.jsonl --yes --out mine.yaml",
    "source try verse.jsonl -o kind=poem -o language=ar -o licence=public-domain",
    "show stages -b small.yaml --lake lake",
    "show 4_generated/items -b small.yaml --lake lake --limit 2",
    "runs small.yaml --lake lake",
    "runs small.yaml latest --lake lake",
    "report small.yaml --lake lake --out overview.html",
    "digest small.yaml --lake lake",
    "items show small.yaml --lake lake --sample 1",
    "items page small.yaml --lake lake --sample 1",
    "items quality small.yaml --lake lake",
    "review report small.yaml --lake lake",
    "review export small.yaml --lake lake",
    "review person small.yaml layla@example.org --lake lake",
    "review disputes small.yaml --lake lake",
    "review times small.yaml --lake lake --csv times.csv",
    "review void small.yaml p1 --why tired --lake lake",
    "batch export small.yaml calls --lake lake",
    "batch import small.yaml replies --lake lake",
    "lake verify small.yaml --lake lake",
    "lake prune small.yaml --lake lake --dry-run",
    "diff small.yaml 0.1.0 0.2.0",
    "pull small 0.1.0 pulled",
    "withdraw small.yaml 0.1.0 --why shifted",
    "build small.yaml --dry-run --lake fresh",
    "code check problems.jsonl --no-run",
    "audit exam.jsonl --map question=q,choices=A+B,gold=gold --rules-only --out audited",
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two builds, a review and two releases that an earlier version left."""
    found = tmp_path_factory.mktemp("json")
    unpacked(ARCHIVE, found)
    (found / "replies").mkdir()
    for name in ("first", "second"):
        (found / "replies" / f"{name}.replies.jsonl").touch()
    rows = [
        {"q": f"ما عاصمة البلد رقم {n}؟", "A": f"مدينة {n}", "B": f"قرية {n}", "gold": "A"} for n in range(9)
    ]
    problem = {"id": "p/1", "prompt": "def f(x):\n    '''يعيد x'''\n", "solution": "    return x\n"}
    problem |= {"tests": "assert f(1) == 1", "entry_point": "f"}
    for name, lines in (("exam", rows), ("problems", [problem])):
        text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
        (found / f"{name}.jsonl").write_text(text, encoding="utf-8")
    return found


@pytest.mark.parametrize("words", RUN)
def test_standard_output_holds_one_document_alone(
    words: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    monkeypatch.setenv("MIHAKK_HUB", str(folder / "hub"))
    settings.cache_clear()
    done = CliRunner().invoke(app, [*words.split(), "--json"])
    assert done.exit_code in (0, 1), done.output
    assert isinstance(json.loads(done.stdout), dict | list)
