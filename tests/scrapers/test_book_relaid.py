"""The books of Taymur in the layouts of other projects: heads and explanations as in the originals, or a refusal."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cache
from itertools import groupby
from pathlib import Path
from textwrap import fill

import pytest

from mihakk.errors import SourceChanged
from scrapers.book import Reading, read
from scrapers.book_notes import without_notes

Pairs = Sequence[tuple[str, str]]
ALEFS = str.maketrans("أإآ", "ااا")
# Proverbs in common use, explained in our own words: what runs where no data is.
SAMPLE: Pairs = [
    ("ابن الوز عوام", "الولد ينشأ على ما عليه أبوه من الصنعة والطبع بلا تعليم."),
    ("اتغدى بيه قبل ما يتعشى بيك", "حث على المبادرة إلى العدو قبل أن يتمكن ويبادر هو بالأذى."),
    ("امشي سنة ولا تعدي قنا", "حث على السلامة وإن طال الطريق، وترك المخاطرة لأجل الاختصار."),
    ("باب النجار مخلع", "يراد به الصانع الذي يتقن عمل غيره ويهمل شأن نفسه وبيته."),
    ("بعد ما شاب ودوه الكتاب", "يضرب لمن يشرع في التعلم بعد فوات أوانه، ويقال في كل أمر أخر عن وقته."),
    ("حبيبك يبلع لك الزلط", "المحب يحتمل من محبوبه الخطأ العظيم ويلتمس له العذر فيه."),
    ("ضربني وبكى وسبقني واشتكى", "يوصف به الظالم الذي يسبق المظلوم إلى الشكوى فيظهر في صورة المعتدى عليه."),
    ("اللي يتلسع من الشوربة ينفخ في الزبادي", "من أصابه ضرر من شيء صار يحذر مما لا ضرر فيه لشبهه به."),
    ("يا داخل بين البصلة وقشرتها", "نهي عن الدخول بين القريبين في خصومتهما، فإن الداخل لا ينال غير الأذى."),
]
BOOKS = {"amthal": "openiti/amthal_head.txt", "kinayat": "kinayat/taymur_kinayat_hindawi_93047907.txt"}


@cache
def original(path: Path) -> Pairs:
    text = path.read_text("utf-8").partition("#META#Header#End#")[2]
    return [(one.head, "\n".join(one.paragraphs)) for one in read(text).entries if one.paragraphs]


@pytest.fixture(params=["sample", *BOOKS])
def pairs(request: pytest.FixtureRequest) -> Pairs:
    if request.param == "sample":
        return SAMPLE
    return original(request.getfixturevalue("shared_data") / BOOKS[request.param])


def relaid(pairs: Pairs, entry: Callable[[int, str, str], str], heading: str = "# | حرف {}\n\n") -> str:
    """The entries in another layout; the heading stands before each letter."""
    lines = []
    numbered = ((n, head, text) for n, (head, text) in enumerate(pairs, start=1))
    for letter, found in groupby(numbered, key=lambda one: one[1].removeprefix("ال")[0].translate(ALEFS)):
        lines += [heading.format(letter), *(entry(*one) for one in found)]
    return "".join(lines)


def bare(text: str) -> str:
    return re.sub(r"[\W_]", "", text)


def is_same(reading: Reading, pairs: Pairs) -> None:
    assert [bare(one.head) for one in reading.entries] == [bare(head) for head, _ in pairs]
    got = [bare("".join(one.paragraphs)) for one in reading.entries]
    assert got == [bare(text) for _, text in pairs]
    assert not reading.problems(0.95)


def refused(text: str) -> str:
    try:
        return "; ".join(read(text).problems(0.8))
    except SourceChanged as error:
        return str(error)


def blocks(text: str, before: str = "", after: str = "\n\n") -> str:
    """Each paragraph with a mark before it."""
    return "".join(before + line + after for line in text.split("\n"))


HEADINGS = {
    "Markdown": ("## حرف {}\n\n", lambda _, head, text: f"### {head}\n\n{blocks(text)}"),
    "Markdown of two levels": ("# {}\n\n", lambda _, head, text: f"## {head} ##\n{blocks(text)}"),
    "Markdown without letters": ("", lambda _, head, text: f"## {head} {{#id}}\n{blocks(text)}"),
    "numbered": ("## باب {}\n", lambda n, head, text: f"#### {n}. **{head}**\n{blocks(text)}"),
    "OpenITI's second level": (
        "### | حرف {}\n",
        lambda _, head, text: f"### || {head}\n{blocks(text, '# ')}",
    ),
    "OpenITI's third level": (
        "### | {}\n",
        lambda n, head, text: f"### ||| {n} - {head}\n{blocks(text, '# ')}",
    ),
    "OpenITI's first level": ("", lambda _, head, text: f"### | {head}\n{blocks(text, '# ')}"),
    "wiki": ("== حرف {} ==\n", lambda _, head, text: f"=== {head} ===\n{blocks(text)}"),
}


@pytest.mark.parametrize("name", HEADINGS)
def test_headings_of_one_level_are_heads(name: str, pairs: Pairs) -> None:
    heading, entry = HEADINGS[name]
    reading = read(relaid(pairs, entry, heading))
    assert reading.shape.name == "heading"
    is_same(reading, pairs)


def test_headings_of_pages_and_of_parts_are_no_heads(pairs: Pairs) -> None:
    def entry(n: int, head: str, text: str) -> str:
        page = f"### صفحة {n // 2}\n" if n % 2 == 0 else ""
        return f"### {head}\n\n{page}#### الشرح\n\n{blocks(text)}"

    reading = read(relaid(pairs, entry, "## حرف {}\n\n"))
    assert [bare(one.head) for one in reading.entries] == [bare(head) for head, _ in pairs]
    got = [bare("".join(one.paragraphs)) for one in reading.entries]
    assert got == ["الشرح" + bare(text) for _, text in pairs]


def test_headings_of_themes_part_the_entries_under_them(pairs: Pairs) -> None:
    def entry(n: int, head: str, text: str) -> str:
        return (
            f"## {head.rsplit(maxsplit=1)[-1]} وما يليه\n\n" if n % 3 == 1 else ""
        ) + f"**{head}**\n\n{blocks(text)}"

    reading = read(relaid(pairs, entry, ""), stated=len(pairs))
    assert reading.shape.name == "bold"
    is_same(reading, pairs)


def test_headings_that_come_again_and_headings_of_two_levels_are_refused(pairs: Pairs) -> None:
    def again(n: int, head: str, text: str) -> str:
        return f"### {head}\n{text}\n\n" + ("### ملاحظة\nوهو معروف عند الناس.\n" if n % 3 == 1 else "")

    def two_levels(n: int, head: str, text: str) -> str:
        return f"{'###' if n % 3 else '####'} {head}\n{text}\n\n"

    assert refused(relaid(pairs, again, "## حرف {}\n"))
    assert refused(relaid(pairs, two_levels, "## حرف {}\n"))


RUN_IN = {
    "quotes": ("حرف {}\n\n", lambda _, head, text: f"«{bare_quotes(head)}» {blocks(text)}"),
    "quotes without letters": ("", lambda n, head, text: f"{n} - «{bare_quotes(head)}»: {blocks(text)}"),
    "quotes under pairs of letters": (
        "حرف {}\n",
        lambda n, head, text: (
            ("الألف مع الباء\n\n" if n % 9 == 1 and head[0] in "أإآ" else "")
            + f"«{bare_quotes(head)}» {blocks(text)}"
        ),
    ),
    "bold, the colon inside": ("# {}\n\n", lambda _, head, text: f"**{head}:** {blocks(text)}"),
    "bold in a list": ("## {}\n\n", lambda _, head, text: f"- **{head}** — {blocks(text)}"),
    "bold in a list, the colon inside": ("## {}\n", lambda _, head, text: f"* **{head}:** {blocks(text)}"),
    "bold of a wiki": ("== حرف {} ==\n", lambda _, head, text: f"'''{head}''': {blocks(text)}"),
    "bold with links": ("# {}\n", lambda n, head, text: f"**{head}** {text} [↩](#n{n})\n\n"),
    "bold with quoted blocks": ("# {}\n", lambda _, head, text: f"**{head}**\n\n{blocks(text, '> ')}"),
    "pandoc's definitions": ("# {}\n\n", lambda _, head, text: f"{head}\n\n:   {indented(text)}"),
    "OpenITI, numbers in brackets": (
        "### | {}\n",
        lambda n, head, text: f"# [{n}] «{head}»\n{blocks(text, '# ')}",
    ),
}


def bare_quotes(head: str) -> str:
    return re.sub("[«»]", "", head)


def indented(text: str) -> str:
    return blocks(text).replace("\n\n", "\n\n    ").rstrip(" ")


@pytest.mark.parametrize("name", RUN_IN)
def test_heads_between_marks_and_over_definitions_are_read(name: str, pairs: Pairs) -> None:
    heading, entry = RUN_IN[name]
    reading = read(relaid(pairs, entry, heading))
    if "quotes" in name and pairs is not SAMPLE:  # a few explanations begin a paragraph with a quotation
        heads = {bare(one.head): bare("".join(one.paragraphs)) for one in reading.entries}
        assert sum(heads.get(bare(head)) != bare(text) for head, text in pairs) <= 0.01 * len(pairs)
        assert len(reading.entries) <= 1.005 * len(pairs)
        assert not reading.problems(0.95)
    else:
        is_same(reading, pairs)


@pytest.mark.parametrize("every", [3, 10, 30])
@pytest.mark.parametrize("name", BOOKS)
def test_quotations_that_open_paragraphs_are_no_heads(name: str, every: int, shared_data: Path) -> None:
    """They are read as text, or the book is refused: never taken for entries beyond one of a hundred."""
    pairs = original(shared_data / BOOKS[name])
    others = [bare_quotes(head) for head, _ in pairs]

    def entry(n: int, head: str, text: str) -> str:
        other = others[n * 37 % len(others)]
        more = f"«{other}» قريب منه في المعنى.\n\n" if n % every == 0 else ""
        return f"«{bare_quotes(head)}» {text}\n\n{more}"

    for heading in ("حرف {}\n\n", ""):
        text = relaid(pairs, entry, heading)
        if not refused(text):
            assert len(read(text).entries) - len(pairs) <= 0.01 * len(pairs)


LABELS: dict[str, Callable[[int, str, str], str]] = {
    "Arabic": lambda _, head, text: f"المثل: {head}\nالشرح: {text}\n\n",
    "English": lambda _, head, text: f"Proverb: {head}\n\nMeaning: {text}\n\n",
    "vocalised": lambda _, head, text: f"مَثَل: {head}\nمَعنى: {text}\n",
    "of two words": lambda _, head, text: f"- نص المثل : {head}\n- معنى المثل : {text}\n---\n",
    "bold": lambda _, head, text: f"**المثل:** {head}\n\n**المعنى**: {text}\n\n",
    "cards": lambda n, head, text: (
        f"رقم: {n}\nالكناية: {head}\nالمعنى: {text}\nالمصدر: كتاب، ص {n // 9}\n---\n"
    ),
    "signs": lambda _, head, text: f"✅ المثل: {head}\n📌 المعنى: {text}\n\n",
    "of explanations alone": lambda n, head, text: f"{n}) {head}\nالمعنى: {text}\nالمصدر: كتاب\n\n",
}


@pytest.mark.parametrize("name", LABELS)
def test_labelled_fields_are_heads_and_explanations(name: str, pairs: Pairs) -> None:
    shuffled = sorted(pairs, key=lambda one: bare(one[1])[5:]) if "alone" not in name else pairs
    reading = read("".join(LABELS[name](n, *one) for n, one in enumerate(shuffled, start=1)))
    is_same(reading, shuffled)


ODD_LABELS: dict[str, Callable[[int, str, str], str]] = {
    "the meaning first": lambda _, head, text: f"المعنى: {text}\nالمثل: {head}\n\n",
    "heads without labels": lambda n, head, text: (
        f"{head if n % 20 == 9 else 'المثل: ' + head}\nالمعنى: {text}\n\n"
    ),
    "a label that goes on": lambda _, head, text: (
        f"المثل: {head}\nالمعنى: {text}\nالأصل: {text[:40]}\n{text[40:]}\n"
    ),
    "links to other pages": lambda n, head, text: (
        f"المثل: {head}\nالمعنى: {text}\n" + f"اقرأ أيضا: أمثال رقم {n * 7}\n" * (n % 20 == 3)
    ),
    "two explanations": lambda n, head, text: (
        f"المثل: {head}\nالشرح: {text}\n" + "الشرح: غيره.\n" * (n % 9 == 1)
    ),
}


@pytest.mark.parametrize("name", ODD_LABELS)
def test_labels_that_do_not_follow_one_another_are_refused(name: str, pairs: Pairs) -> None:
    many = list(pairs) * (1 if len(pairs) > 50 else 3)
    assert refused("".join(ODD_LABELS[name](n, *one) for n, one in enumerate(many, start=1)))


@pytest.mark.parametrize("mark", ["{}. {}", "• {1}", "### $ {1}"])
def test_heads_wrapped_at_the_page_above_a_blank_line_are_whole(mark: str, pairs: Pairs) -> None:
    """Three of 231 in an outsider's book were cut after their first line."""

    def entry(n: int, head: str, text: str) -> str:
        return f"{fill(mark.format(n, head), 60)}\n\n" + blocks(
            "\n\n".join(fill(one, 60) for one in text.split("\n")), after="\n"
        )

    is_same(read(relaid(pairs, entry, "حرف {}\n\n")), pairs)


