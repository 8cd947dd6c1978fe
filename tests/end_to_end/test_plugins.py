"""A check and a source that another installed package brings."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from mihakk.machinery.settings import ROOT

pytestmark = pytest.mark.services
PROJECT = """
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"
[project]
name = "mihakk-tangier"
version = "0.3.0"
[project.entry-points."mihakk.checks"]
tangier = "mihakk_tangier.checks"
[project.entry-points."mihakk.sources"]
proverbs_of_tangier = "mihakk_tangier.source"
"""
CHECK = '''"""What proverbs of Tangier never say."""

from mihakk.schemas.item import ChoiceItem
from mihakk.validators.checks.check import Objection, Objections, check


@check("ZZ01", severity="flag", title="no option speaks of the harbour", on=ChoiceItem)
def harbour(item: ChoiceItem) -> Objections:
    """No option speaks of the harbour."""
    if any("المرسى" in option for option in item.options):
        yield Objection("an option speaks of the harbour")
'''
CONFIG = """
name: tangier
title: Proverbs of Tangier
sources:
  - use: proverbs_of_tangier
    options: {path: PATH, least_yield: 8}
tasks:
  - use: completion
embeddings: none
audit: {auditors: embedded, limit: 0}
release: {authors: [Somebody]}
"""


class Installed:
    """A folder of packages beside those of this environment, and the commands that see them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.site = folder / "site"
        self.install("0.3.0", CHECK)

    def install(self, version: str, check: str) -> None:
        """Builds the package's wheel and installs it."""
        project = self.folder / "project"
        code = project / "mihakk_tangier"
        code.mkdir(parents=True, exist_ok=True)
        (project / "pyproject.toml").write_text(PROJECT.replace("0.3.0", version), encoding="utf-8")
        (code / "__init__.py").write_text("", encoding="utf-8")
        (code / "checks.py").write_text(check, encoding="utf-8")
        page = (ROOT / "docs" / "how-to-add-a-source.md").read_text(encoding="utf-8")
        (code / "source.py").write_text(
            page.split("```python\n")[1].split("```")[0].replace("900", "1"), encoding="utf-8"
        )
        uv = [sys.executable, "-m", "uv"]
        built = self.folder / f"dist-{version}"
        subprocess.run([*uv, "build", "--quiet", "--wheel", "--out-dir", built, project], check=True)
        (wheel,) = built.glob("*.whl")
        subprocess.run(
            [*uv, "pip", "install", "--quiet", "--no-deps", "--reinstall", "--target", self.site, wheel],
            check=True,
        )

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        """A command of Mihakk that sees the package."""
        env = os.environ | {
            "PYTHONPATH": str(self.site),
            "MIHAKK_LAKE": str(self.folder / "lake"),
            "MIHAKK_HUB": str(self.folder / "hub"),
            "COLUMNS": "200",
        }
        return subprocess.run(
            [sys.executable, "-m", "mihakk.flows.cli", *words],
            cwd=self.folder, env=env, capture_output=True, text=True, check=False,
        )  # fmt: skip

    def listed(self, what: str) -> dict[str, str]:
        """Name or id to the package that brought it."""
        done = self.run(what, "--json")
        assert done.returncode == 0, done.stderr
        return {row.get("id", row.get("name")): row["package"] for row in json.loads(done.stdout)}


@pytest.fixture
def installed(tmp_path: Path) -> Installed:
    return Installed(tmp_path)


def test_plugins_are_listed_run_and_named_in_digests_and_card(installed: Installed) -> None:
    checks, sources = installed.listed("checks"), installed.listed("sources")
    assert {name: by for name, by in checks.items() if by} == {"ZZ01": "mihakk-tangier 0.3.0"}
    assert {name: by for name, by in sources.items() if by} == {"proverbs_of_tangier": "mihakk-tangier 0.3.0"}
    words = ("الليل", "النهار", "المرسى", "السوق", "الباب", "البحر", "الجبل", "القمر", "الدار")
    rows = [
        {
            "id": n,
            "text": f"اللي فاتو {word} يقول سمعت {words[n - 3]}",
            "meaning": f"يقال لمن {word} عن الأمر",
            "views": 1,
        }
        for n, word in enumerate(words)
    ]
    (installed.folder / "proverbs.json").write_text(json.dumps(rows, ensure_ascii=False), encoding="utf-8")
    config = installed.folder / "tangier.yaml"
    config.write_text(CONFIG.replace("PATH", str(installed.folder / "proverbs.json")), encoding="utf-8")
    done = installed.run("build", str(config))
    assert done.returncode == 0, done.stdout + done.stderr
    card = (installed.folder / "hub" / "tangier" / "README.md").read_text("utf-8")
    assert "mihakk-tangier 0.3.0" in card
    again = installed.run("build", str(config), "--dry-run")
    assert "0 to do" in again.stdout or "0 model calls" in again.stdout


def test_a_broken_plugin_is_named_and_stops_the_run(installed: Installed) -> None:
    installed.install("0.4.0", CHECK.replace("ZZ01", "CH01"))
    done = installed.run("checks")
    assert done.returncode == 2
    assert "the check 'tangier' of the package mihakk-tangier 0.4.0 can't be used" in done.stderr
    assert "two plugins are named check 'CH01'" in done.stderr
    assert "uninstall that package" in done.stderr
