"""A blind benchmark built by the command line, then attacked from outside with its public files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pyrage
import pytest
import yaml

from mihakk.generators.parts.shuffle import shuffled_words
from mihakk.machinery.seeds import rng
from mihakk.pipeline.steps.check import reports_of
from mihakk.releases.content.item_tables import row_hash
from mihakk.releases.paper_trail.errata import DefectReport
from mihakk.schemas.item import ITEM_ROWS
from mihakk.schemas.stages import REVIEWED
from tests.end_to_end.conftest import Workshop, make_workshop
from tests.releases.attack import attacked, right_of, told_more_than_chance

pytestmark = pytest.mark.slow
SECRET = bytes(range(7, 250, 3)) + b"\n\xff\x00"


def built(folder: Path, monkeypatch: pytest.MonkeyPatch, **release: str) -> tuple[Workshop, Path]:
    """The Hub's folder of a blind release, and where its golds went."""

    def change(config: dict[str, Any]) -> None:
        config["sources"] = [{**source, "limit": 40} for source in config["sources"]]
        config["audit"]["limit"] = 0
        config["release"] |= {**release, "baseline_margin": 5}

    shop = make_workshop(folder, "http://127.0.0.1:9", change)
    (folder / "secret").write_bytes(SECRET)
    monkeypatch.delenv("MIHAKK_BLIND_KEY", raising=False)
    monkeypatch.setenv("MIHAKK_BLIND_KEY_FILE", str(folder / "secret"))
    done = shop.run("a", "build", str(shop.config))
    assert done.exit_code == 0, done.output
    return shop, shop.hub("a") / "small"


def tried(
    shop: Workshop, release: Path, answers: dict[str, dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The attacker learns nothing, though he knows every record's id; the answers are those of the build."""
    items = list(shop.open("a", monkeypatch).stage(REVIEWED).read_all("items", ITEM_ROWS))
    records = sorted({record for item in items for record in item.origin.records})
    told = attacked(release, records, shop.folder)
    assert told["sources"] == {}
    assert set(told["sealed"]) == set(answers)
    assert len(answers) >= 100
    assert told_more_than_chance(right_of(release, answers, told)) == {}
    words = {item.answer for item in items if item.kind == "answer"}
    assert all(row["answer"] in words for row in answers.values() if row["answer"])
    rows = [row for path in release.glob("*/test-*.parquet") for row in pq.read_table(path).to_pylist()]
    assert not any(row.get("gold") or row.get("answer") or row["attribution"] for row in rows)
    assert not {item.id for item in items} & {row["id"] for row in rows}
    # Nor does the config's seed, which is public as the ids are: it would shuffle each right line once more.
    seed = shop.open("a", monkeypatch).config.seed
    assert {item.origin.seed for item in items} == {seed}
    mixed = [item for item in items if item.task == "shuffled_choice"]
    again = 0
    for item in mixed:
        draw = rng(seed, item.origin.records[0], "shuffle")
        again += shuffled_words(item.options[item.gold[0]], item.language, draw)[1] in item.options
    # Of a line of five words two draws are the same now and then.
    assert again < len(mixed) / 10


def test_golds_in_a_private_repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shop, release = built(tmp_path, monkeypatch, blind="repository")
    path = shop.hub("a") / "small-answers" / "answers" / "test-00000-of-00001.parquet"
    tried(shop, release, {row["id"]: row for row in pq.read_table(path).to_pylist()}, monkeypatch)
    assert not (release / "answers").exists()
    nothing_on_the_page(shop, monkeypatch)
    a_guess_binds_nothing(shop, release, monkeypatch)


def nothing_on_the_page(shop: Workshop, monkeypatch: pytest.MonkeyPatch) -> None:
    """The page of the run quotes no text of an item."""
    pages = [page.read_text("utf-8") for page in shop.folder.rglob("report.html")]
    assert pages
    items = shop.open("a", monkeypatch).stage(REVIEWED).read_all("items", ITEM_ROWS)
    lines = {line for item in items if item.kind == "choice" for line in item.options if len(line) > 20}
    assert len(lines) > 100
    assert not any(line in page for page in pages for line in lines)


def a_guess_binds_nothing(shop: Workshop, release: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of reports on one sealed question, with the hash as printed and as each gold would make it, the first."""
    sealed = (row for path in release.glob("*/test-*.parquet") for row in pq.read_table(path).to_pylist())
    asked = next(row for row in sealed if row["kind"] == "choice")
    folder = shop.folder / "errata"
    monkeypatch.setenv("MIHAKK_ERRATA", str(folder))
    build = shop.open("a", monkeypatch)
    (folder / "small").mkdir(parents=True)
    options = range(len(asked["options"]))
    hashes = [asked["content_hash"], *(row_hash({**asked, "gold": [place]}) for place in options)]
    for told in hashes:
        report = DefectReport(
            canary=asked["canary"],
            version=asked["version"],
            item=asked["id"],
            content_hash=told,
            problem="ambiguous",
            evidence="Two of the options fit the line.",
        )
        (folder / "small" / report.name).write_text(yaml.safe_dump(report.model_dump()), encoding="utf-8")
    assert len(list((folder / "small").iterdir())) == len(hashes)
    assert [one.content_hash for one in reports_of(build)] == hashes[:1]


def test_golds_encrypted_with_age(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    identity = pyrage.x25519.Identity.generate()
    shop, release = built(tmp_path, monkeypatch, blind="age", answers_recipient=str(identity.to_public()))
    sealed = (release / "answers" / "test.parquet.age").read_bytes()
    table = pq.read_table(pa.BufferReader(pyrage.decrypt(sealed, [identity])))
    tried(shop, release, {row["id"]: row for row in table.to_pylist()}, monkeypatch)
    assert not (shop.hub("a") / "small-answers").exists()
