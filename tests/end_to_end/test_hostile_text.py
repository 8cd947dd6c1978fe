"""A source full of markup goes down the whole line: its words arrive, and nothing of it runs in any page."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
from selectolax.lexbor import LexborHTMLParser

from mihakk.machinery.llm.scripted import ScriptedServer
from mihakk.pipeline.engines.local import LocalEngine
from mihakk.pipeline.guards import write_data_docs
from mihakk.pipeline.observer import Silent
from mihakk.pipeline.run import run_pipeline
from mihakk.reports.dashboard.page import write_report
from tests.end_to_end.conftest import ROOT, make_workshop

PAYLOAD = "<img src=x onerror=alert(7001)><script>alert(7001)</script><svg/onload=alert(7001)> [x](javascript:alert(7001))"


def rows(name: str, count: int, change: dict[str, str]) -> str:
    """The first rows of a sample; every second has hostile words in some of its fields."""
    lines = (ROOT / "data" / "samples" / name).read_text(encoding="utf-8").splitlines()[:count]
    made = []
    for number, line in enumerate(lines):
        row = json.loads(line)
        if number % 2:
            row |= {field: f"{row.get(field, '')} {words}" for field, words in change.items()}
        made.append(json.dumps(row, ensure_ascii=False))
    return "\n".join(made) + "\n"


def hostile_nodes(page: str) -> list[str]:
    """What a browser would run of the payload."""
    tree = LexborHTMLParser(page)
    found = [node.html or "" for node in tree.css("script, style") if "7001" in (node.text() or "")]
    for node in tree.css("*"):
        for name, value in node.attributes.items():
            if name.startswith("on") and "7001" in (value or ""):
                found.append(f"{name}={value}")
            if name in ("href", "src") and (value or "").strip().lower().startswith("javascript"):
                found.append(f"{name}={value}")
    return found


def test_the_finder_finds() -> None:
    assert len(hostile_nodes(f"<p>{PAYLOAD}</p><a href='javascript:alert(7001)'>x</a>")) == 4


@pytest.mark.usefixtures("pages_of_suites")
def test_nothing_of_a_hostile_source_runs_in_any_page(
    tmp_path: Path, auditors: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    poems, idioms = tmp_path / "poems.jsonl", tmp_path / "idioms.jsonl"
    poems.write_text(rows("arabic_poems.jsonl", 8, {"title": PAYLOAD, "poet": PAYLOAD}), encoding="utf-8")
    idioms.write_text(
        rows("egyptian_idioms.jsonl", 12, {"explanation": PAYLOAD, "text": PAYLOAD}), encoding="utf-8"
    )

    def change(config: dict[str, object]) -> None:
        said = {"language": "ar", "licence": "CC-BY-4.0", "attribution": PAYLOAD}
        config["title"] = f"Small {PAYLOAD}"
        # Without `accept` the table is refused: a person took the markup for right.
        taken = {"path": str(idioms), "kind": "idiom", "accept": ["marks_of_heads", "markup"]}
        config["sources"] = [
            {"use": "hafez", "limit": 6},
            {"use": "files", "name": "verse", "options": {**said, "path": str(poems), "kind": "poem"}},
            {"use": "files", "name": "sayings", "options": {**said, **taken}},
        ]
        config["curate"] = {"required": [], "unknown_metadata": "keep"}
        config["release"] = {"title": PAYLOAD, "authors": [PAYLOAD]}

    shop = make_workshop(tmp_path, auditors.url, change)
    build = shop.open("a", monkeypatch)
    engine = LocalEngine(1)
    try:
        run = run_pipeline(build, engine, Silent())
    finally:
        engine.close()
    pages = {"report.html": write_report(build).read_text("utf-8")}
    docs = write_data_docs(build, run.data_docs).parent
    pages |= {str(path.relative_to(docs)): path.read_text("utf-8") for path in docs.rglob("*.html")}
    assert len(pages) > 3
    seen = Counter(name for name, page in pages.items() if "7001" in page)
    assert seen["report.html"], "the words themselves are shown"
    assert {name: found for name, page in pages.items() if (found := hostile_nodes(page))} == {}
    card = (shop.hub("a") / "small" / "README.md").read_text("utf-8").split("\n---\n", 1)[1]
    assert "alert(7001)" in card
    assert "<img" not in card
    assert "<script" not in card
    kinds = {path.suffix for path in shop.lake("a").rglob("*") if path.is_file()}
    assert kinds <= {".parquet", ".arrow", ".json", ".jsonl", ".gz", ".md", ".lock", ""}, (
        "nothing in a lake can run when read"
    )
    pickled = [
        path for path in shop.lake("a").rglob("*") if path.is_file() and path.read_bytes()[:1] == b"\x80"
    ]
    assert pickled == []
