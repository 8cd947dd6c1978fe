"""Whoever may add sources to a blind benchmark learns no gold by what his records do.

One benchmark is built in two worlds that differ in the labels of a stranger's records alone, which are those of
sealed poems or others: copies of sealed poems, longer editions of them, poems that share a couplet with one, and
poems of the poet of one, who wrote no other.
"""

from __future__ import annotations

import json
import random
import re
import shutil
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from mihakk.machinery.settings import SAMPLES
from mihakk.releases.content.secret import public_id
from mihakk.releases.paper_trail.audit_tables import read_removed
from mihakk.schemas.item import ITEM_ROWS
from mihakk.schemas.stages import GENERATED
from tests.end_to_end.conftest import Workshop, make_workshop

pytestmark = pytest.mark.slow
SECRET = "a secret of enough characters"
ERAS = ("abbasid", "umayyad", "modern", "mamluk")
GENRES = ("love", "praise", "elegy", "wisdom")
Row = dict[str, Any]


def verses(seed: int, couplets: int) -> list[list[str]]:
    """Couplets of words drawn from real ones, which no other text holds."""
    draw = random.Random(seed)  # nosec B311 # a fixture
    return [[" ".join(draw.sample(words(), 6)) for _ in range(2)] for _ in range(couplets)]


@cache
def words() -> list[str]:
    rows = map(json.loads, (SAMPLES / "arabic_poems.jsonl").read_text("utf-8").splitlines())
    lines = (half for row in rows for couplet in row["couplets"] for half in couplet)
    return sorted({word for line in lines for word in line.split() if len(word) > 4})


def poem(number: int, couplets: list[list[str]], era: str, **more: str) -> Row:
    return {
        "id": f"p{number}",
        "poet": f"شاعر {chr(0x628 + number % 20)}{chr(0x628 + number // 20 % 20)}",
        "title": "",
        "era": era,
        "genre": GENRES[number // 4 % 4],
        "couplets": couplets,
        **more,
    }


OWN = [poem(n, verses(n, 4), ERAS[random.Random(-n).randrange(4)]) for n in range(1, 61)]  # nosec B311

STRANGERS = [poem(900, verses(900, 4), "abbasid")]


def workshop(folder: Path, *more: str) -> Workshop:
    def change(config: dict[str, Any]) -> None:
        verse = {"kind": "poem", "language": "ar", "licence": "public-domain"}
        config["sources"] = [
            {"use": "files", "name": name, "options": {**verse, "path": str(folder / f"{name}.jsonl")}}
            for name in ("own", "strangers")
        ]
        config["curate"] = {"required": ["poet"]}
        config["tasks"] = [{"use": task} for task in ("era_choice", "genre_choice", "continuation", *more)]
        config["audit"]["limit"] = 0
        config["release"] |= {"blind": "repository", "baseline_margin": 5, "test_share": 0.5}
        config["release"]["hold"] = {"changed": 1, "removed": 1}

    written(folder / "own.jsonl", OWN)
    written(folder / "strangers.jsonl", STRANGERS)
    return make_workshop(folder, "http://127.0.0.1:9", change)


def written(path: Path, rows: Iterable[Row]) -> None:
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), "utf-8")


def built(shop: Workshop, name: str) -> Path:
    done = shop.run(name, "build", str(shop.config), MIHAKK_BLIND_KEY=SECRET)
    assert done.exit_code == 0, done.output
    return shop.hub(name) / "small"


def asked(release: Path) -> dict[str, Row]:
    """Sealed questions of a release as all may see them."""
    rows = [row for path in release.glob("*/test-*.parquet") for row in pq.read_table(path).to_pylist()]
    return {row["id"]: row for row in rows}


def golds(release: Path) -> dict[str, Row]:
    path = release.with_name("small-answers") / "answers" / "test-00000-of-00001.parquet"
    return {row["id"]: row for row in pq.read_table(path).to_pylist()}


def told(release: Path) -> dict[str, bytes]:
    """The public files without the digest of the strangers' own file, and without digests of files with it."""
    files = [path for path in release.rglob("*") if path.is_file() and ".git" not in path.parts]
    found = {str(path.relative_to(release)): path.read_bytes() for path in files}
    revision = re.search(rb"\| strangers.jsonl \| (\w+) \|", found["README.md"])
    assert revision
    found["README.md"] = found["README.md"].replace(revision[1], b"")
    return {name: data for name, data in found.items() if name != "MANIFEST.sha256"}


