"""Randomness and ids depend on their own names and on nothing else."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from mihakk.machinery.ids import canonical_json, content_hash, item_id
from mihakk.machinery.seeds import rng
from mihakk.schemas.item import AnswerItem, Origin

NAMES = st.text(min_size=1, max_size=20)


def item(**changes: object) -> AnswerItem:
    origin = Origin(records=("r",), generator="g", generator_version="1")
    values: dict[str, object] = {"id": "i", "task": "t", "language": "ar", "question": "س", "answer": "ج"}
    return AnswerItem.model_validate({**values, "origin": origin, "licence": "x", **changes})


@given(st.integers(), NAMES, NAMES)
def test_the_same_name_draws_the_same(seed: int, identifier: str, purpose: str) -> None:
    assert rng(seed, identifier, purpose).random() == rng(seed, identifier, purpose).random()


def test_another_item_purpose_or_seed_draws_apart() -> None:
    drawn = {rng(s, i, p).random() for s in (0, 1) for i in ("a", "b") for p in ("x", "y")}
    assert len(drawn) == 8


@given(st.dictionaries(NAMES, st.integers(min_value=-(2**53), max_value=2**53)))
def test_canonical_json_forgets_the_order_of_keys(value: dict[str, int]) -> None:
    assert canonical_json(value) == canonical_json(dict(reversed(value.items())))


def test_ids_tell_parts_apart() -> None:
    assert item_id("t", "ar", ["ab", "c"]) != item_id("t", "ar", ["a", "bc"])
    assert item_id("t", "ar", ["a"], "0") != item_id("t", "ar", ["a", "0"])
    assert item_id("t", "ar", ["a"]).startswith("ar-t-")


def test_the_content_hash_covers_what_is_scored_and_nothing_else() -> None:
    base = content_hash(item())
    assert content_hash(item(metadata={"era": "x"}, split="test", licence="y")) == base
    for changed in ({"question": "؟"}, {"answer": "غ"}, {"accepted": ("ج2",)}, {"context": "نص"}):
        assert content_hash(item(**changed)) != base
