"""Running the checks: what configs change, in which order findings come, and that no text makes a check fail."""

from __future__ import annotations

import pickle
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from mihakk.machinery.errors import UsageError
from mihakk.schemas.benchmark import ChecksConfig
from mihakk.schemas.idiom import Idiom
from mihakk.schemas.item import ChoiceItem, ExplanationItem, Item, Origin
from mihakk.schemas.poem import Couplet, Poem, Section
from mihakk.schemas.record import Form, Provenance
from mihakk.validators.checks import CHECKS, check_items, check_records, check_set, gather, index, prepare
from mihakk.validators.checks.check import Registry, check
from mihakk.validators.checks.setindex import SetIndex
from mihakk.validators.checks.texts import Texts
from tests.validators.checks.check_samples import subject

ORIGIN = Origin(records=("r",), generator="sample", generator_version="1")
PROVENANCE = Provenance(source="s", url="file:a", licence="CC0-1.0", sha256="0" * 64, parser_version="1")


def choice(name: str = "c", options: tuple[str, ...] = ("نعم", "لا"), **changes: Any) -> Item:
    fields = {"question": "هل الشمس نجم؟", "options": options, "gold": (0,), "records": ("r",), **changes}
    made: Item = subject(kind="choice", id=name, **fields)
    return made


def test_a_check_can_be_switched_off_and_weighed_otherwise() -> None:
    item = choice(options=("نعم", "نعم"))
    [finding] = check_items([item], ChecksConfig(), None)
    assert (finding.check, finding.severity, finding.subject, finding.where) == (
        "CH03",
        "block",
        "c",
        "options[1]",
    )
    assert check_items([item], ChecksConfig(off=("CH03",)), None) == []
    [weaker] = check_items([item], ChecksConfig(severity={"CH03": "report"}), None)
    assert weaker.severity == "report"


@pytest.mark.parametrize("config", [ChecksConfig(off=("CH30",)), ChecksConfig(severity={"CH30": "flag"})])
def test_a_check_that_does_not_exist_is_a_mistake_that_names_the_nearest(config: ChecksConfig) -> None:
    for run in (
        lambda: check_items([], config, None),
        lambda: check_records([], config),
        lambda: check_set(SetIndex(), config),
    ):
        with pytest.raises(UsageError, match="did you mean CH"):
            run()


def test_findings_come_in_order_of_items_and_of_ids() -> None:
    first = choice("z", ("\u202bنعم", "نعم\ufffd", "null"), gold=(9,))
    second = choice("b", ("نعم", "نعم"))
    findings = check_items([first, second], ChecksConfig(), None)
    assert [(one.subject, one.check) for one in findings] == [
        ("z", "CH01"),
        ("z", "TX02"),
        ("z", "TX03"),
        ("z", "TX07"),
        ("b", "CH03"),
    ]


def test_without_an_index_no_items_are_compared() -> None:
    items = [choice("a"), choice("b")]
    assert check_items(items, ChecksConfig(), None) == []
    assert {one.check for one in check_items(items, ChecksConfig(), index(items))} == {"DU01"}


def test_ids_are_taken_once_and_checks_say_what_they_take() -> None:
    with pytest.raises(ValueError, match="two plugins"):
        CHECKS.add("CH03", CHECKS.get("CH03"))
    with pytest.raises(TypeError, match="texts alone"):
        check("ZZ01", severity="flag", on=ChoiceItem, title="t", when="x")(lambda item: iter(()))
    with pytest.raises(TypeError, match="no word holds a space"):
        check("ZZ01", severity="flag", on=ChoiceItem, title="t", when=" x")
    with pytest.raises(TypeError, match="index alone"):
        check("ZZ02", severity="flag", on=ChoiceItem, title="t")(lambda index: iter(()))
    assert isinstance(CHECKS, Registry)


