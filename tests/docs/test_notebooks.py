"""The notebooks of the documentation show what their cells give today."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from mihakk.machinery.settings import ROOT
from tools.notebooks import NOTEBOOKS, written


@pytest.mark.slow
@pytest.mark.parametrize("path", sorted(NOTEBOOKS.glob("*.ipynb")), ids=lambda path: path.stem)
def test_a_notebook_shows_what_its_cells_give(path: Path, tmp_path: Path) -> None:
    copy = tmp_path / path.name
    blank = json.loads(path.read_text("utf-8"))
    for cell in blank["cells"]:
        if cell["cell_type"] == "code":
            cell["outputs"], cell["execution_count"] = [], None
    copy.write_text(written(blank), "utf-8")
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MIHAKK_")}
    command = [sys.executable, "-m", "tools.notebooks", str(copy)]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert copy.read_text("utf-8") == path.read_text("utf-8"), "run `python -m tools.notebooks`"


def test_there_are_three() -> None:
    assert {path.stem for path in NOTEBOOKS.glob("*.ipynb")} == {"audit", "results", "build"}
