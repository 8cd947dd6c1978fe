"""Books: the real ones beside the checkout, and files made to do harm."""

from __future__ import annotations

import io
import re
import zipfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from xml.etree.ElementTree import fromstring

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mihakk.machinery.errors import SourceChanged, UsageError
from mihakk.schemas.idiom import Idiom
from mihakk.schemas.poem import Poem
from mihakk.schemas.rejection import Rejection
from mihakk.scrapers.crawl import Page, PageRequest
from mihakk.scrapers.epub import open_book, parse_xml
from mihakk.scrapers.heads import begins_with, section_letter
from mihakk.scrapers.hindawi import site
from mihakk.scrapers.hindawi.blocks import blocks
from mihakk.scrapers.hindawi.rights import licence
from mihakk.scrapers.raw import RawStore
from mihakk.scrapers.source import Entry
from mihakk.scrapers.trial import attempt, guess_use

Scrape = Callable[..., list[Entry]]
KINAYAT = {
    "entry": r"(?<=\n\n)(?!لبعضهم:)(?P<head>[^:\n]{1,40}):(?=\n\n)|^(?P<head>على سنجة عشره|مالوش طروه)$",
    "sections": "^# [|] حرف",
}
TERMS = {
    "entry": r"^(?P<head>[^\n]+)\n(?P<explanation>(?:: [^\n]*\n)+)",
    "accept": {"share": 8, "repeated_heads": 26, "entries": 89},
}
EPUB = Path(__file__).resolve().parent.parent / "fixtures" / "sources" / "hindawi" / "book.epub"

# --- al-Kinayat ---------------------------------------------------------------------------------------
# Entries that only send the reader elsewhere.
SEE_ONLY = {
    *("بالكوم", "البلد واقفه على رجل", "الخالق الناطق", "خرق الباب بإبره", "داهيه مسيحه", "دمه تقيل"),
    *("سيبه يرن", "شخه في حمام", "عدم الجلد والسقط", "قفاه يقمر عيش", "كسر وراه قواره", "كشكره خبر"),
    *("ما صنع الحداد", "مربط الفرس", "من بز أمه", "من نقره لدحديره", "موش من وقمه", "نفض الحصيره"),
    "وقع لشوشته",
}


def test_al_kinayat_gives_every_entry_once(shared_data: Path, scraped: Scrape) -> None:
    path = shared_data / "kinayat" / "taymur_kinayat_hindawi_93047907.txt"
    entries = scraped("openiti", path=str(path), dialect="egyptian", least_yield=300, **KINAYAT)
    idioms = [entry for entry in entries if isinstance(entry, Idiom)]
    rejected = [entry for entry in entries if isinstance(entry, Rejection)]
    # 335 short paragraphs end in a colon: one of them introduces a quoted verse («by somebody:»). Two heads
    # more have lost colon and explanation to a footnote.
    text = path.read_text(encoding="utf-8").partition("# | حرف الألف")[2].partition("# | ملحق")[0]
    short = re.findall(r"(?<=\n\n)([^\n:]{1,40}):(?=\n\n)", text)
    assert len(short) == 335
    heads = {idiom.phrase.raw for idiom in idioms} | {entry.body.split('"')[3] for entry in rejected}
    assert len(heads) == len(entries) == 336
    assert set(short) - heads == {"لبعضهم"}
    assert heads - set(short) == {"على سنجة عشره", "مالوش طروه"}
    assert Counter(entry.reason for entry in rejected) == {"cross_reference": 19, "explanation_missing": 2}
    assert {e.body.split('"')[3] for e in rejected if e.reason == "cross_reference"} == SEE_ONLY
    assert len(idioms) == 315
    assert not [idiom for idiom in idioms if idiom.phrase.raw.startswith("لبعضهم")]
    assert sum("كناية عن" in idiom.explanation.raw for idiom in idioms) > 200
    lines = path.read_text(encoding="utf-8").splitlines()
    for idiom in idioms:
        line = int(idiom.provenance.url.rpartition("#")[2])
        assert lines[line - 1].rstrip(": ") == idiom.phrase.raw


def test_a_text_of_another_kind_is_refused(tmp_path: Path, scraped: Scrape) -> None:
    path = tmp_path / "book.txt"
    path.write_text("just text")
    with pytest.raises(SourceChanged, match="does not begin with an OpenITI header"):
        scraped("openiti", path=str(path))
    path.write_bytes("نص".encode("cp1256"))
    with pytest.raises(UsageError, match=r"is not in UTF-8 .* say in `encoding`"):
        scraped("openiti", path=str(path))
    with pytest.raises(UsageError, match="there is no encoding 'cp125'"):
        scraped("openiti", path=str(path), encoding="cp125")


