"""Reading any reply takes a moment: hostile ones as long as are read, and longer ones not at all."""

from __future__ import annotations

from time import process_time

import pytest

from mihakk.evaluation.reading import read
from mihakk.evaluation.reading.reading import LONGEST
from tests.evaluation.material import choice, explained, worded

_UNITS = [
    *("ـ", "\u0651", "أ", "أ)ب)", "(أ", "أ أو ب ", "ليس أ ", "الجواب ", "الخيار الأصح ", "١ ", "أ. ", "A"),
    *("(", "()", "$\\boxed{", "<answer>", "</answer>", "<think>", '{"a":', '{"', "\n", " ", "*", "x (\n"),
    *("The answer is ", "Q: a\nA. b\n", "(A), ", "option A "),
    *("def f():\n", "import a\n", "```\n", "أ\n", "أ) باء\n", "البيت 1: ", '{"verse":"a","explanation":"b"}'),
]


_NESTED = "(" * (LONGEST // 2 - 10) + ")" * (LONGEST // 2 - 10)


@pytest.mark.parametrize("unit", [*_UNITS, pytest.param(_NESTED, id="nested")])
def test_the_longest_reply_is_read_in_a_moment(unit: str) -> None:
    code = worded("c1").model_copy(update={"kind": "code", "entry_point": "f"})
    several = choice("i2", gold=(0, 1), multiple=True)
    text = (unit * (LONGEST // len(unit) + 1))[: LONGEST - 20]
    for question in (choice("i1"), several, worded("a1"), explained("e1"), code):
        for reply in (text, f"{text} أ", f"def f():\n    return 1\n{text}"):
            began = process_time()
            read(question, "written", reply)
            assert process_time() - began < 10, (question.kind, reply[-5:])


_HEADS = "\nQ:" * 7
_BOARD = 4096
"""Bytes of the longest reply that a blind board takes."""


@pytest.mark.parametrize(
    "unit", ["ans:", "ans:A or B, (C) and D ", "answer: ............. ", "ans: ((((((((((( "]
)
@pytest.mark.parametrize("tag", ["", "<answer>"])
def test_a_reply_that_states_answers_without_end_holds_up_no_board(unit: str, tag: str) -> None:
    """One of 4,096 bytes took .37 s: each question that it went on with had all before it read again."""
    options = tuple(f"{'a long option ' * 14}{number}" for number in range(4))
    question = choice("i4", labels=("A", "B", "C", "D"), options=options)
    room = _BOARD - len((tag + _HEADS).encode())
    spread = (unit * 300)[: room // 7] + "\nQ:"
    for text in (tag + (unit * 1100)[:room] + _HEADS, tag + spread * 7):
        began = process_time()
        read(question, "written", text)
        assert process_time() - began < 0.15


def test_a_long_reply_of_many_steps_keeps_its_answer() -> None:
    """Words of answering stand as closely as no model writes them before they are read no more."""
    question = choice("i5", labels=("A", "B", "C", "D"), options=("one", "two", "three", "four"))
    steps = "So the answer to this step cannot be the one we had above, and we go on with it.\n" * 300
    assert read(question, "written", f"{steps}The answer is C.").picks == (2,)


@pytest.mark.parametrize(
    ("begun", "unit", "facts"),
    [
        ("option (A) " * 200, "b ", {}),
        ("option (A) " * 200, "(A), ", {}),
        ("", "The answer is ", {}),
        ("", "answer\u0651", {}),
        ("", "(" * 250 + "x" + ")" * 250 + "\n", {"multiple": True}),
    ],
)
def test_a_reply_to_a_board_takes_hardly_longer_for_the_questions_it_goes_on_with(
    begun: str, unit: str, facts: dict[str, bool]
) -> None:
    question = choice("i3", labels=("A", "B", "C", "D"), options=("one x", "two x", "three", "four"), **facts)
    text = begun + unit * ((_BOARD - len((begun + _HEADS).encode())) // len(unit.encode())) + _HEADS
    began = process_time()
    assert not read(question, "written", text).found
    assert process_time() - began < 0.5


def test_a_reply_that_repeats_itself_without_end_is_not_read_and_says_why() -> None:
    for question in (choice("i1"), worded("a1"), explained("e1")):
        reading = read(question, "written", "الجواب: أ\n" + "ـ" * LONGEST)
        assert not reading.found
        assert reading.notes == ("too_long",)
    thought = f"<think>{'أ ' * LONGEST}</think>أ"
    assert read(choice("i1"), "written", thought).picks == (0,), "thoughts are not counted"
