"""What goes wrong outside ends in one clear message, the right exit code, and nothing half written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from mihakk.machinery.llm.scripted import Answer, Call, ScriptedServer
from tests.end_to_end.conftest import Workshop, make_workshop, opinion, smaller


def finish(shop: Workshop, name: str, *arguments: str) -> tuple[int, str]:
    done = shop.run(name, "build", str(shop.config), *arguments)
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done.exit_code, " ".join(done.stderr.split())


def half_written(shop: Workshop, name: str) -> list[Path]:
    return [path for path in shop.lake(name).rglob("*") if path.name.endswith(".tmp")]


def test_an_unreadable_row_is_rejected_and_the_rest_goes_on(tmp_path: Path) -> None:
    good = '{"id": "%d", "text": "إيده طايلة %d", "explanation": "صاحب نفوذ يقدر على كثير من الأمور %d"}'
    rows = [good % (n, n, n) for n in range(5)] + ['{"id": "broken", "text": ']
    (tmp_path / "rows.jsonl").write_text("\n".join(rows), encoding="utf-8")

    def broken(config: dict[str, Any]) -> None:
        options = {
            "path": str(tmp_path / "rows.jsonl"),
            "kind": "idiom",
            "language": "ar",
            "licence": "CC0-1.0",
            "accept": ["markup"],
        }
        config["sources"] = [{"use": "files", "options": options}]
        # Phrases of two words are too short for a completion.
        config["tasks"] = [{"use": "completion", "accept": {"lost": 1}}, {"use": "explanation"}]

    with ScriptedServer(opinion) as server:
        shop = make_workshop(tmp_path, server.url, broken)
        code, said = finish(shop, "a", "--json")
    assert code == 0, said
    assert (shop.lake("a") / "small" / "1_scraped" / "rejected" / "part-files-00000.parquet").exists()
    card = (shop.hub("a") / "small" / "README.md").read_text("utf-8")
    assert "a person looked at and took for right: `markup`." in card


def test_a_model_server_that_is_not_there_stops_resumably(tmp_path: Path) -> None:
    shop = make_workshop(tmp_path, "http://127.0.0.1:9/v1", smaller)
    code, said = finish(shop, "a")
    assert code == 75, said
    assert not half_written(shop, "a")
    assert not list((shop.lake("a") / "small" / "6_audited").rglob("manifest.json"))
    with ScriptedServer(opinion) as server:
        shop = make_workshop(tmp_path, server.url, smaller)
        assert finish(shop, "a")[0] == 0


def test_a_model_server_that_dies_half_way_loses_no_answer(tmp_path: Path) -> None:
    def dying(call: Call) -> Answer:
        return opinion(call) if call.number < 15 else Answer(drop=True)

    def audited(config: dict[str, Any]) -> None:
        smaller(config)
        config["audit"]["limit"] = 20

    with ScriptedServer(dying) as server:
        shop = make_workshop(tmp_path, server.url, audited)
        code, said = finish(shop, "a")
        assert code == 75, said
    with ScriptedServer(opinion) as server:
        shop = make_workshop(tmp_path, server.url, audited)
        code, said = finish(shop, "a")
        assert code == 0, said
        assert len(server.calls) <= 40 - 15 + 8


def test_a_read_only_lake_says_so(workshop: Workshop) -> None:
    lake = workshop.lake("a")
    lake.parent.mkdir(parents=True)
    lake.write_text("a file where the lake should be", encoding="utf-8")
    process = workshop.start("a")
    _, said = process.communicate(timeout=300)
    assert process.returncode == 2, said
    assert "MIHAKK_LAKE" in said
    assert "Traceback" not in said