def test_an_epub_with_a_credit_of_its_own_is_a_book_of_another_house_than_hindawi(tmp_path: Path) -> None:
    path = tmp_path / "a.epub"
    path.write_bytes(b"PK")
    assert guess_use(str(path), {"layout": "colon"}).use == "hindawi"
    assert guess_use(str(path), {"attribution": "a, b"}).use == "openiti"


PAGE = "<html><head><meta charset={}><script>let nothing = 'nothing: at all'</script></head><body>{}</body></html>"
ENTRIES = "".join(f"<p>naïf {letter}: one who trusts</p>" for letter in "abcd")


@pytest.mark.parametrize(
    ("name", "charset", "encoding"),
    [
        ("a.html", "iso-8859-1", ""),
        ("a.html", "utf-8", ""),
        ("a.html", "none", "cp1252"),
        ("a.txt", "", "utf-16"),
    ],
)
def test_a_book_is_read_in_the_encoding_that_it_or_its_declaration_says(
    tmp_path: Path, scraped: Scrape, name: str, charset: str, encoding: str
) -> None:
    """A page of Project Gutenberg says ISO-8859-1; it was refused, with another encoding as the advice."""
    body = PAGE.format(charset, ENTRIES) if charset else ENTRIES.replace("<p>", "").replace("</p>", "\n\n")
    path = tmp_path / name
    path.write_bytes(body.encode(encoding or {"iso-8859-1": "cp1252"}.get(charset, charset)))
    options = {
        "path": str(path),
        "encoding": encoding,
        "attribution": "a, b",
        "language": "en",
        "least_yield": 4,
    }
    found = scraped("openiti", layout="line_each", **options)
    assert [entry.phrase.raw for entry in found] == [f"naïf {letter}" for letter in "abcd"]


# --- heads --------------------------------------------------------------------------------------------
def test_a_head_begins_with_the_letter_of_its_section() -> None:
    assert section_letter("حرف الباء ") == "ب"
    assert section_letter("مقدمة") == ""
    assert begins_with("البلد واقفه", "ب")
    assert begins_with("اِلْبَلَدْ", "ب")
    assert begins_with("إيده خفيفه", "ا")
    assert not begins_with("لبعضهم", "س")
    assert not begins_with("", "س")


# --- the real EPUB --------------------------------------------------------------------------------------
def test_a_real_epub_loses_no_text(shared_data: Path) -> None:
    data = (shared_data / "hindawi" / "19507951.epub").read_bytes()
    book = open_book(data, "book")
    assert (book.title, book.author, len(book.chapters)) == ("تاريخ النبات عند العرب", "أحمد عيسى", 24)
    kinds: Counter[str] = Counter()
    for chapter in book.chapters:
        if re.search(r"(cover|fp\d)\.xhtml$", chapter.name):
            continue
        root = parse_xml(chapter.data, chapter.name)
        found = blocks(root, chapter.name)
        kinds.update(block.kind for block in found)
        body = next(element for element in root if element.tag.endswith("body"))
        # Every letter is in some block; an ellipsis may join two hemistichs.
        want = sorted(re.sub(r"[\s…]", "", "".join(body.itertext())))
        got = sorted(re.sub(r"[\s…]", "", "".join(block.text + block.rest for block in found)))
        assert got == want, chapter.name
    assert kinds == {"paragraph": 898, "row": 269, "heading": 149, "term": 89, "verse": 2}


def test_a_real_epub_gives_terms_and_verse_with_its_licence(shared_data: Path, scraped: Scrape) -> None:
    path = str(shared_data / "hindawi" / "19507951.epub")
    with pytest.raises(SourceChanged, match=r"11 % of the text stands in entries"):
        scraped("hindawi", epub=[path], layout="terms", entries=89)
    terms = scraped("hindawi", epub=[path], **TERMS)
    assert len(terms) == 89
    assert {entry.provenance.licence for entry in terms if isinstance(entry, Idiom)} == {"public-domain"}
    (poem,) = scraped("hindawi", epub=[path], kind="poem")
    assert isinstance(poem, Poem)
    assert [couplet.first.raw for couplet in poem.couplets] == [
        "لو كنتَ تعلم ما أقول عذرتني",
        "لكن جهلتَ مقالتي فعذلتني",
    ]