def test_the_labels_of_added_records_change_nothing_that_is_public(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop = workshop(tmp_path)
    monkeypatch.setenv("MIHAKK_BLIND_KEY", SECRET)
    first = built(shop, "first")
    before, answers = asked(first), golds(first)
    build = shop.open("first", monkeypatch)
    sealed = {
        item.origin.records[0]
        for item in build.stage(GENERATED).read_all("items", ITEM_ROWS)
        if item.task == "era_choice" and public_id(SECRET.encode(), item.id) in before
    }
    assert len(sealed) >= 6
    # A build that changes nothing makes no other version.
    assert told(built(shop, "first")) == told(first)
    own = {row["id"]: row for row in OWN}
    asking = [own[name.removeprefix("own-")] for name in sorted(sealed)]
    worlds = {}
    for world in ("right", "wrong", "others", "right poets", "wrong poets"):
        shutil.copytree(shop.folder / "first", shop.folder / world)
        written(tmp_path / "strangers.jsonl", strangers(asking, world))
        # The owner's own file grows too, at its head: what stands in it unchanged has other lines and digests.
        written(tmp_path / "own.jsonl", [poem(500, verses(500, 4), "abbasid"), *OWN])
        worlds[world] = built(shop, world)
        after, opened = asked(worlds[world]), golds(worlds[world])
        assert {name: row | {"version": ""} for name, row in after.items() if name in before} == {
            name: row | {"version": ""} for name, row in before.items()
        }
        assert all(opened[name]["gold"] == row["gold"] for name, row in answers.items())
    right, wrong = told(worlds["right"]), told(worlds["wrong"])
    assert [name for name in right | wrong if right.get(name) != wrong.get(name)] == []
    # These poems are asked about, by their own labels: what else is told of them is the same.
    said = [what_became_of(worlds[world]) for world in ("right poets", "wrong poets")]
    assert said[0] == said[1]
    assert len(said[0][0]) > len(what_became_of(worlds["right"])[0])


def test_what_others_add_in_the_same_version_meets_no_question_of_the_owner(tmp_path: Path) -> None:
    shop = workshop(tmp_path, "poet_choice")
    alone = asked(built(shop, "alone"))
    new = [poem(n, verses(n, 4), ERAS[n % 3]) for n in range(700, 730)]
    worlds = {}
    for world in ("right", "wrong"):
        written(tmp_path / "strangers.jsonl", [*strangers(OWN, world), *new])
        worlds[world] = built(shop, world)
    right, wrong = told(worlds["right"]), told(worlds["wrong"])
    assert [name for name in right | wrong if right.get(name) != wrong.get(name)] == []
    after = asked(worlds["right"])
    both = alone.keys() & after.keys()
    assert len(both) >= len(alone) / 2
    assert len(after) > len(alone)
    assert all(alone[name].get("options") == after[name].get("options") for name in both)
    poets = {row["poet"] for row in OWN}
    offered = [set(row["options"]) for row in after.values() if row["task"] == "poet_choice"]
    assert any(options <= poets for options in offered)
    assert all(options <= poets or not options & poets for options in offered)


def what_became_of(release: Path) -> tuple[set[str], set[tuple[str, ...]], set[str]]:
    """Ids of all items, what checks said of which, and ids of errata."""
    rows = [row for path in release.glob("*/*-0*.parquet") for row in pq.read_table(path).to_pylist()]
    found = pq.read_table(release / "audit" / "findings.parquet").to_pylist()
    return (
        {row["id"] for row in rows},
        {(row["subject"], row["check"]) for row in found},
        {one.id for one in read_removed(release)},
    )


def strangers(asking: list[Row], world: str) -> list[Row]:
    """Copies of sealed poems, some of them with a mark more; or poems that share some couplets with one."""
    rows = STRANGERS[:]
    for number, row in enumerate(asking, 1000):
        era = row["era"] if world.startswith("right") else ERAS[(ERAS.index(row["era"]) + 1) % len(ERAS)]
        new, own = verses(number, 4), row["couplets"]
        couplets = [*own[:3], [own[3][0] + "،", own[3][1]]] if number % 2 else own
        if world == "others":
            couplets = own + new[:1] if number % 2 else own[:1] + new
        same = {"genre": row["genre"]}
        if world.endswith("poets"):
            couplets, same = new, {"genre": row["genre"], "poet": row["poet"]}
        rows.append(poem(number, couplets, era, **same))
    return rows
