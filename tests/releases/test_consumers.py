"""What consumers do with a published release, with their own tools."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from mihakk.machinery.llm.scripted import Answer, ScriptedServer
from mihakk.machinery.settings import settings
from mihakk.releases.assemble import AssembledRelease
from mihakk.releases.content.checksum import generated
from mihakk.releases.hub.embedded import EmbeddedHub
from mihakk.releases.hub.load import load
from mihakk.releases.hub.remote import RemoteHub
from tests.releases.hub_server import HubServer
from tests.servers import serving_olah

NAME = "someone/touchstone"
CONFIG = "fa_continuation_choice"


@pytest.fixture(scope="module")
def server(first_release: AssembledRelease, second_release: AssembledRelease) -> Iterator[HubServer]:
    """A Hub with both versions."""
    with HubServer().running() as running:
        hub = RemoteHub(NAME, running.endpoint)
        hub.publish(first_release)
        hub.publish(second_release)
        yield running


@pytest.fixture
def published(hub_of_two: Path) -> Path:
    """The embedded Hub's repository with both versions, for reading."""
    return EmbeddedHub(hub_of_two).repository("touchstone")


def python(code: str, folder: Path, **environment: str) -> object:
    """Run code in a process of its own, as a consumer's would be, and read the JSON it prints last."""
    own = {"HF_HOME": str(folder / "hf"), "HF_HUB_DISABLE_XET": "1", "HF_HUB_DISABLE_TELEMETRY": "1"}
    done = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, **own, **environment}, cwd=folder, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.splitlines()[-1])


LOAD = f"""
import json, datasets
found = {{}}
for version in ("0.1.0", "0.2.0"):
    loaded = datasets.load_dataset("{NAME}", "{CONFIG}", revision=version)
    found[version] = [{{split: part.num_rows for split, part in loaded.items()}}, sorted(set(loaded["test"]["version"]))]
streamed = datasets.load_dataset("{NAME}", "{CONFIG}", revision="0.1.0", split="test", streaming=True)
found["streamed"] = len(list(streamed))
print(json.dumps(found))
"""


def test_datasets_loads_both_versions_from_a_hub_and_streams(
    server: HubServer, first_release: AssembledRelease, second_release: AssembledRelease, tmp_path: Path
) -> None:
    found = python(LOAD, tmp_path, HF_ENDPOINT=server.endpoint)
    assert found == {
        "0.1.0": [first_release.rows[CONFIG], ["0.1.0"]],
        "0.2.0": [second_release.rows[CONFIG], ["0.2.0"]],
        "streamed": first_release.rows[CONFIG]["test"],
    }


def test_the_manifest_is_what_sha256sum_reads(published: Path) -> None:
    done = subprocess.run(
        ["sha256sum", "--check", "--strict", "--quiet", "MANIFEST.sha256"], cwd=published, check=False
    )
    assert done.returncode == 0


def test_pandas_and_duckdb_read_the_files(published: Path, second_release: AssembledRelease) -> None:
    import duckdb
    import pandas as pd

    rows = second_release.rows[CONFIG]["test"]
    frame = pd.read_parquet(published / CONFIG / "test-00000-of-00001.parquet")
    assert len(frame) == rows
    assert frame.loc[0, "metadata"]["poet"] == "hafez"
    query = f"""
        select count(*), count(distinct pair_id), min(version) from '{published}/{CONFIG}/test-*.parquet'
        where list_contains(gold, 0) or list_contains(gold, 1) or list_contains(gold, 2)
    """
    count, pairs, version = duckdb.sql(query).fetchall()[0]
    assert (count, version) == (rows, "0.2.0")
    assert pairs <= count
    join = f"""
        select count(*) from '{published}/audit/scores.parquet' s
        join '{published}/audit/verdicts.parquet' v using (item) where v.released
    """
    assert duckdb.sql(join).fetchall()[0] == (2 * second_release.items,)


def test_croissant_validates_and_gives_the_records(published: Path, second_release: AssembledRelease) -> None:
    croissant = pytest.importorskip("mlcroissant")
    described = croissant.Dataset(str(published / "croissant.json"))
    assert not described.metadata.ctx.issues.errors
    for config, splits in second_release.rows.items():
        for split, rows in splits.items():
            records = list(described.records(f"{config}/{split}-00000-of-00001"))
            assert len(records) == rows
            assert records[0][f"{config}/{split}-00000-of-00001/version"] == b"0.2.0"


def test_citation_is_of_the_format_its_readers_know(published: Path) -> None:
    import yaml

    cited = yaml.safe_load((published / "CITATION.cff").read_text(encoding="utf-8"))
    assert {"cff-version", "message", "title", "authors"} <= set(cited)
    assert (cited["type"], cited["version"]) == ("dataset", "0.2.0")


