"""A blind release: golds apart, nothing beside them that tells, and everything back with the answers."""

from __future__ import annotations

import json
import os
import re
import shutil
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from scipy.stats import binomtest

from mihakk.machinery.configs import validate
from mihakk.machinery.errors import ExternalFailure, UsageError
from mihakk.machinery.ids import content_hash
from mihakk.machinery.settings import settings
from mihakk.releases.assemble import AssembledRelease, assemble
from mihakk.releases.content.blind import opened_rows, read_answers
from mihakk.releases.content.item_tables import data_files, row_hash, row_item
from mihakk.releases.content.secret import blind_key, public_form, public_id
from mihakk.releases.hub.embedded import EmbeddedHub
from mihakk.releases.hub.remote import push_release
from mihakk.releases.paper_trail.errata import (
    DefectReport,
    as_printed,
    read_reports,
    report_defect,
    report_findings,
)
from mihakk.releases.paper_trail.gate_record import read_gate_record
from mihakk.releases.paper_trail.recount import contradictions
from mihakk.schemas.benchmark import BenchmarkConfig
from mihakk.schemas.finding import Finding
from mihakk.schemas.item import ChoiceItem
from mihakk.schemas.quality import Baseline
from tests.releases.hub_server import HubServer
from tests.releases.release_material import hafez_items, release_arguments

SEED = 7
SECRET = "a secret of enough characters"
KEY = SECRET.encode()
ITEMS = hafez_items(12)
ASKED = [public_form(KEY, item) for item in ITEMS]


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MIHAKK_BLIND_KEY", SECRET)
    settings.cache_clear()


def arguments(items: tuple[Any, ...] = ITEMS, seed: int = SEED, **release: Any) -> dict[str, Any]:
    """Arguments of a blind release; findings tell every answer."""
    given = release_arguments(items, **{"blind": "repository", **release})
    given["config"] = given["config"].model_copy(update={"seed": seed})
    telling = [
        Finding(
            check="XX01", severity="report", subject=one.id, detail=f"right is {one.options[one.gold[0]]}"
        )
        for one in items
        if isinstance(one, ChoiceItem)
    ]
    given["findings"] = [*given["findings"], *telling]
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
    golds = {public_id(KEY, item.id): item for item in ITEMS}
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
        assert row["attribution"] == ""
        assert row["licence"] == "CC-BY-4.0"
        if item.kind == "answer":
            assert item.answer not in json.dumps(row, ensure_ascii=False)
    assert all(
        row["origin"]["seed"] is None and row["gold"]
        for row in rows(release, "dev")
        if row["kind"] == "choice"
    )


def test_no_file_of_the_public_release_tells_seed_or_answers(release: AssembledRelease) -> None:
    for path in release.folder.rglob("*"):
        if path.is_file():
            told = str(pq.read_table(path).to_pylist()) if path.suffix == ".parquet" else path.read_text()
            assert not any(item.id in told or item.id.split("-")[-1] in told for item in ITEMS)
    findings = pq.read_table(release.folder / "audit" / "findings.parquet").to_pylist()
    sealed = {row["id"] for row in rows(release)}
    assert any("right is" in row["detail"] for row in findings)
    assert not any(row["subject"] in sealed for row in findings)
    scores = pq.read_table(release.folder / "audit" / "scores.parquet").to_pylist()
    assert scores
    assert not any(row["item"] in sealed for row in scores), "whoever asks the same auditors could compare"
    verdicts = pq.read_table(release.folder / "audit" / "verdicts.parquet").to_pylist()
    assert verdicts
    assert not any(row["item"] in sealed for row in verdicts)
    assert {(row["verdict"], row["audited"], row["audit_state"]) for row in rows(release)} == {
        ("pass", None, None)
    }, "nor does a row say that people kept what was flagged"
    assert "blind" in (release.folder / "README.md").read_text(encoding="utf-8")


def opened_hashes(folder: Path, answers: dict[str, dict]) -> dict[str, str]:
    items = (row_item(row) for _, _, row in opened_rows(folder, answers))
    return {item.id: content_hash(item) for item in items}


