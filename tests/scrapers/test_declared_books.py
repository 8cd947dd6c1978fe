"""Books read by a declaration: what refuses it, what the evidence finds, and real books nobody tuned it to."""

from __future__ import annotations

import zipfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mihakk.machinery.errors import SourceChanged, UsageError
from mihakk.schemas.benchmark import SourceUse
from mihakk.schemas.idiom import Idiom
from mihakk.scrapers.book import BookOptions, Line, Reading, read
from mihakk.scrapers.book_suggest import suggest
from mihakk.scrapers.book_text import html_text, plain_lines
from mihakk.scrapers.source import Entry
from mihakk.scrapers.trial import suggestions

Scrape = Callable[..., list[Entry]]
# Proverbs in common use, explained in our own words, in the order of the alphabet.
ENTRIES = [
    ("ابن الوز عوام", "الولد ينشأ على ما عليه أبوه من الصنعة والطبع بلا تعليم."),
    ("اتغدى بيه قبل ما يتعشى بيك", "حث على المبادرة إلى العدو قبل أن يتمكن ويبادر هو بالأذى."),
    ("اللي اختشوا ماتوا", "يقال عند رؤية من لا يستحي من فعله القبيح أمام الناس."),
    ("امشي سنة ولا تعدي قنا", "حث على السلامة وإن طال الطريق. وفيه ترك المخاطرة لأجل الاختصار."),
    ("باب النجار مخلع", "يراد به الصانع الذي يتقن عمل غيره ويهمل شأن نفسه وبيته."),
    ("الجار قبل الدار", "وصية باختيار الجيران قبل السكن، لأن سوء الجوار يفسد حسن المنزل."),
    ("حبيبك يبلع لك الزلط", "المحب يحتمل من محبوبه الخطأ العظيم ويلتمس له العذر فيه."),
    ("ضربني وبكى وسبقني واشتكى", "يوصف به الظالم الذي يسبق المظلوم إلى الشكوى فيظهر في صورة المظلوم."),
    ("العين بصيرة واليد قصيرة", "يقوله من يرى الحاجة ويعرف قدرها ولا يملك ثمنها."),
    ("القرد في عين أمه غزال", "يضرب لمن يستحسن ما له وإن كان قبيحا، لأن الحب يخفي العيوب عن صاحبه."),
]
# Ahmad Amin's heads by letter, counted by eye: lines with a colon at their end between blank lines, two of them behind another
# line of their head, less those that introduce verse, a quotation or a table.
AMIN = {"الألف": 141, "الباء": 93, "التاء": 36, "الثاء": 1, "الجيم": 39, "الحاء": 63}
NUMBERED = {"entry": r"^(?P<number>\d+)[.] (?P<head>[^\n]+):$"}


def numbered(entries: list[tuple[str, str]] = ENTRIES) -> str:
    return "".join(f"{n}. {head}:\n{text}\n\n" for n, (head, text) in enumerate(entries, start=1))


def reading(text: str, **options: Any) -> Reading:
    return read(plain_lines(text), BookOptions(**options))


def refused(found: Reading) -> dict[str, float]:
    return {one.name: one.figure for one in found.evidence if one.refuses}


def test_entries_hold_what_stands_until_the_next_one() -> None:
    found = reading("مقدمة الكتاب.\n\n" + numbered(), **NUMBERED, start="^1[.]")
    assert [(one.head, one.paragraphs, one.number) for one in found.entries] == [
        (head, [text], n) for n, (head, text) in enumerate(ENTRIES, start=1)
    ]
    assert found.problems() == []
    assert [one.text for one in found.leftovers] == ["مقدمة الكتاب."]


def test_a_group_for_the_explanation_leaves_the_rest_over() -> None:
    text = "".join(f"{head} = {text}\nزيد من الناشر\n" for head, text in ENTRIES)
    found = reading(text, entry=r"^(?P<head>[^=\n]+?) = (?P<explanation>.+)$")
    assert [one.paragraphs for one in found.entries] == [[text] for _, text in ENTRIES]
    assert {one.text for one in found.leftovers} == {"زيد من الناشر"}
    assert reading(text, entry=r"^(?P<head>[^=\n]+?) = (?P<explanation>.+)$", drop=["^زيد"]).leftovers == []


def test_sections_start_and_end_say_what_is_read_and_headings_are_no_text() -> None:
    half = len(ENTRIES) // 2
    text = (
        f"# المقدمة\n\n1. ليس مثلا:\nمن المقدمة\n\n# حرف أول\n\n{numbered(ENTRIES[:half])}# الفهرس\n\n"
        f"9. ليس مثلا:\nمن الفهرس\n\n# حرف ثان\n\n{numbered(ENTRIES[half:])}# ملحق\n\n1. ملحق:\nنص\n"
    )
    found = reading(text, **NUMBERED, sections="^# حرف", end="^# ملحق")
    assert [one.head for one in found.entries] == [head for head, _ in ENTRIES]
    assert not any("#" in text for one in found.entries for text in one.paragraphs)
    assert found.problems() == []


