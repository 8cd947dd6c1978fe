"""A run killed in any stage goes on where it stopped and ends with the release of an undisturbed one."""

from __future__ import annotations

import json
import os
import random
import signal
import time
from collections import Counter

import pytest

from mihakk.llm.scripted import ScriptedServer
from schemas.stages import STAGES
from tests.end_to_end.conftest import Workshop


def test_sigkill_in_every_stage_repeats_no_answered_call_and_changes_no_byte(
    workshop: Workshop, auditors: ScriptedServer
) -> None:
    undisturbed = workshop.start("calm")
    out, err = undisturbed.communicate(timeout=300)
    assert undisturbed.returncode == 0, err
    auditors.calls.clear()
    random.seed(20261121)
    met, in_flight = [], 0
    for stage in STAGES:
        process = workshop.start("disturbed")
        begun = workshop.lake("disturbed") / "small" / stage / "shards"
        while process.poll() is None and not begun.is_dir():
            time.sleep(0.01)
        time.sleep(random.uniform(0, 0.2))
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            met.append(stage)
            in_flight += 2 * 4
        process.communicate()
    assert set(STAGES[:-1]) <= set(met), "only the release may be over before it is met"
    last = workshop.start("disturbed")
    out, err = last.communicate(timeout=300)
    assert last.returncode == 0, err
    assert workshop.tables("disturbed") == workshop.tables("calm"), out
    asked = Counter(json.dumps(call.body, sort_keys=True) for call in auditors.calls)
    assert len(asked) == 120, "60 items, two auditors"
    # A call is asked again only if its answer was on the wire when the run was killed.
    assert sum(asked.values()) - len(asked) <= in_flight


@pytest.mark.parametrize("stage", ["4_generated", "6_audited"])
def test_a_part_cut_short_on_disk_is_made_again(workshop: Workshop, stage: str) -> None:
    first = workshop.start("a")
    assert first.communicate(timeout=300)
    assert first.returncode == 0
    whole = workshop.tables("a")
    part = next((workshop.lake("a") / "small" / stage / "items").glob("part-*.parquet"))
    part.write_bytes(part.read_bytes()[:-100])
    again = workshop.start("a")
    _, err = again.communicate(timeout=300)
    assert again.returncode == 0, err
    assert workshop.tables("a") == whole
