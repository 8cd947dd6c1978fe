"""Reading answers in words, explanations verse by verse, and likelihoods."""

from __future__ import annotations

import json
from math import inf, nan
from pathlib import Path
from typing import Any

import pytest

from mihakk.evaluation.reading import read_answer, read_likelihoods, read_strict_tag, read_verses
from tests.evaluation.material import EXPLANATIONS, VERSES


@pytest.mark.parametrize(
    ("reply", "text", "notes", "format_ok"),
    [
        ("<answer>ببین تفاوت ره</answer>", "ببین تفاوت ره", (), True),
        ("  <answer>«ببین تفاوت ره.»</answer>\n", "«ببین تفاوت ره.»", (), True),
        ("<answer>ببین تفاوت", "ببین تفاوت", ("cut_tag",), False),
        ("<answer>خطا</answer> بهتر: <answer>درست</answer>", "درست", (), False),
        ("<answer>درست</answer>\n<answer>", "درست", (), False),
        ("میان <answer> و </answer> می‌نویسم: <answer>درست</answer>", "درست", (), False),
        ("<aanswer>درست</answer>", "درست", (), False),
        ("درست</answer> و دیگر هیچ", "درست", (), False),
        ("</answer>", "", ("no_tag",), False),
        ("**الحيط!**", "**الحيط!**", ("no_tag",), False),
        ("The answer is: “Admit impediments.”", "“Admit impediments.”", ("no_tag",), False),
        ("الإجابة النهائية هي:\n**الحيط**", "**الحيط**", ("no_tag",), False),
        ("پاسخ: درست", "درست", ("no_tag",), False),
        ("جواب ابلهان: خاموشی است", "جواب ابلهان: خاموشی است", ("no_tag",), False),
        ("<answer>…</answer>", "", (), False),
        ("<think>شاید این؟</think><answer>آن</answer>", "آن", (), True),
        ("<think>شاید این؟", "", ("thought_cut",), False),
        ("<answer></answer>", "", ("no_tag",), False),
        ("", "", ("no_tag",), False),
    ],
)
def test_the_last_tag_is_read(reply: str, text: str, notes: tuple[str, ...], format_ok: bool) -> None:
    reading = read_answer(reply)
    assert (reading.text, reading.format_ok, reading.found) == (text, format_ok, bool(text))
    assert set(notes) <= set(reading.notes)


@pytest.mark.parametrize(
    ("reply", "text"),
    [
        ("<answer>یک</answer>", "یک"),
        ("\n <answer> یک </answer> \n", "یک"),
        ("پاسخ: <answer>یک</answer>", ""),
        ("<answer>یک</answer>.", ""),
        ("<answer>یک", ""),
        ("یک", ""),
        # The published pattern is lazy but anchored: two tags are one answer with a tag inside.
        ("<answer>یک</answer><answer>دو</answer>", "یک</answer><answer>دو"),
    ],
)
def test_the_published_reader_takes_a_whole_reply_that_is_one_tag(reply: str, text: str) -> None:
    assert read_strict_tag(reply).text == text


def numbered(*pieces: str) -> str:
    return "\n\n".join(f"{number}. {piece}" for number, piece in enumerate(pieces, 1))


def entries(*pairs: tuple[str, str], **more: str) -> str:
    told = [{"verse": verse, "explanation": text} for verse, text in pairs]
    return json.dumps({**more, "verses": told}, ensure_ascii=False)


PAIRS = list(zip(VERSES, EXPLANATIONS, strict=True))
BROKEN = "```json\n" + entries(*PAIRS, explanation="كلها").replace('"verses":', "") + "\n```"


@pytest.mark.parametrize(
    ("reply", "verses", "overall"),
    [
        (numbered(*EXPLANATIONS), EXPLANATIONS, ""),
        (numbered(*EXPLANATIONS) + "\n\nالقصيدة كلها: وقوف على الأطلال", EXPLANATIONS, "القصيدة كلها: وقوف على الأطلال"),
        (numbered(*EXPLANATIONS) + "\n\nوقوف على الأطلال.", EXPLANATIONS, "وقوف على الأطلال."),
        (numbered(*EXPLANATIONS).replace("1.", "١)").replace("2.", "**٢-**"), EXPLANATIONS, ""),
        ("\n".join(f"البيت {n}: {e}" for n, e in zip(("الأول", "الثاني", "الثالث"), EXPLANATIONS, strict=True)), EXPLANATIONS, ""),
        (entries(*PAIRS, explanation="كلها"), EXPLANATIONS, "كلها"),
        (BROKEN, EXPLANATIONS, "كلها"),
    ],
    ids=["numbered", "overall named", "overall at the end", "other digits", "ordinals", "json", "broken json"],
)  # fmt: skip
def test_explanations_are_read_verse_by_verse(reply: str, verses: tuple[str, ...], overall: str) -> None:
    reading = read_verses(reply, VERSES)
    assert (reading.verses, reading.text) == (verses, overall)


