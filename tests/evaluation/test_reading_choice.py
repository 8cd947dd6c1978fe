"""Every trap of reading a choice: a reply that must be read, and a tempting one that must not."""

from __future__ import annotations

from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mihakk.evaluation.reading import read_choice
from mihakk.evaluation.reading.choice import RULES

AR = ("أ", "ب", "ج", "د")
AR6 = ("أ", "ب", "ج", "د", "ه", "و")
FA = ("الف", "ب", "ج")
EN = ("A", "B", "C", "D")
WORDS = ("النص الأول", "النص الثاني", "النص الثالث", "النص الرابع")
METRES = ("البسيط", "الطويل", "الوافر", "الخفيف")
NO = ("كذا", "ليس هناك جواب", "غيره", "سواه")


class Trap(NamedTuple):
    """One trap."""

    labels: tuple[str, ...]
    must: str
    place: int
    rule: str
    must_not: str
    read_as: int | None = None
    """What the tempting reply is read as instead; None for unparsed."""
    words: tuple[str, ...] = ()
    """Of the options; `WORDS` when empty."""
    cut: bool = False
    """Whether the tempting reply ended at the token limit."""


TRAPS = {
    "Arabic labels": Trap(AR, "ANSWER: أ", 0, "answer_line", "ANSWER: أحمد"),
    "wrapped label": Trap(AR, "$\\boxed{ب}$", 1, "label_line", "(ب) أو (ج)"),
    "bold label": Trap(AR, "**ج**", 2, "label_line", "**ج** و**د** معا"),
    "quoted label": Trap(AR, "«د»", 3, "label_line", "«داد»"),
    "words are no labels": Trap(EN, "B", 1, "label_line", "None of the above"),
    "a letter in a word": Trap(EN, "(A)", 0, "label_line", "Banana"),
    "correct in incorrect": Trap(EN, "Option B is correct", 1, "called_right", "Option B is incorrect"),
    "the last tag": Trap(
        AR, "<answer>أ</answer> لا، <answer>ج</answer>", 2, "tag", "<answer>لا أعرف</answer> ج"
    ),
    "the last answer line": Trap(EN, "Answer: A\nWait.\nAnswer: C", 2, "answer_line", "Answer: A or C"),
    "the last bare line": Trap(AR, "ب\nبل\nد", 3, "label_line", "أ\nب\nج\nد"),
    "alef in all its forms": Trap(AR, "آ", 0, "label_line", "آه"),
    "heh with kashida": Trap(AR6, "هـ", 4, "label_line", "هـجري"),
    "heh goal": Trap(AR6, "ہ", 4, "label_line", "ہے"),
    "alef is spelled out in Persian": Trap(FA, "الف", 0, "label_line", "الفبا"),
    "the word for alef": Trap(AR, "الف", 0, "label_line", "ألف سنة"),
    "a bare alef for the word": Trap(FA, "أ", 0, "label_line", "اما"),
    "waw is and": Trap(AR6, "و) النص", 5, "label_start", "الشعر و النثر"),
    "waw at the end of a cut reply": Trap(AR6, "الإجابة: و", 5, "answer_line", "الشعر و", cut=True),
    "the English article": Trap(EN, "The answer is A.", 0, "answer_line", "The answer is A good one"),
    "the article in small letters": Trap(EN, "a", 0, "label_line", "I think the answer is a tie"),
    "alef inside words": Trap(AR, "أ.", 0, "label_line", "أنا لا أعرف"),
    "a title before a name": Trap(AR, "إنها د.", 3, "label_named", "كما يقول د. أحمد إن المعنى واضح"),
    "another alphabet": Trap(AR, "B", 1, "other_alphabet", "vitamin B helps here"),
    "another alphabet's digit": Trap(AR, "٢", 1, "other_alphabet", "هناك 2 من الحلول"),
    "abjad for Latin labels": Trap(EN, "ج", 2, "other_alphabet", "حرف ج في الكلمة طويل"),
    "bidi controls": Trap(AR, "\u202bب\u202c", 1, "label_line", "\u202bبا\u202c"),
    "kashida": Trap(AR, "ـبـ", 1, "label_line", "بـيـت"),
    "harakat": Trap(AR, "بَ", 1, "label_line", "بَابٌ"),
    "presentation form": Trap(AR, "\ufe8f", 1, "label_line", "\ufe8f\ufe8e\ufe8f"),
    "a stop string ate the tag": Trap(AR, "<answer>ب", 1, "tag", "<answer>"),
    "label before a mark": Trap(AR, "ب) النص الثاني، لأنه أقرب", 1, "label_start", "أ) كذا\nب) كذا\nج) كذا"),
    "answer after repeated options": Trap(
        AR, "أ) كذا\nب) كذا\nج) كذا\nإذن الإجابة هي ب", 1, "answer_line", "أ) كذا\nب) كذا\nج) كذا\nلا أدري"
    ),
    "explanation names the others": Trap(
        AR, "ب\n\nلأن الخيار أ خطأ والخيار ج بعيد", 1, "label_line", "الخيار أ خطأ والخيار ج بعيد"
    ),
    "denied": Trap(AR, "ليس أ بل ب", 1, "label_named", "الإجابة ليست أ"),
    "denied after it": Trap(EN, "(A) is wrong, so it is (C)", 2, "label_named", "(A) is wrong"),
    "called right in Persian": Trap(FA, "گزینهٔ ب درست است", 1, "called_right", "گزینهٔ ب درست نیست"),
    "the label comes first": Trap(EN, "B is correct because A is not", 1, "called_right", "B is not correct"),
    "جواب short for answer": Trap(AR, "ج: ب", 1, "label_start", "ج: بيت", 2),
    "an option's words": Trap(AR, "النصّ الثالث", 2, "option_text", "النص الثالث عشر"),
    "an option that says no": Trap(
        AR, "ب) ليس هناك جواب، فيما أظن", 1, "label_start", "ب) ليس هو الصحيح", words=NO
    ),
    "an option's words behind a number": Trap(
        AR, "3) النص الثالث", 2, "option_text", "1) النص الأول\n2) النص الثاني\n3) النص الثالث"
    ),
    "an option's words behind another's label": Trap(
        AR, "2) «النص الثاني».", 1, "option_text", "ج) النص الأول", 2
    ),
    "an option's words as the answer": Trap(
        AR, "1) النص الأول\n2) النص الثاني\nالجواب: 2) النص الثاني", 1, "answer_line", "الجواب: النص الخامس"
    ),
    "one option's words on a line": Trap(
        AR,
        "ما المعنى؟\n1. النص الرابع\nوالله أعلم",
        3,
        "option_line",
        "1. النص الرابع\n2. النص الخرابع\n3. النـ",
    ),
    "a list that breaks off": Trap(
        EN, "A) A long option\nThe rest do not fit.\n\nB", 1, "label_line", "A) النص الأول\nB)", cut=True
    ),
    "an option's words in a sentence": Trap(
        AR,
        "هذا البيت من البحر الطويل، وليس من البسيط.",
        1,
        "option_named",
        "قد يكون الطويل أو البسيط.",
        words=METRES,
    ),
    "an option's words that go on": Trap(
        AR,
        "الوزن هو الخفيف لأن تفعيلاته كذلك",
        3,
        "option_named",
        "هذا هو الطويل الباع في الشعر",
        words=METRES,
    ),
    "thought first": Trap(AR, "<think>أظنها أ</think>ب", 1, "label_line", "<think>أظنها أ\nأ"),
    "thought opened in the prompt": Trap(AR, "لعلها أ</think>\n\nج", 2, "label_line", "لعلها أ</think>"),
    "harmony channels": Trap(
        EN,
        "<|channel|>analysis<|message|>A?<|end|><|start|>assistant<|channel|>final<|message|>D",
        3,
        "label_line",
        "<|channel|>analysis<|message|>A",
    ),
}