def test_an_index_at_the_end_is_left_over(pairs: Pairs) -> None:
    """Its parts have the titles of the letters that the entries stand under."""
    index = relaid(pairs, lambda n, head, _: f"{head} {'.' * 20} {n // 3 + 7}\n", "\n\nحرف {}\n")
    reading = read(relaid(pairs, lambda n, head, text: f"({n}) {head}\n{blocks(text)}", "حرف {}\n\n") + index)
    is_same(reading, pairs)
    assert sum("...." in one.text for one in reading.leftovers) == len(pairs)


def test_links_of_a_wiki_say_what_is_read_and_its_categories_nothing(pairs: Pairs) -> None:
    def entry(n: int, head: str, text: str) -> str:
        first, *rest = text.split(" ")
        linked = [f"[[{first}]]" if n % 2 else f"[[صفحة أخرى (مثل)|{first}]]", *rest]
        return f"* '''{head}''': {' '.join(linked)}\n\n"

    text = relaid(pairs, entry, "== حرف {} ==\n") + "[[تصنيف:أمثال]]\n[[Category:Proverbs]]\n"
    is_same(read(text), pairs)


def arabic(number: int) -> str:
    return str(number).translate(str.maketrans("0123456789", "٠١٢٣٤٥٦٧٨٩"))


