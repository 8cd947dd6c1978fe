"""The reference pages say what the code says."""

from __future__ import annotations

import re
from pathlib import Path

from typer.testing import CliRunner

from flows.cli import app
from mihakk.settings import ROOT, Settings
from schemas.benchmark import BenchmarkConfig, ReviewConfig
from tests.packages import PACKAGES
from tools import docs_messages
from tools.docs_map import PAGE, page
from tools.docs_reference import commands, configs


def test_every_command_and_option_is_in_the_reference() -> None:
    page = commands()
    for told in ("## mihakk build", "## mihakk review pull", "`--dry-run`", "`--audit-limit`"):
        assert told in page


def test_every_key_and_variable_is_in_the_reference() -> None:
    page = configs()
    for name in (*BenchmarkConfig.model_fields, *ReviewConfig.model_fields):
        assert f"| `{name}` |" in page
    for name in Settings.model_fields:
        assert f"| `MIHAKK_{name.upper()}` |" in page
    assert "Take only the first so many records." in page, "descriptions are the attribute docstrings"
    assert str(__file__).split("/tests/", maxsplit=1)[0] not in page, "no path of this machine"


def test_the_map_of_the_code_is_up_to_date() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "run `python -m tools.docs_map`"


def test_a_message_that_a_command_ends_with_is_found_in_the_reference(tmp_path: Path) -> None:
    config = tmp_path / "none.yaml"
    ended = CliRunner().invoke(app, ["build", str(config)])
    assert ended.exit_code == 2
    said = " ".join(ended.output.split()).removeprefix("Usage: ")
    fitting = [
        one
        for one in docs_messages.messages()
        if re.fullmatch(".*".join(re.escape(part) for part in one.text.split(docs_messages.BLANK)), said)
    ]
    assert (2, "mihakk.errors") in [(one.code, one.module) for one in fitting]
    assert {one.code for one in fitting} == {2}


def test_every_package_that_ends_a_command_is_on_the_page_of_messages() -> None:
    page = docs_messages.page()
    raising = {
        path.relative_to(ROOT).parts[0]
        for package in PACKAGES
        for path in (ROOT / package).rglob("*.py")
        if re.search(r"raise (UsageError|ExternalFailure|SourceChanged)\(", path.read_text("utf-8"))
    }
    assert raising <= {line.removeprefix("## ") for line in page.splitlines()}
    assert page.count("| 75 |") > 40
    assert page.count("| 2 |") > 250