def test_with_the_answers_every_item_is_as_it_was(release: AssembledRelease) -> None:
    assert release.answers is not None
    answers = read_answers(release.answers.folder / "answers" / "test-00000-of-00001.parquet")
    assert set(answers) == {row["id"] for row in rows(release)}
    back = opened_hashes(release.folder, answers)
    assert back
    assert back.items() <= {item.id: content_hash(item) for item in ASKED}.items()
    one = next(iter(answers))
    with pytest.raises(UsageError, match="they lack"):
        opened_hashes(release.folder, {name: row for name, row in answers.items() if name != one})
    choice = next(name for name in answers if answers[name]["gold"])
    answers[choice]["gold"] = [answers[choice]["gold"][0] ^ 1]
    with pytest.raises(ExternalFailure, match=f"answer of {choice} does not fit"):
        opened_hashes(release.folder, answers)


def test_a_changed_gold_is_seen_though_nobody_sees_the_gold(
    release: AssembledRelease, tmp_path: Path
) -> None:
    sealed = {row["id"] for row in rows(release)}
    place, item = next(
        (n, one)
        for n, one in enumerate(ITEMS)
        if isinstance(one, ChoiceItem) and public_id(KEY, one.id) in sealed
    )
    corrected = item.model_copy(update={"gold": ((item.gold[0] + 1) % 3,)})
    following = arguments((*ITEMS[:place], corrected, *ITEMS[place + 1 :]))
    later = assemble(folder=tmp_path / "later", previous=release.folder, **following)
    assert later.diff is not None
    assert {kind: count for kind, count in later.diff.counts.items() if count} == {"gold_changed": 1}
    assert later.version == "0.2.0"
    again = assemble(folder=tmp_path / "again", previous=release.folder, **arguments())
    assert again.unchanged
    assert again.answers is not None
    assert again.answers.digests == release.answers.digests if release.answers else False


def test_a_release_whose_items_were_all_audited_contradicts_nothing(
    release: AssembledRelease, tmp_path: Path
) -> None:
    """`publish` counts audits again, of the open items: those of sealed ones are not told."""
    record = read_gate_record(release.folder)
    assert record is not None
    assert "full_audit" in {gate.name for gate in record.gates if gate.passed}
    assert contradictions(release.folder, record.gates, record.auditors) == []
    other = shutil.copytree(release.folder, tmp_path / "other")
    scores = pq.read_table(other / "audit" / "scores.parquet")
    pq.write_table(scores.slice(1), other / "audit" / "scores.parquet")
    (found,) = contradictions(other, record.gates, record.auditors)
    assert "full_audit is open, but 1 of" in found


def test_the_embedded_hub_holds_the_answers_apart(release: AssembledRelease, tmp_path: Path) -> None:
    hub = EmbeddedHub(tmp_path / "hub")
    hub.publish(release)
    assert release.answers is not None
    assert hub.verify("touchstone", "0.1.0", release.folder) == release.rows
    assert hub.verify("touchstone-answers", "0.1.0", release.answers.folder) == release.answers.rows


def test_the_answers_go_to_a_private_repository(release: AssembledRelease) -> None:
    with HubServer().running() as server:
        push_release(release, "someone/touchstone", server.endpoint)
        assert server.repositories["someone/touchstone-answers"].private
        assert not server.repositories["someone/touchstone"].private
        with pytest.raises(UsageError, match="is the public one"):
            push_release(release, "a/b", server.endpoint, answers="a/b")
    with pytest.raises(UsageError, match=r"release\.repository"):
        push_release(release, "")