PAGES: dict[str, Callable[[int], str]] = {
    "Shamela's": lambda page: f"[ص: {page}]",
    "in round brackets": lambda page: f"(ص {arabic(page)})",
    "of volume and page": lambda page: f"(1/{page})",
    "of two numbers": lambda page: f"الجزء: ١ ¦ الصفحة: {arabic(page)}",
    "a running head": lambda page: (
        f"{arabic(page)} كتاب الأمثال" if page % 2 else f"أحمد تيمور   {arabic(page)}"
    ),
    "of a chapter": lambda page: f"{page}     الفصل {'أبجدهوزحطي'[page // 9 % 10]}     كتاب الأمثال",
}


@pytest.mark.parametrize("name", PAGES)
def test_marks_of_pages_are_taken_out_of_explanations(name: str, shared_data: Path) -> None:
    pairs = original(shared_data / BOOKS["amthal"])

    def entry(n: int, head: str, text: str) -> str:
        words = text.split(" ")
        half, page = len(words) // 2, f"\n{PAGES[name](n // 3 + 5)}\n" if n % 3 == 0 else " "
        return f"{n}- {head}\n{' '.join(words[:half])}{page}{' '.join(words[half:])}\n"

    text = relaid(pairs, entry, "حرف {}\n")
    reading = read(text)
    is_same(reading, pairs)
    if name != "Shamela's":  # a known mark, as `PageV01P012` is
        assert len(reading.pages) == len(pairs) // 3
        assert all(mark in text.split("\n")[line - 1] for line, mark in reading.pages)


