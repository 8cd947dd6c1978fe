"""Every trap of reading a choice: a reply that must be read, and a tempting one that must not."""

from __future__ import annotations

import csv
import gzip
import json
import re
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mihakk.evaluation.reading import read_choice
from mihakk.evaluation.reading.choice import RULES
from mihakk.evaluation.reading.written import read_written

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


CITIES = ("Paris", "London", "Rome", "Berlin")
TEN = tuple("ABCDEFGHIJ")
FA4 = ("الف", "ب", "ج", "د")
DIGITS = ("1", "2", "3", "4")


@pytest.mark.parametrize(
    ("labels", "reply", "label"),
    [
        # A unit, a formula, a name, a pronoun.
        (EN, "The temperature rises to 25 °C.", ""),
        (EN, "It is about 25 C", ""),
        (EN, "By F = ma, we find 12 C.", ""),
        (EN, "Let A be the event and B its complement. Then P(A) = 0.3.", ""),
        (EN, "It lacks vitamin C.", ""),
        (EN, "The patient has hepatitis B.", ""),
        (TEN, "J/(mol K) is the unit, so the value is 8.31 J", ""),
        (TEN, "My answer is, I think, unclear.", ""),
        (TEN, "The answer is (I).", "I"),
        (TEN, "I. The first is true.\nII. The second is not.", ""),
        (TEN, "I is correct, but II is wrong.", ""),
        (TEN, "The answer is I, II, and III.", ""),
        (TEN, "Only II is wrong. The answer is I.", "I"),
        (DIGITS, "The answer is 2.5", ""),
        (DIGITS, "The answer is 3 meters.", ""),
        (DIGITS, "The answer is 3.", "3"),
        (AR, "درجة الحرارة ٢٥ ج", ""),
        # Where the answer stands.
        (EN, "**Final Answer**\n\nB", "B"),
        (EN, "Final Answer: $\\boxed{\\text{C}}$", "C"),
        (EN, "Thus, the answer is:\n\\[\n\\boxed{D}\n\\]", "D"),
        (EN, "The correct answer is:\n\n**C. Rome**\n\nThis is because A. Paris is not in Italy.", "C"),
        (EN, "The correct answer is:\nA. Paris\nB. London\nC. Rome\nD. Berlin", ""),
        (EN, "The answer choices are (A) Paris, (B) London, (C) Rome. We know it is in Italy.", ""),
        (EN, "The first answer choice is Paris. It is far.", ""),
        (EN, '{"reasoning": "...", "answer": "C"}', "C"),
        (EN, "The answer is London.", "B"),
        (EN, "The answer that best fits is (B).", "B"),
        (EN, "Looking at options A, B, C and D, the answer is C", "C"),
        (EN, "If the answer is A, then x = 2. But x = 3, so the answer is C.", "C"),
        (EN, "The wrong answer is A.", ""),
        (EN, "We can eliminate answer (C).", ""),
        (EN, "Answer choice B suggests a river.", ""),
        (EN, "That rules out the rest. So it is B", "B"),
        (EN, "The answer must be either (A) or (B).", ""),
        (EN, "So the answer could be (B) London, (C) Rome, or (D) Berlin.", ""),
        (EN, "The answer is C. A, B, and D are incorrect.", "C"),
        (EN, "A: London", "B"),
        (AR, "الإجابة الصحيحة هي:\n\nb. النص الثاني", "ب"),
        (AR, "الإجابة إما أ أو ب", ""),
        (AR, "لذلك فإن الإجابة الصحيحة هي: د", "د"),
        (FA4, "پاسخ صحیح گزینهٔ ب است.", "ب"),
        (FA4, "جواب گزینه ب نیست", ""),
        (FA4, "گزینه ب را انتخاب می‌کنم", "ب"),
        (FA4, "بنابراین پاسخ درست گزینه «د» می‌باشد.", "د"),
        # What was stated stands, whatever is told behind it.
        (EN, "The answer is B.\n\nOptions:\nA. Paris\nB. London\nC. Rome\nD. Berlin", "B"),
        (EN, "The answer is B.\n\nIn summary, option A is far away, and C is the capital of Italy.", "B"),
        (EN, "The answer is C. One might think the answer is A, which is a trap.", "C"),
        (EN, "**Answer: C**\n\nA is wrong because it is far. B is wrong. D is a distractor.", "C"),
    ],
)
def test_a_label_is_read_where_it_answers_and_nowhere_else(
    labels: tuple[str, ...], reply: str, label: str
) -> None:
    options = WORDS[: len(labels)] if labels == AR else CITIES if labels == EN else ()
    assert read_choice(reply, labels, options).text == label


