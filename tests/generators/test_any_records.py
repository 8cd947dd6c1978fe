"""Whatever the records look like: no task fails, every item is valid, every record is accounted for."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from mihakk.generators.generating import generate_shard, prepare
from mihakk.generators.task import TASKS
from mihakk.machinery.text import key
from mihakk.schemas.benchmark import BenchmarkConfig
from mihakk.schemas.idiom import Idiom
from mihakk.schemas.item import ITEM, ChoiceItem
from mihakk.schemas.poem import Poem
from tests.generators.records import make_idiom, make_poem

MODEL_FREE = [{"use": name} for name, task in TASKS if not task.needs_model]
CONFIG = BenchmarkConfig.model_validate(
    {"name": "t", "title": "t", "sources": [{"use": "f"}], "tasks": MODEL_FREE, "embeddings": "none"}
)

# Few words, so that refrains, shared openings and identical rhymes are the rule.
LINE = st.lists(st.sampled_from(["یار", "گل", "باد", "شب،", "آمد", "را", "x1", "!"]), max_size=6).map(
    " ".join
)
PAIR = st.tuples(LINE, st.none() | LINE)
POEM = st.tuples(
    st.lists(PAIR, max_size=5),
    st.sampled_from(["fa_1", "fa_28", "", "zz"]),
    st.sampled_from(["حافظ", "سعدی", ""]),
)
SAYING = st.tuples(LINE, LINE, st.sampled_from(["idiom", "proverb"]), st.none() | st.just("neutral"))


@settings(max_examples=60)
@given(st.lists(POEM, max_size=4), st.lists(SAYING, max_size=4))
def test_any_records(
    poems: list[tuple[list[tuple[str, str | None]], str, str]],
    sayings: list[tuple[str, str, str, str | None]],
) -> None:
    records: list[Poem | Idiom] = []
    for n, (pairs, metre, poet) in enumerate(poems):
        if any(key(part or "", "fa") for pair in pairs for part in pair):
            records.append(make_poem(f"p{n}", pairs, metre=metre, poet=poet))
    for n, (phrase, explanation, genre, connotation) in enumerate(sayings):
        if key(phrase, "fa"):
            records.append(
                make_idiom(
                    f"i{n}", phrase, explanation or " ", language="fa", genre=genre, connotation=connotation
                )
            )
    made = generate_shard(records, prepare(records, CONFIG), CONFIG)
    ids = {record.id: record.id for record in records}
    ids |= {c.id: poem.id for poem in records if isinstance(poem, Poem) for c in poem.couplets}
    assert {ids[item.origin.records[0]] for item in made.items} | {row.record for row in made.rejected} == {
        record.id for record in records
    }
    assert len({item.id for item in made.items}) == len(made.items)
    for item in made.items:
        ITEM.validate_python(item.model_dump())
        assert set(item.origin.records) <= ids.keys()
        if isinstance(item, ChoiceItem):
            keys = [key(option, "fa") for option in item.options]
            assert len(set(keys)) == len(keys) >= 2
            assert all(keys)


def test_a_poem_that_says_one_thing_gives_no_choice() -> None:
    same = [
        ("ای یار بیا که دل گرفته", "باز آی که جان به لب رسیده"),
        ("ای گل مرو از کنار ما تو", "باز آی که جان به لب رسیده"),
    ]
    poems = [make_poem("p", same), make_poem("q", same[:1])]
    config = CONFIG.model_copy(
        update={"tasks": tuple(use for use in CONFIG.tasks if use.use == "continuation_choice")}
    )
    made = generate_shard(poems, prepare(poems, config), config)
    assert made.items == []
    assert {row.reason for row in made.rejected} == {"no_line_in_poem", "single_couplet"}