def test_references_and_numbers_of_entries_are_no_marks_of_pages(pairs: Pairs) -> None:
    """References don't rise; heads that differ are no running heads, and a footnote stands below its text."""
    order = [n * 7919 % 641 for n in range(len(pairs) + 1)]
    entries = [(head, f"{text} (ص {order[n]})") for n, (head, text) in enumerate(pairs)]
    reading = read(relaid(entries, lambda n, head, text: f"{n}- {head}\n{text}\n", "حرف {}\n"))
    assert "(ص " in reading.entries[0].paragraphs[-1]
    notes = relaid(
        pairs, lambda n, head, text: f"{n}- {head}\n{text}\n({n % 3 + 1}) مجمع الأمثال {n}.\n", "حرف {}\n"
    )
    assert refused(notes)


def test_heads_run_in_below_verse_are_counted_by_the_alphabet(shared_data: Path) -> None:
    """Verse has no stops, so that no line below it was taken for a sentence: 42 of 560 heads were lost unsaid."""

    def entry(n: int, head: str, text: str) -> str:
        verse = "قفا نبك من ذكرى حبيب ومنزل ..... بسقط اللوى بين الدخول فحومل\n" if n % 12 == 0 else ""
        return f"«{bare_quotes(head)}» {text}\n{verse}"

    pairs = original(shared_data / BOOKS["amthal"])
    assert "the alphabet counts" in refused(relaid(pairs, entry, ""))


