"""What maintainers of a benchmark put into their repository: the composite action and the pre-commit hook."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from mihakk.machinery.settings import PACKAGE, REFERENCE, ROOT, SAMPLES

SOUND = '{"q": "ما ضد النور؟", "A": "الظلام", "B": "الضوء", "gold": "A"}\n'
BROKEN = '{"q": "ما ضد الحر؟", "A": "البرد", "B": "البرد", "gold": "A"}\n'


def action_step(name: str) -> dict[str, Any]:
    steps = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))["runs"]["steps"]
    return next(step for step in steps if step["name"] == name)  # type: ignore[no-any-return]


def run(step: dict[str, Any], folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """One step as a runner runs it."""
    return subprocess.run(
        ["/bin/bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
        cwd=folder,
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(("rows", "code"), [(SOUND * 1, 0), (SOUND + BROKEN, 1)], ids=["sound", "blocked"])
def test_the_action_fails_on_blocked_rows_and_leaves_sarif(tmp_path: Path, rows: str, code: int) -> None:
    (tmp_path / "exam.jsonl").write_text(rows, encoding="utf-8")
    inputs = {"SOURCE": "exam.jsonl", "COLUMNS_OF": "question=q,choices=A+B,gold=gold", "FAIL_ON": "block", "OPTIONS": "--off CH02 --off TX26"}  # fmt: skip
    step = action_step("Audit")
    assert set(inputs) == set(step["env"])
    (tmp_path / "mihakk").symlink_to(Path(sys.executable).parent.parent)
    done = run(step, tmp_path, RUNNER_TEMP=str(tmp_path), **inputs)
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
    assert all(folder.is_dir() for folder in (PACKAGE / "configs", REFERENCE, SAMPLES))
    assert {REFERENCE.parent.parent, SAMPLES.parent.parent} == {PACKAGE}, (
        "a wheel holds what lies in the package"
    )
    action = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
    install = next(step for step in action["runs"]["steps"] if step["name"] == "Install")
    assert not action["inputs"]["package"]["default"], "nobody publishes the package: a name is anybody's"
    assert install["env"]["PACKAGE"] == "${{ inputs.package || format('{0}[excel]', github.action_path) }}"


@pytest.mark.services
def test_the_action_leaves_the_packages_and_folders_of_the_job_alone(tmp_path: Path) -> None:
    job, temp, bin_of = tmp_path / "job", tmp_path / "temp", tmp_path / "job-venv" / "bin"
    (job / "schemas").mkdir(parents=True)
    (job / "schemas" / "__init__.py").write_text(
        "raise ImportError('the job has its own')\n", encoding="utf-8"
    )
    (job / "exam.jsonl").write_text(SOUND + BROKEN, encoding="utf-8")
    subprocess.run([sys.executable, "-m", "venv", bin_of.parent], check=True)
    # Older than Mihakk can do with.
    subprocess.run([bin_of / "python", "-m", "pip", "install", "--quiet", "rich<13"], check=True)
    frozen = subprocess.run(
        [bin_of / "python", "-m", "pip", "freeze"], capture_output=True, check=True
    ).stdout
    own = {"RUNNER_TEMP": str(temp), "PATH": f"{bin_of}{os.pathsep}{os.environ['PATH']}"}
    own["PIP_NO_COMPILE"] = "false"  # so pip says that it compiles nothing of what is imported once or never
    assert (done := run(action_step("Install"), job, PACKAGE=f"{ROOT}[excel]", **own)).returncode == 0, (
        done.stderr
    )
    inputs = {"SOURCE": "exam.jsonl", "COLUMNS_OF": "question=q,choices=A+B,gold=gold"}
    inputs |= {"FAIL_ON": "block", "OPTIONS": ""}
    done = run(action_step("Audit"), job, **own, **inputs)
    assert done.returncode == 1, done.stderr
    sarif = json.loads((job / "mihakk-audit" / "findings.sarif").read_text(encoding="utf-8"))
    lines = {
        place["physicalLocation"]["region"]["startLine"]
        for result in sarif["runs"][0]["results"]
        if result["level"] == "error"
        for place in result["locations"]
    }
    assert lines == {2}
    after = subprocess.run([bin_of / "python", "-m", "pip", "freeze"], capture_output=True, check=True).stdout
    assert after == frozen
    assert sorted(path.name for path in job.iterdir()) == ["exam.jsonl", "mihakk-audit", "schemas"]
