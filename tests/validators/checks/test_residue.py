"""Residue of models, marks on golds, letters of other lists, second right options, broken-off and garbled questions."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from typing import Any

import pytest
from pydantic import TypeAdapter

from mihakk.schemas.benchmark import ChecksConfig
from mihakk.schemas.item import ChoiceItem
from mihakk.validators.checks import check_items, gather, prepare
from mihakk.validators.checks.setindex import SetIndex
from mihakk.validators.checks.wording import WordTally, letters
from tests.validators.checks.check_samples import subject


def _item(place: int = 0, **fields: Any) -> ChoiceItem:
    given = {"kind": "choice", "origin": "external", "task": "external_choice", "gold": [0], **fields}
    return subject(place, **given)


def _found(items: list[ChoiceItem], check: str) -> set[str]:
    whole = prepare([gather(items)])
    return {one.subject for one in check_items(items, ChecksConfig(), whole) if one.check == check}


@pytest.mark.parametrize(
    "said",
    [
        "Okay, here is the Arabic rendering you asked for: {}",
        "Translated phrase: {}",
        "{} Please let me know if you need any other help!",
        "As a large language model, I can't choose between these.",
        "تفضل، هذه هي الترجمة المطلوبة: {}",
        "آسف، لا يمكنني تقديم إجابة عن هذا السؤال.",
        "قطعاً! در اینجا برگردان فارسی پرسش آمده است: {}",
        "من یک مدل زبانی هستم و نمی‌توانم به این سؤال پاسخ بدهم.",
        "Avec plaisir ! Voici le texte traduit : {}",
        "Lamentablemente no puedo ayudarte con esa solicitud.",
        "Tabii ki! İşte çeviri: {}",
        "{} Falls Sie weitere Fragen haben, helfe ich gern.",
        "对不起，我不能翻译这段内容。",
        "<|im_start|>{}",
    ],
)
def test_what_a_model_says_about_a_text_is_found_in_any_field_of_any_language(said: str) -> None:
    for language in ("ar", "fa", "en"):
        asked = _item(language=language, question=said.format("2 + 2 = ?"), options=["4", "5"])
        offered = _item(1, language=language, question="2 + 2 = ?", options=["4", said.format("5")])
        assert _found([asked, offered], "TX27") == {asked.id, offered.id}, language


@pytest.mark.parametrize(
    "text",
    [
        "Here are the steps of photosynthesis: which comes first?",
        "I don't understand why everyone thinks they belong in college. Which fallacy is it?",
        "If you have 3 apples and need 5 more, how many do you have?",
        "Unfortunately, the patient is unable to provide a history.",
        "The answer: what did Hamlet say?",
        "As an AI engineer, Sara trains models. Whom does she work with?",
        "Note: the translation of the Quran by Pickthall appeared in 1930.",
        "إليك هذه الأبيات: من قائلها؟",
        "عذرًا على التأخير، قال المدير. ما معنى «عذرًا»؟",
        "لطفاً متن زیر را بخوانید و به پرسش پاسخ دهید.",
    ],
)
def test_people_say_much_of_the_same(text: str) -> None:
    item = _item(language="en" if text.isascii() else "ar", question=text, options=["one", "another"])
    assert not _found([item], "TX27")


@pytest.mark.parametrize(
    "mark",
    ["{} ✔", "** {} **", "{} [right]", "=> {}", "{} — الجواب الصحيح", "<b>{}</b>", "👉 {}", "{}（答案）"],
)
def test_a_mark_on_one_option_counts_where_it_is_the_gold(mark: str) -> None:
    gold = _item(question="ما عاصمة مصر؟", options=[mark.format("القاهرة"), "دمشق", "بغداد"])
    other = _item(1, question="ما عاصمة مصر؟", options=["القاهرة", mark.format("دمشق"), "بغداد"])
    every = _item(
        2, question="ما عاصمة مصر؟", options=[mark.format(one) for one in ("القاهرة", "دمشق", "بغداد")]
    )
    assert _found([gold, other, every], "CH14") == {gold.id}


def test_a_hyphen_inside_a_word_parts_no_mark_from_an_option() -> None:
    options = ["they dealt with it low-key", "they went to war", "they asked a court"]
    assert not _found([_item(language="en", question="What did they do?", options=options)], "CH14")


@pytest.mark.parametrize(
    ("check", "fields"),
    [
        ("CH16", {"question": "Who?", "options": ["seven", "7", "x"]}),
        (
            "TX20",
            {"language": "ar", "question": "Which of these planets is the largest?", "options": ["a", "b"]},
        ),
        ("TX27", {"question": "Sure! Here is the translated question: who?", "options": ["a", "b"]}),
    ],
)
def test_what_readers_never_found_right_counts_in_outside_sets_alone(
    check: str, fields: dict[str, Any]
) -> None:
    for origin, severity in (("external", "report"), ("generated", "flag")):
        item = _item(**{"language": "en", "origin": origin, **fields})
        assert {one.severity for one in check_items([item], ChecksConfig(), None) if one.check == check} == {
            severity
        }


@pytest.mark.parametrize(
    ("language", "gold", "other"),
    [
        ("en", "an organisation", "organization"),
        ("en", "seven", "7"),
        ("ar", "مكتبة عامة", "مكتبه عامه"),
        ("ar", "١٢", "اثنا عشر"),
        ("fa", "سه", "۳"),
        ("fa", "هیئت دولت", "هیأت دولت"),
    ],
)
def test_another_spelling_of_the_gold_is_a_second_right_option(language: str, gold: str, other: str) -> None:
    item = _item(language=language, question="?", options=[gold, other, "x"])
    assert _found([item], "CH16") == {item.id}


@pytest.mark.parametrize(
    "options",
    [["4", "-4", "8"], ["x = 1.5", "x = 15", "y"], ["colour", "color", "coulor", "colur"], ["Na", "NA", "K"]],
)
def test_signs_points_and_forms_make_other_options(options: list[str]) -> None:
    assert not _found([_item(language="en", question="?", options=options)], "CH16")


_ASKED = [
    _item(
        n,
        language="en",
        question=f"Which of the planets did Galileo observe in the year {1600 + n}?",
        options=["Jupiter", "Mars"],
    )
    for n in range(150)
]


def test_a_question_without_a_mark_breaks_off_where_all_others_have_one() -> None:
    cut = _item(500, language="en", question="Which of the planets did Galileo", options=["Jupiter", "Mars"])
    assert _found([*_ASKED, cut], "QU02") == {cut.id}


def test_a_question_that_ends_in_a_statement_of_code_is_whole() -> None:
    code = "Which value does x have behind these two statements? x := 3; x := x + 1;"
    cut = _item(
        501, language="en", question="Which planets did Galileo, by his own letters,", options=["a", "b"]
    )
    assert _found([*_ASKED, _item(500, language="en", question=code, options=["3", "4"]), cut], "QU02") == {
        cut.id
    }


def test_ranges_and_rows_of_numbers_are_counted_as_letters_of_another_list_and_flagged_behind_brackets() -> (
    None
):
    ages = _item(
        0, language="en", question="How old is it?", options=["one year", "2 - 3 years", "ten years"]
    )
    rows = _item(1, language="en", question="Which are right?", options=["only I", "I - II", "I - III"])
    left = _item(2, language="en", question="Which city is it?", options=["Rome", "b) Paris", "Bonn"])
    found = {one.subject: one.severity for one in check_items([ages, rows, left], ChecksConfig(), None)}
    assert found == {ages.id: "report", rows.id: "report", left.id: "flag"}


def test_what_many_questions_do_is_their_style() -> None:
    stems = [
        _item(
            200 + n,
            language="en",
            question=f"In the year {1600 + n} Galileo looked at the",
            options=["sky", "sea"],
        )
        for n in range(50)
    ]
    assert not _found([*_ASKED, *stems], "QU02")


def test_a_garbled_question_is_flagged_by_its_words_one_with_names_counted_and_what_is_known_outlives_the_disk() -> (
    None
):
    garbled = _item(
        500,
        language="en",
        question="Whicb of tbe plonets qid Galilco obscrve fhrongh hlz telescqpe?",
        options=["a", "b"],
    )
    doubtful = _item(
        501,
        language="en",
        question="Which moons did Corvanqelli and Brustwig see?",
        options=["a", "b"],
    )
    whole = prepare([gather(_ASKED), gather([garbled, doubtful])])
    found = check_items([*_ASKED, garbled, doubtful], ChecksConfig(), whole)
    assert {one.subject: one.severity for one in found if one.check == "TX28"} == {
        garbled.id: "flag",
        doubtful.id: "report",
    }
    kept = TypeAdapter(SetIndex)
    assert kept.validate_json(kept.dump_json(whole)).wording == whole.wording


def test_shards_together_know_what_one_shard_knows() -> None:
    halves = prepare([gather(_ASKED[:70]), gather(_ASKED[70:])])
    assert halves.wording == prepare([gather(_ASKED)]).wording


def test_the_measurement_plants_and_counts_thirty_of_each_kind() -> None:
    from performance.residue import CHECKS, EACH, measure

    names = [
        "Cairo",
        "Damascus",
        "Baghdad",
        "Tunis",
        "Rabat",
        "Algiers",
        "Amman",
        "Beirut",
        "Sanaa",
        "Muscat",
        "Doha",
        "Manama",
    ]
    rows = [
        {
            "question": f"Which of these old cities lies nearest to the river, lake or sea that is number {n} (see the list)?",
            "options": [names[(n + k) % len(names)] for k in range(4)],
            "gold": n % 4,
        }
        for n in range(400)
    ]
    counts, hits, wrong, untouched = measure(rows, "en", 1)
    assert counts == dict.fromkeys(CHECKS, EACH)
    assert untouched == 400 - EACH * len(CHECKS)
    assert not wrong
    # One template has no style of ends, and too few words to know garbled ones by.
    by_set = {"unreadable words": 0, "truncated question": 1}
    assert all(hits[kind] >= by_set.get(kind, 0.8 * EACH) for kind in CHECKS), hits


def test_the_measurement_says_what_it_lacks(tmp_path: Any) -> None:
    command = [sys.executable, "-m", "performance.residue"]
    skipped = subprocess.run(
        [*command, "--data", str(tmp_path / "none")], capture_output=True, text=True, check=True
    )
    assert skipped.stdout.startswith("skipped: no real data in")
    wrong = subprocess.run([*command, "--set", "x.jsonl"], capture_output=True, text=True, check=False)
    assert wrong.returncode == 2
    assert "one language for each set" in wrong.stderr


def test_a_sequence_longer_than_any_word_is_not_taken_apart() -> None:
    assert letters(f"Does {'acgt' * 20_000} code proteins?", "en") == ["Does", "code", "proteins"]
    tally = WordTally(rows=100, words=Counter({"abc" * 30_000: 2, "abc": 1}), bare_ends=Counter({"abc": 1}))
    assert tally.wording("en").ends["cut"] == {"abc"}
