"""What a build says at its end: whether it changed anything, and where its time went."""

from __future__ import annotations

import re
import time
from pathlib import Path

import pytest

from mihakk.machinery.llm.scripted import ScriptedServer
from tests.end_to_end.conftest import make_workshop, opinion, smaller

pytestmark = pytest.mark.slow
NUMBER = re.compile(r"(\d+\.\d)\s*$")


def test_a_build_that_changes_nothing_says_so_and_its_seconds_add_up(tmp_path: Path) -> None:
    with ScriptedServer(opinion) as auditors:
        shop = make_workshop(tmp_path, auditors.url, smaller)
        said, walls = [], []
        for command in (["build", str(shop.config)], ["build", str(shop.config)]):
            began = time.monotonic()
            process = shop.start("a", command=command)
            out, err = process.communicate(timeout=240)
            walls.append(time.monotonic() - began)
            assert process.returncode == 0, out + err
            lines = [line.split(" ", 1)[1] for line in err.splitlines() if "Z " in line]
            for phase in ("suites over all tables", "queue, data docs and report"):
                assert [line.split(":")[1][:9] for line in lines if line.startswith(phase)] == [
                    " started",
                    " finished",
                ]
            said.append(out)
        process = shop.start("a", command=["release", str(shop.config)])
        said.append(process.communicate(timeout=240)[0])
    reused = "nothing changed: the release made before was reused"
    assert [reused in " ".join(one.split()) for one in said] == [False, True, True]
    for text, wall in zip(said, walls, strict=False):
        table = text[text.index("What happened") :]
        rows = [line for line in table.splitlines() if NUMBER.search(line)]
        stages = [line.split()[0] for line in rows]
        place = stages.index("7_reviewed")
        assert stages[place + 2] == "8_released", "a row stands between the review and the release"
        told = sum(float(NUMBER.search(line)[1]) for line in rows)  # type: ignore[index]
        took = float(re.search(r"Took\s+([\d.]+) s", table)[1])  # type: ignore[index]
        assert abs(took - told) < 0.06 * len(rows), f"{told} s in the rows of a run that took {took} s"
        assert min(wall / 3, wall - 30) < told < wall, "starting the interpreter is all that no row has"