def test_a_real_listing_leads_to_its_books_and_pages(shared_data: Path, raw: RawStore) -> None:
    url = "https://www.hindawi.org/books/categories/poetry/1/"
    body = (shared_data / "hindawi" / "categories_poetry_1.html").read_bytes()
    page = Page(PageRequest(url=url, kind="listing"), raw.add(url, body), body)
    requests = list(site.follow(page))
    books = [one.url for one in requests if one.kind == "book"]
    assert len(books) == len(set(books)) == 20
    assert "https://www.hindawi.org/books/14284864/" in books
    more = {one.url for one in requests if one.kind == "listing"}
    assert "https://www.hindawi.org/books/categories/poetry/2/" in more


# --- harm -----------------------------------------------------------------------------------------------
def epub(**changes: bytes | None) -> bytes:
    """The sample book with files changed, added or left out."""
    out = io.BytesIO()
    with zipfile.ZipFile(EPUB) as old, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as new:
        files = {name: old.read(name) for name in old.namelist()} | changes
        for name, data in files.items():
            if data is not None:
                new.writestr(name, data)
    return out.getvalue()


def lying_header(data: bytes, name: bytes, size: int) -> bytes:
    """The archive with the unpacked size of one file understated in both of its headers."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        real = archive.getinfo(name.decode()).file_size
    return data.replace(real.to_bytes(4, "little"), size.to_bytes(4, "little"))


LAUGHS = (
    b'<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "haha">'
    + b"".join(b'<!ENTITY %c "%s">' % (98 + n, b"&%c;" % (97 + n) * 10) for n in range(9))
    + b']><html xmlns="http://www.w3.org/1999/xhtml"><body><p>&j;</p></body></html>'
)
EXTERNAL = b'<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]><html><body>&a;</body></html>'


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"not a zip", "not a readable EPUB"),
        (EPUB.read_bytes()[:900], "not a readable EPUB"),
        (EPUB.read_bytes()[400:], "not a readable EPUB"),
        (epub(**{"META-INF/container.xml": None}), "has no META-INF/container.xml"),
        (epub(mimetype=b"text/plain"), "does not say that it is an EPUB"),
        (epub(**{"EPUB/Content/chapter-1-2.xhtml": None}), "has no EPUB/Content/chapter-1-2.xhtml"),
        (epub(**{"EPUB/Content/chapter-1-2.xhtml": b"\0" * (80 << 20)}), "-fold or more: refused"),
        (epub(**{"EPUB/package.opf": LAUGHS}), "declares the entity 'a': refused"),
        (epub(**{"EPUB/package.opf": LAUGHS.decode().encode("utf-16")}), "declares the entity 'a': refused"),
        (epub(**{"META-INF/container.xml": EXTERNAL}), "declares the entity 'a': refused"),
        (epub(**{"META-INF/container.xml": b"<container>"}), "not well-formed"),
    ],
)
def test_a_harmful_or_broken_epub_is_refused(data: bytes, message: str) -> None:
    with pytest.raises(SourceChanged, match=message):
        open_book(data, "book.epub")


def test_a_bomb_with_a_lying_header_is_cut_off_while_it_unpacks() -> None:
    data = epub(**{"EPUB/Content/chapter-1-2.xhtml": b" " * (80 << 20)})
    lying = lying_header(data, b"EPUB/Content/chapter-1-2.xhtml", 1000)
    with pytest.raises(SourceChanged, match=r"refused|not a readable EPUB"):
        open_book(lying, "book.epub")


def test_an_unknown_class_is_an_error_and_an_unknown_inline_element_is_not() -> None:
    with pytest.raises(SourceChanged, match=r"does not know <div class='sidebar_2030'>"):
        list(blocks(fromstring('<div><div class="sidebar_2030">x</div></div>'), "page"))
    (block,) = blocks(fromstring('<div>a <em class="new">b</em> c</div>'), "page")
    assert block.text == "a b c"


@given(st.lists(st.text(alphabet="ابت نمو.،", min_size=1, max_size=12), min_size=1, max_size=8))
def test_no_paragraph_is_lost_wherever_it_stands(texts: list[str]) -> None:
    inner = "".join(f'<div class="&#10; para_normal ">{text}</div>' for text in texts)
    root = fromstring(f'<div class="section">{inner}<p>{texts[0]}</p>{texts[-1]}</div>')
    want = [re.sub(r"\s+", " ", text).strip() for text in [*texts, texts[0], texts[-1]]]
    assert [block.text for block in blocks(root, "page")] == [text for text in want if text]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("جميع حقوق النشر الخاصة بنص العمل الأصلي خاضعة للملكية العامة.", "public-domain"),
        (
            "حقوق تصميم الغلاف مرخصة بموجب رخصة المشاع الإبداعي. جميع الحقوق الخاصة بنص العمل محفوظة.",
            "unknown",
        ),
        ("النص مُرَخَّص بموجب رخصة المشاع الإبداعي: نَسْبُ المُصنَّف.", "CC-BY-4.0"),
        ("رخصة المشاع الإبداعي: نسب المصنف، غير تجاري، منع الاشتقاق", "CC-BY-NC-ND-4.0"),
        ("رخصة المشاع الإبداعي: نسب المصنف، الترخيص بالمثل", "CC-BY-SA-4.0"),
        ("جميع الحقوق محفوظة", "unknown"),
        ("", "unknown"),
    ],
)
def test_the_licence_is_that_of_the_text(text: str, expected: str) -> None:
    assert licence(text) == expected


@pytest.mark.parametrize(
    ("document", "text"),
    [
        ('<!DOCTYPE html SYSTEM "xhtml.dtd"><p>a&nbsp;b &eacute;</p>', "a b é"),
        ("<p>a<br/>b &amp; c</p>", "a b & c"),
    ],
)
def test_named_characters_of_older_books_stay_text(document: str, text: str) -> None:
    (block,) = blocks(parse_xml(document.encode(), "book"), "book")
    assert block.text == text


def test_a_name_that_nobody_declared_is_refused() -> None:
    with pytest.raises(SourceChanged, match="undefined entity &laugh"):
        parse_xml(b'<!DOCTYPE p SYSTEM "x.dtd"><p>&laugh;</p>', "book")


# --- what is no book ----------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("data", "named"),
    [
        (b"%PDF-1.7\n%\xe2\xe3", "is a PDF"),
        (b"PK\x03\x04\x14\x00", "is a zip archive"),
        (b"\x1f\x8b\x08\x00", "is packed by gzip"),
        (b"\n<!DOCTYPE html><html><p>", "is an HTML page"),
        ("دمه خفيف: مرح".encode("utf-16-le"), "holds zero bytes"),
    ],
)
def test_a_file_that_is_no_text_is_named_for_what_it_is(
    tmp_path: Path, scraped: Scrape, data: bytes, named: str
) -> None:
    path = tmp_path / "book.txt"
    path.write_bytes(data)
    with pytest.raises(UsageError, match=named):
        scraped("openiti", path=str(path), attribution="x", least_yield=1)


def test_a_book_in_another_script_gives_rejections_and_no_idioms(tmp_path: Path, raw: RawStore) -> None:
    path = tmp_path / "book.txt"
    path.write_text(
        "\n".join(f"Proverb {n}: its meaning is plain and short here." for n in range(60)), "utf-8"
    )
    found = attempt(guess_use(str(path), {"layout": "line_each", "entries": 60}), raw)
    assert not found.records
    assert [(reason, len(details)) for reason, details in found.reasons()] == [("language_differs", 60)]
    assert found.problem


META = """######OpenITI#