def test_six_explanations_of_three_verses_misalign_nothing() -> None:
    """The published script merges every two of them: each then stands beside another verse."""
    halves = [(verse[: len(verse) // 2], f"{text} أ") for verse, text in PAIRS]
    halves += [(verse[len(verse) // 2 :], f"{text} ب") for verse, text in PAIRS]
    reading = read_verses(entries(*halves), VERSES)
    assert reading.verses == tuple(f"{text} أ\n{text} ب" for text in EXPLANATIONS)


def test_a_skipped_verse_moves_no_other() -> None:
    assert read_verses(f"1. {EXPLANATIONS[0]}\n3. {EXPLANATIONS[2]}", VERSES).verses == (
        EXPLANATIONS[0],
        None,
        EXPLANATIONS[2],
    )
    assert read_verses(entries(PAIRS[0], PAIRS[2]), VERSES).verses == (EXPLANATIONS[0], None, EXPLANATIONS[2])


def test_the_verse_that_is_quoted_counts_more_than_its_number() -> None:
    reading = read_verses(f"1. {VERSES[1]}\n{EXPLANATIONS[1]}\n2. {VERSES[0]}: {EXPLANATIONS[0]}", VERSES)
    assert reading.verses == (EXPLANATIONS[0], EXPLANATIONS[1], None)


def test_a_list_without_verse_or_number_is_aligned_with_nothing() -> None:
    reply = json.dumps([{"explanation": text} for text in EXPLANATIONS])
    assert not read_verses(reply, VERSES).found


@pytest.mark.parametrize(
    ("reply", "text", "notes"),
    [
        ("Paris\n\nQuestion: and of Italy?\nAnswer: Rome", "Paris", ("run_on", "no_tag")),
        ("<answer>البيت</answer>\n\nالسؤال: ما الثاني؟\n<answer>غيره</answer>", "البيت", ("run_on",)),
        ("معناه حوار.\nالسؤال: أين؟ في البيت.", "معناه حوار.\nالسؤال: أين؟ في البيت.", ("no_tag",)),
        ("Question: of France?\nParis", "Question: of France?\nParis", ("no_tag",)),
    ],
)
def test_an_answer_in_words_ends_where_the_template_begins_anew(
    reply: str, text: str, notes: tuple[str, ...]
) -> None:
    reading = read_answer(reply)
    assert (reading.text, reading.notes) == (text, notes)


def test_a_repeated_poem_before_the_explanations_is_no_explanation() -> None:
    reading = read_verses(numbered(*VERSES) + "\n\n" + numbered(*EXPLANATIONS), VERSES)
    assert reading.verses == EXPLANATIONS


def test_what_does_not_fit_is_noted() -> None:
    reading = read_verses(numbered(*EXPLANATIONS, "زائد"), VERSES)
    assert (reading.verses, reading.notes) == (EXPLANATIONS, ("extra_verses",))
    assert read_verses("لا أستطيع.", VERSES).verses == ()


def test_the_published_sample_reads_whole(shared_data: Path) -> None:
    poems: list[dict[str, Any]] = json.loads(
        (shared_data / "fannorflop" / "sample_generated_explanation.json").read_text(encoding="utf-8")
    )
    for poem in poems:
        told = poem["verse_explanations"]
        reading = read_verses(json.dumps(poem, ensure_ascii=False), [one["verse"] for one in told])
        assert reading.verses == tuple(one["explanation"] for one in told)
        assert reading.text == poem["complete_explanation"]


def test_the_most_likely_label_is_the_answer() -> None:
    labels = ("أ", "ب", "ج")
    assert read_likelihoods((-3.0, -1.0, -2.0), labels).picks == (1,)
    assert read_likelihoods((-1.0, -1.0, -2.0), labels).notes == ("tie",)
    assert read_likelihoods((-3.0, -1.0, -2.0), labels, golds=2).picks == (1, 2)
    assert not read_likelihoods((-inf, -inf, -inf), labels).found
    assert not read_likelihoods((nan, -1.0, -2.0), labels).found
    with pytest.raises(ValueError, match="2 likelihoods for 3"):
        read_likelihoods((-1.0, -2.0), labels)
