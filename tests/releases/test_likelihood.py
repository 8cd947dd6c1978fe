"""lm-eval compares likelihoods through completions servers, with the release's own task files."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from releases.assemble import AssembledRelease
from releases.hub.embedded import EmbeddedHub
from tests.releases.completion_server import CompletionServer, Trigrams, save_byte_tokenizer
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


def test_lm_eval_compares_the_likelihoods_a_completions_server_gives(published: Path, tmp_path: Path) -> None:
    choices, verses = rows(published, "ar_meaning_choice"), rows(published, "fa_continuation_choice")
    # The model has read the items with their answers, so it is right more often than not, and not always.
    read = "\n".join(row["prompt"] + row["labels"][row["gold"][0]] for row in [*choices, *verses[:60]])
    model = Trigrams(read)
    tasks = f"{TASK},touchstone_fa_continuation_choice,{TASK}_written"
    tokenizer = save_byte_tokenizer(tmp_path / "tokenizer")
    with CompletionServer(model).running() as server:
        arguments = f"model=m,base_url={server.url},tokenizer={tokenizer},tokenizer_backend=huggingface,max_length=8192"
        results, samples = lm_eval(published, tmp_path / "out", tasks, "local-completions", arguments)
        assert any(asked.get("echo") and isinstance(asked["prompt"][0], list) for asked in server.asked)
    for task, mine in ((TASK, choices), ("touchstone_fa_continuation_choice", verses)):
        expected = {
            row["id"]: [model.loglikelihood(row["prompt"], label) for label in row["labels"]] for row in mine
        }
        found = likelihoods(samples[task])
        assert found.keys() == expected.keys()
        for name, values in expected.items():
            assert found[name] == pytest.approx(values, abs=1e-6)
        right = sum(
            values.index(max(values)) in row["gold"]
            for row, values in zip(mine, expected.values(), strict=True)
        )
        assert results[task]["acc,none"] == pytest.approx(right / len(mine))
        assert right > 0
    written = results[f"{TASK}_written"]
    assert 0.0 <= written["acc,none"] <= 1.0
    assert written["acc,none"] + written["unparsed,none"] <= 1.0


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
