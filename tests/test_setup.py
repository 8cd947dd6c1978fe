"""tools/setup.sh and the interpreter of a .venv that stands; pip and uv are played by a script that notes its calls."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from mihakk.machinery.settings import ROOT

INTERPRETER = """#!/usr/bin/env bash
# Python of version {version}, as far as setup.sh asks: makes a .venv like itself, notes what is installed.
here=$(cd "$(dirname "$0")" && pwd)
case "$1 $2" in
  "-m venv") mkdir -p "$3/bin"; for name in python mihakk uv; do cp "$0" "$3/bin/$name"; done ;;
  "-m pip") echo "pip of {version}" >> calls ;;
  "pip install") echo "uv of {version}" >> calls ;;
  -c*) exec {real} -c "import sys; sys.version_info = ({major}, {minor}, 1, 'final', 0); $2" ;;
esac
"""


@dataclass
class Checkout:
    """As much of a checkout as the script needs."""

    folder: Path

    def interpreter(self, version: str) -> Path:
        path = self.folder / "pythons" / f"python{version}"
        path.parent.mkdir(exist_ok=True)
        major, minor = version.split(".")
        text = INTERPRETER.format(version=version, real=sys.executable, major=major, minor=minor)
        path.write_text(text, encoding="utf-8")
        path.chmod(0o755)
        return path

    def setup(self, python: Path | None = None) -> str:
        """Runs the script; returns what was installed by it, and what it said on standard error."""
        known = {name: value for name, value in os.environ.items() if name != "PYTHON"}
        done = subprocess.run(
            ["tools/setup.sh", "core"],
            cwd=self.folder,
            env=known | ({"PYTHON": str(python)} if python else {}),
            capture_output=True,
            text=True,
            check=True,
        )
        calls = self.folder / "calls"
        said = calls.read_text() if calls.exists() else ""
        calls.unlink(missing_ok=True)
        return said + done.stderr


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    for name in (
        "tools/setup.sh",
        "requirements/cpu.txt",
        "requirements/weights.txt",
        "pyproject.toml",
    ):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    return Checkout(tmp_path)


def test_a_venv_of_another_python_is_made_anew(checkout: Checkout) -> None:
    older, newer = checkout.interpreter("3.12"), checkout.interpreter("3.13")
    assert "uv of 3.12" in checkout.setup(older)
    (checkout.folder / ".venv" / "left").touch()
    assert checkout.setup(older) == "", "nothing is done twice"
    said = checkout.setup(newer)
    assert "it is of Python 3.12, and 3.13 was chosen" in said
    assert "uv of 3.13" in said
    assert not (checkout.folder / ".venv" / "left").exists()
    assert checkout.setup(newer) == ""


def test_without_a_choice_the_venv_that_stands_is_kept(checkout: Checkout) -> None:
    checkout.setup(checkout.interpreter("3.13"))
    assert checkout.setup() == ""


def test_a_venv_whose_python_is_gone_is_made_anew(checkout: Checkout) -> None:
    newer = checkout.interpreter("3.13")
    checkout.setup(newer)
    (checkout.folder / ".venv" / "bin" / "python").unlink()
    said = checkout.setup(newer)
    assert "it is of Python that is gone" in said
    assert "uv of 3.13" in said