def test_lettered_takes_heads_by_their_sections_letter() -> None:
    text = "# حرف الباء\n\nباب النجار مخلع:\n\nيراد به الصانع.\n\nوقال الشاعر:\n\nبيت من الشعر.\n"
    pattern = r"(?<=\n\n)(?P<head>[^:\n#]+):\n"
    assert [one.head for one in reading(text, entry=pattern).entries] == ["باب النجار مخلع", "وقال الشاعر"]
    (one,) = reading(text, entry=pattern, lettered=True).entries
    assert one.paragraphs == ["يراد به الصانع.", "وقال الشاعر:", "بيت من الشعر."]
    with pytest.raises(SourceChanged, match="no heading above an entry names a letter"):
        reading(numbered(), **NUMBERED, lettered=True)


# --- declarations that can't be used ----------------------------------------------------------------------
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "say what an entry looks like"),
        ({"entry": "(?P<head>a)", "layout": "quoted"}, "say what an entry looks like"),
        ({"layout": "brackets"}, "`layout: brackets` is none of quoted, run_in"),
        ({"entry": r"^\d+[.] (.+):$"}, "`entry` has no group `head`"),
        ({"entry": r"^(?P<n>\d+)(?P<head>.+):$"}, "`entry` has a group 'n'"),
        ({"entry": "(?P<head>"}, "`entry` is no pattern: missing"),
        ({"entry": "(?P<head>.*)"}, "`entry` matches an empty text"),
        ({**NUMBERED, "drop": ["("]}, "`drop` is no pattern"),
        ({**NUMBERED, "accept": {"numbering": 3, "beauty": 1}}, "beauty"),
    ],
)
def test_a_declaration_that_can_not_be_used_is_refused_by_name(options: dict[str, Any], message: str) -> None:
    with pytest.raises((UsageError, ValueError), match=message):
        reading(numbered(), **options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"entry": "^(?P<head>zzz)$"}, "`entry` matches nothing in"),
        ({**NUMBERED, "start": "^# حرف"}, "no line fits `start`, '\\^# حرف': this is another edition"),
        ({**NUMBERED, "end": "^# ملحق"}, "fits `end`"),
        ({**NUMBERED, "sections": "^# حرف"}, "10 places under headings that are not read"),
    ],
)
def test_a_book_of_another_edition_is_refused_with_the_option(options: dict[str, Any], message: str) -> None:
    with pytest.raises(SourceChanged, match=message):
        reading(numbered(), **options)


def test_a_pattern_that_backtracks_for_ever_is_stopped_and_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mihakk.scrapers.book.SECONDS", 0.2)
    with pytest.raises(UsageError, match=r"`entry` took more than 0\.2 s .*nested repetition"):
        reading("ا" * 20_000 + "!\n", entry=r"^(?P<head>(ا+)+)$")


