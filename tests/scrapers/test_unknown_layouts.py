"""Layouts written before their author had read the parser: read whole, or refused; never read wrongly in silence."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from mihakk.errors import SourceChanged
from schemas.idiom import Idiom
from scrapers.source import Entry

Scrape = Callable[..., list[Entry]]
# Proverbs in common use, explained in our own words.
ENTRIES = [
    (
        "اللي اختشوا ماتوا",
        "يقال عند رؤية من لا يستحي من فعله القبيح أمام الناس، كأن أهل الحياء قد ذهبوا ولم يبق منهم أحد",
    ),
    ("القرد في عين أمه غزال", "يضرب لمن يستحسن ما له وإن كان قبيحا، لأن الحب يخفي العيوب عن صاحبه"),
    ("باب النجار مخلع", "يراد به الصانع الذي يتقن عمل غيره ويهمل شأن نفسه وبيته"),
    ("العين بصيرة واليد قصيرة", "يقوله من يرى الحاجة ويعرف قدرها ولا يملك ثمنها"),
    ("يا داخل بين البصلة وقشرتها", "نهي عن الدخول بين القريبين في خصومتهما، فإن الداخل لا ينال غير الأذى"),
    ("امشي سنة ولا تعدي قنا", "حث على السلامة وإن طال الطريق، وترك المخاطرة لأجل الاختصار"),
    ("حبيبك يبلع لك الزلط", "المحب يحتمل من محبوبه الخطأ العظيم ويلتمس له العذر فيه"),
    ("اللي يتلسع من الشوربة ينفخ في الزبادي", "من أصابه ضرر من شيء صار يحذر مما لا ضرر فيه لشبهه به"),
    ("ضربني وبكى وسبقني واشتكى", "يوصف به الظالم الذي يسبق المظلوم إلى الشكوى فيظهر في صورة المعتدى عليه"),
    ("الجار قبل الدار", "وصية باختيار الجيران قبل السكن، لأن سوء الجوار يفسد حسن المنزل"),
    ("اتغدى بيه قبل ما يتعشى بيك", "حث على المبادرة إلى العدو قبل أن يتمكن ويبادر هو بالأذى"),
    ("ابن الوز عوام", "الولد ينشأ على ما عليه أبوه من الصنعة والطبع بلا تعليم"),
]
_DIGITS = str.maketrans("0123456789", "٠١٢٣٤٥٦٧٨٩")


def _number(n: int) -> str:
    return str(n).translate(_DIGITS)


def _chapter(title: str, first: int, stop: int) -> str:
    part = list(enumerate(ENTRIES, start=1))[first:stop]
    heads = "\n".join(f"{_number(n)}  {head}" for n, (head, _) in part)
    notes = "\n".join(f"[{_number(n)}] {text}." for n, (_, text) in part)
    return f"{title}\n\n{heads}\n\nالتعليقات\n\n{notes}\n"


REFUSED = {
    "the meaning first, the proverb at its end": (
        "باب في أمثال الناس\n\n" + "\n\n".join(f"{text}. ومن هذا قولهم — {head} —" for head, text in ENTRIES),
        "heads have 14 words in the middle and what stands under them 5",
    ),
    "proverbs by number, their notes after the list": (
        _chapter("الفصل الأول", 0, 6) + "\n" + _chapter("الفصل الثاني", 6, 12),
        "no shape of entries",
    ),
    "index cards with named fields": (
        "\n***\n".join(
            f"رقم البطاقة: {_number(n)}\nالمضرب: {text}\nنص المثل: {head}\nبلد الجمع: القاهرة"
            for n, (head, text) in enumerate(ENTRIES, start=1)
        ),
        "no shape of entries",
    ),
    "one running paragraph": (
        "هذه أمثال جمعتها: " + " / ".join(f"{head} = {text}" for head, text in ENTRIES),
        "no shape of entries",
    ),
    # These two were read as entries when they were first tried.
    "a dialogue whose every line opens with a label": (
        "\n\n".join(f"قالوا: {head}\nقلت: {text}" for head, text in ENTRIES),
        "'قالوا' begins many entries and is a label",
    ),
    "the meaning at the margin, the proverb indented below": (
        "\n\n".join(f"{text}:\n      {head}" for head, text in ENTRIES),
        "heads have 11 words in the middle and what stands under them 4",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_layout_that_nobody_tuned_to_is_refused(name: str, tmp_path: Path, scraped: Scrape) -> None:
    text, why = REFUSED[name]
    path = tmp_path / "book.txt"
    path.write_text(text + "\n", encoding="utf-8")
    with pytest.raises(SourceChanged, match=why):
        scraped("openiti", path=str(path), attribution="x", least_yield=1)


def test_a_layout_that_nobody_tuned_to_is_read_whole_without_its_page_numbers(
    tmp_path: Path, scraped: Scrape
) -> None:
    lines = []
    for n, (head, text) in enumerate(ENTRIES):
        lines.append(f"{head}\n      {text}.\n")
        if n % 4 == 3:
            lines.append(f"\n— {_number(n)} —\n")
    path = tmp_path / "book.txt"
    path.write_text("\n".join(lines), encoding="utf-8")
    found = scraped("openiti", path=str(path), attribution="x", least_yield=1)
    pairs = [(one.phrase.raw, one.explanation.raw) for one in found if isinstance(one, Idiom)]
    assert pairs == [(head, f"{text}.") for head, text in ENTRIES]


def test_a_table_is_read_by_the_names_of_its_columns(tmp_path: Path, scraped: Scrape) -> None:
    """Written before its author had read the parser, and refused until it read tables."""
    rows = [f"{_number(n)}\t{head}\t{text}" for n, (head, text) in enumerate(ENTRIES, start=1)]
    path = tmp_path / "book.txt"
    path.write_text("م\tالمثل\tالمعنى\n" + "\n".join(rows) + "\n", encoding="utf-8")
    found = scraped("openiti", path=str(path), attribution="x", least_yield=1)
    assert [(one.phrase.raw, one.explanation.raw) for one in found if isinstance(one, Idiom)] == ENTRIES
