"""A small real lake: two recorded runs, decisions between them, two releases, and text that means harm."""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
import yaml

from mihakk.annotation.decisions.store import add
from mihakk.annotation.decisions.stores import Stores
from mihakk.annotation.statistics.sampling import Queued
from mihakk.machinery.ids import content_hash
from mihakk.machinery.llm.scripted import ScriptedServer
from mihakk.machinery.settings import settings
from mihakk.pipeline.build import Build, open_build
from mihakk.pipeline.engines.local import LocalEngine
from mihakk.pipeline.history import recorded
from mihakk.pipeline.observer import Silent
from mihakk.pipeline.run import run_step
from mihakk.pipeline.steps.order import STEPS
from mihakk.schemas.audit import Verdict
from mihakk.schemas.item import ITEM_ROWS
from mihakk.schemas.review import Review
from tests.end_to_end.conftest import opinion

SAMPLES = Path(__file__).resolve().parents[3] / "data" / "samples"
HOSTILE = "<script>window.__ran=1</script><img src=x onerror='window.__ran=2'>{{ 7*7 }}"


def run(build: Build) -> None:
    """One recorded run without the tables' suites, which these pages do not show."""
    engine = LocalEngine(1)
    with build.lake.locked(), recorded(build, Silent()) as log:
        for step in STEPS:
            run_step(step, build, engine, log)


@dataclass(frozen=True)
class Made:
    """The lake as built once; tests that change something take a copy."""

    build: Build
    hub: Path
    fixed: str
    """Item that a person corrected between the runs."""
    discarded: str
    hostile: str
    """Item whose text means harm."""

    def copy(self, folder: Path) -> Made:
        shutil.copytree(Path(self.build.lake_root), folder / "lake")
        shutil.copytree(self.hub, folder / "hub", symlinks=True)
        build = replace(self.build, lake_root=str(folder / "lake"))
        return replace(self, build=build, hub=folder / "hub")


def config(folder: Path, url: str) -> Path:
    sayings = [
        json.loads(line) for line in (SAMPLES / "egyptian_idioms.jsonl").read_text("utf-8").splitlines()
    ]
    harm = {**sayings[0], "id": "harm", "text": f"{sayings[0]['text']} {HOSTILE}"}
    sayings = [harm, *sayings[1:6]]
    rows = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in sayings)
    (folder / "sayings.jsonl").write_text(rows, encoding="utf-8")
    serve = {"engine": "openai", "endpoints": [url]}
    judges: list[dict[str, object]] = [
        {"name": n, "family": n, "model": n, "serve": serve} for n in ("first", "second")
    ]
    judges[0]["price"] = {"prompt": 3, "completion": 12}
    (folder / "auditors.yaml").write_text(yaml.safe_dump({"auditors": judges}), encoding="utf-8")
    told = {
        "name": "small",
        "title": "Small & <b>bold</b>",
        "shard_size": 4,
        "sources": [
            {"use": "hafez", "limit": 6},
            {
                "use": "files",
                "name": "sayings",
                "options": {
                    "kind": "idiom",
                    "language": "ar",
                    "licence": "CC-BY-4.0",
                    "path": str(folder / "sayings.jsonl"),
                },
            },
        ],
        "curate": {"required": ["poet"]},
        "tasks": [{"use": "continuation", "options": {"per_record": 4}}, {"use": "meaning_choice"}],
        "embeddings": "none",
        "audit": {"auditors": str(folder / "auditors.yaml"), "limit": 24},
        "release": {"authors": ["Mihakk contributors"]},
        "review": {"overlap": 1},
    }
    path = folder / "small.yaml"
    path.write_text(yaml.safe_dump(told, allow_unicode=True), encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Made:
    folder = tmp_path_factory.mktemp("dashboard")
    with pytest.MonkeyPatch.context() as patch, ScriptedServer(opinion) as server:
        patch.setenv("MIHAKK_LAKE", str(folder / "lake"))
        patch.setenv("MIHAKK_HUB", str(folder / "hub"))
        settings.cache_clear()
        build = open_build(config(folder, server.url), folder / "run")
        run(build)
        made = decide(build, folder)
        run(build)
    settings.cache_clear()
    return made


def decide(build: Build, folder: Path) -> Made:
    """People's decisions: one correction, one discard, and a look at two unflagged items."""
    audited = build.stage("6_audited")
    items = {item.id: item for item in audited.read_all("items", ITEM_ROWS)}
    verdicts = list(audited.read_all("verdicts", Verdict))
    flagged = [items[v.item] for v in verdicts if v.status == "flag"]
    passed = [items[v.item] for v in verdicts if v.status == "pass" and v.audited]
    hostile = next(item for item in items.values() if "__ran" in item.model_dump_json())
    answered = [item for item in passed if item.kind == "answer" and item.id != hostile.id]
    fixed, sampled = answered[0], answered[1]
    stores = Stores.under(build.lake.storage.root)

    def review(item: object, decision: str, **more: object) -> Review:
        return Review.model_validate(
            {
                "item": item.id,  # type: ignore[attr-defined]
                "content_hash": content_hash(item),  # type: ignore[arg-type]
                "annotator": "annotator-01",
                "decision": decision,
                "decided_at": datetime.now(UTC),
                **more,
            }
        )

    notes = f"لا يستقيم {HOSTILE}"
    add(
        stores.decisions,
        Review,
        [
            review(fixed, "fix", corrections={"answer": f"{fixed.answer} أبدا"}, notes=notes),
            review(flagged[0], "discard", reason="wrong_gold", notes=notes),
            review(sampled, "keep"),
        ],
    )
    queued = [
        Queued(item=item.id, content_hash=content_hash(item), why=why, stratum=f"{item.language}/{item.task}")
        for item, why in ((flagged[0], "flagged"), (sampled, "sample"))
    ]
    add(stores.queued, Queued, queued)
    return Made(build, folder / "hub", fixed.id, flagged[0].id, hostile.id)


@pytest.fixture
def made(built: Made, monkeypatch: pytest.MonkeyPatch) -> Made:
    """The lake as it was built, for reading."""
    monkeypatch.setenv("MIHAKK_HUB", str(built.hub))
    settings.cache_clear()
    return built


@pytest.fixture
def own(built: Made, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Made:
    """A copy of the lake, for tests that change it."""
    mine = built.copy(tmp_path / "copy")
    monkeypatch.setenv("MIHAKK_HUB", str(mine.hub))
    settings.cache_clear()
    return mine