@pytest.mark.parametrize(
    ("labels", "reply", "label", "notes"),
    [
        (EN, "It rains. The answer is (B).\n\nQuestion:\nWhere?\nOptions:\nA. x\nB. y\nAnswer: (A)", "B", ("run_on",)),
        (EN, "Answer: B\n\nQ: What is 2+2?\n(A) 3 (B) 4\nA: The answer is (A)", "B", ("run_on",)),
        (EN, "B\n\nQuestion: Next?\nA. x\nB. y\nC. z\nAnswer: D", "B", ("run_on",)),
        (EN, "The answer is B.\n\n== response ==\nThe answer is C because ...", "B", ("run_on",)),
        (EN, "The answer is (B).\n\nExercise 3\nSolve it.\nA. 1\nB. 2\nAnswer: D", "B", ("run_on",)),
        (EN, "I don't know.\n\nQuestion: Next?\nA. x\nB. y\nC. z\nAnswer: D", "", ("run_on",)),
        (EN, "The answer is B.\nThe answer is C.\nThe answer is D.\nThe answer is", "B", ("run_on",)),
        (EN, "Question: which city?\nA. Paris\nB. London\nC. Rome\nD. Berlin\nAnswer: D", "D", ()),
        (EN, "Again.\nQuestion: which?\nA. Paris (France)\nB. London (England)\nAnswer: B", "B", ()),
        (EN, "It is far.\nQuestion: where is it? In England.\nSo the answer is B.", "B", ()),
        (AR, "الخيار الأنسب هو (د).\n\nالسؤال:\nما هي؟\nالخيارات:\nأ. 1%\nب. 10%\nالإجابة: (أ).", "د", ("run_on",)),
        (AR, "الإجابة هي:\na. النص الأول\n\nالسؤال الثاني هو:\nما هي؟\nالإجابة: ب", "أ", ("run_on",)),
        (FA4, "پاسخ (ب) است.\n\nپرسش:\nچند؟\nگزینه‌ها:\nالف. یک\nب. دو\nپاسخ: (الف) است.", "ب", ("run_on",)),
        (EN, "The answer is B. Wait, no, so it's C.", "C", ("changed_answer",)),
        (EN, "The answer is B. Actually, I think C is correct.", "C", ("changed_answer",)),
        (EN, "The answer is A. But the second sum is larger. The answer is D.", "D", ("changed_answer",)),
        (EN, "The answer is A. However, that is incorrect. The answer is C.", "C", ("changed_answer",)),
        (EN, "The answer is B. London. The answer is C. Rome.", "B", ("run_on",)),
        (AR, "الجواب هو أ. انتظر، بل هو ج", "ج", ("changed_answer",)),
        (EN, "The answer is B. Wait, that is odd.", "B", ()),
        (EN, "The answer is B.\n\nThe answer is B.", "B", ()),
    ],
)  # fmt: skip
def test_a_reply_is_cut_at_its_own_question_and_a_changed_answer_is_noted(
    labels: tuple[str, ...], reply: str, label: str, notes: tuple[str, ...]
) -> None:
    reading = read_choice(reply, labels, CITIES if labels == EN else WORDS if labels == AR else ())
    assert (reading.text, reading.notes) == (label, notes)


def test_a_stop_string_of_the_run_ends_a_reply_behind_its_thought() -> None:
    reading = read_written("choice", "\n\nB\n\nNext: C", EN, CITIES, stops=["\n\n"])
    assert (reading.text, reading.notes) == ("B", ("stop_string",))
    assert read_written("choice", "<think>a\n\nb</think>B", EN, stops=["\n\n"]).notes == ()
    assert read_written("answer", "Paris\nQ: and Rome?", stops=["Q:"]).text == "Paris"


