"""Nights of one real source: what changed, why each row is where it is, and what a person has to release."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from mihakk.annotation.decisions.store import add
from mihakk.flows.cli import app
from mihakk.machinery.errors import Held
from mihakk.machinery.ids import content_hash
from mihakk.machinery.lake.ledger import Ledger, Line, Note
from mihakk.machinery.lake.storage import Storage
from mihakk.machinery.llm.scripted import ScriptedServer
from mihakk.pipeline.people import review_stores
from mihakk.pipeline.sign_off import sign
from mihakk.releases.hub.embedded import EmbeddedHub
from mihakk.schemas.item import ITEM_ROWS
from mihakk.schemas.review import Review
from tests.end_to_end.conftest import Workshop, make_workshop
from tests.end_to_end.sayings import ROWS, Sayings, corrected

ARABIC_MARKS = "".join(map(chr, range(0x64B, 0x653)))


@pytest.fixture
def nights(tmp_path: Path, auditors: ScriptedServer) -> tuple[Workshop, Sayings]:
    sayings = Sayings(tmp_path)
    return make_workshop(tmp_path, auditors.url, sayings.source), sayings


def told(shop: Workshop, asked: str) -> dict[str, Any]:
    """The answer to `mihakk why`, once as JSON; as text it names the next command."""
    options = ["why", asked, "--benchmark", str(shop.config), "--lake", str(shop.lake("a"))]
    runner = CliRunner()
    plain = runner.invoke(app, options)
    assert plain.exit_code == 0, plain.output
    assert "Next: mihakk " in plain.stdout
    found = runner.invoke(app, [*options, "--json"])
    answer: dict[str, Any] = json.loads(found.stdout)
    return answer


def said(answer: dict[str, Any]) -> str:
    return "\n".join(event["said"] for one in answer["subjects"] for event in one["events"])


def test_nights_are_told_and_a_truncated_source_is_held_until_a_person_releases_it(
    nights: tuple[Workshop, Sayings], monkeypatch: pytest.MonkeyPatch
) -> None:
    shop, file = nights
    file.write(ROWS[:40])
    shop.build("a", monkeypatch)
    build = shop.open("a", monkeypatch)
    ledger = Ledger(build.lake.storage)
    size = sum(build.lake.storage.size(path) for path in build.lake.storage.files() if "/ledger/" in path)
    assert size / build.stage("4_generated").manifest().counts.written <= 100, "bytes an item and run"

    # New rows before the others, so that every later one stands elsewhere, and two that were corrected.
    moved = [*ROWS[40:42], *corrected(ROWS[:40], 3, 6)]
    file.write(moved)
    shop.build("a", monkeypatch)
    assert len(EmbeddedHub().versions("small")) == 2
    (move,) = [note.moves["sayings"] for note in ledger.notes("1_scraped")[1:]]
    assert (move.seen, move.new, move.changed, move.vanished) == (42, 2, 2, 0)
    assert "Its row in source sayings changed" in said(told(shop, "sayings-egy-003"))
    assert "changed" not in said(told(shop, "sayings-egy-004")), "it only stands elsewhere in its file"
    rows = [one["id"] for one in told(shop, "sayings:5")["subjects"]]
    assert rows == ["sayings-egy-003", "sayings-egy-005"], "what stands there now, then what stood there"

    file.write(moved[:20])
    with pytest.raises(Held, match=r"22 of 42 rows of source sayings vanished \(52\.4%, allowed 10\.0%\)"):
        shop.build("a", monkeypatch)
    assert len(EmbeddedHub().versions("small")) == 2, "released without a word"
    with pytest.raises(Held):
        shop.build("a", monkeypatch)

    gone = told(shop, ROWS[30]["text"])["subjects"][0]
    assert gone["id"] == "sayings-egy-031"
    assert gone["events"][-1]["said"] == "No longer in source sayings: its row vanished."
    item = said(told(shop, gone["gone"][0]))
    assert "Released in version 0.1.0." in item
    assert "No longer generated, for sayings-egy-031 vanished from its source." in item
    assert "Removed" not in item
    sign(shop.open("a", monkeypatch), "approve", "Layla")
    shop.build("a", monkeypatch)
    versions = EmbeddedHub().versions("small")
    assert len(versions) == 3
    assert f"Removed: not generated in version {versions[-1]}." in said(told(shop, gone["gone"][0]))
    before = len(ledger.notes())
    shop.build("a", monkeypatch)
    assert len(ledger.notes()) == before, "a night that does nothing writes nothing"

    options = [str(shop.config), "--lake", str(shop.lake("a"))]
    (digest,) = json.loads(CliRunner().invoke(app, ["digest", *options, "--json"]).stdout)
    assert not digest["held"]
    assert any("20 rows seen, 0 new, 0 changed, 22 vanished, 0 rejected" in line for line in digest["nights"])
    assert digest["versions"][0].endswith("rows of source sayings: 22 vanished; signed off by Layla")


def test_texts_are_found_in_any_spelling_and_what_was_never_there_is_said(
    nights: tuple[Workshop, Sayings], monkeypatch: pytest.MonkeyPatch
) -> None:
    shop, file = nights
    file.write([*ROWS[:24], {"text": "", "explanation": "لا مثل في هذا السطر"}])
    shop.build("a", monkeypatch)
    phrase = ROWS[0]["text"]
    spelt = "".join(letter + ARABIC_MARKS[number % 8] for number, letter in enumerate(phrase))
    assert [one["id"] for one in told(shop, spelt)["subjects"]] == ["sayings-egy-001"]
    joined = "الا یا ایها الساقی ادر کاسا و ناولها که عشق آسان نمود اول ولی افتاد مشکل‌ها"
    for couplet in (joined, joined.replace(" که", " … که"), joined.replace("ی", "ي").replace("ک", "ك")):
        assert told(shop, couplet)["subjects"][0]["id"] == "hafez-1"
    rejected = told(shop, "sayings:25")["subjects"][0]
    assert rejected["kind"] == "row"
    assert rejected["events"][0]["said"].startswith("Rejected in 1_scraped: ")
    never = told(shop, phrase + "ييي")
    assert never["subjects"] == []
    assert never["nearest"][0]["id"] == "sayings-egy-001"
    assert "24 records" in never["searched"]

    build = shop.open("a", monkeypatch)
    item = next(iter(build.stage("7_reviewed").read_all("items", ITEM_ROWS)))
    word = Review(
        item=item.id,
        content_hash=content_hash(item),
        annotator="annotator-07",
        decision="discard",
        reason="ambiguous",
        notes="my private word",
        decided_at="2026-03-01T08:00:00Z",
    )
    add(review_stores(build).decisions, Review, [word])
    shop.build("a", monkeypatch)
    answer = told(shop, item.id)
    assert "annotator-07 decided: discard (ambiguous)." in said(answer)
    assert "people discarded it as ambiguous" in said(answer)
    assert "private word" not in json.dumps(answer)


@pytest.mark.parametrize("nights", [60, pytest.param(200, marks=pytest.mark.drill)])
def test_what_moved_is_what_sets_say_whatever_shards_rows_stand_in(tmp_path: Path, nights: int) -> None:
    """Nights of rows that come, change, go and move between shards, against plain sets."""
    ledger = Ledger(Storage(str(tmp_path)))
    draw, old, parts = random.Random(7), dict[str, str](), dict[str, str]()
    for night in range(nights):
        now = {f"r{number}": str(draw.randrange(3)) for number in range(30) if draw.random() < 0.8}
        if night % 5 == 4:
            now = old
        shards: dict[str, list[str]] = {}
        for name in now:
            shards.setdefault(f"s-{draw.randrange(4)}", []).append(name)
        digests = {name: f"{sorted((row, now[row]) for row in rows)}" for name, rows in shards.items()}
        lines = [
            Line(row, shard, "in", content=now[row].encode(), place=f"{draw.random()}")
            for shard, rows in shards.items()
            if parts.get(shard) != digests[shard]
            for row in rows
        ]
        note = Note(run=f"20260101T{night:06d}000000Z", stage="1_x", code="", config="", shards=digests)
        moves = ledger.add(note, lines).moves.get("s")
        counted = (moves.new, moves.changed, moves.vanished) if moves else (0, 0, 0)
        changed = sum(old[row] != now[row] for row in old.keys() & now.keys())
        assert counted == (len(now.keys() - old.keys()), changed, len(old.keys() - now.keys()))
        old, parts = now, digests