@pytest.mark.parametrize("option", ["drop", "start", "end", "sections"])
def test_so_is_one_that_lines_are_searched_for(option: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mihakk.scrapers.book.SECONDS", 0.2)
    pattern: Any = r"^((\w| ){1,40}){2,40}[:;]$"
    text = numbered() + "كلام مرسل لا علامة فيه ولا ترتيب " * 2 + "\n"
    with pytest.raises(UsageError, match=rf"`{option}` took more than 0\.2 s"):
        reading(text, **NUMBERED, **{option: [pattern] if option == "drop" else pattern})


# --- evidence -----------------------------------------------------------------------------------------------
@pytest.mark.parametrize("place", range(1, len(ENTRIES)))
def test_a_number_or_a_head_or_a_colon_that_is_missing_is_found_by_the_numbers(place: int) -> None:
    head = ENTRIES[place][0]
    whole = numbered()
    for damaged in (
        whole.replace(f"{place + 1}. {head}:", f"{head}:"),
        whole.replace(f"{place + 1}. {head}:\n", ""),
        whole.replace(f"{head}:", head),
    ):
        found = refused(reading(damaged, **NUMBERED, entries=len(ENTRIES)))
        assert found["entries"] == len(ENTRIES) - 1
        # Nothing follows the last entry, so that no number shows that it is gone.
        assert ("numbering" in found) == (place < len(ENTRIES) - 1)


def test_heads_that_were_not_seen_in_a_sorted_book_are_found_by_the_alphabet(shared_data: Path) -> None:
    text = (shared_data / "openiti" / "amthal_head.txt").read_text(encoding="utf-8")
    options = {"layout": "quoted", "sections": "^# [|] حرف"}
    text = text.partition("#META#Header#End#")[2]
    whole = reading(text, **options)
    assert whole.problems() == []
    lines = text.split("\n")
    for entry in whole.entries[5::60]:
        lines[entry.line - 1] = lines[entry.line - 1].replace("«", "").replace("»", ".")
    found = reading("\n".join(lines), **options)
    assert len(found.entries) < len(whole.entries) - 8
    assert 6 <= refused(found)["alphabet"] <= 20
    (alphabet,) = [one for one in found.evidence if one.name == "alphabet"]
    below = {entry.line for entry in whole.entries[4::60]}
    assert sum(line in below for line, _ in alphabet.places) >= 6


def test_english_books_have_heads_in_capitals_or_between_marks() -> None:
    text = (
        "CONTENTS\n\nABBESS, or LADY ABBESS. The mistress of a house.\n\nAPPLE-PYE BED. A bed made so that nobody can\n"
        "lie in it. See BED.\n\nTO DRIVE PIGS. To snore.\n"
    )
    found = reading(text, layout="capitals", language="en")
    assert [one.head for one in found.entries] == ["ABBESS, or LADY ABBESS", "APPLE-PYE BED", "TO DRIVE PIGS"]
    marked = reading("~Bog-Oranges~, potatoes.\n\n**Bosh** nonsense.\n", layout="marked", language="en")
    assert [one.head for one in marked.entries] == ["Bog-Oranges", "Bosh"]


def test_headings_that_name_no_letter_are_themes(tmp_path: Path, scraped: Scrape) -> None:
    text = f"# حرف الألف\n\n{numbered(ENTRIES[:4])}# أمثال الجيران\n\n{numbered(ENTRIES[4:])}"
    (tmp_path / "book.txt").write_text(text, encoding="utf-8")
    found = scraped("openiti", path=str(tmp_path / "book.txt"), attribution="us", least_yield=1, **NUMBERED)
    labels = [one.source_labels for one in found if isinstance(one, Idiom)]
    assert labels == [{}] * 4 + [{"theme": "أمثال الجيران"}] * 6


def test_evidence_is_accepted_by_name_with_the_figure_that_was_seen() -> None:
    damaged = numbered().replace("3. ", "4. ", 1)
    found = reading(damaged, **NUMBERED)
    assert refused(found) == {"numbering": 2}
    assert "say `accept: {numbering: 2}`" in found.problems()[-1]
    looked = reading(damaged, **NUMBERED, accept={"numbering": 2})
    assert looked.problems() == []
    assert [one.name for one in looked.evidence if one.accepted] == ["numbering"]
    other = reading(damaged, **NUMBERED, accept={"numbering": 1})
    assert "`accept` says 1, which was of another text or declaration" in other.problems()[0]


def test_an_uncounted_book_a_repeated_head_and_a_long_entry_are_doubts() -> None:
    pairs = [(f"{'بتثجحخ'[n % 6]} قول {n}", "معنى القول هنا") for n in range(60)]
    text = "".join(f"{head}:\n{said}\n\n" for head, said in pairs)
    assert refused(reading(text, layout="colon")) == {"entries": 60}
    assert refused(reading(text, layout="colon", entries=60)) == {}
    labels = text + "قالوا:\nكذا\n\n" * 4
    repeated = reading(labels, layout="colon", entries=64)
    assert refused(repeated) == {"repeated_heads": 3}
    assert repeated.evidence[0].places == [(line, "قالوا") for line in (184, 187, 190)]
    long = text + "قول أخير:\n" + "كلام طويل " * 200
    assert refused(reading(long, layout="colon", entries=61)) == {"longest_entry": 400}


# --- forms of a book ----------------------------------------------------------------------------------------
def test_the_same_declaration_reads_text_page_and_epub(tmp_path: Path, scraped: Scrape) -> None:
    body = "".join(f"<p>{n}. {head}:<br/>{text}</p>" for n, (head, text) in enumerate(ENTRIES, start=1))
    page = f"<html><head><title>x</title><style>1. p:</style></head><body><script>1. a:</script>{body}</body></html>"
    (tmp_path / "book.txt").write_text(numbered(), encoding="utf-8")
    (tmp_path / "book.html").write_text(page, encoding="utf-8")
    container = '<container><rootfiles><rootfile full-path="b.opf"/></rootfiles></container>'
    package = (
        '<package xmlns="http://www.idpf.org/2007/opf"><manifest><item id="a" href="a.xhtml" '
        'media-type="application/xhtml+xml"/></manifest><spine><itemref idref="a"/></spine></package>'
    )
    with zipfile.ZipFile(tmp_path / "book.epub", "w") as archive:
        archive.writestr("mimetype", "application/epub+zip")
        archive.writestr(
            "META-INF/container.xml",
            container.replace(
                "<container>", '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container">'
            ),
        )
        archive.writestr("b.opf", package)
        archive.writestr("a.xhtml", page)
    want = [(head, text) for head, text in ENTRIES]
    for name in ("book.txt", "book.html", "book.epub"):
        found = scraped("openiti", path=str(tmp_path / name), attribution="us", least_yield=1, **NUMBERED)
        assert [(one.phrase.raw, one.explanation.raw) for one in found if isinstance(one, Idiom)] == want, (
            name
        )


def test_a_page_that_scripts_write_is_refused(tmp_path: Path, scraped: Scrape) -> None:
    (tmp_path / "book.html").write_text("<body><script>show('1. head:')</script></body>", encoding="utf-8")
    with pytest.raises(UsageError, match=r"book\.html holds no text: what scripts or pictures show"):
        scraped("openiti", path=str(tmp_path / "book.html"), attribution="us", **NUMBERED)


def test_a_definition_list_is_terms_above_their_definitions() -> None:
    text = html_text("<h2>حرف</h2><dl><dt>أ</dt><dd>شرح</dd><dt>ب</dt><dd>آخر</dd><dd>ثان</dd></dl>")
    found = reading(text, layout="terms")
    assert [(one.head, one.paragraphs) for one in found.entries] == [("أ", ["شرح"]), ("ب", ["آخر", "ثان"])]


# --- suggestions --------------------------------------------------------------------------------------------
def test_a_suggestion_is_a_declaration_that_reads_the_book() -> None:
    one = suggest(plain_lines(numbered()))[0]
    again = reading(numbered(), **one.options)
    assert [entry.head for entry in again.entries] == [head for head, _ in ENTRIES]
    assert str(one) == "layout: numbered"


def test_a_text_that_is_no_book_of_entries_suggests_nothing() -> None:
    assert suggest([Line(n, "كلام مرسل في غير ترتيب ولا علامة") for n in range(50)]) == []


def test_a_line_here_and_there_in_a_long_text_is_no_book_of_entries() -> None:
    told = "كلام طويل في وصف ما جرى " * 100
    assert suggest(plain_lines("".join(f"فصل {n} - {told}\n\n" for n in "أبتثجح"))) == []


def test_one_letter_of_a_book_is_read_by_its_letter(shared_data: Path) -> None:
    path = shared_data / "panel" / "books" / "amin_dictionary_head.txt"
    if not path.is_file():
        pytest.skip("the panel is not beside the checkout")
    text = path.read_text(encoding="utf-8")
    ba = text[text.rindex("# | حرف الباء") : text.rindex("# | حرف التاء")]
    (one,) = suggest(plain_lines(ba))
    assert str(one) == "layout: colon\nlettered: true"
    assert len(one.reading.entries) == AMIN["الباء"]


@pytest.mark.parametrize(
    ("name", "layout", "entries", "doubts"),
    [
        ("panel/books/sahli_palestinian_proverbs_excerpt", "number_above", 232, set()),
        ("panel/books/amin_dictionary_head", "colon", sum(AMIN.values()), {"longest_entry"}),
        ("openiti/amthal_head", "quoted", 743, set()),
        ("kinayat/taymur_kinayat_hindawi_93047907", "colon", 334, set()),
    ],
)
def test_one_declaration_of_two_lines_is_suggested_for_each_real_book(
    name: str, layout: str, entries: int, doubts: set[str], shared_data: Path
) -> None:
    path = shared_data / f"{name}.txt"
    if not path.is_file():
        pytest.skip("the panel is not beside the checkout")
    (one,) = suggestions(SourceUse(use="openiti", options={"path": str(path), "layout": "dash"}))
    assert str(one) == f"layout: {layout}\nlettered: true"
    assert len(one.reading.entries) == entries
    assert set(refused(one.reading)) == doubts


def test_the_letters_of_a_dictionary_have_the_heads_that_a_person_counted(shared_data: Path) -> None:
    """Ahmad Amin's: lines that end in a colon between blank lines, less those that introduce verse or a quotation."""
    path = shared_data / "panel" / "books" / "amin_dictionary_head.txt"
    if not path.is_file():
        pytest.skip("the panel is not beside the checkout")
    text = path.read_text(encoding="utf-8").partition("#META#Header#End#")[2]
    counted = Counter(
        entry.title.split()[-1] for entry in reading(text, layout="colon", lettered=True).entries
    )
    assert counted == AMIN
