"""Harnesses that ask a benchmark as an overlay patches it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from mihakk.machinery.llm.scripted import Answer, Call, ScriptedServer
from mihakk.releases.overlay.changes import (
    Overlay,
    read_overlay,
)
from tests.releases.overlay_sets import ROWS, lines
from tests.releases.test_consumers import LIGHTEVAL


def environment(tmp_path: Path, source: Path) -> dict[str, str]:
    own = {"MIHAKK_UPSTREAM": str(source), "MIHAKK_CACHE": str(tmp_path / "cache"), "HF_HUB_OFFLINE": "1"}
    return {
        **os.environ,
        **own,
        "HF_HOME": str(tmp_path / "hf"),
        "LOOPBACK_API_KEY": "none",
        "OPENAI_API_KEY": "none",
    }


HARNESS = """
import json, sys
import datasets
sys.path.insert(0, sys.argv[1])
import harness
loaded = harness.load("ar_external_choice")
# LightEval gives `datasets` this folder and this config.
same = datasets.load_dataset(str(harness.data_root()), "ar_external_choice")
print(json.dumps([[row["metadata"]["id"] for row in one["test"]] for one in (loaded, same)]))
"""


def test_harnesses_are_given_the_patched_rows_and_refuse_another_benchmark(
    made: tuple[Path, Path, Path], tmp_path: Path
) -> None:
    source, overlay, _ = made

    def run() -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-c", HARNESS, str(overlay / "eval" / "lm_eval")],
            env=environment(tmp_path, source), capture_output=True, text=True, check=False,
        )  # fmt: skip

    done = run()
    assert done.returncode == 0, done.stderr[-2000:]
    assert json.loads(done.stdout.splitlines()[-1]) == [["r0", "r2", "r4"]] * 2
    source.write_bytes(lines(ROWS[1:]))
    done = run()
    assert done.returncode == 1
    assert "SourceChanged" in done.stderr


@pytest.mark.services
def test_lm_eval_and_inspect_score_the_patched_benchmark(
    made: tuple[Path, Path, Path], tmp_path: Path
) -> None:
    pytest.importorskip("lm_eval")
    pytest.importorskip("inspect_ai")
    source, overlay, _ = made
    asked: list[str] = []

    def script(call: Call) -> Answer:
        asked.append(call.said)
        return Answer(text="أ" if "النور" in call.said else "ب")

    with ScriptedServer(script) as server:
        address = f"{server.url}/chat/completions"
        command = [sys.executable, "-m", "lm_eval", "run", "--model", "local-chat-completions", "--apply_chat_template",
                   "--model_args", f"model=m,base_url={address},tokenizer_backend=None", "--tasks",
                   "audit-bench_ar_external_choice_written", "--include_path", str(overlay / "eval" / "lm_eval"),
                   "--output_path", str(tmp_path / "out")]  # fmt: skip
        own = environment(tmp_path, source) | {"LOOPBACK_BASE_URL": server.url}
        done = subprocess.run(command, env=own, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr[-3000:]
        told = json.loads(next((tmp_path / "out").rglob("results_*.json")).read_text(encoding="utf-8"))
        assert told["results"]["audit-bench_ar_external_choice_written"]["acc,none"] == pytest.approx(1 / 3)
        command = [sys.executable, "-m", "inspect_ai", "eval", "eval/inspect/tasks.py", "--model", "openai-api/loopback/m",
                   "--log-dir", str(tmp_path / "logs"), "--log-format", "json", "--display", "none"]  # fmt: skip
        done = subprocess.run(command, env=own, cwd=overlay, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    log = json.loads(next((tmp_path / "logs").glob("*.json")).read_text(encoding="utf-8"))
    assert log["status"] == "success"
    figures = {one["name"]: one["metrics"] for one in log["results"]["scores"]}
    assert figures["acc"]["mean"]["value"] == pytest.approx(1 / 3)
    assert len(asked) == 6
    assert any("ما ضد كلمة الأرض؟" in said for said in asked)
    assert isinstance(read_overlay(overlay)[0], Overlay)


@pytest.mark.services
def test_lighteval_scores_the_patched_benchmark_and_has_no_mihakk_itself(
    made: tuple[Path, Path, Path], tmp_path: Path
) -> None:
    interpreter = os.environ.get("MIHAKK_LIGHTEVAL")
    if interpreter is None:
        pytest.skip("needs LightEval 0.13 in an environment of its own: set MIHAKK_LIGHTEVAL to its python")
    source, overlay, _ = made
    own = environment(tmp_path, source) | {"PYTHONPATH": ""}
    command = [interpreter, "-c", LIGHTEVAL, str(overlay / "eval" / "lighteval" / "tasks.py")]

    def run(more: dict[str, str]) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command, env=own | more, cwd=tmp_path, capture_output=True, text=True, check=False
        )  # fmt: skip

    assert "MIHAKK_PYTHON" in run({}).stderr
    done = run({"MIHAKK_PYTHON": sys.executable})
    assert done.returncode == 0, done.stderr[-3000:]
    results = json.loads(done.stdout.splitlines()[-1])
    [written] = [one for name, one in results.items() if "_written" in name]
    assert written["unparsed"] == 1.0, "the dummy model names no label"
    assert read_overlay(overlay)[0].name in " ".join(results)
