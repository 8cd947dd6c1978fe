"""What maintainers of a benchmark put into their repository: the composite action and the pre-commit hook."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from mihakk.machinery.settings import REFERENCE, ROOT, SAMPLES
from mihakk.pipeline.build import CONFIGS

SOUND = '{"q": "ما ضد النور؟", "A": "الظلام", "B": "الضوء", "gold": "A"}\n'
BROKEN = '{"q": "ما ضد الحر؟", "A": "البرد", "B": "البرد", "gold": "A"}\n'


def audit_step() -> dict[str, Any]:
    steps = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))["runs"]["steps"]
    return next(step for step in steps if step["name"] == "Audit")  # type: ignore[no-any-return]


@pytest.mark.parametrize(("rows", "code"), [(SOUND * 1, 0), (SOUND + BROKEN, 1)], ids=["sound", "blocked"])
def test_the_action_fails_on_blocked_rows_and_leaves_sarif(tmp_path: Path, rows: str, code: int) -> None:
    (tmp_path / "exam.jsonl").write_text(rows, encoding="utf-8")
    inputs = {"SOURCE": "exam.jsonl", "COLUMNS_OF": "question=q,choices=A+B,gold=gold", "FAIL_ON": "block", "OPTIONS": "--off CH02 --off TX26"}  # fmt: skip
    step = audit_step()
    assert set(inputs) == set(step["env"])
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    done = subprocess.run(
        ["/bin/bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
        cwd=tmp_path,
        env={**os.environ, **inputs, "PYTHONPATH": str(ROOT), "PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == code, done.stderr
    log = json.loads((tmp_path / "mihakk-audit" / "findings.sarif").read_text(encoding="utf-8"))
    levels = [result["level"] for result in log["runs"][0]["results"]]
    assert ("error" in levels) == bool(code)


def test_inputs_of_the_action_reach_the_shell_as_variables_alone() -> None:
    for step in yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))["runs"]["steps"]:
        assert "${{" not in step["run"], "an input inside the script could be run as one"


def test_the_hook_runs_the_command_on_tables() -> None:
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    assert shlex.split(hook["entry"])[:2] == ["mihakk", "audit"]
    assert hook["language"] == "python"
    assert not hook["pass_filenames"]


def test_a_copy_installed_as_hook_or_action_has_the_files_that_checks_read() -> None:
    wheel = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["hatch"]["build"]
    held = wheel["targets"]["wheel"]["force-include"]
    for folder in (REFERENCE, SAMPLES, CONFIGS):
        place = folder.relative_to(ROOT).as_posix()
        assert held[place] == place, "read from beside the packages, so it is installed beside them"
    action = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
    install = next(step for step in action["runs"]["steps"] if step["name"] == "Install")
    assert not action["inputs"]["package"]["default"], "nobody publishes the package: a name is anybody's"
    assert install["env"]["PACKAGE"] == "${{ inputs.package || github.action_path }}"