def test_a_check_of_another_package_that_fails_is_named_with_its_package(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    CHECKS.discover()
    monkeypatch.setattr(CHECKS, "_plugins", dict(CHECKS._plugins))
    monkeypatch.setattr(CHECKS, "_brought", {"ZZ03": "mihakk-tangier 0.3.0"})

    def harbour(subject: ChoiceItem) -> Any:
        yield from subject.harbours  # type: ignore[attr-defined]

    check("ZZ03", severity="flag", on=ChoiceItem, title="t")(harbour)
    with pytest.raises(
        UsageError, match=r"ZZ03 of the package mihakk-tangier 0\.3\.0 failed at c .*'harbours'"
    ):
        check_items([choice()], ChecksConfig(), None)
    assert check_items([choice()], ChecksConfig(off=("ZZ03",)), None) == []


WORDS = st.sampled_from(["نور", "ليل", "قمر", "في", "من", "12", "كتاب"])
ITEMS = st.lists(
    st.tuples(st.lists(WORDS, min_size=1, max_size=14), st.lists(WORDS, min_size=2, max_size=3, unique=True), st.sampled_from(["", "dev", "test"])),
    min_size=1,
    max_size=14,
)  # fmt: skip


@settings(max_examples=60)
@given(rows=ITEMS, cuts=st.lists(st.integers(0, 14), max_size=3))
def test_the_index_does_not_depend_on_how_the_set_is_cut_into_shards(
    rows: list[Any], cuts: list[int]
) -> None:
    items = [
        choice(f"i{n}", tuple(options), question=" ".join(words), split=split)
        for n, (words, options, split) in enumerate(rows)
    ]
    edges = [0, *sorted(min(cut, len(items)) for cut in cuts), len(items)]
    shards = [items[a:b] for a, b in pairwise(edges)]
    gathered = [pickle.loads(pickle.dumps(gather(shard))) for shard in reversed(shards)]
    whole, merged = index(items), prepare(gathered)
    config = ChecksConfig()
    assert check_set(merged, config) == check_set(whole, config)
    apart = [finding for shard in shards for finding in check_items(shard, config, merged)]
    assert apart == check_items(items, config, whole)


TEXT = st.text(
    st.one_of(
        st.characters(),
        st.sampled_from("اوية ىلأإء ةًٌٍَُِّْـ\u200c\u202b\u202c\ufffd\ue000ﷲﻻ١۲3«»()؟،.-<p>&ظ‚Ø§\n"),
    ),
    max_size=40,
)
LANGUAGE = st.sampled_from(["ar", "fa", "en"])


@example(language="ar", texts=["نعم", "لا\n", "\u0651نعم", "ي\x1cي", "ببب\u00a0ة"])
@given(language=LANGUAGE, texts=st.lists(TEXT, min_size=3, max_size=5))
def test_no_check_that_words_call_for_would_have_found_more_uncalled(language: Any, texts: list[str]) -> None:
    item = choice(question=texts[0], options=tuple(texts[1:]), language=language)
    called_for = [one for _, one in CHECKS if one.when and ChoiceItem in one.on]
    everything = {
        (one.id, found.detail, found.where)
        for one in called_for
        for found in one.run(item, Texts.of(item), None)
    }
    alone = ChecksConfig(off=tuple(name for name in CHECKS.names() if not CHECKS.get(name).when))
    assert {(one.check, one.detail, one.where) for one in check_items([item], alone, None)} == everything


@example(language="ar", texts=["", "", "", "", "", "\u3280"], gold=[], facts={})
@example(language="ar", texts=["\ud800", "ا\ud800", "\ud800", "ب \ud800", "\udfff", "\ud800"], gold=[0], facts={"poet": "\ud800"})  # fmt: skip
@given(
    language=LANGUAGE,
    texts=st.lists(TEXT, min_size=6, max_size=6),
    gold=st.lists(st.integers(-2, 5), max_size=3),
    facts=st.dictionaries(st.sampled_from(["poet", "era", "genre", "metre", "rhyme"]), TEXT),
)
def test_no_text_makes_a_check_of_items_fail(language: Any, texts: list[str], gold: list[int], facts: dict[str, str]) -> None:  # fmt: skip
    q, c, *rest = texts
    items = [
        choice("c", tuple(rest), question=q, context=c, gold=tuple(gold), language=language, metadata=facts, fields={"f": c}),
        subject(kind="answer", id="a", answer=rest[0], accepted=(rest[1],), question=q, language=language, metadata=facts),
        ExplanationItem(
            id="e", task="t", language=language, question=q, licence="", origin=ORIGIN,
            verses=tuple(rest[:2]), explanations=tuple(rest[2:]), overall=c,
        ),
    ]  # fmt: skip
    findings = check_items(items, ChecksConfig(), index(items))
    assert {one.subject for one in findings} <= {"c", "a", "e"}
    assert all(one.detail for one in findings)


@given(
    language=LANGUAGE,
    texts=st.lists(TEXT, min_size=6, max_size=6),
    labels=st.lists(TEXT, min_size=4, max_size=4),
)
def test_no_text_makes_a_check_of_records_fail(language: Any, texts: list[str], labels: list[str]) -> None:
    forms = [Form(raw=text, text=text, key="") for text in texts]
    couplets = tuple(
        Couplet(id=f"p:{n}", position=n, first=first, second=second, explanation=texts[n])
        for n, (first, second) in enumerate(zip(forms[:3], [*forms[3:5], None], strict=True))
    )
    poem = Poem(
        id="p", language=language, title=texts[0], poet=labels[0], era=labels[1], genre=labels[2],
        sections=(Section(index=0, metre=labels[3]),), couplets=couplets, provenance=PROVENANCE,
    )  # fmt: skip
    idiom = Idiom(id="i", language=language, phrase=forms[0], explanation=forms[1], provenance=PROVENANCE)
    assert {one.subject for one in check_records([poem, idiom], ChecksConfig())} <= {"p", "i"}