def test_a_base_model_that_goes_on_is_scored_by_its_own_answers(shared_data: Path) -> None:
    """Against the published extraction's first rule, over what stands before the model's next question."""
    with gzip.open(shared_data / "panel" / "mmlu_pro_replies.jsonl.gz", "rt", encoding="utf-8") as lines:
        rows = [one for one in map(json.loads, lines) if one["model"] == "Meta-Llama-3-8B"]
    ours = [read_choice(one["reply"], TEN[: len(one["options"])], one["options"]).text for one in rows]
    first = [re.search(r"answer is \(?([A-J])\)?", one["reply"].split("\nQuestion", 1)[0]) for one in rows]
    gold = [one["gold"] for one in rows]
    right = sum(one == other for one, other in zip(ours, gold, strict=True))
    cut = sum(bool(one) and one[1] == other for one, other in zip(first, gold, strict=True))
    assert abs(right - cut) <= 0.02 * len(rows)


def test_what_a_person_called_right_is_read_as_it_was(shared_data: Path) -> None:
    """`verdicts.csv`: a hundred readings of each rule, drawn and judged by eye; those of the panel are here."""
    with gzip.open(shared_data / "panel" / "mmlu_pro_replies.jsonl.gz", "rt", encoding="utf-8") as lines:
        rows = {(one["model"], str(one["id"])): one for one in map(json.loads, lines)}
    sheet = Path(__file__).parents[1] / "fixtures" / "reading" / "verdicts.csv"
    with sheet.open(encoding="utf-8", newline="") as table:
        judged = [one for one in csv.DictReader(table) if (one["model"], one["id"]) in rows]
    judged = [one for one in judged if one["verdict"] == "right"]
    assert len(judged) > 150
    for one in judged:
        row = rows[one["model"], one["id"]]
        reading = read_choice(row["reply"], TEN[: len(row["options"])], row["options"])
        rule, _, noted = one["rule"].partition("+")
        assert (reading.text, reading.rule.partition("/")[0]) == (one["label"], rule), one
        assert ("run_on" in reading.notes) == (noted == "run_on"), one


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


def test_an_option_that_is_a_list_of_labels_is_read_by_its_words() -> None:
    statements = ("I only", "II only", "I and II", "Both A and B")
    assert read_choice("The answer is I and II.", EN, statements).text == "C"
    assert read_choice("The correct answer is: I only", TEN[:9], (*statements, *"efghi")).text == "A"


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


ALIKE: list[tuple[str, list[tuple[str, ...]]]] = [
    ("Answer: {X}\nThe river is long.", [EN, ("1", "2", "3", "4"), ("I", "II", "III", "IV")]),
    ("**Answer:** {X}\r\nIt is so.", [EN, ("1", "2", "3", "4")]),
    ("The answer is {X}\n\nThe reason is simple.", [EN]),
    ("The correct option is {X}: {o}", [EN, ("1", "2", "3", "4")]),
    ("It rains.\n\nSo, {X} is the correct answer", [EN]),
    ("**الإجابة:** {X}\nالسبب واضح", [AR, EN, ("ه", "و", "ز", "ح")]),
    ("الإجابة الصحيحة هي {X}\n\nوهذا واضح", [AR, ("ه", "و", "ز", "ح")]),
    ("گزینه صحیح: {X}\nزیرا دور است", [("الف", "ب", "ج", "د"), ("1", "2", "3", "4")]),
]
"""What is read with one label is read with every other, with `A`, `I` and `و` too, which are words."""


@pytest.mark.parametrize(("reply", "sets"), ALIKE)
def test_no_label_is_read_less_than_others_in_the_same_words(reply: str, sets: list[tuple[str, ...]]) -> None:
    for labels in sets:
        for place, (label, words) in enumerate(zip(labels, WORDS, strict=True)):
            assert read_choice(reply.format(X=label, o=words), labels, WORDS).picks == (place,), label
