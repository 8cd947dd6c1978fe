"""A refined docstring may differ in Arabic words alone: what an adversary tries is refused, what an editor does passes."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mihakk.machinery.settings import SAMPLES
from mihakk.validators.code.docstring import docstring_of, line_kinds
from mihakk.validators.code.problem import Problem, read_problems
from mihakk.validators.code.refinement import change_kinds, objection, word_diff
from mihakk.validators.code.refiner import _Sound, request

ROWS = [
    (problem, docstring)
    for problem in read_problems(SAMPLES / "code_problems.jsonl").problems
    if (docstring := docstring_of(problem.prompt, problem.entry_point)) is not None
]


def refused(place: int, text: str, *, needs_human: bool = False) -> str:
    problem, docstring = ROWS[place]
    return objection(problem, docstring, text, needs_human=needs_human)


def first_prose(text: str) -> int:
    return next(n for n, kind in enumerate(line_kinds(text)) if kind == "prose")


def on_prose(change: Callable[[str], str]) -> Callable[[str, random.Random], str]:
    def attack(text: str, draw: random.Random) -> str:
        lines = text.split("\n")
        place = first_prose(text)
        lines[place] = change(lines[place])
        return "\n".join(lines)

    return attack


def changed_digit(text: str, draw: random.Random) -> str:
    places = [found.start() for found in re.finditer("[0-9]", text)]
    if not places:
        return text
    place = draw.choice(places)
    return text[:place] + str((int(text[place]) + draw.randint(1, 9)) % 10) + text[place + 1 :]


def fixed_example(text: str, draw: random.Random) -> str:
    lines = text.split("\n")
    code = [n for n, kind in enumerate(line_kinds(text)) if kind == "code"]
    if not code:
        return text
    place = draw.choice(code)
    lines[place] = lines[place] + draw.choice([" ", "  # مثال", "0", ")"])
    return "\n".join(lines)


def translated_name(text: str, draw: random.Random) -> str:
    return re.sub(r"`\w+`", "`القائمة`", text, count=1)


def dropped_ticks(text: str, draw: random.Random) -> str:
    return text.replace("`", "", 2)


HINTS = (
    "استخدم حلقة تكرارية.",
    "يمكنك الفرز أولا.",
    "تلميح: جرب القاموس.",
    "مستخدما مكدسا",
    "بطريقة الاستدعاء الذاتي",
    "ابدأ بعداد",
)
LOGIC = {
    "أكبر": "أصغر",
    "لا": "",
    "فارغة": "كبيرة",
    "تصاعديا": "تنازليا",
    "دون": "مع",
    "آخر": "أول",
    "الزوجية": "الفردية",
    "كل": "أي",
    "أول": "آخر",
    "مجموع": "جداء",
    "ثاني": "رابع",
    "عدد": "مجموع",
}


def changed_logic(text: str, draw: random.Random) -> str:
    words = [word for word in LOGIC if re.search(rf"(?<!\w){word}(?!\w)", text)]
    if not words:
        return text
    word = draw.choice(words)
    return re.sub(rf"(?<!\w){word}(?!\w)", LOGIC[word], text, count=1)


def other_task(line: str) -> str:
    return re.sub(r"[ء-ي]+", "كلام", line)


ATTACKS: dict[str, Callable[[str, random.Random], str]] = {
    "changed digit": changed_digit,
    "digits of another system": lambda text, draw: text.translate({ord("0") + n: 0x660 + n for n in range(10)}),
    "fixed example": fixed_example,
    "translated name": translated_name,
    "dropped ticks": dropped_ticks,
    "hint as a sentence": lambda text, draw: on_prose(lambda line: f"{line} {draw.choice(HINTS)}")(text, draw),
    "hint inside": lambda text, draw: on_prose(lambda line: f"{line.rstrip('.')} {draw.choice(HINTS).rstrip('.')}.")(text, draw),
    "changed logic": changed_logic,
    "added line": on_prose(lambda line: f"{line}\n    وهذا سطر آخر."),
    "added blank line": lambda text, draw: text.replace("\n", "\n\n", 1),
    "lost line": lambda text, draw: re.sub(r"\n[^\n]*", "", text, count=1),
    "indentation": lambda text, draw: text.replace("\n    ", f"\n{' ' * draw.choice([2, 3, 5, 8])}", 1),
    "closing quotes": on_prose(lambda line: f'{line}"""'),
    "code behind closing quotes": on_prose(lambda line: f'{line}"""; import os; """'),
    "backslash": on_prose(lambda line: f"{line}\\"),
    "bidi control": on_prose(lambda line: f"\u202e{line}"),
    "no-break space": on_prose(lambda line: line.replace(" ", "\u00a0", 1)),
    "English word": on_prose(lambda line: f"{line} sort"),
    "other task in as many words": on_prose(other_task),
    "no Arabic left": on_prose(lambda line: "Return the sum."),
    "one more sentence": on_prose(lambda line: f"{line} هذا سهل. شكرا."),
    "sign": lambda text, draw: on_prose(lambda line: line + draw.choice([" <= 5", " -", " %", " = `x`", " →"]))(text, draw),
}  # fmt: skip