@pytest.mark.parametrize("name", TRAPS)
def test_the_reply_that_must_be_read(name: str) -> None:
    trap = TRAPS[name]
    reading = read_choice(trap.must, trap.labels, (trap.words or WORDS)[: len(trap.labels)])
    assert (reading.picks, reading.rule) == ((trap.place,), RULES[trap.rule])
    assert reading.text == trap.labels[trap.place]


@pytest.mark.parametrize("name", TRAPS)
def test_the_reply_that_must_not_be_read_so(name: str) -> None:
    trap = TRAPS[name]
    words = (trap.words or WORDS)[: len(trap.labels)]
    reading = read_choice(trap.must_not, trap.labels, words, cut=trap.cut)
    assert reading.picks == (() if trap.read_as is None else (trap.read_as,))


def test_every_rule_fires_in_some_trap() -> None:
    assert {trap.rule for trap in TRAPS.values()} == set(RULES)


@pytest.mark.parametrize(
    ("reply", "notes"),
    [
        ("<answer>ب", ("cut_tag",)),
        ("B", ("other_alphabet",)),
        ("الجواب أ أو ب", ("several",)),
        ("<think>أ", ("thought_cut",)),
        ("ب", ()),
    ],
)
def test_what_was_allowed_for_is_noted(reply: str, notes: tuple[str, ...]) -> None:
    assert read_choice(reply, AR, WORDS).notes == notes


def test_a_number_that_is_an_options_words_is_not_a_label() -> None:
    assert read_choice("3", AR, ("3", "2", "1", "4")).picks == (0,)
    assert read_choice("3", AR, WORDS).picks == (2,)


@pytest.mark.parametrize(
    ("reply", "picks"),
    [
        ("أ، ج", (0, 2)),
        ("أ و ج", (0, 2)),
        ("أ وج", (0, 2)),
        ("الإجابة: أ، د", (0, 3)),
        ("<answer>ج", (2,)),
        ("أ ثم كل الباقي", ()),
        ("لا شيء", ()),
    ],
)
def test_several_options_are_read_from_a_list_and_nothing_else(reply: str, picks: tuple[int, ...]) -> None:
    assert read_choice(reply, AR, WORDS, multiple=True).picks == picks


def test_capital_letters_written_together_are_a_list() -> None:
    assert read_choice("ACD", EN, multiple=True).picks == (0, 2, 3)
    assert read_choice("CAB", EN).picks == ()


def test_labels_that_read_the_same_are_refused() -> None:
    with pytest.raises(ValueError, match="told apart"):
        read_choice("أ", ("أ", "إ", "ب"))


@given(st.text(alphabet=st.characters(codec="utf-8"), max_size=200), st.sampled_from([AR, AR6, FA, EN]))
def test_any_reply_is_read_without_an_error_as_one_option_or_none(
    reply: str, labels: tuple[str, ...]
) -> None:
    reading = read_choice(reply, labels)
    assert len(reading.picks) <= 1
    assert all(0 <= pick < len(labels) for pick in reading.picks)
    assert bool(reading.picks) == reading.found


@given(
    st.sampled_from(
        ["{}", "({})", "**{}**", "{}.", "<answer>{}</answer>", "الإجابة: {}", "Answer: {}", "«{}»"]
    ),
    st.integers(0, 3),
    st.sampled_from([AR, EN]),
)
def test_a_label_is_read_in_any_dress(dress: str, place: int, labels: tuple[str, ...]) -> None:
    assert read_choice(dress.format(labels[place]), labels).picks == (place,)