def with_notes(
    pairs: Pairs, mark: Callable[[int], str], note: Callable[[int], str], every: int
) -> tuple[str, int]:
    """A note to every fourth entry, its mark behind a word; the notes of `every` entries stand below the last."""
    waiting: list[str] = []
    written = 0

    def entry(n: int, head: str, text: str) -> str:
        nonlocal written
        first, *rest = text.split(" ")
        if n % 4 == 0:
            waiting.append(f"{note(len(waiting) + 1)} مجمع الأمثال للميداني، حرف كذا {n}.\n")
            written += 1
            first += mark(len(waiting))
        page = "" if n % every else f"_______________\n{''.join(waiting)}\n"
        if page:
            waiting.clear()
        return f"**{head}**\n{' '.join([first, *rest])}\n\n{page}"

    text = relaid(pairs, entry, "## حرف {}\n\n")
    return text + "".join(waiting), written


NOTES: dict[str, tuple[Callable[[int], str], Callable[[int], str], int]] = {
    "of pages, in brackets": (lambda n: f" ({n})", lambda n: f"({n})", 12),
    "of pages, Arabic digits": (lambda n: f"({arabic(n)})", lambda n: f"({arabic(n)})", 12),
    "of pages, raised": (lambda n: "¹²³⁴⁵⁶⁷⁸⁹"[n - 1], lambda n: "¹²³⁴⁵⁶⁷⁸⁹"[n - 1], 12),
    "pandoc's at the end": (lambda n: f"[^{n}]", lambda n: f"[^{n}]:", 10**6),
}


@pytest.mark.parametrize("name", NOTES)
def test_footnotes_that_marks_point_to_are_left_over(name: str, shared_data: Path) -> None:
    pairs = original(shared_data / BOOKS["amthal"])
    text, written = with_notes(pairs, *NOTES[name])
    reading = read(text)
    is_same(reading, pairs)
    notes = [one for one in reading.leftovers if one.why == "a footnote" and "مجمع" in one.text]
    assert len(notes) == written
    assert all(one.text in text.split("\n")[one.line - 1] for one in notes)


def test_what_no_mark_points_to_is_no_footnote(pairs: Pairs) -> None:
    """Numbered heads that the text refers to, numbered meanings, notes whose marks are lost."""
    heads = relaid(pairs, lambda n, head, text: f"({n}) {head}\n{text} (انظر (٣)).\n\n", "حرف {}\n\n")
    meanings = relaid(
        pairs, lambda _, head, text: f"**{head}**\nله معنيان:\n(١) {text}\n(٢) ضده.\n\n", "## حرف {}\n\n"
    )
    for text in (heads, meanings):
        assert without_notes(text) == (text, [])
    lost, _ = with_notes(pairs, lambda _: "", lambda n: f"({n})", 3)
    assert without_notes(lost) == (lost, [])


@pytest.mark.parametrize(
    "form", ["{}- {}:\n{}\n\n", "**{1}**:\n{2}\n\n", "• {1}:\n{2}\n\n", "«{1}»:\n{2}\n\n"]
)
def test_a_mark_before_heads_that_end_in_a_colon_is_the_shape(form: str, pairs: Pairs) -> None:
    text = relaid(pairs, lambda n, head, text: form.format(n, bare_quotes(head), text), "حرف {}\n\n")
    assert "two shapes" not in refused(text)
