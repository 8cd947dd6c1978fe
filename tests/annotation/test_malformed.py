"""One malformed annotation is one rejection: all others are pulled, and nothing of it is lost."""

from __future__ import annotations

import json
from typing import Any

import orjson
import pytest

from mihakk.annotation.decisions.forgetting import forget
from mihakk.annotation.decisions.store import stored
from mihakk.annotation.decisions.stores import Stores
from mihakk.annotation.decisions.words import SKIPPED
from mihakk.annotation.label_studio.project import Project
from mihakk.annotation.label_studio.pull import Pulled, pull, read_export
from mihakk.annotation.screens.labelling import labelling
from mihakk.annotation.screens.tasks import review_task
from mihakk.machinery.errors import ExternalFailure, UsageError
from mihakk.machinery.ids import content_hash
from mihakk.schemas.rejection import Rejection
from mihakk.schemas.review import Review, Words
from tests.annotation.exported import Export, result
from tests.annotation.judged import choice

FIELDS = (
    "id",
    "completed_by",
    "result",
    "was_cancelled",
    "updated_at",
    "lead_time",
    "updated_by",
    "created_at",
)
WRONG: tuple[Any, ...] = (
    *(None, [], {}, "x", -1, True, 1e308, 1e30, [None], [[]], "", {"a": 1}, "\u0000", "0001-01-01", 0.5),
    *("9999-12-31T23:59:59-14:00", [{"from_name": "decision"}], [{"from_name": ["decision"], "value": 1}]),
    *([{"from_name": "decision", "to_name": "item", "type": "choices", "value": {"choices": [1, None]}}],),
    *([{"from_name": "skip", "value": {"choices": {"unclear": 1}}}], {"choices": "keep"}, [["decision"]]),
)
LACKS = object()


@pytest.fixture
def stores(tmp_path) -> Stores:
    return Stores.under(str(tmp_path / "review"))


def annotation(number: int, person: int = 1, **changes: Any) -> dict[str, Any]:
    row = {
        "id": number, "completed_by": person, "result": result({"decision": "keep", "confidence": "4"}),
        "was_cancelled": False, "updated_at": f"2026-03-01T00:00:{number:02d}Z", "lead_time": 12.5,
    }  # fmt: skip
    row["result"][1] = {
        **row["result"][1],
        "from_name": "confidence",
        "type": "rating",
        "value": {"rating": 4},
    }
    return {name: value for name, value in (row | changes).items() if value is not LACKS}


def tasks(*third: Any, **whole: Any) -> list[Any]:
    """Three tasks of two good annotations each; what is given stands beside those of the last."""
    made = [
        {
            "id": place,
            "data": review_task(choice(place))["data"],
            "annotations": [annotation(2 * place), annotation(2 * place + 1, 2)],
        }
        for place in (1, 2, 3)
    ]
    made[2]["annotations"] += third
    made[2] |= whole
    return made


def pulled(stores: Stores, rows: list[Any]) -> Pulled:
    export: Any = Export(rows, 3)
    project = Project(
        export, 1, "b:quality_review:ar", labelling("quality_review", "ar"), 3, "", False, "made"
    )
    return pull(project, stores)


def accounts_for_all(found: Pulled) -> bool:
    told = found.skipped + found.superseded + found.rejected.total() + found.read
    return found.annotations == told


@pytest.mark.parametrize("field", FIELDS)
@pytest.mark.parametrize(
    "wrong", [*WRONG, LACKS], ids=lambda one: "lacks" if one is LACKS else repr(one)[:40]
)
def test_whatever_one_field_holds_the_others_are_pulled(stores, label_interface, field, wrong) -> None:
    found = pulled(stores, tasks(annotation(9, 3, **{field: wrong})))
    assert len(found.reviews) >= 6
    assert accounts_for_all(found)
    kept = [one for one in stored(stores.rejected, Rejection) if not one.reason.startswith(SKIPPED)]
    assert len(kept) == found.rejected.total()
    assert all(one.record and one.reason and json.loads(one.body)["task"] == 3 for one in kept)


