"""Records that leave every optional field out, or fill it with nothing, go through all eight stages."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from mihakk.machinery.llm.scripted import ScriptedServer
from mihakk.pipeline.engines.local import LocalEngine
from mihakk.pipeline.observer import Silent
from mihakk.pipeline.run import run_pipeline
from mihakk.reports.dashboard.page import write_report
from mihakk.reports.dashboard.story import origin
from mihakk.reports.dashboard.tables import Tables
from mihakk.schemas.item import ITEM_ROWS
from mihakk.schemas.poem import Poem
from mihakk.schemas.stages import CURATED, RELEASED, REVIEWED
from tests.end_to_end.conftest import ROOT, make_workshop

TITLES = (None, "", "  ", "\u200f", "\t\n", "ليل طويل " * 400, "سطر\nثان", '«"|<b>[x](y)')
"""Also what is no title: a mark of direction, line breaks, 3,600 characters."""


def bare(name: str, optional: dict[str, tuple[Any, ...]]) -> str:
    """The rows of a sample with these values in turn; None leaves the field out."""
    rows = []
    for number, line in enumerate((ROOT / "data" / "samples" / name).read_text("utf-8").splitlines()[:16]):
        row = json.loads(line)
        for field, values in optional.items():
            row[field] = values[number % len(values)]
        rows.append({field: value for field, value in row.items() if value is not None})
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def test_records_without_optional_fields_reach_the_release(
    tmp_path: Path, auditors: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    nothing = (None, "", " ")
    poems, idioms, explained = (tmp_path / f"{name}.jsonl" for name in ("poems", "idioms", "explained"))
    explained.write_text(bare("arabic_explained.jsonl", {"title": TITLES}), encoding="utf-8")
    named = ("poet", "era", "genre", "metre", "form", "rhyme", "licence", "attribution", "explanation")
    poems.write_text(
        bare("arabic_poems.jsonl", {"title": TITLES, **dict.fromkeys(named, nothing)}), encoding="utf-8"
    )
    told = ("kind", "dialect", "connotation", "sensitive", "licence", "attribution")
    examples = (None, [], [""], ["\u200f", "  "])
    idioms.write_text(
        bare("egyptian_idioms.jsonl", {"examples": examples, **dict.fromkeys(told, nothing)}),
        encoding="utf-8",
    )

    def change(config: dict[str, Any]) -> None:
        said = {"language": "ar", "licence": "CC-BY-4.0"}
        config["sources"] = [
            {"use": "files", "name": name, "options": {**said, "path": str(path), "kind": kind}}
            for name, path, kind in (
                ("verse", poems, "poem"),
                ("explained", explained, "poem"),
                ("sayings", idioms, "idiom"),
            )
        ]
        config["tasks"] = [*config["tasks"], {"use": "verse_explanation"}]
        config["curate"] = {"required": [], "unknown_metadata": "keep"}

    build = make_workshop(tmp_path, auditors.url, change).open("a", monkeypatch)
    engine = LocalEngine(1)
    try:
        run = run_pipeline(build, engine, Silent())
    finally:
        engine.close()
    counts = {one.stage: one.counts for one in run.manifests}
    assert counts[CURATED].read >= 32
    assert not {reason for reason in counts[CURATED].reasons if reason.startswith("check_TX01")}
    assert counts[RELEASED].kept
    untitled = [poem for poem in build.stage(CURATED).read_all("poems", Poem) if not poem.title]
    assert len(untitled) >= 8
    items = list(build.stage(REVIEWED).read_all("items", ITEM_ROWS))
    assert not [item.id for item in items if not all(text.strip() for text in item.fields.values())]
    explained = [item for item in items if item.task == "verse_explanation"]
    assert {item.fields["title"] == item.verses[0].split(" / ")[0] for item in explained} == {True, False}
    assert write_report(build).stat().st_size
    with Tables(build) as tables:
        shown = origin(build, tables, untitled[0].id)
    assert shown is not None
    assert shown.title == untitled[0].couplets[0].first.raw + " … " + untitled[0].couplets[0].second.raw  # type: ignore[union-attr]