def test_what_would_not_be_blind_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UsageError, match="answers_recipient"):
        assemble(folder=tmp_path / "r", **arguments(blind="age"))
    for weak in ("short", "a" * 40):
        monkeypatch.setenv("MIHAKK_BLIND_KEY", weak)
        settings.cache_clear()
        with pytest.raises(UsageError, match="MIHAKK_BLIND_KEY could be guessed"):
            assemble(folder=tmp_path / "r", **arguments())
    monkeypatch.delenv("MIHAKK_BLIND_KEY")
    settings.cache_clear()
    with pytest.raises(UsageError, match="neither of these is set"):
        assemble(folder=tmp_path / "r", **arguments())


@pytest.mark.parametrize(
    "secret", [bytes(range(248, 256)), b"\xff\x00\xfe\n\r\x80\x81\x82" * 4096, "سرّ طويل جدًّا".encode()]
)
def test_a_secret_may_be_any_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, secret: bytes) -> None:
    monkeypatch.delenv("MIHAKK_BLIND_KEY")
    monkeypatch.setenv("MIHAKK_BLIND_KEY_FILE", str(tmp_path / "key"))
    (tmp_path / "key").write_bytes(secret)
    settings.cache_clear()
    release = assemble(folder=tmp_path / "r", **arguments(hafez_items(3)))
    assert {row["id"] for row in rows(release)} <= {public_id(secret, item.id) for item in ITEMS}
    if b"\x00" not in secret:  # what an environment can hold
        monkeypatch.delenv("MIHAKK_BLIND_KEY_FILE")
        monkeypatch.setitem(os.environb, b"MIHAKK_BLIND_KEY", secret * 2)
        settings.cache_clear()
        assert blind_key() == secret * 2


def test_harness_tasks_of_a_blind_release_say_that_they_score_dev(release: AssembledRelease) -> None:
    tasks = {path.stem.removesuffix("_written") for path in (release.folder / "eval/lm_eval").glob("*.yaml")}
    assert tasks
    assert all(name.endswith("_dev") for name in tasks)
    functions = (release.folder / "eval/inspect/tasks.py").read_text("utf-8").split("@task\n")[1:]
    assert functions
    assert all("_dev(split" in function for function in functions)
    stated = (release.folder / "eval/lm_eval/touchstone_ar_meaning_choice_dev.yaml").read_text("utf-8")
    assert "ability: skill" in stated
    card = (release.folder / "README.md").read_text("utf-8")
    assert re.search(r"fa_continuation_choice \| [^|]+ \| test \| choice \| \d+ \| recall \|", card)
    assert "a blind ranking has `skill` alone" in card


def test_a_seed_that_is_no_64_bit_number_is_refused_when_the_config_is_read() -> None:
    with pytest.raises(UsageError, match=r"seed.* less than 9223372036854775808"):
        validate({**arguments()["config"].model_dump(), "seed": 2**63}, BenchmarkConfig, "my.yaml")


