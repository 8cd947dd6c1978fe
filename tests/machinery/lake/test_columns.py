"""Records survive the way through Arrow whole, and equal records give equal bytes."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from mihakk.machinery.lake.columns import arrow_schema, from_table, to_table
from mihakk.schemas.audit import CRITERIA, Audit
from mihakk.schemas.idiom import Idiom
from mihakk.schemas.item import ITEM_ROWS, ChoiceItem
from mihakk.schemas.poem import Poem
from mihakk.schemas.record import Record
from tests.validators.checks.check_samples import subject


def choice(**changes: object) -> ChoiceItem:
    fields = {"poet": "حافظ", "hemistich": "الا یا ایها الساقی"}
    values = {
        "question": "ادامهٔ بیت کدام است؟",
        "options": ("یک", "دو"),
        "gold": (0,),
        "fields": fields,
        **changes,
    }
    made: ChoiceItem = subject(kind="choice", language="fa", **values)
    return made


def test_items_of_every_kind_share_a_table() -> None:
    answer = subject(kind="answer", question="؟", answer="جواب")
    aligned = subject(kind="explanation", question="؟", verses=("أ",), explanations=("ب",))
    items = [choice(), answer, aligned]
    assert from_table(to_table(items, ITEM_ROWS), ITEM_ROWS) == items


def test_nested_records_maps_and_empty_tables() -> None:
    poem = subject(kind="poem", couplets=[["الف", "ب"]], source_labels={"metre": "هزج"})
    audit = Audit(item="1", auditor="a", status="valid", scores=dict.fromkeys(CRITERIA, 1), reply_key="k")
    assert from_table(to_table([poem], Poem), Poem) == [poem]
    assert from_table(to_table([audit], Audit), Audit) == [audit]
    assert from_table(to_table([], Idiom), Idiom) == []
    assert to_table([], Idiom).schema == arrow_schema(Idiom)


def test_order_of_insertion_does_not_reach_the_table() -> None:
    forwards = choice(fields={"a": "1", "b": "2"})
    backwards = choice(fields={"b": "2", "a": "1"})
    assert to_table([forwards], ITEM_ROWS).equals(to_table([backwards], ITEM_ROWS))


class Leaf(Record):
    name: str
    counts: dict[str, int]


class Nested(Record):
    leaf: Leaf
    leaves: tuple[Leaf, ...]
    by_name: dict[str, Leaf]
    maybe: Leaf | None = None


LEAF = st.builds(
    Leaf, name=st.text(max_size=3), counts=st.dictionaries(st.text(max_size=3), st.integers(0, 9))
)
NESTED = st.builds(
    Nested,
    leaf=LEAF,
    leaves=st.lists(LEAF, max_size=2).map(tuple),
    by_name=st.dictionaries(st.text(max_size=3), LEAF, max_size=2),
    maybe=st.none() | LEAF,
)


@given(st.lists(NESTED, max_size=3))
def test_maps_at_any_depth_come_back(records: list[Nested]) -> None:
    assert from_table(to_table(records, Nested), Nested) == records
