"""Books in layouts that were misread in silence once: each is read whole now, or refused with what speaks against it.

An outsider made the layouts of both books of Taymur; here the sample idioms stand in them.
"""

from __future__ import annotations

import json
import random
import re
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import get_args

import pytest
from typer.testing import CliRunner

from flows.cli import app
from mihakk.errors import SourceChanged
from scrapers.book import read
from scrapers.book_doubts import Sign

Pair = tuple[str, str]
SAMPLE: list[Pair] = sorted(
    (row["text"], row["explanation"] + ".")
    for row in map(json.loads, Path("data/samples/egyptian_idioms.jsonl").read_text("utf-8").splitlines())
    if row["kind"] == "idiom"
)
SHUFFLED = random.Random(4).sample(SAMPLE, len(SAMPLE))
NAMES = {
    **{"ا": "الألف", "أ": "الألف", "إ": "الألف", "آ": "الألف", "ب": "الباء", "ت": "التاء", "ج": "الجيم"},
    **{"ح": "الحاء", "خ": "الخاء", "د": "الدال", "ذ": "الذال", "ر": "الراء", "ز": "الزاي", "س": "السين"},
    **{"ش": "الشين", "ص": "الصاد", "ض": "الضاد", "ط": "الطاء", "ظ": "الظاء", "ع": "العين", "غ": "الغين"},
    **{"ف": "الفاء", "ق": "القاف", "ك": "الكاف", "ل": "اللام", "م": "الميم", "ن": "النون", "ه": "الهاء"},
    **{"و": "الواو", "ي": "الياء", "ث": "الثاء"},
}
_DIGITS = str.maketrans("0123456789", "٠١٢٣٤٥٦٧٨٩")


def arabic(n: int) -> str:
    return str(n).translate(_DIGITS)


def wrap(text: str, indent: str = "") -> str:
    return "\n".join(textwrap.wrap(text, 60, subsequent_indent=indent, break_on_hyphens=False))


def lettered(entry: Callable[[int, str, str], str], heading: str = "\nحرف {}\n\n") -> str:
    """The samples under their letters."""
    parts, letter = ["كتاب الأمثال\n\n"], ""
    for n, (head, text) in enumerate(SAMPLE, start=1):
        if heading and NAMES[head[0]] != letter:
            letter = NAMES[head[0]]
            parts.append(heading.format(letter))
        parts.append(entry(n, head, text))
    return "".join(parts)


def paged(text: str, page: Callable[[int], str], every: int = 12) -> str:
    """With a line at the top of each page, in mid-entry as often as not."""
    lines = text.split("\n")
    cut = [lines[place : place + every] for place in range(0, len(lines), every)]
    return "\n".join("\n".join([*part, "", page(n), ""]) for n, part in enumerate(cut, start=5))


