"""A run killed in any stage goes on where it stopped and ends with the release of an undisturbed one."""

from __future__ import annotations

import json
import os
import random
import signal
import time
from collections import Counter
from pathlib import Path

import pytest

from mihakk.machinery.llm.scripted import ScriptedServer
from mihakk.schemas.stages import STAGES
from tests.end_to_end.conftest import Workshop, fewer, make_workshop


@pytest.fixture
def workshop(tmp_path: Path, auditors: ScriptedServer) -> Workshop:
    return make_workshop(tmp_path, auditors.url, fewer)


def undisturbed(workshop: Workshop) -> dict[str, str]:
    """Tables and release of a run that nobody kills."""
    calm = workshop.start("calm")
    _, err = calm.communicate(timeout=300)
    assert calm.returncode == 0, err
    return workshop.tables("calm")


def killed_in_every_stage(workshop: Workshop, auditors: ScriptedServer, name: str, seed: int) -> int:
    """Kills a build once in each stage, lets it end, compares it, and returns how many kills met it at work."""
    auditors.calls.clear()
    draw = random.Random(seed)
    met, in_flight = [], 0
    for stage in STAGES:
        process = workshop.start(name)
        begun = workshop.lake(name) / "small" / stage / "shards"
        while process.poll() is None and not begun.is_dir():
            time.sleep(0.01)
        time.sleep(draw.uniform(0, 0.2))
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            met.append(stage)
            in_flight += 2 * 4
        process.communicate()
    assert set(STAGES[:-1]) <= set(met), "only the release may be over before it is met"
    last = workshop.start(name)
    out, err = last.communicate(timeout=300)
    assert last.returncode == 0, err
    assert workshop.tables(name) == workshop.tables("calm"), out
    asked = Counter(json.dumps(call.body, sort_keys=True) for call in auditors.calls)
    assert len(asked) == 40, "20 items, two auditors"
    # A call is asked again only if its answer was on the wire when the run was killed.
    assert sum(asked.values()) - len(asked) <= in_flight
    return len(met)


def test_sigkill_in_every_stage_repeats_no_answered_call_and_changes_no_byte(
    workshop: Workshop, auditors: ScriptedServer
) -> None:
    undisturbed(workshop)
    killed_in_every_stage(workshop, auditors, "disturbed", 20261121)


@pytest.mark.drill
@pytest.mark.timeout(5400)  # forty-six builds
def test_forty_kills_spread_evenly_over_the_stages(workshop: Workshop, auditors: ScriptedServer) -> None:
    undisturbed(workshop)
    met = sum(killed_in_every_stage(workshop, auditors, f"disturbed{seed}", seed) for seed in range(5))
    assert met >= 5 * (len(STAGES) - 1)


@pytest.mark.drill
def test_a_symlinked_lake_and_a_git_that_knows_nobody_change_no_byte(workshop: Workshop) -> None:
    calm = undisturbed(workshop)
    home = workshop.folder / "home"
    (workshop.folder / "elsewhere").mkdir()
    (workshop.folder / "linked").mkdir()
    home.mkdir()
    workshop.lake("linked").symlink_to(workshop.folder / "elsewhere", target_is_directory=True)
    nobody = {"HOME": str(home), "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    linked = workshop.start("linked", **nobody)
    _, err = linked.communicate(timeout=300)
    assert linked.returncode == 0, err
    assert workshop.tables("linked") == calm
    sound = workshop.start("linked", command=("lake", "verify", str(workshop.config)), **nobody)
    out, err = sound.communicate(timeout=300)
    assert sound.returncode == 0, out + err
