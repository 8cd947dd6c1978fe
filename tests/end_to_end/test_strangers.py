"""Whoever may add records beside a blind benchmark learns no gold by what becomes of them.

What others can add to is a benchmark of its own on the hub. No byte of the blind one depends on it, and what it
is made of depends on what the blind one shows to everybody alone.
"""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
import yaml

from mihakk.machinery.settings import SAMPLES
from mihakk.releases.content.split import work
from tests.end_to_end.conftest import make_workshop

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
TASKS = ("era_choice", "continuation", "shuffled_choice")


class Hub:
    """A hub with a blind benchmark of an owner, and one of what others add."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        self.shop = make_workshop(folder, "http://127.0.0.1:9", lambda config: self._of(config, "own"))
        self.added = folder / "added.yaml"
        config = yaml.safe_load(self.shop.config.read_text("utf-8"))
        self._of(config, "strangers")
        self.added.write_text(yaml.safe_dump(config), "utf-8")

    def _of(self, config: Row, source: str) -> None:
        options = {"kind": "poem", "language": "ar", "licence": "public-domain", "path": f"{source}.jsonl"}
        config["sources"] = [{"use": "files", "name": source, "options": options}]
        config["curate"] = {"required": ["poet"]}
        config["tasks"] = [{"use": task} for task in TASKS]
        config["audit"]["limit"] = 0
        config["release"] = {"authors": ["Mihakk contributors"], "baseline_margin": 5, "test_share": 0.5}
        if source == "own":
            config["release"] |= {"blind": "repository", "hold": {"changed": 1, "removed": 1}}
        else:
            config["name"] = "added"
            config["sources"][0]["contributed"] = True

    def build(self, rows: Iterable[Row]) -> None:
        """A version of the blind benchmark."""
        self._run("own", self.shop.config, rows)

    def add(self, rows: Iterable[Row]) -> None:
        """A version of what others add."""
        self._run("strangers", self.added, rows)

    def _run(self, source: str, config: Path, rows: Iterable[Row]) -> None:
        lines = (json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        (self.shop.folder / f"{source}.jsonl").write_text("".join(lines), "utf-8")
        done = self.shop.run("a", "build", str(config), MIHAKK_BLIND_KEY=SECRET)
        assert done.exit_code == 0, done.output

    def asked(self) -> list[Row]:
        """Sealed questions as all may see them."""
        return rows_of(self.shop.hub("a") / "small", "*/test-*.parquet")

    def golds(self) -> dict[str, Row]:
        return {row["id"]: row for row in rows_of(self.shop.hub("a") / "small-answers", "answers/*.parquet")}

    def printed(self) -> str:
        """All that the items of the added records show and tell."""
        return str(rows_of(self.shop.hub("a") / "added", "*/*-0*.parquet"))

    def files(self, *folders: str) -> dict[str, bytes]:
        """Every file of some folders of the hub."""
        hub = self.shop.hub("a")
        paths = (path for folder in folders for path in (hub / folder).rglob("*") if ".git" not in path.parts)
        return {str(path.relative_to(hub)): path.read_bytes() for path in paths if path.is_file()}


def rows_of(folder: Path, files: str) -> list[Row]:
    return [row for path in sorted(folder.glob(files)) for row in pq.read_table(path).to_pylist()]


def of(asked: Iterable[Row], task: str) -> list[Row]:
    return [row for row in asked if row["task"] == task]


def stand_together(hub: Hub) -> None:
    """Each label that a question offers is right of one that is asked too, and their works are asked nothing else."""
    records = {name: json.loads(row["origin"])["records"] for name, row in hub.golds().items()}
    about: dict[str, set[str]] = {}
    for row in hub.asked():
        about.setdefault(work(records[row["id"]][0]), set()).add(row["task"])
    for row in of(hub.asked(), "era_choice"):
        assert all(about[work(record)] == {"era_choice"} for record in records[row["id"]])


def test_what_others_add_changes_no_byte_of_a_blind_benchmark(tmp_path: Path) -> None:
    alone, beside = Hub(tmp_path / "alone"), Hub(tmp_path / "beside")
    # The second version has poems more, which others knew beforehand: they would count as printed.
    new = [poem(n, verses(n, 4), ERAS[n % 4]) for n in range(500, 510)]
    for hub in (alone, beside):
        hub.build(OWN)
        assert len({row["task"] for row in hub.asked()}) == len(TASKS)
        stand_together(hub)
        if hub is beside:
            hub.add([*new, *(poem(n + 1000, row["couplets"], row["era"]) for n, row in enumerate(OWN))])
            assert new[0]["couplets"][0][0] in hub.printed()
        hub.build([*new, *OWN])
    of_owner = "small", "small-answers", ".registry"
    assert alone.files(*of_owner) == beside.files(*of_owner)


def test_what_becomes_of_added_records_depends_on_what_all_may_see_alone(tmp_path: Path) -> None:
    """Two owners print the same questions, and have other poems: their lines that are asked for differ."""
    here, there = Hub(tmp_path / "here"), Hub(tmp_path / "there")
    here.build(OWN)
    asked, golds = here.asked(), here.golds()
    hidden = {golds[row["id"]]["answer"] for row in of(asked, "continuation")}
    assert len(hidden) >= 8

    def elsewhere(half: str) -> str:
        *first, last = half.split()
        return " ".join([*reversed(first), last]) if half in hidden else half

    there.build(row | {"couplets": [[*map(elsewhere, two)] for two in row["couplets"]]} for row in OWN)
    assert [row | {"content_hash": ""} for row in asked] == [
        row | {"content_hash": ""} for row in there.asked()
    ]
    # A hidden line alone, and each option of a question with its first half.
    opened = [(first, half) for (first, _), half in zip(verses(99, len(hidden)), sorted(hidden), strict=True)]
    alone = [poem(900 + n, [[*two], *verses(900 + n, 3)], "modern") for n, two in enumerate(opened)]
    options = [
        (row["fields"]["first"], one) for row in of(asked, "shuffled_choice") for one in row["options"]
    ]
    tried = [poem(1000 + n, [[*two], *verses(1000 + n, 3)], "modern") for n, two in enumerate(options)]
    for hub in (here, there):
        hub.add([*alone, *tried, *(poem(n, verses(n, 4), ERAS[n % 4]) for n in range(600, 620))])
    printed = here.printed()
    assert sum(half in printed for half in hidden) >= 8
    assert not any(half in printed for two in options for half in two)
    assert here.files("added") == there.files("added")


def test_of_a_corrected_poem_whose_label_was_sealed_no_other_line_is_asked(tmp_path: Path) -> None:
    """A question about its other lines would print the poet, and with him the label that was sealed."""
    hub = Hub(tmp_path / "hub")
    rows = [poem(n, verses(n, 8), ERAS[n % 4]) for n in range(1, 41)]
    hub.build(rows)
    before = hub.asked()
    records = {name: json.loads(row["origin"])["records"] for name, row in hub.golds().items()}
    labels = of(before, "era_choice")
    mended = {work(records[row["id"]][0]): row["group"] for row in labels[::3]}
    for row in rows:
        if f"own-{row['id']}" in mended:
            for couplet in row["couplets"]:
                first, *rest = couplet[0].split()
                couplet[0] = " ".join([*rest, first])
    hub.build(rows)
    after = hub.asked()
    stay = {row["group"] for row in of(after, "era_choice")}
    left = {name for name, group in mended.items() if group not in stay}
    assert len(left) >= len(mended) - 2
    assert not {row["group"] for row in after} & {mended[name] for name in left}
    every = str(rows_of(hub.shop.hub("a") / "small", "*/*-0*.parquet"))
    lines = [couplet[1] for row in rows if f"own-{row['id']}" in left for couplet in row["couplets"]]
    assert not any(line in every for line in lines)


def test_a_couplet_that_moves_up_is_asked_under_no_other_name(tmp_path: Path) -> None:
    """Items are named by the places of couplets: of one taken out, the next bears the name, in another task."""
    hub = Hub(tmp_path / "hub")
    rows = [poem(n, verses(n, 8), ERAS[n % 4]) for n in range(1, 41)]
    hub.build(rows)
    first, golds = hub.asked(), hub.golds()
    places = {name: json.loads(row["origin"])["records"][0] for name, row in golds.items()}
    records = {name: work(place) for name, place in places.items() if name in {row["id"] for row in first}}
    moved = {record for name, record in records.items() if "continuation" in name}
    assert len(moved) >= 10
    for row in rows:
        if f"own-{row['id']}" in moved:
            del row["couplets"][0]
    hub.build(rows)
    second = hub.asked()
    told = [(_name(row), _said(row, golds[row["id"]])) for row in first]
    for row in second:
        said = _said(row, hub.golds()[row["id"]])
        assert not [name for name, lines in told if name != _name(row) and lines & said], row["id"]
    again = {row["id"] for row in first} - {row["id"] for row in second}
    assert len(again) >= 10
    # Taken back, the correction brings none of them again: what left and came told of what else had changed.
    for row in rows:
        row["couplets"] = verses(int(row["id"][1:]), 8)
    hub.build(rows)
    assert not again & {row["id"] for row in hub.asked()}


def test_of_works_that_are_alike_one_is_asked_in_all_versions_together(tmp_path: Path) -> None:
    """Words that two editions share stand in the same places: two shuffled orders of a line tell the right one."""
    hub = Hub(tmp_path / "hub")
    rows = [poem(n, verses(n, 8), ERAS[n % 4]) for n in range(1, 41)]
    first = [*rows, *(edition(row, 1) for row in rows[:20])]
    hub.build(first)
    versions = [(hub.asked(), hub.golds())]
    # Editions that come later, of works that are sealed and of others; a corrected one; one under a new id.
    rows[3]["couplets"][2] = ["كلمات أخرى لا يعرفها أحد منا", rows[3]["couplets"][2][1]]
    rows[5]["id"] = "d905"
    hub.build([*rows, *(edition(row, 1) for row in rows[:20]), *(edition(row, 2) for row in rows[10:30])])
    versions.append((hub.asked(), hub.golds()))
    assert len(versions[1][0]) >= 60
    shown: dict[tuple[int, int, str], set[tuple[str, str]]] = {}
    for asked, golds in versions:
        for row in asked:
            context = re.split(r"[/\n]", row["context"] or "")
            for line in _said(row, golds[row["id"]]) | set(context):
                said = line.split()
                for place, word in enumerate(said):
                    shown.setdefault((len(said), place, word), set()).add((_name(row), line))
    lines = {one for some in shown.values() for one in some}
    assert len(lines) >= 100
    for name, line in lines:
        said = line.split()
        shared = Counter(
            other
            for place, word in enumerate(said)
            for other in shown[len(said), place, word]
            if other[0] != name
        )
        assert not [other for other, count in shared.items() if count >= 3], (name, line)


def edition(row: Row, number: int) -> Row:
    """A near copy of a poem: every fifth word is another."""
    draw = random.Random(f"{row['id']} {number}")  # nosec B311 # a fixture

    def copied(line: str) -> str:
        return " ".join(draw.choice(words()) if draw.random() < 0.2 else word for word in line.split())

    return row | {
        "id": f"e{number}{row['id'][1:]}",
        "couplets": [list(map(copied, c)) for c in row["couplets"]],
    }


def _said(row: Row, gold: Row) -> set[str]:
    """Lines that a question shows or asks for, labels aside."""
    lines = [row["fields"].get("first") or "", gold.get("answer") or "", *(row.get("options") or ())]
    return {line for line in lines if len(line) > 20}


def _name(row: Row) -> str:
    """Of a question in both its orders."""
    return str(row.get("pair_id") or row["id"])