def with_footnotes() -> Iterator[str]:
    for n, (head, text) in enumerate(SAMPLE, start=1):
        lines = wrap(text).split("\n")
        if n % 6 == 0:
            note = f"({arabic(n // 6)}) انظر مجمع الأمثال للميداني ج١ ص{arabic(n)} وما بعدها."
            lines[1:1] = ["", "_" * 15, note, "", arabic(n // 6 + 20), ""]
        yield f"{head}:\n\n" + "\n".join(lines) + "\n\n"


def numbered_but_every_fifth(n: int, head: str, text: str) -> str:
    mark = f"{arabic(n)}- " if n % 5 else f"{arabic(n)} "
    return f"{mark}{head}\n{wrap(text)}\n\n"


WHOLE: dict[str, str] = {
    "a rule of asterisks between entries": lettered(
        lambda _n, head, text: f"{head}\n{wrap(text)}\n\n* * *\n\n"
    ),
    "a table with tabs and more columns": "م\tالمثل\tالحرف\tالمعنى\n"
    + "".join(f"{n}\t{head}\t{NAMES[head[0]]}\t{text}\n" for n, (head, text) in enumerate(SAMPLE, 1)),
    "a dash between spaces, a line each, letters in brackets": lettered(
        lambda _n, head, text: f"{head} — {text}\n", "\n[ {} ]\n\n"
    ),
    "a dash between spaces, no letters": lettered(lambda _n, head, text: f"{head} — {text}\n\n", ""),
    "a short dash between spaces": lettered(lambda _n, head, text: f"{head} – {text}\n\n"),
    "a slash between spaces, wrapped": lettered(lambda _n, head, text: wrap(f"{head} / {text}") + "\n\n"),
    "decorated letters above hyphens": lettered(
        lambda _n, head, text: f"- {head}\n    {wrap(text, '    ')}\n", "\n~ {} ~\n\n"
    ),
    "numbers, then heads in guillemets, one of them with a colon": lettered(
        lambda n, head, text: wrap(f"{arabic(n)}. «{head}»: {text}") + "\n"
    ),
    "bold heads in a list": lettered(lambda _n, head, text: f"* **{head}** - {text}\n", "\n### | حرف {}\n\n"),
    "tabs without a header": lettered(lambda _n, head, text: f"{head}\t{text}\n", "").partition("\n")[2],
    "heads in straight quotes": lettered(lambda _n, head, text: f'"{head}"\n{wrap(text)}\n\n'),
}
REFUSED: dict[str, tuple[str, str]] = {
    "who speaks, by theme": (
        "باب\n\n"
        + "".join(
            f"{head}: {text}\n\n" + (f"قال {name}: بيت من الشعر طويل.\n\n" if n % 8 == 0 else "")
            for (n, (head, text)), name in zip(
                enumerate(SHUFFLED), 20 * ["زهير", "جرير", "لبيد", "كثير"], strict=False
            )
        ),
        r"heads bring speech or a meaning, line \d+ first, 'قال زهير'",
    ),
    "a formula before verse, by theme": (
        "".join(
            f"{head}: {text}\n\n" + ("مما نظم فيه: بيت من الشعر.\n\n" if n % 10 == 0 else "")
            for n, (head, text) in enumerate(SHUFFLED, 1)
        ),
        r"8 of 91 heads come three times and more, line \d+ first, 'مما نظم فيه'",
    ),
    "other entries under a bullet of their own": (
        lettered(
            lambda n, head, text: (
                f"{head}: {text}\n\n" + ("◆ فرع منه وله معنى آخر.\n\n" if n % 4 == 0 else "")
            ),
            "",
        ),
        r"lines inside explanations open with a number or bullet, line \d+ first, '◆ فرع منه",
    ),
    "letters under two kinds of title": (
        lettered(lambda _n, head, text: f"**{head}** {text}\n\n", "\n## حرف {}\n\n").replace(
            "حرف الميم", "باب الميم المفتوحة"
        ),
        r"sections that are not read hold \d+ heads of the shape, 'باب الميم المفتوحة' first \(line \d+\)",
    ),
    "leaf marks in brackets": (
        lettered(
            lambda n, head, text: (
                f"**{head}**: {text[:20]}{f'[ق {arabic(n)}] ' if n % 9 == 0 else ''}{text[20:]}\n\n"
            ),
            "\n**حرف {}**\n\n",
        ),
        r"9 times explanations hold '\[ق \]' around a number, in the entry of line \d+ first",
    ),
    "a card's number before the head": (
        lettered(
            lambda n, head, text: (
                f"الكناية رقم {n}\n{head}\nالمعنى والمضرب\n{text}\nشارك: فيسبوك | تويتر\n\n"
            ),
            "",
        ),
        r"heads say 'الكناية رقم', line \d+ first: that is a label",
    ),
    "a full stop after the head": (
        lettered(lambda _n, head, text: wrap(f"{head}. {text}", "        ") + "\n", ""),
        r"heads go on after a full stop, line \d+ first",
    ),
    "footnotes under a rule in mid-entry": (
        "".join(["حرف الألف\n\n", *with_footnotes()]),
        "say the same once digits are gone, line .* '_______________'",
    ),
    "the meaning before its head": (
        lettered(lambda _n, head, text: f"{wrap(text)}\n   «{head}»\n\n"),
        r"text stands before the first head of 'حرف الألف' .* none after its last",
    ),
    "the meaning before its head, and a colophon": (
        lettered(lambda _n, head, text: f"ومنه {head}، {wrap(text)}\n«{head}»\n\n", "") + "تم الكتاب.\n",
        r"explanations hold words of the head after them and \d+ of their own",
    ),
    "running heads with the page": (
        paged(
            lettered(lambda n, head, text: f"{arabic(n)} - {head}\n{wrap(text)}\n"),
            lambda _: "الكنايات العامية لأحمد تيمور",
        ),
        "say the same once digits are gone, line .*الكنايات العامية",
    ),
    "two books without letters": (
        lettered(lambda _n, head, text: f"«{head}»\n\n{wrap(text)}\n\n", "")
        + "\n".join(f"• {head} ⇐ {text}" for head, text in SAMPLE),
        r"lines inside explanations open with a number or bullet, line \d+ first, '• ",
    ),
    "two books without a letter or a sign": (
        lettered(lambda n, head, text: f"{arabic(n)}- «{head}»\n{wrap(text)}\n\n", "")
        + "\n".join(f"{head}\n\n{wrap(text)}\n" for head, text in SAMPLE),
        r"has \d+ words, \d+% of the book's: another part of the book may stand in it",
    ),
    "two books in two shapes": (
        lettered(lambda n, head, text: f"{arabic(n)}- «{head}»\n{wrap(text)}\n\n", "")
        + "\n".join(f"{head}:\n{wrap(text)}\n" for head, text in SAMPLE),
        "the book has entries of two shapes: .* ends in a colon .* and numbered",
    ),
    "every fifth number without its dash": (
        lettered(numbered_but_every_fifth),
        r"numbers of heads jump 16 times, line \d+ first, from 4 to 6",
    ),
    "questions and answers": (
        lettered(
            lambda n, head, text: f"س{arabic(n)}: ما معنى قولهم: {head}؟\n\nج{arabic(n)}: {wrap(text)}\n\n",
            "",
        ),
        r"83 of 16\d heads say '[سج]'.* that is a label",
    ),
    "some heads without their mark": (
        lettered(lambda n, head, text: f"{head}\n\n{text}\n\n" if n % 4 == 0 else f"«{head}»\n\n{text}\n\n"),
        r"begin with the letter of their section, where chance gives \d+, line \d+ first",
    ),
    "some heads with another mark": (
        lettered(
            lambda n, head, text: f"{head} ⇐ {text}\n\n" if n % 9 == 0 else f"«{head}»\n\n{text}\n\n", ""
        ),
        "hold a mark such as '⇐' early, line",
    ),
    "letters named in another way beside headings": (
        lettered(lambda _n, head, text: f"«{head}»\n\n{text}\n\n", "\n[ {} ]\n\n").replace(
            "كتاب الأمثال\n", "# | كتاب الأمثال\n"
        ),
        r"lines inside explanations name a letter, line \d+ first, '\[ ",
    ),
    "a footnote's number after each head": (
        lettered(lambda n, head, text: f"{head} [{arabic(n)}]\n{wrap(text)}\n\n", ""),
        r"83 of 83 heads hold a number in brackets or a page's, line 3 first",
    ),
    "an arrow of two signs": (
        lettered(lambda _n, head, text: f"{head} => {text}\n\n", ""),
        r"explanations begin with the rest of a mark, in the entry of line 3 first",
    ),
    "a label of no known meaning": (
        lettered(lambda _n, head, text: f"«{head}»\n\nالمضرب: {wrap(text)}\n\n"),
        r"83 of 83 explanations begin with 'المضرب:', in the entry of line 6 first",
    ),
    "every fifth bullet lost, no letters": (
        lettered(
            lambda n, head, text: f"{'' if n % 5 == 0 else '• '}{head}\n{wrap(f'{text} {text} {text}')}\n", ""
        ),
        r"\d+ short lines inside explanations stand after a sentence's end, line \d+ first",
    ),
    "every seventh head without its closing mark": (
        lettered(lambda n, head, text: f"«{head}{'' if n % 7 == 0 else '»'}\n\n{wrap(text)}\n\n", ""),
        r"\d+ paragraphs inside explanations open a quote or bracket and don't close it, line \d+ first",
    ),
    "long heads cut at the width of the page": (
        "\n\n".join(
            "\n".join(textwrap.wrap(f"{n} - {SAMPLE[n][0]} و{SAMPLE[n - 1][0]} و{SAMPLE[n - 2][0]}", 32))
            + f"\n{SAMPLE[n][1]}"
            for n in range(2, len(SAMPLE))
        ),
        r"heads fill a line of \d+ letters, line \d+ first",
    ),
    "heads that run on into the meaning": (
        lettered(lambda n, head, text: f"{n} - {head} يضرب في معناه، أي: {text}\n"),
        r"83 of 83 heads bring speech or a meaning, line \d+ first",
    ),
    "running heads at the margin of hanging entries": (
        lettered(
            lambda n, head, text: (
                f"{head}\n        {text}\n" + ("من كلام العامة\n        شرح\n" if n % 6 == 0 else "")
            )
        ),
        r"heads don't begin with the letter of their section, line \d+ first, 'من كلام العامة'",
    ),
    "quotes that close in the explanation": (
        lettered(lambda n, head, text: f"{n}) «{head}: من كلام العامة» {text}\n"),
        r"brackets or quotes of \d+ heads close in the explanation, line \d+ first",
    ),
}


@pytest.mark.parametrize("name", WHOLE)
def test_a_layout_once_misread_is_read_whole(name: str) -> None:
    reading = read(WHOLE[name])
    got = [(one.head, " ".join(one.paragraphs)) for one in reading.entries]
    assert got == SAMPLE
    assert not reading.problems(0.8)


@pytest.mark.parametrize("name", REFUSED)
def test_a_layout_once_misread_is_refused_with_the_place(name: str) -> None:
    text, why = REFUSED[name]
    with pytest.raises(SourceChanged, match=why):
        raise SourceChanged("; ".join(read(text).problems(0.8)))


def test_a_named_layout_leaves_the_signs_on_and_accept_says_which_are_right(tmp_path: Path) -> None:
    text, why = REFUSED["running heads with the page"]
    named = read(text, layout="numbered")
    assert re.search(why, named.doubts["repeated_lines"])
    told = "; ".join(named.problems(0.8))
    assert "option such as `accept: [" in told
    accepted = read(text, layout="numbered", accept=list(named.doubts))
    assert (accepted.doubts, accepted.accepted) == ({}, named.doubts)
    assert not accepted.problems(0.8)
    path = tmp_path / "book.txt"
    path.write_text(text, encoding="utf-8")
    asked = ["source", "try", str(path), "-o", f"accept=[{', '.join(named.doubts)}]"]
    shown = CliRunner().invoke(app, asked)
    assert shown.exit_code == 0, shown.output
    assert "Accepted   repeated_lines: " in shown.output
    wrong = CliRunner().invoke(app, ["source", "try", str(path), "-o", "accept=[repeated_line]"])
    assert wrong.exit_code == 2
    assert "repeated_lines" in wrong.output


def test_every_sign_can_be_accepted_by_its_name() -> None:
    given = {name for text, _ in REFUSED.values() for name in _doubts_of(text)}
    assert given <= set(get_args(Sign))
    assert len(given) > 10


def _doubts_of(text: str) -> list[str]:
    try:
        return list(read(text).doubts)
    except SourceChanged:
        return []


# --- what a fourth outsider's layouts were misread by ------------------------------------------------------
def shuffled(layout: Callable[[int, str, str], str]) -> str:
    return "".join(layout(n, head, text) for n, (head, text) in enumerate(SHUFFLED, start=1))


def test_a_book_that_nothing_counts_is_refused_until_somebody_says_how_many_entries_it_has() -> None:
    text = shuffled(lambda _n, head, text: f"{head}: {text}\n\n")
    reading = read(text)
    assert list(reading.doubts) == ["unsorted"]
    assert "(unsorted)" in " ".join(reading.problems(0.8))
    assert read(text, stated=len(SAMPLE)).problems(0.8) == []
    (why,) = read(text, stated=len(SAMPLE) + 2).problems(0.8)
    assert why == f"{len(SAMPLE)} entries were read and `entries` says {len(SAMPLE) + 2}"


def test_numbers_that_follow_one_another_count_a_book_that_is_not_sorted() -> None:
    assert read(shuffled(lambda n, head, text: f"{n}- {head}\n{text}\n\n")).problems(0.8) == []
    again = read(shuffled(lambda n, head, text: f"{n % 9 + 1}- {head}\n{text}\n\n"))
    assert "unsorted" in again.doubts


@pytest.mark.parametrize("mark", [":", " ="])
def test_a_line_each_is_an_entry_each_whatever_ends_the_line_before(mark: str) -> None:
    """Eleven of 334 entries of al-Kinayat used to go into the explanation before, which ends without a stop."""
    lines = [f"{head}{mark} {text.rstrip('.')}\n" for head, text in SAMPLE]
    reading = read("".join(lines))
    assert [entry.head for entry in reading.entries] == [head for head, _ in SAMPLE]


def test_a_line_that_opens_with_its_letter_as_heads_do_is_told() -> None:
    text = "".join(
        f"باب {letter}\n" + "".join(f"{letter}{n} مثل {n}: شرح له\nوبيت من الشعر فيه\n" for n in range(9))
        for letter in "بتجح"
    ).replace("شرح له\n", "شرح له.\n", 20)
    assert "opens_as_heads" in read(text).doubts


def test_bullets_are_parted_by_colons_in_every_section_or_in_none() -> None:
    """Nine explained entries became heads, as bare bullets prevail under their letters."""
    entries = {
        "حرف الباء": [("بيت من قش", "لا يدوم"), ("باب مخلع", "صاحبه لا يصلحه"), ("بصلة وقشرة", "لا فرق")],
        "حرف الصاد": [("صاحب وجهين", "منافق"), ("صيف بلا ماء", ""), ("صبر أيوب", "")],
    }
    text = "".join(
        f"{title}\n" + "".join(f"- {head}{': ' if why else ''}{why}\n" for head, why in found)
        for title, found in entries.items()
    )
    reading = read(text, layout="bulleted")
    assert [(one.head, one.paragraphs) for one in reading.entries] == [
        (head, [why] if why else []) for found in entries.values() for head, why in found
    ]


@pytest.mark.parametrize("mark", ["<ref>ص 10</ref>", "<i>قيل</i>", "{{بيت|صدر|عجز}}", "[[مثل"])
def test_markup_in_explanations_is_told(mark: str) -> None:
    lines = [f"**{head}** {text} {mark if n % 5 == 0 else ''}\n\n" for n, (head, text) in enumerate(SAMPLE)]
    assert "markup" in read("".join(lines)).doubts


def test_heads_that_the_width_of_the_page_cut_are_told() -> None:
    def entry(n: int, head: str, text: str) -> str:
        head = f"{head} وما بعده في المثل من كلام طويل" if n % 12 == 0 else head
        return textwrap.fill(f"{n}- {head}", 46) + "\n" + textwrap.fill(f"{text} " * 3, 46) + "\n\n"

    assert "cut_heads" in read(shuffled(entry)).doubts


def test_a_footnote_mark_at_the_end_of_a_head_is_taken_off() -> None:
    marks = ["", "¹", " (٢)", "[3]", "(^٤)"]
    reading = read("".join(f"**{head}{marks[n % 5]}**\n{text}\n\n" for n, (head, text) in enumerate(SAMPLE)))
    assert [entry.head for entry in reading.entries] == [head for head, _ in SAMPLE]


@pytest.mark.parametrize("line", ["الوسوم: نساء، {}", "[خلاصة الأثر، {}]", "مادة {}"])
def test_a_last_line_that_opens_alike_under_many_heads_is_told(line: str) -> None:
    entries = [
        f"«{head}»\n\n{text}\n" + (line.format(head.split()[0]) + "\n" if n % 3 == 0 else "") + "\n"
        for n, (head, text) in enumerate(SAMPLE)
    ]
    assert "marks_of_explanations" in read("".join(entries)).doubts
    like_it = "".join(entries).replace(line.split(maxsplit=1)[0], "نظیر:" if ":" in line else "وانظر:")
    assert "marks_of_explanations" not in read(like_it).doubts


def test_page_numbers_at_the_end_of_heads_are_told() -> None:
    assert (
        "marks_of_heads"
        in read("".join(f"• {head} ص{n}\n{text}\n\n" for n, (head, text) in enumerate(SAMPLE))).doubts
    )


def test_pages_parted_by_form_feeds_are_read() -> None:
    """A line of nothing but a form feed used to end the reading with an IndexError."""
    pages = [f"{head}\n{textwrap.fill(text * 3, 40)}\n\f\n" for head, text in SAMPLE]
    assert [entry.head for entry in read("".join(pages)).entries] == [head for head, _ in SAMPLE]


# --- what a fifth outsider's aimed layouts were misread by --------------------------------------------------
PARTS = ["الصبر", "الكرم", "البخل", "الجار", "الصديق", "العدو", "المال", "الفقر", "الزواج", "السفر", "القدر"]


def parted(closing: Callable[[int, str], str], every: int = 8) -> str:
    """Bullets in parts that a line of its own closes."""
    parts = [SHUFFLED[place : place + every] for place in range(0, len(SHUFFLED), every)]
    return "".join(
        "".join(f"• {head}\n{text}\n\n" for head, text in part) + closing(n, title) + "\n\n"
        for n, (part, title) in enumerate(zip(parts, PARTS, strict=True))
    )


@pytest.mark.parametrize(
    "closing",
    [
        lambda _n, title: f"{title}\n\nأكثر العامة من ضرب الأمثال في {title}، وهذا ما سمعناه منهم.",
        lambda n, title: f"وقفنا للمؤلف في جزازاته على {n + 12} أخرى تدور على {title}، فلم نثبتها.",
        lambda n, title: f"[إعلان] تابعونا على قناة {title} {n}",
        lambda _n, title: title,
    ],
    ids=["titles with a sentence", "an editor's sentence", "advertisements", "titles alone"],
)
def test_what_closes_a_part_is_no_explanation(closing: Callable[[int, str], str]) -> None:
    assert "marks_of_explanations" in read(parted(closing), stated=len(SAMPLE)).doubts


def test_what_closes_an_explanation_rightly_is_left() -> None:
    """Uses, sayings like it, poets below their verses and verses themselves, none of them a title."""
    poets = ["المتنبي", "أبو تمام", "جرير"]
    closing: list[Callable[[int], str]] = [
        lambda n: f"يضرب مثلا للرجل الذي لا يعرف {PARTS[n % 11]}",
        lambda n: f"وانظر في حرف {PARTS[n % 11]} ما يشبهه",
        lambda n: poets[n % 3],
        lambda n: f"بيت {PARTS[n % 11]} فيه من الشعر {n}",
    ]
    for last in closing:
        entries = [f"«{head}»\n\n{text}\n\n{last(n)}\n\n" for n, (head, text) in enumerate(SAMPLE)]
        doubts = read("".join(entries)).doubts
        assert "titles of what follows" not in doubts.get("marks_of_explanations", ""), last(1)
        assert "opens with 'يضرب" not in doubts.get("marks_of_explanations", "")
        assert "opens with 'وانظر" not in doubts.get("marks_of_explanations", "")


def test_comments_and_running_heads_of_several_kinds_are_counted_together() -> None:
    """Each kind stood under fewer than one entry in twenty, and the book was read with all of them."""
    comments = ["سالم: شكرا جزيلا على هذا الشرح", "أم خالد: عندنا في العراق نقوله"]
    heads = ["الأمثال العامية المصرية", "أحمد تيمور باشا"]
    book = [
        f"«{head}»\n\n{text}\n\n" + (f"{{{n // 10 % 2}}}\n\n" if n % 10 == 0 else "")
        for n, (head, text) in enumerate(SAMPLE * 2)
    ]
    for lines in (comments, heads):
        told = read("".join(book).format(*lines)).doubts["repeated_lines"]
        assert told.startswith("17 lines inside explanations say the same")
    assert "repeated_lines" not in read("".join(book).format("«وقال:»", "شعر فيه:")).doubts


def test_a_formula_that_is_a_whole_explanation_is_no_running_head() -> None:
    book = [
        f"«{head}»\n\n{text if n % 9 else 'معناه ظاهر لا يخفى'}\n\n" for n, (head, text) in enumerate(SAMPLE)
    ]
    assert "repeated_lines" not in read("".join(book)).doubts


def test_heads_beyond_the_page_show_that_heads_are_not_wrapped() -> None:
    """Nineteen of 240 re-laid parts of both books were refused as if their heads went on; eleven are left."""

    def entry(n: int, head: str, text: str) -> str:
        head = f"{head} وما بعده" + " يزيد على عرض الصفحة وما فيها" * (n % 20 == 0)
        return f"{head}\n" + textwrap.indent(textwrap.fill(f"{text} " * 3, 38), "    ") + "\n\n"

    reading = read(lettered(entry))
    assert len(reading.entries) == len(SAMPLE)
    assert "cut_heads" not in reading.doubts


def test_heads_that_a_narrow_column_cut_are_told() -> None:
    """Five of 334 heads of a page in two columns used to go on in their explanations."""

    def entry(n: int, head: str, text: str) -> str:
        left = textwrap.wrap(head, 16 if n % 5 == 0 else 60)
        right = textwrap.wrap(text * 2, 50)
        rows = max(len(left), len(right))
        lines = zip(left + [""] * (rows - len(left)), right + [""] * (rows - len(right)), strict=True)
        return "".join(f"{one:32}{other}\n" if one else f"{'':32}{other}\n" for one, other in lines) + "\n"

    told = read(lettered(entry)).doubts["cut_heads"]
    assert "lines inside explanations begin at the margin, where others are indented, line 46 first" in told
