"""A source or task that gives nothing or loses much ends a build with exit 1, after all of it is built."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from mihakk.machinery.errors import UsageError
from mihakk.machinery.llm.scripted import ScriptedServer
from mihakk.pipeline.losses import losses
from mihakk.pipeline.publishing import publish_version
from mihakk.releases.gates import overridable
from mihakk.reports.dashboard.overview import Gatherer
from tests.end_to_end.conftest import ROOT, Workshop, make_workshop

LINE = "source verse lost 6 of 20 records (row_invalid 4, poet_missing 2): find the cause, or accept it"


def lossy(folder: Path, url: str) -> Workshop:
    """Four rows of twenty can't be read, two name no poet; no poem has what one of the tasks asks for."""
    rows = [
        json.loads(line)
        for line in (ROOT / "data/samples/arabic_poems.jsonl").read_text("utf-8").splitlines()
    ][:20]
    for number, row in enumerate(rows):
        row.update({"couplets": 5} if number < 4 else {"poet": ""} if number < 6 else {})
    path = folder / "verse.jsonl"
    path.write_text("\n".join(json.dumps(row, ensure_ascii=False) for row in rows), encoding="utf-8")

    def change(config: dict[str, Any]) -> None:
        options = {"path": str(path), "kind": "poem", "language": "ar", "licence": "public-domain"}
        config["sources"] = [{"use": "files", "name": "verse", "options": options}]
        config["tasks"] = [
            {"use": "continuation", "options": {"per_record": 2}},
            {"use": "verse_explanation"},
        ]
        config["audit"]["limit"] = 0

    return make_workshop(folder, url, change)


def build(shop: Workshop, *arguments: str) -> tuple[int, str, dict[str, Any]]:
    done = shop.run("a", "build", str(shop.config), "--json", *arguments)
    return done.exit_code, done.stderr, json.loads(done.stdout)


def test_losses_nobody_accepted_end_the_build_with_one_line_and_bar_publication(
    tmp_path: Path, auditors: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop = lossy(tmp_path, auditors.url)
    code, err, told = build(shop)
    assert code == 1, err
    assert "small 0.1.0" in told["release"], "everything is built"
    assert LINE in told["lost"]
    assert "task verse_explanation gives nothing: lost 0 of 0 items" in told["lost"]
    opened = shop.open("a", monkeypatch)
    assert [one.name for one in losses(opened)] == ["verse", "verse_explanation"]
    worst = Gatherer(opened).facts().notes[0]
    assert (worst.level, worst.text) == ("bad", told["lost"])
    with pytest.raises(UsageError, match="losses: Sources and tasks that lost much"):
        publish_version(opened, repository="nobody/small")
    with pytest.raises(UsageError, match="can't be overridden: accept each by name"):
        overridable("losses", "I looked")
    config = yaml.safe_load(shop.config.read_text("utf-8"))
    config["sources"][0]["accept"] = {"lost": 0.29}
    config["tasks"][1]["accept"] = {"lost": 1}
    shop.config.write_text(yaml.safe_dump(config, allow_unicode=True), encoding="utf-8")
    code, err, told = build(shop)
    assert code == 1, "more is lost than was accepted"
    assert LINE in told["lost"]
    assert "verse_explanation" not in told["lost"]
    config["sources"][0]["accept"] = {"lost": 0.3}
    shop.config.write_text(yaml.safe_dump(config, allow_unicode=True), encoding="utf-8")
    code, err, told = build(shop)
    assert code == 0, err
    assert "lost" not in told
    cards = sorted(shop.hub("a").rglob("README.md"))
    assert any("lost 6 of 20 records" in card.read_text("utf-8") for card in cards), cards
    opened = shop.open("a", monkeypatch)
    assert not [note for note in Gatherer(opened).facts().notes if "lost" in note.text]
