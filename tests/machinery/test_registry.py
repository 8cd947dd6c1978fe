"""What another package brings is looked at when it is loaded, and named where it can't be used."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from mihakk.machinery.registry import misfits
from mihakk.scrapers.source import SOURCES
from mihakk.validators.checks.check import CHECKS, Objection

CHECK = '''from mihakk.schemas.item import ChoiceItem
from mihakk.validators.checks.check import Objection, check

@check({}, on=ChoiceItem)
def harbour(item):
    """No option speaks of the harbour."""
    yield {}
'''
SOUND = "'ZZ01', severity='flag', title='no harbour'"
EXAM = "q,A,B,k\nما عاصمة مصر؟,القاهرة,دمشق,A\nما عاصمة سوريا؟,القاهرة,دمشق,B\n"


def run(folder: Path, attributes: str, found: str, *words: str) -> subprocess.CompletedProcess[str]:
    """A command that sees a package with one check."""
    info = folder / "tangier-0.3.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: tangier\nVersion: 0.3.0\n", "utf-8")
    (info / "entry_points.txt").write_text("[mihakk.checks]\nharbour = tangier_checks\n", "utf-8")
    (folder / "tangier_checks.py").write_text(CHECK.format(attributes, found), "utf-8")
    (folder / "exam.csv").write_text(EXAM, "utf-8")
    return subprocess.run(
        [sys.executable, "-m", "mihakk.flows.cli", *words],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(folder), "COLUMNS": "200"},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(
    ("attributes", "says"),
    [
        ("'ZZ01', severity='hard', title='x'", "ZZ01: severity is 'hard': Input should be 'block', 'flag'"),
        ("'ZZ01', severity='flag', title=7", "ZZ01: title is 7: Input should be a valid string"),
        (
            "'ZZ01', severity='flag', title='x', earned=['ar']",
            "ZZ01: earned is ['ar']: Input should be a valid",
        ),
        ("'ZZ01', severity='flag', title='x', level=2", "unexpected keyword argument 'level'"),
        ("'zz-1', severity='flag', title='x'", "'zz-1' is no id: give two capital letters and two digits"),
        ("'ZZ01', severity='flag', title='x', needs=('cue',)", "ZZ01: no language tells 'cue'"),
    ],
)
def test_a_wrong_attribute_of_a_plugin_is_named_with_its_package(
    tmp_path: Path, attributes: str, says: str
) -> None:
    done = run(tmp_path, attributes, "Objection('x')", "checks")
    assert done.returncode == 2, done.stderr
    assert "the check 'harbour' of the package tangier 0.3.0 can't be used" in done.stderr
    assert says in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("found", "says"),
    [
        ("'the harbour'", "TypeError: 'the harbour' is no Objection"),
        ("Objection(7)", "TypeError: detail is 7: Input should be a valid string"),
        ("Objection('x', where=3)", "TypeError: where is 3"),
    ],
)
def test_a_wrong_finding_of_a_plugin_is_named_with_its_package(tmp_path: Path, found: str, says: str) -> None:
    words = ("audit", "exam.csv", "--map", "question=q,choices=A+B,gold=k", "--rules-only", "--out", "out")
    done = run(tmp_path, SOUND, found, *words)
    assert done.returncode == 2, done.stderr
    assert "the check ZZ01 of the package tangier 0.3.0 failed at" in done.stderr
    assert says in done.stderr
    assert "Traceback" not in done.stderr


def test_our_own_plugins_and_findings_are_of_the_declared_types() -> None:
    plugins = [plugin for registry in (CHECKS, SOURCES) for _, plugin in registry]
    assert len(plugins) > 80
    assert [wrong for plugin in plugins for wrong in misfits(plugin)] == []
    assert misfits(Objection("x", "options[1]")) == []