def test_options_stand_in_an_order_that_the_seed_does_not_tell(
    release: AssembledRelease, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The build's own order is public (its seed is), so the two orders may agree no more often than by chance."""
    inside = {public_id(KEY, item.id): item for item in ITEMS}
    choices = [row for row in rows(release) if row["kind"] == "choice"]
    same = sum(tuple(row["options"]) == getattr(inside[row["id"]], "options", ()) for row in choices)
    assert binomtest(same, len(choices), 1 / 6, alternative="greater").pvalue > 0.01
    by_pair: dict[str, list[dict[str, Any]]] = {}
    for row in choices:
        by_pair.setdefault(row["pair_id"] or row["id"], []).append(row)
    both = [pair for pair in by_pair.values() if len(pair) == 2]
    assert both
    for first, second in both:
        assert sorted(first["options"]) == sorted(second["options"])
        assert all(one != other for one, other in zip(first["options"], second["options"], strict=True))
    monkeypatch.setenv("MIHAKK_BLIND_KEY", "another secret of enough characters")
    settings.cache_clear()
    other = rows(assemble(folder=tmp_path / "other", **arguments()))
    assert not {row["id"] for row in other} & {row["id"] for row in choices}
    assert not {row["group"] for row in other} & {row["group"] for row in choices}


def test_encrypted_answers_open_with_the_right_key_alone_and_stay_while_they_are_the_same(
    tmp_path: Path,
) -> None:
    pyrage = pytest.importorskip("pyrage")
    identity, other = pyrage.x25519.Identity.generate(), pyrage.x25519.Identity.generate()
    given = arguments(blind="age", answers_recipient=str(identity.to_public()))
    first = assemble(folder=tmp_path / "first", **given)
    locked = first.folder / "answers" / "test.parquet.age"
    answers = read_answers(locked, str(identity))
    opened = opened_hashes(first.folder, answers)
    assert answers
    assert opened.items() <= {item.id: content_hash(item) for item in ASKED}.items()
    with pytest.raises(UsageError, match="can't be opened"):
        read_answers(locked, str(other))
    again = assemble(folder=tmp_path / "again", previous=first.folder, **given)
    assert again.unchanged
    assert first.answers is None


def test_a_report_on_a_sealed_item_binds(release: AssembledRelease, tmp_path: Path) -> None:
    name = next(row["id"] for row in rows(release) if row["kind"] == "choice")
    inside = next(item.id for item in ITEMS if public_id(KEY, item.id) == name)
    report_defect(
        release.folder, name, "ambiguous", "Both second and third option fit.", folder=tmp_path / "e"
    )
    reports = read_reports(tmp_path / "e")
    assert report_findings(reports, ITEMS) == []
    assert [one.subject for one in report_findings(reports, ITEMS, KEY)] == [inside]
    assert as_printed(reports, {"0.1.0": release.folder}.get) == reports
    assert as_printed(reports, {}.get) == [], "nobody can tell what a version that is not there printed"


def test_a_report_that_guesses_a_gold_tells_by_nothing_whether_it_is_right(release: AssembledRelease) -> None:
    asked = [row for row in rows(release) if row["kind"] == "choice"]
    guesses = [
        DefectReport(
            canary=row["canary"],
            version=row["version"],
            item=row["id"],
            content_hash=row_hash({**row, "gold": [place]}),
            problem="ambiguous",
            evidence="Both second and third option fit.",
        )
        for row in asked
        for place in range(len(row["options"]))
    ]
    right = {content_hash(item) for item in ASKED}
    assert sum(one.content_hash in right for one in guesses) == len(asked) > 0, "every gold was guessed"
    assert as_printed(guesses, {"0.1.0": release.folder}.get) == []


def test_what_waits_is_told_by_no_finding_and_no_cue_is_measured_in_public(tmp_path: Path) -> None:
    given = arguments()
    waits = "ar-continuation_choice-" + "0" * 16
    given["findings"] += [
        Finding(check="CH07", severity="flag", subject=waits, detail="the rhyme alone tells it"),
        Finding(check="TX01", severity="report", subject="a_source:7", detail="a record's mark"),
        Finding(check="ST02", severity="flag", subject="*", detail="a side's longest options are right"),
    ]
    cue = Baseline(
        task="continuation_choice", language="ar", name="longest", questions=40, accuracy=0.975, chance=0.33,
        low=0.9, high=0.99,
    )  # fmt: skip
    given["facts"] = given["facts"].model_copy(update={"baselines": (cue,)})
    release = assemble(folder=tmp_path / "waits", **given)
    findings = pq.read_table(release.folder / "audit" / "findings.parquet").to_pylist()
    assert not {"CH07", "TX01", "ST02"} & {row["check"] for row in findings}
    gates = json.loads((release.folder / "audit" / "gates.json").read_text(encoding="utf-8"))["gates"]
    (splits,) = (gate["found"] for gate in gates if gate["name"] == "splits")
    assert "groups" not in splits, "which items are about one work is sealed"
    assert "%" not in splits, "the share tells how many items were made"
    (gate,) = [one for one in gates if one["name"] == "baselines"]
    assert not gate["passed"]
    assert "longest" not in gate["found"]
    for path in ("README.md", "audit/gates.json"):
        assert not re.search(r"0\.97|0\.9\b|0\.90", (release.folder / path).read_text(encoding="utf-8"))
