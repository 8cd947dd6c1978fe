"""An annotator's data is exported and deleted on request, and no figure changes by it."""

from __future__ import annotations

import csv
from pathlib import Path

import orjson
import pytest
from typer.testing import CliRunner

from mihakk.annotation.decisions.apply import apply
from mihakk.annotation.decisions.forgetting import forget
from mihakk.annotation.decisions.pseudonyms import pseudonyms
from mihakk.annotation.decisions.resolution import resolve
from mihakk.annotation.decisions.store import add, decision_id, decisions, labels, stored
from mihakk.annotation.decisions.stores import Stores
from mihakk.annotation.decisions.voiding import void
from mihakk.annotation.decisions.words import words
from mihakk.annotation.screens.ratings import Label
from mihakk.annotation.statistics.review_report import review_report
from mihakk.flows.cli import app
from mihakk.machinery.errors import UsageError
from mihakk.machinery.ids import content_hash
from mihakk.schemas.rejection import Rejection
from mihakk.schemas.review import Review
from tests.annotation.judged import NOON, choice, review

ITEMS = [choice(n) for n in range(6)]
SECRET = "اكتب لي على layla-private"
MEMBERS = {4: "layla@example.org", 9: "omar@example.org"}


@pytest.fixture
def stores(tmp_path) -> Stores:
    """Two people decided and rated; one of them wrote of herself wherever one can write."""
    kept = Stores.under(str(tmp_path / "bench"))
    layla, omar = pseudonyms(kept.people, {4: "layla@example.org", 9: "omar@example.org"}).values()
    fix = {"corrections": {"question": "ما معنى التعبير؟"}}
    for n, item in enumerate(ITEMS):
        note = {"notes": SECRET, "annotation": f"made/{n}", "seconds": 9.0}
        add(
            kept.decisions,
            Review,
            [review(item, layla, "fix" if n == 1 else "keep", **note, **(fix if n == 1 else {}))],
        )
        add(
            kept.decisions,
            Review,
            [review(item, omar, "discard" if n == 2 else "keep", annotation=f"made/{n + 50}")],
        )
    told = {"content_hash": "c", "template": "connotation", "decided_at": NOON}
    for who in (layla, omar):
        for name, value in (("idiom", "positive"), ("explanation", "neutral"), ("notes", SECRET)):
            add(kept.labels, Label, [Label(subject="i1", annotator=who, name=name, value=value, **told)])
    body = orjson.dumps({"task": 1, "annotation": 7, "member": 4, "result": [SECRET]}).decode()
    add(
        kept.rejected,
        Rejection,
        [Rejection(record="x", source="p", reason="skipped_dialect", detail=SECRET, body=body)],
    )
    void(kept, decision_id(decisions(kept)[-2]), "slipped")
    return kept


def everything(folder: str) -> str:
    return "".join(path.read_text("utf-8") for path in sorted(Path(folder).rglob("*.jsonl")))


def test_no_word_of_a_forgotten_person_is_left_and_every_figure_is(stores, tmp_path):
    before = review_report(stores, ITEMS, [], seed=3)
    omar = [row for row in decisions(stores) if row.annotator == "annotator-02"]
    ids = [decision_id(row) for row in decisions(stores)]
    assert forget(stores, "Layla@example.org", MEMBERS) == ("annotator-01", 6 + 1 + 9 + 1), (
        "decisions, the skipped annotation, eight notes and why the lead took one back, the address"
    )
    assert review_report(stores, ITEMS, [], seed=3) == before
    assert [decision_id(row) for row in decisions(stores)] == ids, "what was voided stays voided"
    assert [row for row in decisions(stores) if row.annotator == "annotator-02"] == omar
    left = everything(str(tmp_path / "bench"))
    assert left.count(SECRET) == 1, "Omar's own note"
    assert 'made/1"' not in left
    assert [row.corrections for row in decisions(stores) if row.decision == "fix"] == [
        {"question": "ما معنى التعبير؟"}
    ]
    assert {row.value for row in labels(stores) if row.annotator == "annotator-01"} == {
        "positive",
        "neutral",
        "",
    }


