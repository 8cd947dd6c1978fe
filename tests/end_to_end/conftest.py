"""A small real benchmark, two scripted auditors over real HTTP, and builds of it in fresh lakes."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner, Result

from mihakk.flows.cli import app
from mihakk.machinery.llm.scripted import Answer, Call, ScriptedServer
from mihakk.machinery.settings import settings
from mihakk.pipeline.build import Build, open_build
from mihakk.pipeline.engines.local import LocalEngine
from mihakk.pipeline.observer import Silent
from mihakk.pipeline.run import run_pipeline
from mihakk.schemas.audit import CRITERIA
from mihakk.schemas.manifest import StageManifest

ROOT = Path(__file__).resolve().parent.parent.parent


def opinion(call: Call) -> Answer:
    """All ones, but for one prompt in eight, whose gold is called wrong: the same prompt, the same opinion."""
    mark = hashlib.sha256(json.dumps(call.body["messages"], ensure_ascii=False).encode()).digest()[0]
    scores = dict.fromkeys(CRITERIA, 1)
    issues = []
    if mark % 8 == 0:
        scores["answer_alignment"] = 0
        issues = [{"criterion": "answer_alignment", "explanation": "The marked option does not fit."}]
    return Answer(text=json.dumps({"scores": scores, "issues": issues}), delay=0.002)


@pytest.fixture
def auditors() -> Iterator[ScriptedServer]:
    with ScriptedServer(opinion) as server:
        yield server


@dataclass
class Workshop:
    """Builds one small benchmark again and again, each time in the lake and Hub named."""

    folder: Path
    config: Path
    processes: list[subprocess.Popen[str]] = field(default_factory=list)

    def lake(self, name: str) -> Path:
        return self.folder / name / "lake"

    def hub(self, name: str) -> Path:
        return self.folder / name / "hub"

    def open(self, name: str, monkeypatch: pytest.MonkeyPatch) -> Build:
        monkeypatch.setenv("MIHAKK_LAKE", str(self.lake(name)))
        monkeypatch.setenv("MIHAKK_HUB", str(self.hub(name)))
        settings.cache_clear()
        return open_build(self.config, self.folder / name / "run")

    def build(self, name: str, monkeypatch: pytest.MonkeyPatch, workers: int = 1) -> list[StageManifest]:
        engine = LocalEngine(workers)
        try:
            return run_pipeline(self.open(name, monkeypatch), engine, Silent()).manifests
        finally:
            engine.close()

    def start(
        self, name: str, *arguments: str, command: Sequence[str] = (), **environment: str
    ) -> subprocess.Popen[str]:
        """`mihakk build` (or another command) as a process of its own."""
        lake, hub = self.lake(name), self.hub(name)
        known = {"MIHAKK_LAKE": str(lake), "MIHAKK_HUB": str(hub), "MIHAKK_WORKERS": "1"}
        process = subprocess.Popen(
            [sys.executable, "-m", "mihakk.flows.cli", *(command or ("build", str(self.config))), *arguments],
            cwd=self.folder,
            env={**os.environ, **known, "COLUMNS": "160", **environment},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        self.processes.append(process)
        return process

    def run(self, name: str, *arguments: str, **environment: str) -> Result:
        """The command in this process, which has imported what each process of its own would import again."""
        known = {"MIHAKK_LAKE": self.lake(name), "MIHAKK_HUB": self.hub(name), "MIHAKK_WORKERS": "1"}
        settings.cache_clear()
        try:
            with pytest.MonkeyPatch.context() as patch:
                patch.chdir(self.folder)
                told = {**{key: str(path) for key, path in known.items()}, "COLUMNS": "200", **environment}
                return CliRunner().invoke(app, arguments, env=told)
        finally:
            settings.cache_clear()

    def tables(self, name: str) -> dict[str, str]:
        """Digest of every table and every released file; the ledger tells of runs, which never repeat."""
        lake = self.lake(name)
        files = [path for path in lake.rglob("*.parquet") if not {"raw", "ledger"} & {*path.parts}]
        files += [p for p in self.hub(name).rglob("*") if p.is_file() and ".git" not in p.parts]
        base = self.folder / name
        return {
            str(path.relative_to(base)): hashlib.sha256(path.read_bytes()).hexdigest()
            for path in sorted(files)
            if not path.name.startswith(".")
        }


@pytest.fixture
def workshop(tmp_path: Path, auditors: ScriptedServer) -> Iterator[Workshop]:
    yield (shop := make_workshop(tmp_path, auditors.url))
    for process in shop.processes:
        if process.poll() is None:
            process.kill()
        process.communicate()


def make_workshop(
    folder: Path, url: str, change: Callable[[dict[str, object]], None] | None = None
) -> Workshop:
    serve = {"engine": "openai", "endpoints": [url]}
    limits = {"concurrency": 4, "attempts": 2, "timeout_seconds": 20}
    judges = {
        "auditors": [
            {"name": name, "family": name, "model": name, "serve": serve, "limits": limits}
            for name in ("first", "second")
        ]
    }
    (folder / "auditors.yaml").write_text(yaml.safe_dump(judges), encoding="utf-8")
    verse = {"kind": "poem", "language": "ar", "licence": "public-domain"}
    sayings = {"kind": "idiom", "language": "ar", "licence": "CC-BY-4.0"}
    samples = ROOT / "data" / "samples"
    config: dict[str, object] = {
        "name": "small",
        "title": "Small — Hafez & Egypt",
        "seed": 7,
        "shard_size": 8,
        "sources": [
            {"use": "hafez", "limit": 20},
            {
                "use": "files",
                "name": "verse",
                "limit": 10,
                "options": {**verse, "path": str(samples / "arabic_poems.jsonl")},
            },
            {
                "use": "files",
                "name": "sayings",
                "limit": 20,
                "options": {**sayings, "path": str(samples / "egyptian_idioms.jsonl")},
            },
        ],
        "curate": {"required": ["poet", "metre"]},
        "tasks": [
            {"use": "continuation", "options": {"per_record": 2}},
            {"use": "continuation_choice", "options": {"per_record": 2}},
            {"use": "shuffled_choice", "options": {"per_record": 2}},
            {"use": "metre_choice"},
            {"use": "meaning_choice"},
            {"use": "completion"},
        ],
        "embeddings": "none",
        "audit": {"auditors": str(folder / "auditors.yaml"), "limit": 60},
        "review": {"overlap": 1},
        "release": {"authors": ["Mihakk contributors"]},
    }
    if change:
        change(config)
    path = folder / "small.yaml"
    path.write_text(yaml.safe_dump(config, allow_unicode=True), encoding="utf-8")
    return Workshop(folder, path)


def smaller(config: dict[str, Any]) -> None:
    """A change for `make_workshop`: six ghazals, one task, five items audited."""
    config["sources"] = [{"use": "hafez", "limit": 6}]
    config["tasks"] = [{"use": "continuation", "options": {"per_record": 2}}]
    config["audit"]["limit"] = 5


def fewer(config: dict[str, Any]) -> None:
    """A change for `make_workshop`: every stage of several shards, of a third of the records."""
    config["shard_size"] = 3
    for source, limit in zip(config["sources"], (6, 4, 6), strict=True):
        source["limit"] = limit
    config["tasks"] = [one for one in config["tasks"] if one["use"] != "completion"]  # six sayings give none
    config["audit"] = {**config["audit"], "limit": 20}


@dataclass
class Built:
    """A workshop whose lake `a` holds one build."""

    workshop: Workshop
    auditors: ScriptedServer
    manifests: list[StageManifest]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Built]:
    with ScriptedServer(opinion) as auditors, pytest.MonkeyPatch.context() as patch:
        workshop = make_workshop(tmp_path_factory.mktemp("built"), auditors.url)
        yield Built(workshop, auditors, workshop.build("a", patch))
