"""A released item is found wrong: the report, people's word, the next version, and what it says of itself."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from mihakk.annotation.decisions.store import add
from mihakk.machinery.ids import content_hash
from mihakk.machinery.llm.scripted import ScriptedServer
from mihakk.releases.content.item_tables import data_files, row_item
from mihakk.releases.hub.embedded import EmbeddedHub
from mihakk.schemas.item import AnswerItem
from mihakk.schemas.review import Review
from tests.end_to_end.conftest import Workshop, make_workshop, opinion

CONFIG = "ar_completion"
RIGHT = "الحيط"
"""What the person says the idiom really ends in."""


@dataclass
class Round:
    """Two versions, and the items that the second treats otherwise."""

    shop: Workshop
    corrected: AnswerItem
    doubted: AnswerItem
    told: dict[str, str]
    """Command -> what it printed."""

    @property
    def hub(self) -> EmbeddedHub:
        return EmbeddedHub(self.shop.hub("a"))


def mihakk(shop: Workshop, *arguments: str) -> str:
    """Run the command as a person would and return what it printed."""
    done = shop.run("a", *arguments, MIHAKK_ERRATA=str(shop.folder / "errata"))
    assert done.exit_code == 0, done.output[-5000:]
    return done.stdout


def released_answers(hub: EmbeddedHub, folder: Path) -> list[AnswerItem]:
    """Idioms to be completed in version 0.1.0; each stands alone, so that one can change without another."""
    files = hub.checkout("small", "0.1.0", folder)
    rows = [
        row
        for name, _, path in data_files(files)
        if name == CONFIG
        for row in pq.read_table(path).to_pylist()
    ]
    return [item for item in map(row_item, rows) if isinstance(item, AnswerItem)]


@pytest.fixture(scope="module")
def corrected(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Round]:
    """0.1.0; two defects reported; one corrected by a person, the other still undecided; 0.2.0."""
    folder = tmp_path_factory.mktemp("correction")
    with ScriptedServer(opinion) as auditors:
        shop = make_workshop(folder, auditors.url)
        config = str(shop.config)
        told = {"build": mihakk(shop, "build", config)}
        corrected, doubted = released_answers(EmbeddedHub(shop.hub("a")), folder / "first")[:2]
        told["report"] = mihakk(
            shop, "report-defect", config, corrected.id, "--problem", "wrong_gold", "--correct", f"answer={RIGHT}",
            "--evidence", "Taymur's dictionary gives the other meaning (p. 12).", "--reporter", "a reader",
        )  # fmt: skip
        mihakk(
            shop, "report-defect", config, doubted.id, "--problem", "ambiguous",
            "--evidence", "Two of the explanations fit the phrase.",
        )  # fmt: skip
        decision = Review(
            item=corrected.id, content_hash=content_hash(corrected), annotator="annotator-01", decision="fix",
            reason="wrong_gold", corrections={"answer": RIGHT}, decided_at=datetime(2026, 1, 2, tzinfo=UTC),
        )  # fmt: skip
        add(str(shop.lake("a") / "small" / "decisions"), Review, [decision])
        told["rebuild"] = mihakk(shop, "build", config)
        told["diff"] = mihakk(shop, "diff", config, "0.1.0", "0.2.0", "--markdown")
        yield Round(shop, corrected, doubted, told)


def test_the_diff_and_the_changelog_name_what_changed_and_nothing_else(
    corrected: Round, tmp_path: Path
) -> None:
    assert corrected.hub.versions("small") == ["0.1.0", "0.2.0"]
    expected = {
        (corrected.corrected.id, "gold_changed", ""),
        (corrected.doubted.id, "removed", "unresolved"),
    }
    new = corrected.hub.checkout("small", "0.2.0", tmp_path / "new")
    rows = pq.read_table(new / "errata" / "changes.parquet").to_pylist()
    assert {(row["id"], row["kind"], row["reason"]) for row in rows} == expected
    section = corrected.told["diff"].strip()
    assert "1 removed, 1 gold changed." in section
    assert section in (new / "CHANGELOG.md").read_text(encoding="utf-8"), (
        "the release says it in the same words"
    )
    before = {row["id"]: row for row in _rows(corrected.hub, "0.1.0", tmp_path)}
    after = {row["id"]: row for row in _rows(corrected.hub, "0.2.0", tmp_path)}
    assert before.keys() - after.keys() == {corrected.doubted.id}
    assert not after.keys() - before.keys()
    changed = {name for name in after if before[name]["content_hash"] != after[name]["content_hash"]}
    assert changed == {corrected.corrected.id}
    assert after[corrected.corrected.id]["answer"] == RIGHT


def _rows(hub: EmbeddedHub, version: str, folder: Path) -> list[dict[str, object]]:
    files = hub.checkout("small", version, folder / version)
    return [row for _, _, path in data_files(files) for row in pq.read_table(path).to_pylist()]


def test_the_errata_name_the_last_version_that_had_the_doubted_item(corrected: Round, tmp_path: Path) -> None:
    files = corrected.hub.checkout("small", "0.2.0", tmp_path / "files")
    removed = {row["id"]: row for row in pq.read_table(files / "errata" / "removed.parquet").to_pylist()}
    assert removed[corrected.doubted.id]["last_version"] == "0.1.0"
    findings = pq.read_table(files / "audit" / "findings.parquet").to_pylist()
    reported = {row["subject"]: row["detail"] for row in findings if row["check"] == "ER01"}
    assert reported.keys() == {corrected.doubted.id}, (
        "the corrected item is another one now: its report binds no longer"
    )
    assert re.fullmatch(
        rf"reported in 0\.1\.0 as ambiguous: {corrected.doubted.id}-[0-9a-f]{{8}}\.yaml",
        reported[corrected.doubted.id],
    ), "what the reporter wrote stays in the report"


def test_a_third_build_changes_nothing(corrected: Round) -> None:
    commit = corrected.hub.commit("small", "0.2.0")
    mihakk(corrected.shop, "build", str(corrected.shop.config))
    assert corrected.hub.versions("small") == ["0.1.0", "0.2.0"]
    assert corrected.hub.commit("small", "0.2.0") == commit