def test_a_forgotten_address_is_a_new_person_and_pseudonyms_stay_apart(stores):
    forget(stores, "layla@example.org", {})
    with pytest.raises(UsageError, match="check its spelling"):
        forget(stores, "layla@example.org", {})
    names = pseudonyms(stores.people, {1: "layla@example.org", 2: "omar@example.org", 3: "sara@example.org"})
    assert names == {1: "annotator-03", 2: "annotator-02", 3: "annotator-04"}


def test_a_deletion_that_was_killed_is_finished_by_the_next(stores, monkeypatch, tmp_path):
    from mihakk.machinery.lake.storage import Storage

    real, removed = Storage.remove, []

    def dies(self: Storage, path: str) -> None:
        removed.append(path)
        if len(removed) == 3:
            raise KeyboardInterrupt
        real(self, path)

    monkeypatch.setattr(Storage, "remove", dies)
    with pytest.raises(KeyboardInterrupt):
        forget(stores, "layla@example.org", MEMBERS)
    monkeypatch.setattr(Storage, "remove", real)
    forget(stores, "layla@example.org", MEMBERS)
    assert everything(str(tmp_path / "bench")).count(SECRET) == 1
    assert len(stored(stores.decisions, Review)) == 12


def test_a_person_gets_all_their_own_data_and_nobody_elses(stores, tmp_path):
    (tmp_path / "bench.yaml").write_text(
        "name: bench\ntitle: Bench\nsources: [{use: hafez}]\ntasks: [{use: last_word}]\n"
    )
    file = tmp_path / "mine.csv"
    call = ["review", "export", str(tmp_path / "bench.yaml"), "--lake", str(tmp_path), "--csv", str(file)]
    done = CliRunner().invoke(app, [*call, "--person", "layla@example.org"], catch_exceptions=False)
    assert done.exit_code == 0
    with file.open(encoding="utf-8-sig", newline="") as text:
        rows = list(csv.DictReader(text))
    assert [row["annotator"] for row in rows] == ["annotator-01"] * 6, "the voided one too"
    assert {row["notes"] for row in rows} == {SECRET}
    CliRunner().invoke(app, [*call, "--person", "layla@example.org", "--labels"], catch_exceptions=False)
    assert file.read_text("utf-8-sig").count("annotator-01") == 3


def test_what_a_person_who_left_could_not_submit_goes_with_the_bodies_of_all_who_left(stores):
    body = orjson.dumps({"task": 2, "annotation": 8, "member": 9, "result": ["omar's"]}).decode()
    add(
        stores.rejected,
        Rejection,
        [Rejection(record="y", source="p", reason="incomplete", detail="", body=body)],
    )
    forget(stores, "layla@example.org", {9: "omar@example.org"})
    bodies = [row.body for row in stored(stores.rejected, Rejection)]
    assert (bodies[0], orjson.loads(bodies[1])["annotator"]) == ("", "annotator-02")
    assert [one.text for one in words(stores) if one.kind == "unusable"] == ['["",["omar\'s"]]']


@pytest.mark.parametrize("result", [None, [], ["x"], [{"value": {"text": SECRET}}], {"value": 1}])
def test_an_annotation_of_any_form_is_forgotten_with_its_author(tmp_path, stores, result):
    from types import SimpleNamespace

    from mihakk.pipeline.forgetting import forget_person

    body = orjson.dumps({"task": 2, "annotation": 8, "member": 4, "result": result}).decode()
    row = Rejection(record="y", source="p", reason="invalid_annotation", detail="it is no form", body=body)
    add(stores.rejected, Rejection, [row])
    opened = SimpleNamespace(stores=stores, build=None, label=str(tmp_path / "bench"))
    forget_person(opened, "layla@example.org", MEMBERS, runs=tmp_path / "runs")
    assert {row.body for row in stored(stores.rejected, Rejection)} == {""}
    assert [one.annotator for one in words(stores)] == ["annotator-02"]


def test_a_note_on_a_discarded_item_goes_into_no_table_of_a_build(stores):
    item = ITEMS[0]
    votes = [review(item, f"p{n}", "discard", reason="sensitive", notes=SECRET) for n in range(2)]
    reviewed = apply([item], [], resolve(votes, {item.id: content_hash(item)}), votes)
    assert [row.reason for row in reviewed.removed] == ["discarded_sensitive"]
    assert SECRET not in reviewed.removed[0].model_dump_json()
