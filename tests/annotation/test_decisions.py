"""Decisions are added, never changed, and never added twice."""

from __future__ import annotations

from pathlib import Path

import pytest

import mihakk.annotation.decisions.store
from mihakk.annotation.decisions.store import add, stored
from mihakk.machinery.errors import UsageError
from mihakk.schemas.review import Review
from tests.annotation.judged import choice, review


def test_no_store_is_no_decision(tmp_path):
    assert stored(str(tmp_path / "decisions"), Review) == []


@pytest.mark.parametrize(
    "where", ["{tmp}/decisions", "file://{tmp}/decisions", "memory://mihakk-{name}/decisions"]
)
def test_what_is_added_comes_back_in_order_and_only_once(tmp_path, where):
    folder = where.format(tmp=tmp_path, name=tmp_path.name)
    first, second = (
        review(choice(), "p1"),
        review(choice(), "p2", "discard", reason="ambiguous", notes="غامض"),
    )
    assert add(folder, Review, [first]) == [first]
    assert add(folder, Review, [first, second, second]) == [second]
    assert add(folder, Review, [first, second]) == []
    assert stored(folder, Review) == [first, second]


def test_a_changed_mind_is_a_further_decision(tmp_path):
    folder = str(tmp_path)
    add(folder, Review, [review(choice(), "p1", "keep")])
    add(folder, Review, [review(choice(), "p1", "discard", reason="other", minute=5)])
    assert [row.decision for row in stored(folder, Review)] == ["keep", "discard"]


def test_a_part_never_changes(tmp_path):
    add(str(tmp_path), Review, [review(choice(), "p1")])
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    add(str(tmp_path), Review, [review(choice(), "p2")])
    assert all(path.read_bytes() == content for path, content in before.items())
    assert len(list(tmp_path.iterdir())) == 2


def test_an_edited_part_is_an_error_that_names_it(tmp_path):
    add(str(tmp_path), Review, [review(choice(), "p1")])
    part = next(Path(tmp_path).iterdir())
    part.write_bytes(part.read_bytes().replace(b"keep", b"fix"))
    with pytest.raises(UsageError, match=part.name):
        stored(str(tmp_path), Review)


def test_a_half_written_part_is_not_read(tmp_path):
    add(str(tmp_path), Review, [review(choice(), "p1")])
    (tmp_path / ".000002-abc.jsonl.5f.tmp").write_bytes(b'{"item": "ar-')
    assert len(stored(str(tmp_path), Review)) == 1
    assert add(str(tmp_path), Review, [review(choice(), "p2")])


def test_two_pulls_at_once_add_the_same_decisions_and_they_count_once(tmp_path, monkeypatch):
    folder, mine = str(tmp_path), [review(choice(n), "p1") for n in range(3)]
    real = mihakk.annotation.decisions.store.stored
    monkeypatch.setattr(
        mihakk.annotation.decisions.store, "stored", lambda *_: []
    )  # both looked before either had written
    add(folder, Review, mine[:2])
    add(folder, Review, mine)
    monkeypatch.setattr(mihakk.annotation.decisions.store, "stored", real)
    assert len(list(tmp_path.iterdir())) == 2
    assert stored(folder, Review) == mine
    assert add(folder, Review, mine) == []