@pytest.mark.parametrize("row", [None, [], "x", 7, True, {}, {"id": 9}])
def test_what_names_no_author_is_one_rejection_with_its_task_and_no_body(
    stores, label_interface, row
) -> None:
    found = pulled(stores, tasks(row))
    (kept,) = stored(stores.rejected, Rejection)
    assert len(found.reviews) == 6
    assert found.rejected == {"malformed_annotation": 1}
    assert kept.record == choice(3).id
    number = row.get("id") if isinstance(row, dict) else None
    told = {"task": 3, "annotation": number, "annotator": "", "content_hash": content_hash(choice(3))}
    assert json.loads(kept.body) == told, "the item waits: it may have been called wrong"


def test_what_its_author_answered_stands_among_private_words_until_they_have_it_forgotten(
    stores, label_interface
) -> None:
    row = annotation(9, 3, updated_at="yesterday")
    pulled(stores, tasks(row))
    (kept,) = stored(stores.rejected, Rejection)
    (words,) = stored(stores.words, Words)
    assert json.loads(kept.body) == {"task": 3, "annotation": 9, "annotator": words.annotator}
    assert json.loads(words.text)[1] == row["result"]
    forget(stores, "person3@example.org", {3: "person3@example.org"})
    assert not any(one.text for one in stored(stores.words, Words))


@pytest.mark.parametrize(
    "whole", [{"id": None}, {"data": None}, {"data": []}, {"annotations": None}, {"annotations": {"1": {}}}]
)
def test_a_malformed_task_is_a_rejection_for_each_author_and_withdraws_no_decision(
    stores, label_interface, whole
) -> None:
    before = pulled(stores, tasks())
    found = pulled(stores, tasks(**whole))
    assert len(before.reviews) == 6
    assert found.rejected == {
        "malformed_task": 2 if isinstance(tasks(**whole)[2]["annotations"], list) else 1
    }
    assert (found.read, found.withdrawn) == (4, 0)
    assert accounts_for_all(found)
    assert len(list(stored(stores.decisions, Review))) == 6


def test_an_annotation_that_became_malformed_is_not_taken_for_a_deleted_one(stores, label_interface) -> None:
    pulled(stores, tasks())
    spoiled = tasks()
    spoiled[0]["annotations"][0]["updated_at"] = None
    found = pulled(stores, spoiled)
    assert (found.withdrawn, found.rejected) == (0, {"malformed_annotation": 1})


@pytest.mark.parametrize("text", [b"", b"{}", b"null", b"[", b'"x"', b"\xff\xfe", b"[" * 5000])
def test_what_is_no_export_at_all_is_said_to_come_from_the_server_or_the_file(stores, tmp_path, text) -> None:
    export: Any = Export([], 1)
    export.read = lambda *_, **__: text
    labels = labelling("quality_review", "ar")
    with pytest.raises(ExternalFailure, match="pull again"):
        pull(Project(export, 1, "b:quality_review:ar", labels, 1, "", False, "made"), stores)
    file = tmp_path / "export.json"
    file.write_bytes(text)
    with pytest.raises(UsageError, match="format JSON"):
        read_export(file, labels, stores)


def test_an_export_given_as_a_file_keeps_what_it_can_not_read(stores, label_interface, tmp_path) -> None:
    file = tmp_path / "export.json"
    file.write_bytes(orjson.dumps([*tasks(None, annotation(9, 3, was_cancelled=True)), None]))
    found = read_export(file, labelling("quality_review", "ar"), stores)
    reasons = sorted(one.reason for one in stored(stores.rejected, Rejection))
    assert reasons == ["malformed_annotation", "malformed_task", "skipped_unsaid"]
    assert accounts_for_all(found)
