"""What each task promises of its items, whatever records it is given and whatever a model replies."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from mihakk.generators.generating import generate_shard, prepare
from mihakk.generators.parts.excerpts import shown
from mihakk.generators.parts.prose import leaks
from mihakk.generators.parts.terms import eras, genres, metres
from mihakk.generators.task import TASKS
from mihakk.machinery.languages import pack
from mihakk.machinery.text import key, word_keys
from mihakk.schemas.benchmark import BenchmarkConfig
from mihakk.schemas.idiom import Idiom
from mihakk.schemas.item import AnswerItem, ChoiceItem, ExplanationItem, Item
from mihakk.schemas.poem import Poem
from tests.generators.records import make_idiom, make_poem
from tests.generators.scripted import ScriptedWriter

CONFIG = BenchmarkConfig.model_validate(
    {
        "name": "t",
        "title": "t",
        "sources": [{"use": "f"}],
        "tasks": [{"use": name} for name, _ in TASKS],
        "embeddings": "none",
        "generator": {
            "name": "scripted",
            "family": "none",
            "model": "scripted",
            "serve": {"engine": "embedded", "weights": "none"},
        },
    }
)
WORDS = ["قلب", "بحر", "نجم", "ليل", "في", "دار", "سيف", "كتاب", "من", "نهر", "صبر", "غيم"]
PHRASES = ["قلبه أبيض", "ضرب عصفورين بحجر واحد", "نام على ودنه", "إيد لوحدها ما تسقفش"]
SENTENCES = [f"كل الناس في الحارة عارفين إن {phrase} من زمان" for phrase in PHRASES]
TEXT = st.lists(st.sampled_from(WORDS), min_size=0, max_size=8).map(" ".join)
LINE = st.lists(st.sampled_from(WORDS), min_size=3, max_size=6).map(" ".join)
COUPLET = st.tuples(LINE, LINE, TEXT, TEXT)
POEM = st.tuples(
    st.lists(COUPLET, min_size=1, max_size=4),
    st.sampled_from(["tawil", "kamil", "basit"]),
    st.sampled_from(["pre_islamic", "abbasid", "modern"]),
    st.sampled_from(["love", "praise", "satire"]),
    st.sampled_from(["المتنبي", "جرير", "الخنساء", "البحتري"]),
)
SAYING = st.tuples(
    st.sampled_from(PHRASES),
    st.lists(st.sampled_from(WORDS), min_size=4, max_size=8).map(" ".join),
    st.sampled_from(["positive", "negative", "neutral", None]),
    st.sampled_from([(), (SENTENCES[0],), (SENTENCES[1],), ("جملة بلا مثل فيها",)]),
)
Rule = Callable[[Any, Any], None]


def records(poems: list[Any], sayings: list[Any]) -> list[Poem | Idiom]:
    found: list[Poem | Idiom] = []
    for n, (couplets, metre, era, genre, poet) in enumerate(poems):
        pairs = [(first, second) for first, second, _, _ in couplets]
        poem = make_poem(f"p{n}", pairs, language="ar", poet=poet, metre=metre, era=era, genre=genre)
        beside = [
            couplet.model_copy(update={"prose": prose, "explanation": explanation})
            for couplet, (_, _, prose, explanation) in zip(poem.couplets, couplets, strict=True)
        ]
        found.append(poem.model_copy(update={"couplets": tuple(beside)}))
    for n, (phrase, explanation, connotation, examples) in enumerate(sayings):
        found.append(make_idiom(f"i{n}", phrase, explanation, connotation=connotation, examples=examples))
    return found


def right(item: ChoiceItem) -> str:
    return item.options[item.gold[0]]


def wrong(item: ChoiceItem) -> list[str]:
    return [option for place, option in enumerate(item.options) if place not in item.gold]


def own(item: Item, poem: Poem) -> Any:
    return next(couplet for couplet in poem.couplets if couplet.id == item.origin.records[0])


def continues(item: AnswerItem | ChoiceItem, poem: Poem) -> None:
    couplet = own(item, poem)
    answer = item.answer if isinstance(item, AnswerItem) else right(item)
    assert answer == couplet.second.text
    assert item.fields["first"] == couplet.first.text
    assert len(couplet.first.text.split()) >= 2


def cued(item: AnswerItem | ChoiceItem, poem: Poem) -> None:
    continues(item, poem)
    assert not leaks(item.fields["prose"], own(item, poem).second.text, "ar")


def opens(item: ChoiceItem, poem: Poem) -> None:
    assert right(item) == own(item, poem).first.text
    assert item.fields == {"poet": poem.poet, "second": own(item, poem).second.text}


def fragment(item: AnswerItem, poem: Poem) -> None:
    continues(item, poem)
    cues = [word_keys(item.fields[name], "ar") for name in ("word_1", "word_2")]
    assert cues[0] != cues[1]
    assert all(cue[0] in word_keys(item.answer, "ar") for cue in cues)


def disorder(mixed: str, line: str) -> None:
    was, now = word_keys(line, "ar"), word_keys(mixed, "ar")
    assert sorted(was) == sorted(now)
    assert was[-1] != now[-1]
    assert sum(a != b for a, b in zip(was, now, strict=True)) >= 3


def labelled(name: Callable[[Poem], str], options: int = 4) -> Rule:
    def rule(item: ChoiceItem, poem: Poem) -> None:
        assert right(item) == name(poem)
        assert len(item.options) == options

    return rule


def explained(item: ExplanationItem, poem: Poem) -> None:
    assert len(item.verses) == len(item.explanations) == len(poem.couplets)
    assert list(item.explanations) == [couplet.explanation for couplet in poem.couplets]
    assert list(item.verses) == [shown(couplet) for couplet in poem.couplets]


def means(item: ChoiceItem, idiom: Idiom) -> None:
    assert right(item) == idiom.explanation.text
    assert len(item.options) == 2
    assert key(idiom.phrase.text, "ar") not in key(right(item), "ar")


def in_context(item: ChoiceItem, idiom: Idiom) -> None:
    means(item, idiom)
    assert idiom.phrase.text in item.fields["sentence"]


def negated(item: ChoiceItem, idiom: Idiom) -> None:
    assert wrong(item) == [idiom.explanation.text]


def fits(item: ChoiceItem, idiom: Idiom) -> None:
    assert right(item) == idiom.phrase.text
    assert "____" in item.question
    assert not any(key(option, "ar") in key(item.question, "ar") for option in item.options)


def completed(item: AnswerItem, idiom: Idiom) -> None:
    said = word_keys(idiom.phrase.text, "ar")
    assert word_keys(f"{item.fields['opening']} {item.answer}", "ar") == said
    assert said[-1] not in said[:-1]


def connoted(item: ChoiceItem, idiom: Idiom) -> None:
    assert idiom.connotation is not None
    assert right(item) == pack("ar").made_with.connotations[idiom.connotation]
    assert len(item.options) == 3


def answer_is(value: Callable[[Any, Any], str]) -> Rule:
    def rule(item: AnswerItem, record: Poem | Idiom) -> None:
        assert item.answer == value(item, record)

    return rule


RULES: dict[str, Rule] = {
    **dict.fromkeys(("continuation", "continuation_choice"), continues),
    **dict.fromkeys(("prose_cued", "prose_cued_choice", "paraphrase_cued", "paraphrase_cued_choice"), cued),
    "verse_choice": opens,
    "fragment_cued": fragment,
    "shuffled": lambda item, poem: disorder(item.fields["shuffled"], own(item, poem).second.text),
    "shuffled_choice": lambda item, poem: disorder(wrong(item)[0], own(item, poem).second.text),
    "metre_choice": labelled(lambda poem: metres("ar")[poem.sections[0].metre].name),
    "era_choice": labelled(lambda poem: eras()[poem.era].name, 2),
    "genre_choice": labelled(lambda poem: genres()[poem.genre].name),
    "poet_choice": labelled(lambda poem: poem.poet),
    "verse_explanation": explained,
    "couplet_prose": answer_is(lambda item, poem: own(item, poem).prose),
    "meaning_choice": means,
    "meaning_choice_srl": means,
    "meaning_in_context": in_context,
    "negation": negated,
    "pragmatic_use": fits,
    "completion": completed,
    "explanation": answer_is(lambda _, idiom: idiom.explanation.text),
    "connotation": connoted,
}


def test_every_task_has_its_rule() -> None:
    assert set(RULES) == set(TASKS.names())


@settings(max_examples=40)
@given(st.lists(POEM, max_size=5), st.lists(SAYING, max_size=4), TEXT, st.sampled_from(SENTENCES))
def test_items_keep_what_their_task_promises(
    poems: list[Any], sayings: list[Any], reply: str, sentence: str
) -> None:
    found = records(poems, sayings)
    role = {"role": "agent", "text": "قلب"}
    writer = ScriptedWriter(
        meaning_choice=[{"explanation": reply}],
        meaning_choice_srl=[
            {
                "roles": [role, {"role": "place", "text": "بحر"}],
                "changed": [{"role": "agent", "before": "قلب", "after": "نجم"}],
                "sentence": reply,
            }
        ],
        pragmatic_use=[{"sentence": sentence}],
        fragment_cued=[
            {"first_word": "قلب", "second_word": "بحر"},
            {"first_word": "نجم", "second_word": "ليل"},
        ],
        prose_cued=[{"prose": reply}],
        paraphrase_cued=[{"paraphrase": reply}],
    )
    made = generate_shard(found, prepare(found, CONFIG), CONFIG, writer)
    by_id = {record.id: record for record in found}
    for item in made.items:
        RULES[item.task](item, by_id[item.origin.records[0].partition(":")[0]])
        if isinstance(item, ChoiceItem):
            assert len({key(option, "ar") for option in item.options}) == len(item.options)
