"""lm-eval compares likelihoods that vLLM gives, with the release's own task files."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from mihakk.releases.assemble import AssembledRelease
from mihakk.releases.hub.embedded import EmbeddedHub
from tests.servers import VLLM_WEIGHTS

pytestmark = pytest.mark.services
ROOT = Path(__file__).resolve().parents[2]
TASK = "touchstone_ar_meaning_choice"


@pytest.fixture
def published(first_release: AssembledRelease, tmp_path: Path) -> Path:
    hub = EmbeddedHub(tmp_path / "hub")
    hub.publish(first_release)
    return hub.repository("touchstone")


def rows(release: Path, config: str) -> list[dict[str, Any]]:
    """The scored split."""
    return pq.read_table(release / config / "test-00000-of-00001.parquet").to_pylist()


def lm_eval(
    release: Path, out: Path, tasks: str, model: str, arguments: str
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Run lm-eval; (results by task, samples by task)."""
    pytest.importorskip("lm_eval")
    command = [sys.executable, "-m", "lm_eval", "run", "--model", model, "--model_args", arguments, "--tasks", tasks,
               "--include_path", str(release / "eval" / "lm_eval"), "--output_path", str(out), "--log_samples"]  # fmt: skip
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "OPENAI_API_KEY": "none", "HF_HOME": str(out / "hf")}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    results = json.loads(next(out.rglob("results_*.json")).read_text(encoding="utf-8"))["results"]
    samples = {}
    for name in tasks.split(","):
        (path,) = out.rglob(f"samples_{name}_2*.jsonl")
        samples[name] = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return results, samples


def likelihoods(samples: list[dict[str, Any]]) -> dict[str, list[float]]:
    """Item id -> log-likelihood of each label."""
    return {one["doc"]["id"]: [float(reply[0][0]) for reply in one["resps"]] for one in samples}


def own_likelihoods(weights: Path, items: list[dict[str, Any]]) -> dict[str, list[float]]:
    """Item id -> log-likelihood of each label, by the model itself, in this process."""
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    tokenizer = transformers.AutoTokenizer.from_pretrained(weights)
    model = transformers.AutoModelForCausalLM.from_pretrained(weights, dtype=torch.float32)
    found = {}
    for item in items:
        start = len(tokenizer(item["prompt"])["input_ids"])
        found[item["id"]] = []
        for label in item["labels"]:
            tokens = tokenizer(item["prompt"] + label, return_tensors="pt")["input_ids"]
            with torch.no_grad():
                shares = model(tokens).logits[0].log_softmax(dim=-1)
            own = shares[torch.arange(tokens.shape[1] - 1), tokens[0, 1:]]
            found[item["id"]].append(float(own[start - 1 :].sum()))
    return found


def test_vllm_gives_the_harness_the_models_own_likelihoods(
    published: Path, tmp_path: Path, vllm: str
) -> None:
    weights = VLLM_WEIGHTS
    served = f"model=smollm2,base_url={vllm}/completions,tokenizer={weights},tokenizer_backend=huggingface"
    results, samples = lm_eval(published, tmp_path / "http", TASK, "local-completions", served)
    items = rows(published, "ar_meaning_choice")
    asked, own = likelihoods(samples[TASK]), own_likelihoods(weights, items)
    assert asked.keys() == own.keys()
    for name, values in own.items():
        assert asked[name] == pytest.approx(values, abs=0.6), "more than rounding to bfloat16"
    right = sum(values.index(max(values)) in row["gold"] for row in items for values in [asked[row["id"]]])
    assert results[TASK]["acc,none"] == pytest.approx(right / len(items))
