"""The two embedded systems of the demo over pairs of a release: every question answered, a table, nothing asked twice."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest
import yaml

from mihakk.evaluation.questions import MANIFEST
from mihakk.machinery.ids import sha256
from mihakk.releases.assemble import assemble
from tests.releases.release_material import hafez_items, release_arguments

pytestmark = [pytest.mark.services, pytest.mark.timeout(3600)]
ROOT = Path(__file__).resolve().parents[2]
SYSTEMS = ("smollm2-135m", "qwen-0.5b")


@pytest.mark.parametrize("pairs", [2, pytest.param(200, marks=pytest.mark.drill)])
def test_two_systems_answer_pairs_in_both_orders(tmp_path: Path, pairs: int) -> None:
    release = tmp_path / "release"
    assemble(folder=release, **release_arguments(hafez_items(6 if pairs == 2 else 60)))
    part = {"release": str(release), "digest": sha256((release / MANIFEST).read_bytes()), "sample": pairs,
            "only": ["fa_continuation_choice"]}  # fmt: skip
    suite = {"name": "pairs", "title": "Pairs", "parts": [part], "models": list(SYSTEMS),
             "reply_tokens": {"choice": 4}}  # fmt: skip
    (tmp_path / "suite.yaml").write_text(yaml.safe_dump(suite), encoding="utf-8")
    out = tmp_path / "out"
    command = [
        sys.executable,
        "-m",
        "mihakk.flows.cli",
        "evaluate",
        "run",
        str(tmp_path / "suite.yaml"),
        "--out",
        str(out),
    ]

    def run() -> list[dict[str, object]]:
        done = subprocess.run(
            [*command, "--json"], cwd=ROOT, env=os.environ | {"PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=False
        )  # fmt: skip
        assert done.returncode == 0, done.stderr[-2000:]
        told = json.loads(done.stdout)
        assert any("no contenders" in note for note in told["notes"])
        return list(told["systems"])

    first = run()
    assert [(one["system"], one["answers"], one["calls"]) for one in first] == [
        (name, 2 * pairs, 2 * pairs) for name in SYSTEMS
    ]
    files = [*(out / name / "scores.parquet" for name in SYSTEMS), out / "table.md"]
    before = [sha256(path.read_bytes()) for path in files]
    for path in files[:2]:
        rows = [row for row in pq.read_table(path).to_pylist() if row["metric"] == "accuracy"]
        assert len({row["pair_id"] for row in rows}) == pairs
        assert {row["order"] for row in rows} == {0, 1}
    table = files[2].read_text("utf-8")
    assert all(f"| {name}" in table for name in SYSTEMS)
    if pairs == 200:
        assert table.count(" [0.") >= 2, "a figure has no interval"
        assert [one["calls"] for one in run()] == [0, 0]
        assert [sha256(path.read_bytes()) for path in files] == before