#META# 000.SortField\t:: Shamela_0007436
#META# 010.AuthorNAME\t:: {author}
#META# 020.BookTITLE\t:: الكنايات
#META#Header#End#

"""


@pytest.mark.parametrize(("author", "attribution"), [("أحمد تيمور", ""), ("NODATA", "أحمد تيمور، الكنايات")])
def test_the_header_of_lines_that_most_books_of_openiti_have(
    author: str, attribution: str, tmp_path: Path, scraped: Scrape
) -> None:
    path = tmp_path / "book.txt"
    body = "".join(
        f"### $ مثل {one}\n# {one * 3} معناه كذا عند من يقوله في مثل هذا المقام من كلام الناس كل يوم ms0012\n~~وكذا.\n"
        for one in "ابجد"
    )
    path.write_text(META.format(author=author) + body, encoding="utf-8")
    entry = {"entry": r"^### [$] (?P<head>.+)$"}
    found = scraped("openiti", path=str(path), attribution=attribution, least_yield=1, **entry)
    assert [one.phrase.raw for one in found if isinstance(one, Idiom)] == ["مثل ا", "مثل ب", "مثل ج", "مثل د"]
    assert all("أحمد تيمور" in one.provenance.attribution for one in found if isinstance(one, Idiom))
    if attribution:
        with pytest.raises(SourceChanged, match="header that names author and title"):
            scraped("openiti", path=str(path), least_yield=1, **entry)