@pytest.mark.services
def test_lm_eval_scores_written_replies_of_a_chat_server(published: Path, tmp_path: Path) -> None:
    pytest.importorskip("lm_eval")
    import pyarrow.parquet as pq

    golds = (
        pq.read_table(published / "ar_meaning_choice" / "test-00000-of-00001.parquet")
        .column("gold")
        .to_pylist()
    )
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "OPENAI_API_KEY": "none"}
    with ScriptedServer(lambda _: Answer(text="ب")) as server:
        address = f"{server.url}/chat/completions"
        command = [sys.executable, "-m", "lm_eval", "run", "--model", "local-chat-completions", "--apply_chat_template",
               "--model_args", f"model=m,base_url={address},tokenizer_backend=None", "--tasks", "touchstone_ar_meaning_choice_written",
               "--include_path", str(published / "eval" / "lm_eval"), "--output_path", str(tmp_path / "out")]  # fmt: skip
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    results = json.loads(next((tmp_path / "out").rglob("results_*.json")).read_text(encoding="utf-8"))
    scores = results["results"]["touchstone_ar_meaning_choice_written"]
    assert scores["acc,none"] == pytest.approx(sum(gold == [1] for gold in golds) / len(golds))
    assert scores["unparsed,none"] == 0.0


@pytest.mark.services
def test_an_independent_server_over_the_embedded_hub_serves_both_versions(
    first_release: AssembledRelease,
    second_release: AssembledRelease,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """`olah` reads the local git repositories and speaks the Hub's API; it shares no code with us."""
    hub = EmbeddedHub(tmp_path / "mirrors" / "datasets" / "someone")
    hub.publish(first_release)
    hub.publish(second_release)
    with serving_olah(tmp_path / "mirrors", tmp_path) as endpoint:
        monkeypatch.setenv("MIHAKK_CACHE", str(tmp_path / "cache"))
        settings.cache_clear()
        remote = RemoteHub(NAME, endpoint)
        assert remote.versions() == ["0.1.0", "0.2.0"]
        for release in (first_release, second_release):
            assert remote.verify(release.version, release.folder) == release.rows
            loaded = load(NAME, release.version, CONFIG, "test", endpoint=remote.endpoint)
            assert set(loaded["version"]) == {release.version}


@pytest.mark.services
def test_lm_eval_runs_the_releases_own_files(
    published: Path,
    second_release: AssembledRelease,
    tmp_path: Path,
    measured: Callable[[str, float], None],
) -> None:
    pytest.importorskip("lm_eval")
    before = {*published.rglob("*")}
    command = [sys.executable, "-m", "lm_eval", "run", "--model", "dummy", "--tasks", "touchstone", "--include_path",
               str(published / "eval" / "lm_eval"), "--output_path", str(tmp_path / "out")]  # fmt: skip
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "PYTHONDONTWRITEBYTECODE": ""}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    measured("leaves-no-byte", len({*published.rglob("*")} - before))
    results = json.loads(next((tmp_path / "out").rglob("results_*.json")).read_text(encoding="utf-8"))
    scored = {name: one["original"] for name, one in results["n-samples"].items()}
    assert scored["touchstone_fa_continuation_choice"] == second_release.rows[CONFIG]["test"]
    assert (
        scored["touchstone_fa_continuation_completion"]
        == second_release.rows["fa_continuation_completion"]["test"]
    )
    assert set(results["versions"].values()) == {"0.2.0"}
    written = results["results"]["touchstone_fa_continuation_choice_written"]
    assert written["acc,none"] == 0.0, "the dummy model names no label"
    assert written["unparsed,none"] == 1.0


LIGHTEVAL = """
import importlib.util, json, sys
from lighteval.logging.evaluation_tracker import EvaluationTracker
from lighteval.models.dummy.dummy_model import DummyModelConfig
from lighteval.pipeline import ParallelismManager, Pipeline, PipelineParameters
spec = importlib.util.spec_from_file_location("tasks", sys.argv[1])
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
parameters = PipelineParameters(launcher_type=ParallelismManager.NONE, custom_tasks_directory=sys.argv[1])
pipeline = Pipeline(
    tasks=",".join(f"{task.name}|0" for task in module.TASKS_TABLE),
    pipeline_parameters=parameters,
    evaluation_tracker=EvaluationTracker(output_dir="out"),
    model_config=DummyModelConfig(),
)
pipeline.evaluate()
results = pipeline.get_results()["results"]
print(json.dumps({name: {metric: float(value) for metric, value in one.items()} for name, one in results.items()}))
"""


@pytest.mark.services
def test_lighteval_runs_the_releases_own_files(published: Path, tmp_path: Path) -> None:
    interpreter = os.environ.get("MIHAKK_LIGHTEVAL")
    if interpreter is None:
        pytest.skip("needs LightEval 0.13 in an environment of its own: set MIHAKK_LIGHTEVAL to its python")
    command = [interpreter, "-c", LIGHTEVAL, str(published / "eval" / "lighteval" / "tasks.py")]
    environment = {**os.environ, "HF_HOME": str(tmp_path / "hf"), "HF_HUB_OFFLINE": "1"}
    environment["PYTHONDONTWRITEBYTECODE"] = ""
    done = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    assert generated(published) == []
    results = json.loads(done.stdout.splitlines()[-1])
    assert 0.0 <= results["touchstone-0.2.0:fa_continuation_choice:0"]["acc"] <= 1.0
    assert results["touchstone-0.2.0:fa_continuation_choice_written:0"]["unparsed"] == 1.0
    assert results["touchstone-0.2.0:fa_continuation_completion:0"]["exact"] == 0.0