def attacks() -> list[tuple[str, int, str]]:
    draw = random.Random(2026)
    made = []
    for name, attack in ATTACKS.items():
        for place, (_, docstring) in enumerate(ROWS):
            text = attack(docstring.text, draw)
            if text != docstring.text:
                made.append((name, place, text))
    return made


def test_no_adversarial_reply_is_accepted(measured: Callable[[str, float], None]) -> None:
    """Far more than 200, of 22 kinds; those that change no word of logic are refused even where people are asked."""
    made = attacks()
    assert len(made) > 700
    assert min(Counter(name for name, _, _ in made).values()) >= 4
    accepted = [one for one in made if not refused(one[1], one[2])]
    measured("refine-rules", len(accepted))
    assert accepted == []
    asking = [
        one for one in made if one[0] != "changed logic" and not refused(one[1], one[2], needs_human=True)
    ]
    assert asking == []


@pytest.mark.parametrize(
    "value",
    [{"docstring": "x"}, {"docstring": 1, "needs_human": False}, {"docstring": "x", "needs_human": "no"},
     {"docstring": "x", "needs_human": False, "code": "import os"}, {}],
)  # fmt: skip
def test_a_reply_in_another_form_is_no_reply(value: dict[str, object]) -> None:
    problem, docstring = ROWS[0]
    with pytest.raises(ValueError, match="it does not fit the schema"):
        request(_Sound(problem, docstring)).validate(value)


def problem_of(docstring: str) -> Problem:
    prompt = f'def f(x):\n    """{docstring}"""\n'
    return Problem("t", 1, prompt, "f", "    return x\n", "assert f(1) == 1\n", {})


EDITS = {
    "spelling": ("قم بارجاع العدد `x` كما هو.", "قم بإرجاع العدد `x` كما هو.", {"linguistic"}),
    "imperative": ("تقوم بارجاع ضعف العدد `x`.", "أعد ضعف العدد `x`.", {"clarity"}),
    "one word for another": ("ارجع العدد `x`.", "أعد العدد `x`.", {"linguistic"}),
    "a term": ("اكتب وظيفة تعيد العدد `x`.", "اكتب دالة تعيد العدد `x`.", {"linguistic", "consistency"}),
    "the Arabic comma": ("أعد `x`, أو 0 إذا غاب.", "أعد `x`، أو 0 إذا غاب.", {"consistency"}),
    "a space before the full stop": ("أعد العدد `x` .", "أعد العدد `x`.", {"consistency"}),
    "two lines": ("اعد القائمه.\n    ترجع 0 اذا غابت.", "أعد القائمة.\n    ترجع 0 إذا غابت.", {"linguistic"}),
    "a full stop that was missing": ("أعد العدد `x`", "أعد العدد `x`.", {"consistency"}),
}


@pytest.mark.parametrize("name", EDITS)
def test_what_an_editor_does_passes_and_is_of_its_kind(name: str) -> None:
    before, after, kinds = EDITS[name]
    problem = problem_of(before)
    docstring = docstring_of(problem.prompt, "f")
    assert docstring is not None
    assert objection(problem, docstring, after, needs_human=False) == ""
    assert set(change_kinds(before, after)) == kinds


def test_a_change_of_logic_passes_only_with_people_and_is_semantic() -> None:
    before, after = "أعد الأعداد الأكبر من `x` في القائمة.", "أعد الأعداد الأصغر من `x` في القائمة."
    problem = problem_of(before)
    docstring = docstring_of(problem.prompt, "f")
    assert docstring is not None
    assert "set needs_human" in objection(problem, docstring, after, needs_human=False)
    assert objection(problem, docstring, after, needs_human=True) == ""
    assert "semantic" in change_kinds(before, after)


def test_every_docstring_passes_unchanged() -> None:
    assert all(not refused(place, docstring.text) for place, (_, docstring) in enumerate(ROWS))


@settings(max_examples=60)
@given(place=st.integers(0, len(ROWS) - 1), data=st.data())
def test_whatever_passes_leaves_all_but_arabic_as_it_was(place: int, data: st.DataObject) -> None:
    """Random edits: where the rules let one through, code, examples, digits and English are the same bytes."""
    _, docstring = ROWS[place]
    text = docstring.text
    start = data.draw(st.integers(0, len(text)))
    end = min(len(text), start + data.draw(st.integers(0, 3)))
    new = data.draw(st.text(alphabet="أبتثج ،.0١xA`'\"\\\n\u200f>-", max_size=3))
    made = text[:start] + new + text[end:]
    if refused(place, made, needs_human=True):
        return

    def foreign(one: str) -> str:
        return re.sub(r"[\s\u0600-\u065f\u066a-\u06ef.,:;!?()\"'«»]", "", one)

    assert foreign(made) == foreign(text)
    for old, now, kind in zip(text.split("\n"), made.split("\n"), line_kinds(text), strict=True):
        assert kind == "prose" or old == now


@given(st.text(alphabet="اب ج\n", max_size=30), st.text(alphabet="اب ج\n", max_size=30))
def test_a_diff_holds_both_texts_whole(before: str, after: str) -> None:
    parts = word_diff(before, after)
    assert "".join(text for tag, text in parts if tag != "ins") == before
    assert "".join(text for tag, text in parts if tag != "del") == after
