"""A blind release: golds apart, nothing beside them that tells, and everything back with the answers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from mihakk.errors import ExternalFailure, UsageError
from mihakk.ids import content_hash
from mihakk.settings import settings
from releases.assemble import AssembledRelease, assemble
from releases.blind import blind_key, opened_items, read_answers
from releases.errata import read_reports, report_defect, report_findings
from releases.hub.embedded import EmbeddedHub
from releases.hub.publishing import publish_release, push_release
from releases.tables import data_files
from schemas.finding import Finding
from schemas.item import ChoiceItem
from tests.releases.hub_server import HubServer
from tests.releases.release_material import hafez_items, release_arguments

SEED = 2**70 + 12345
ITEMS = hafez_items(12)


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MIHAKK_BLIND_KEY", "a secret of enough characters")
    settings.cache_clear()


def arguments(items: tuple[Any, ...] = ITEMS, seed: int = SEED, **release: Any) -> dict[str, Any]:
    """Arguments of a blind release; one finding tells an answer."""
    given = release_arguments(items, **{"blind": "repository", **release})
    given["config"] = given["config"].model_copy(update={"seed": seed})
    chosen = next(item for item in items if isinstance(item, ChoiceItem))
    telling = Finding(
        check="XX01",
        severity="report",
        subject=chosen.id,
        detail=f"right is {chosen.options[chosen.gold[0]]}",
    )
    given["findings"] = [*given["findings"], telling]
    return given


@pytest.fixture
def release(tmp_path: Path) -> AssembledRelease:
    return assemble(folder=tmp_path / "blind", **arguments())


def rows(release: AssembledRelease, split: str = "test") -> list[dict[str, Any]]:
    return [
        row
        for _, one, path in data_files(release.folder)
        if one == split
        for row in pq.read_table(path).to_pylist()
    ]


def test_no_sealed_row_holds_its_gold_or_what_gives_it_away(release: AssembledRelease) -> None:
    golds = {item.id: item for item in ITEMS}
    sealed = rows(release)
    assert sealed
    for row in sealed:
        item = golds[row["id"]]
        assert row["sealed"]
        assert not row.get("gold")
        assert not row.get("answer")
        assert not row.get("explanations")
        assert row["content_hash"] != content_hash(item)
        assert not any(row["metadata"].values())
        assert row["origin"]["seed"] is None
        assert row["origin"]["records"] == []
        if item.kind == "answer":
            assert item.answer not in json.dumps(row, ensure_ascii=False)
    assert all(
        row["origin"]["seed"] is None and row["gold"]
        for row in rows(release, "dev")
        if row["kind"] == "choice"
    )


def test_no_file_of_the_public_release_tells_seed_or_answers(release: AssembledRelease) -> None:
    for path in release.folder.rglob("*"):
        if path.suffix in {".md", ".json", ".cff", ".yaml", ".svg"}:
            assert str(SEED) not in path.read_text(encoding="utf-8"), path
    findings = pq.read_table(release.folder / "audit" / "findings.parquet").to_pylist()
    sealed = {row["id"] for row in rows(release)}
    assert all("right is" not in row["detail"] for row in findings if row["subject"] in sealed)
    scores = pq.read_table(release.folder / "audit" / "scores.parquet").to_pylist()
    told = [issue for row in scores if row["item"] in sealed for issue in row["issues"]]
    assert told
    assert all(issue["explanation"].startswith("withheld") for issue in told)
    assert "blind" in (release.folder / "README.md").read_text(encoding="utf-8")


def test_with_the_answers_every_item_is_as_it_was(release: AssembledRelease) -> None:
    assert release.answers is not None
    answers = read_answers(release.answers.folder / "answers" / "test-00000-of-00001.parquet")
    assert set(answers) == {row["id"] for row in rows(release)}
    back = {item.id: content_hash(item) for item in opened_items(release.folder, answers)}
    assert back == {item.id: content_hash(item) for item in ITEMS}
    one = next(iter(answers))
    with pytest.raises(UsageError, match="they lack"):
        list(opened_items(release.folder, {name: row for name, row in answers.items() if name != one}))
    choice = next(name for name in answers if answers[name]["gold"])
    answers[choice]["gold"] = [answers[choice]["gold"][0] ^ 1]
    with pytest.raises(ExternalFailure, match=f"answer of {choice} does not fit"):
        list(opened_items(release.folder, answers))


def test_a_changed_gold_is_seen_though_nobody_sees_the_gold(
    release: AssembledRelease, tmp_path: Path
) -> None:
    sealed = {row["id"] for row in rows(release)}
    place, item = next(
        (n, one) for n, one in enumerate(ITEMS) if isinstance(one, ChoiceItem) and one.id in sealed
    )
    mended = item.model_copy(update={"gold": ((item.gold[0] + 1) % 3,)})
    following = arguments((*ITEMS[:place], mended, *ITEMS[place + 1 :]))
    later = assemble(folder=tmp_path / "later", previous=release.folder, **following)
    assert later.diff is not None
    assert {kind: count for kind, count in later.diff.counts.items() if count} == {"gold_changed": 1}
    assert later.version == "0.2.0"
    again = assemble(folder=tmp_path / "again", previous=release.folder, **arguments())
    assert again.unchanged
    assert again.answers is not None
    assert again.answers.digests == release.answers.digests if release.answers else False


def test_the_embedded_hub_holds_the_answers_apart(release: AssembledRelease, tmp_path: Path) -> None:
    hub = EmbeddedHub(tmp_path / "hub")
    publish_release(release, hub)
    assert release.answers is not None
    assert hub.verify("touchstone", "0.1.0", release.folder).rows == release.rows
    assert hub.verify("touchstone-answers", "0.1.0", release.answers.folder).rows == release.answers.rows


def test_the_answers_go_to_a_private_repository(release: AssembledRelease) -> None:
    with HubServer().running() as server:
        config = arguments(repository="someone/touchstone")["config"]
        push_release(release, config, server.endpoint)
        assert server.repositories["someone/touchstone-answers"].private
        assert not server.repositories["someone/touchstone"].private
        same = arguments(repository="a/b", answers_repository="a/b")["config"]
        with pytest.raises(UsageError, match="is the public one"):
            push_release(release, same, server.endpoint)
    with pytest.raises(UsageError, match=r"release\.repository"):
        push_release(release, arguments()["config"])


def test_what_would_not_be_blind_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UsageError, match="a seed nobody can guess"):
        assemble(folder=tmp_path / "r", **arguments(seed=7))
    with pytest.raises(UsageError, match="answers_recipient"):
        assemble(folder=tmp_path / "r", **arguments(blind="age"))
    monkeypatch.setenv("MIHAKK_BLIND_KEY", "short")
    settings.cache_clear()
    with pytest.raises(UsageError, match="MIHAKK_BLIND_KEY"):
        assemble(folder=tmp_path / "r", **arguments())


def test_encrypted_answers_open_with_the_right_key_alone_and_stay_while_they_are_the_same(
    tmp_path: Path,
) -> None:
    pyrage = pytest.importorskip("pyrage")
    identity, other = pyrage.x25519.Identity.generate(), pyrage.x25519.Identity.generate()
    given = arguments(blind="age", answers_recipient=str(identity.to_public()))
    first = assemble(folder=tmp_path / "first", **given)
    locked = first.folder / "answers" / "test.parquet.age"
    answers = read_answers(locked, str(identity))
    assert {item.id: content_hash(item) for item in opened_items(first.folder, answers)} == {
        item.id: content_hash(item) for item in ITEMS
    }
    with pytest.raises(UsageError, match="can't be opened"):
        read_answers(locked, str(other))
    again = assemble(folder=tmp_path / "again", previous=first.folder, **given)
    assert again.unchanged
    assert first.answers is None


def test_a_report_on_a_sealed_item_binds(release: AssembledRelease, tmp_path: Path) -> None:
    name = rows(release)[0]["id"]
    report_defect(
        release.folder, name, "ambiguous", "Both second and third option fit.", folder=tmp_path / "e"
    )
    reports = read_reports(tmp_path / "e")
    assert report_findings(reports, ITEMS, "touchstone") == []
    assert [one.subject for one in report_findings(reports, ITEMS, "touchstone", blind_key())] == [name]
