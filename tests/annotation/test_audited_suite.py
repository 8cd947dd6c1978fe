"""The published development sets: one command to a suite, to people on a real server, to cleaned releases."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import yaml
from typer.testing import CliRunner

from mihakk.annotation.label_studio.connection import Connection
from mihakk.annotation.label_studio.project import find_project
from mihakk.annotation.label_studio.server import LocalServer
from mihakk.flows.cli import app
from mihakk.machinery.llm.scripted import Answer, Call, ScriptedServer
from mihakk.machinery.settings import ROOT, settings
from mihakk.pipeline.external_people import open_set, sets_in
from mihakk.schemas.audit import CRITERIA
from tests.annotation.pushed import DISCARD, KEEP
from tests.annotation.signed_up import Member
from tests.foreign_sets import two_auditors

pytestmark = [pytest.mark.services, pytest.mark.timeout(1500)]
SHOWN = 8
"""Rows of each set that people decide; the others go on waiting."""


def judged(call: Call) -> Answer:
    """Finds every ninth gold wrong."""
    mark = hashlib.sha256(call.body["messages"][1]["content"].encode()).digest()[0]
    zeros = ["answer_alignment"] if mark % 9 == 0 else []
    scores = {key: int(key not in zeros) for key in CRITERIA}
    issues = [{"criterion": key, "explanation": "Another answer is right."} for key in zeros]
    return Answer(text=json.dumps({"scores": scores, "issues": issues}))


def command(*words: str) -> None:
    done = CliRunner().invoke(app, list(words))
    assert done.exit_code == 0, done.output + done.stderr


def tables(path: Path) -> dict[str, list[dict[str, Any]]]:
    """Rows of a file by sheet, as pandas reads them, in words."""
    if path.suffix == ".xlsx":
        frames = pd.read_excel(path, sheet_name=None, dtype=str)
        return {name: frame.fillna("").to_dict("records") for name, frame in frames.items()}
    frame = (
        pd.read_csv(path, dtype=str) if path.suffix == ".csv" else pd.read_json(path, lines=True, dtype=False)
    )
    return {"": frame.fillna("").astype(str).to_dict("records")}


def explained(original: Path, release: Path) -> int:
    """Asserts that each difference of the release from the original is an erratum's; how many there are."""
    told: dict[str, dict[int, dict[str, Any]]] = {}
    for row in pd.read_parquet(release / "errata" / "changes.parquet").to_dict("records"):
        sheet = row["table"].partition("/")[2] if "/" in row["table"] else ""
        told.setdefault(sheet, {})[row["row"]] = row
    before, after = tables(original), tables(release / original.name)
    first = next(iter(before))
    count = 0
    for sheet, rows in before.items():
        mine = told.get("" if sheet == first else sheet, {})
        kept = [rows[number] for number in range(len(rows)) if number not in mine]
        assert after[sheet] == kept or not mine, (original.name, sheet)
        assert all(one["evidence"].size for one in mine.values())
        count += len(rows) - len(after[sheet])
    assert count == sum(map(len, told.values()))
    return count


def test_the_dev_sets_go_through_a_suite_and_people_to_cleaned_releases(  # noqa: PLR0917 (fixtures)
    label_studio: LocalServer,
    connection: Connection,
    members: list[Member],
    shared_data: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("MIHAKK_LABEL_STUDIO_URL", connection.url)
    monkeypatch.setenv("MIHAKK_LABEL_STUDIO_TOKEN", label_studio.secrets.token)
    settings.cache_clear()
    published = yaml.safe_load((ROOT / "configs" / "audits" / "published.yaml").read_text(encoding="utf-8"))
    names = ("ArabicMMLU", "ACVA", "GhazalBench-choice", "GhazalBench-completion", "GhazalBench-English")
    sources = [one for one in published["sources"] if one["name"] in names]
    out, suite = tmp_path / "out", tmp_path / "dev.yaml"
    with ScriptedServer(judged) as server:
        judges = two_auditors(tmp_path / "judges.yaml", server.url)
        for one in sources:
            one["source"] = str(shared_data / one["source"])
        config = {"name": "dev", "title": "Development sets", "sources": sources, "limit": 20}
        suite.write_text(
            yaml.safe_dump({**config, "auditors": judges}, allow_unicode=True),
            encoding="utf-8",
        )
        command("audit", str(suite), "--out", str(out))
        assert sorted(path.name for path in sets_in(out)) == sorted(names)
        command("review", "push", str(out))
        decided = {folder.name: decide(folder, connection, members) for folder in sets_in(out)}
        assert all(decided.values())
        command("review", "pull", str(out))
        command("audit", str(suite), "--out", str(out))
    summary = json.loads((out / "suite.json").read_bytes())
    assert {state["status"] for state in summary["states"]} == {"audited"}, "decisions make a new audit"
    rows = {row["name"]: row for row in summary["sources"]}
    for name, (kept, discarded) in decided.items():
        assert rows[name]["discarded"] == discarded, name
        assert rows[name]["overturned"] == kept, name
    command("release", str(out))
    for one in sources:
        release = out / one["name"] / "release"
        left = rows[one["name"]]
        gone = explained(Path(one["source"]), release)
        assert gone == left["samples"] - left["kept"], one["name"]
        assert "## 0.1.0" in (release / "CHANGELOG.md").read_text(encoding="utf-8")


def decide(folder: Path, connection: Connection, members: list[Member]) -> tuple[int, int]:
    """Two people keep every other row of those shown, and discard the rest; how many of each."""
    told = open_set(folder)
    project = next(
        found
        for language in ("ar", "fa", "en")
        if (found := find_project(connection, told.name, "quality_review", language)) is not None
    )
    verdicts = pd.read_parquet(folder / "verdicts.parquet")
    waiting = set(verdicts[verdicts["outcome"] == "flag"]["item"])
    shown = sorted((held for held in project.held() if held.sample in waiting), key=lambda held: held.sample)[
        :SHOWN
    ]
    for place, held in enumerate(shown):
        for person in members[:2]:
            person.annotate(held.task, DISCARD if place % 2 else KEEP)
    return len(shown[::2]), len(shown[1::2])
