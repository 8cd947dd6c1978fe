"""Books of entries in any layout: read whole, or refused with what was seen; never read in part in silence."""

from __future__ import annotations

import json
import re
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

from flows.cli import app
from mihakk.errors import SourceChanged, UsageError
from schemas.idiom import Idiom
from schemas.rejection import Rejection
from scrapers.book import read
from scrapers.source import Entry

Scrape = Callable[..., list[Entry]]
LETTERS = {"الألف": "ا", "الباء": "ب", "التاء": "ت", "الجيم": "ج"}
FILLER = [
    "يضرب",
    "هذا",
    "القول",
    "لمن",
    "لا",
    "يقدر",
    "على",
    "أمره",
    "ولا",
    "يرجع",
    "عن",
    "غيه",
    "وقد",
    "قيل",
    "فيه",
    "غير",
    "ذلك",
]


def entries(per_letter: int = 6) -> dict[str, list[tuple[str, str]]]:
    """Made-up heads and explanations, some of several sentences, by the letter of their section."""
    return {
        name: [
            (f"{letter}ـقول{n} مثل رقم {n}".replace("ـ", ""), " ".join(FILLER[: 5 + n % 9]) + "، وهو معروف.")
            for n in range(per_letter)
        ]
        for name, letter in LETTERS.items()
    }


def book(entry: Callable[[int, str, str], str], heading: str = "# | حرف {}", per_letter: int = 6) -> str:
    """The made-up entries in one layout."""
    parts = []
    number = 0
    for name, found in entries(per_letter).items():
        parts.append(heading.format(name) + "\n\n")
        for head, explanation in found:
            number += 1
            parts.append(entry(number, head, explanation))
    return "".join(parts)


# --- the real books -------------------------------------------------------------------------------------
def test_al_amthal_gives_every_entry_that_another_pass_over_the_file_sees(
    shared_data: Path, scraped: Scrape
) -> None:
    path = shared_data / "openiti" / "amthal_head.txt"
    found = scraped("openiti", path=str(path), dialect="egyptian", least_yield=700)
    # A run of lines that opens with « and whose last line, which ends in », stands before a blank one.
    heads = []
    for block in re.split(r"\n\s*\n", path.read_text(encoding="utf-8").partition("# | حرف الألف")[2]):
        lines = block.strip().split("\n")
        opens = [n for n, line in enumerate(lines) if line.startswith("«")]
        if opens and re.search(r"»[.؟!…]*$", lines[-1]):
            run = "\n".join(lines[opens[-1] :])
            if run.count("«") == run.count("»") and not re.search(r"^«[^«»]*»[^»]*[^»\s.؟!…]", run):
                heads.append(run)
    assert len(heads) == 743
    assert len(found) == 743
    assert len({entry.id if isinstance(entry, Idiom) else entry.record for entry in found}) == 743
    words = [re.sub(r"[\W\d_]+", "", head) for head in heads]
    read_heads = [
        entry.phrase.raw if isinstance(entry, Idiom) else json.loads(entry.body)["phrase"] for entry in found
    ]
    assert [re.sub(r"[\W\d_]+", "", head) for head in read_heads] == words
    see = [
        entry
        for entry in found
        if (entry.explanation.raw if isinstance(entry, Idiom) else entry.body).lstrip().startswith("انظر")
        or (isinstance(entry, Rejection) and entry.reason == "cross_reference")
    ]
    assert len(see) == 23
    assert {entry.genre for entry in found if isinstance(entry, Idiom)} == {"proverb"}


def test_no_letter_of_al_amthal_is_lost(shared_data: Path) -> None:
    text = (shared_data / "openiti" / "amthal_head.txt").read_text(encoding="utf-8")
    body = text.partition("#META#Header#End#")[2]
    reading = read(body)
    inside = "".join(entry.head + "".join(entry.paragraphs) for entry in reading.entries)
    want = re.sub(r"[\W\d_]", "", body.partition("# | حرف الألف")[2].replace("# | حرف الباء", ""))
    assert re.sub(r"[\W\d_]", "", inside) == want
    assert reading.share == 1.0
    assert {one.text for one in reading.leftovers} == {"تأليف", "أحمد تيمور باشا"}


def test_the_shape_of_both_books_of_taymur_is_found(shared_data: Path) -> None:
    for name, shape, heads in (
        ("openiti/amthal_head.txt", "quoted", 743),
        ("kinayat/taymur_kinayat_hindawi_93047907.txt", "colon", 336),
    ):
        text = (shared_data / name).read_text(encoding="utf-8").partition("#META#Header#End#")[2]
        seconds = []
        for _ in range(3):  # the collector of a large test process may take longer than the book
            started = time.process_time()
            reading = read(text)
            seconds.append(time.process_time() - started)
        assert min(seconds) < heads / 500
        assert reading.shape.name == shape
        assert len(reading.entries) == reading.counted == heads


@pytest.mark.parametrize(
    "entry",
    ["# ({})\n# {}\n", "**{}** {}\n\n", "{}\t{}\n", "### $ {}\n# {}\n~~آخره\n"],
    ids=["parentheses", "bold", "columns", "mark"],
)
def test_al_amthal_is_read_the_same_in_other_layouts(shared_data: Path, entry: str) -> None:
    text = (shared_data / "openiti/amthal_head.txt").read_text("utf-8").partition("#META#Header#End#")[2]
    want = [(one.head, " ".join(one.paragraphs)) for one in read(text).entries]
    book = ["### | حرف الألف\n", *(entry.format(*one) for one in want if one[0][0] in "اأإآ")]
    reading = read("".join(book))
    got = [(one.head, " ".join(one.paragraphs).removesuffix(" آخره")) for one in reading.entries]
    assert [head for head, _ in got] == [head.strip(" .:") for head, _ in want if head[0] in "اأإآ"]
    assert not reading.problems(0.95)
    assert not [text for _, text in got if re.search(r"[#~*\t]", text)]


# --- other layouts, written after the parser --------------------------------------------------------------
SHAPES_SEEN: dict[str, Callable[[int, str, str], str]] = {
    "quoted": lambda _n, head, text: f"«{head}»\n\n{text}\n",
    "colon": lambda _n, head, text: f"{head}:\n\n{text}\n\n",
    "colon_line": lambda _n, head, text: f"{head}:\n{text}\n\n",
    "same_line": lambda _n, head, text: f"{head}: {text}\n\n",
    "dash": lambda _n, head, text: f"{head} - {text}\n\n",
    "equals": lambda _n, head, text: f"{head} = {text}\n\n",
    "numbered": lambda n, head, text: f"{n}) {head}\n{text}\n",
    "bulleted": lambda _n, head, text: f"• {head}\n{text}\n",
    "mark": lambda _n, head, text: f"### $ {head}\n# {text}\n~~ {text}\n",
    "definition": lambda _n, head, text: f"{head}\n: {text}\n\n",
    "indented": lambda _n, head, text: f"{head}\n    {text}\n    {text}\n",
    "first_line": lambda _n, head, text: f"{head}\n{text}\n{text}\n\n",
    "columns": lambda _n, head, text: f"{head:<30}    {text}\n{'':<34}{text}\n",
    "parentheses": lambda _n, head, text: f"({head})\n{text}\n\n",
    "brackets": lambda n, head, text: f"{n}. [{head}] {text}\n",
    "bold": lambda n, head, text: f"**{n}. {head}**\n\n{text}\n\n",
    "straight_quotes": lambda _n, head, text: f'"{head}": {text}\n\n',
}


@pytest.mark.parametrize("name", SHAPES_SEEN)
@pytest.mark.parametrize("heading", ["# | حرف {}", "### | حرف {}", "حرف {}", "باب {}"])
def test_a_layout_is_found_and_read_whole(name: str, heading: str) -> None:
    reading = read(book(SHAPES_SEEN[name], heading))
    assert reading.shape.name == name
    want = [head for found in entries().values() for head, _ in found]
    assert [entry.head for entry in reading.entries] == want
    assert all(
        text.split("،")[0] in entry.paragraphs[0]
        for entry, (_, text) in zip(
            reading.entries, [one for found in entries().values() for one in found], strict=True
        )
    )
    assert not reading.problems(0.95)
    assert not reading.leftovers


SAMPLE = [
    (row["text"], row["explanation"])
    for row in map(json.loads, Path("data/samples/egyptian_idioms.jsonl").read_text("utf-8").splitlines())
    if row["kind"] == "idiom"
]


def unread(heading: str, entry: str, blank: str) -> str:
    """The samples as a book in a layout that whoever wrote it had not seen the parser's code for."""
    chapters: dict[str, list[tuple[str, str]]] = {}
    for phrase, meaning in SAMPLE:
        chapters.setdefault(phrase[0], []).append((phrase, meaning))
    lines, number = [], 0
    for place, (letter, found) in enumerate(sorted(chapters.items()), start=1):
        lines += [heading.format(place, letter), blank]
        for phrase, meaning in found:
            number += 1
            lines += [entry.format(number, phrase, meaning), blank]
    return "".join(lines)


@pytest.mark.parametrize(
    ("heading", "entry", "blank"),
    [
        ("الباب {}: فيما أوله {}\n", "{}- {}\n{}.\n", "\n"),
        ("الفصل الأول {1}\n", "{} - {}\n{}.\n", "\n"),
        ("حرف {1}\n", "{1} : {2}.\n", ""),
        ("باب {1}\n", "{1} - {2}.\n", ""),
        ("### | حرف {1}\n", "# ({1}) {2}.\n", "PageV01P003\n"),
        ("### | باب {1}\n", "### $ {0} - {1}\n# {2}.\n", ""),
        ("## حرف {1}\n", "**{1}** {2}.\n", "\n"),
        ("حرف {1}\n", "{0} - {1} [ص: {0}]\n[صفحة {0}] {2}.\n", "\n[ص: ١٢]\n\n"),
        ("## حرف {1}\n\n### في معان شتى\n", "- **{1}** — {2}.\n", "\n"),
        ("== حرف {1} ==\n", "; {1}\n: {2}.\n", ""),
        ("حرف {1}\n", "{1:<40}   {2}.\n", ""),
    ],
)
def test_a_layout_written_after_the_parser_is_read_whole(heading: str, entry: str, blank: str) -> None:
    reading = read(unread(heading, entry, blank))
    read_as = {(one.head, " ".join(one.paragraphs).removesuffix(".")) for one in reading.entries}
    assert read_as == set(SAMPLE)
    assert not reading.problems(0.95)
    assert not reading.leftovers


@pytest.mark.parametrize(
    ("heading", "entry", "told"),
    [
        ("\n", "* * *\nالكناية: {1}\nمعناها: {2}.\nيقال كثيرا\n", "say the same once digits are gone"),
        ("ومما أوله {1} ", "قولهم «{1}» أي {2}؛ ", "no shape of entries"),
        ("في {1}\n", "{1} : {2}\n", "no shape of entries"),
        ("\nوهذه أمثال {1}.\n", "{1} : {2}\n", "inside explanations open as the .* heads do"),
    ],
)
def test_a_layout_written_after_the_parser_is_refused_aloud(heading: str, entry: str, told: str) -> None:
    with pytest.raises(SourceChanged, match=told):
        raise SourceChanged("; ".join(read(unread(heading, entry, "")).problems(0.8)))


REFUSED: dict[str, Callable[[int, str, str], str]] = {
    "no mark at all": lambda _n, head, text: f"{head}\n\n{text}\n\n",
    "one line for all": lambda _n, head, text: f"{head} {text} ",
    "cells of a Markdown table": lambda _n, head, text: f"| {head} | {text} |\n",
    "heads after their text": lambda _n, head, text: f"{text}\n\n{head} ↑\n\n",
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_layout_that_no_shape_fits_is_refused(name: str, tmp_path: Path, scraped: Scrape) -> None:
    path = tmp_path / "book.txt"
    path.write_text(book(REFUSED[name]), encoding="utf-8")
    with pytest.raises(
        SourceChanged,
        match=r"no shape of entries|an expression for the shape|of the text stands|of two shapes",
    ):
        scraped("openiti", path=str(path), attribution="x", least_yield=1)


def test_a_book_of_two_layouts_is_refused_with_both(tmp_path: Path, scraped: Scrape) -> None:
    half = book(SHAPES_SEEN["quoted"]).split("# | حرف التاء")[0]
    other = "# | حرف التاء" + book(SHAPES_SEEN["bulleted"]).split("# | حرف التاء")[1]
    path = tmp_path / "book.txt"
    path.write_text(half + other, encoding="utf-8")
    with pytest.raises(SourceChanged, match=r"two shapes: (quoted|bulleted).*(quoted|bulleted)") as told:
        scraped("openiti", path=str(path), attribution="x", least_yield=1)
    assert "`layout`" in str(told.value)


def test_a_section_in_another_layout_is_named(tmp_path: Path, scraped: Scrape) -> None:
    text = book(SHAPES_SEEN["quoted"]) + "# | حرف الدال\n\n" + ("دار الأمر على هذا الحال " * 20 + "\n") * 2
    path = tmp_path / "book.txt"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(SourceChanged, match=r"section 'حرف الدال' .* no head of the shape 'quoted'"):
        scraped("openiti", path=str(path), attribution="x", least_yield=1)


def test_text_before_the_first_heads_counts_against_the_share(tmp_path: Path, scraped: Scrape) -> None:
    preface = ("هذا كلام طويل في مقدمة الباب لا مثل فيه\n" * 30) + "\n"
    path = tmp_path / "book.txt"
    path.write_text(
        book(lambda n, h, t: (preface if n % 6 == 1 else "") + f"«{h}»\n\n{t}\n"), encoding="utf-8"
    )
    with pytest.raises(
        SourceChanged, match=r"\d+% of the text stands in entries, 80% must; first left over: line 3"
    ):
        scraped("openiti", path=str(path), attribution="x", least_yield=1)
    assert len(scraped("openiti", path=str(path), attribution="x", least_yield=1, least_share=0.1)) == 24


def test_a_truncated_book_and_an_empty_chapter_give_what_is_there(tmp_path: Path, scraped: Scrape) -> None:
    whole = book(SHAPES_SEEN["quoted"]) + "# | حرف الدال\n\n\n"
    path = tmp_path / "book.txt"
    path.write_text(whole, encoding="utf-8")
    assert len(scraped("openiti", path=str(path), attribution="x", least_yield=1)) == 24
    assert [(one.text, one.why) for one in read(whole).leftovers] == [("حرف الدال", "a section without text")]
    path.write_text(whole[: whole.index("«ج") + 45], encoding="utf-8")
    with pytest.raises(SourceChanged, match=r"the text ends within the entry of line \d+.* fetch the whole"):
        scraped("openiti", path=str(path), attribution="x", least_yield=1)
    cut = whole[: whole.index("«ج")].rstrip()
    path.write_text(cut, encoding="utf-8")
    assert len(scraped("openiti", path=str(path), attribution="x", least_yield=1)) == cut.count("»")
    with pytest.raises(SourceChanged, match="gave 18 records and 0 rejections; at least 50"):
        scraped("openiti", path=str(path), attribution="x")


def test_the_wrong_encoding_is_named_with_its_cure(tmp_path: Path, scraped: Scrape) -> None:
    path = tmp_path / "book.txt"
    path.write_bytes(book(SHAPES_SEEN["quoted"]).encode("cp1256"))
    with pytest.raises(UsageError, match=r"is not UTF-8.*iconv -f cp1256"):
        scraped("openiti", path=str(path), attribution="x")
    path.write_text(book(SHAPES_SEEN["quoted"]).encode().decode("latin-1"), encoding="utf-8")
    with pytest.raises(UsageError, match=r"written as utf-8, read as latin-1\): take the original"):
        scraped("openiti", path=str(path), attribution="x")


def test_an_explanation_far_beyond_the_median_is_a_finding(tmp_path: Path, scraped: Scrape) -> None:
    long = " ".join(FILLER * 10)

    def entry(n: int, head: str, text: str) -> str:
        return f"«{head}»\n\n{long if n == 7 else text}\n"

    (why,) = read(book(entry)).doubts.values()
    assert "has 170 words, 43% of the book's" in why
    text = book(entry, per_letter=100)
    reading = read(text)
    (far,) = reading.far_longer()
    assert far.words == len(long.split())
    path = tmp_path / "book.txt"
    path.write_text(text, encoding="utf-8")
    found = scraped("openiti", path=str(path), attribution="x", least_yield=1)
    labels = [entry.source_labels for entry in found if isinstance(entry, Idiom) and entry.source_labels]
    (label,) = labels
    assert "words" in label["far_longer"]


# --- mihakk source try ------------------------------------------------------------------------------------
def test_source_try_shows_shape_entries_and_leftovers(tmp_path: Path) -> None:
    path = tmp_path / "book.txt"
    path.write_text("كلام قبل\n\n" + book(SHAPES_SEEN["numbered"]), encoding="utf-8")
    told = CliRunner().invoke(app, ["source", "try", str(path)])
    assert told.exit_code == 0, told.output
    assert "numbered: heads are numbered (24 heads" in told.output
    assert "Entries    24; an expression for the shape counts 24" in told.output
    assert "line 1: كلام قبل" in told.output
    body = json.loads(CliRunner().invoke(app, ["source", "try", str(path), "--json"]).output)
    assert (body["entries"], body["records"], body["problem"]) == (24, 24, "")


def test_source_try_gives_every_entry_rejection_and_leftover_whole(shared_data: Path) -> None:
    path = shared_data / "openiti" / "amthal_head.txt"
    few = CliRunner().invoke(app, ["source", "try", str(path)]).output
    told = CliRunner().invoke(app, ["source", "try", str(path), "--all"]).output
    body = json.loads(CliRunner().invoke(app, ["source", "try", str(path), "--all", "--json"]).output)
    records, rejections = body["all_records"], body["all_rejections"]
    assert len(records) + len(rejections) == body["entries"] == 743
    assert Counter(one["reason"] for one in rejections) == body["rejected"]
    for record in records:
        line = f"  {record['phrase']['raw']} ⇒ {' '.join(record['explanation']['raw'].split())}"
        assert line in told
        assert re.search(r"#\d+$", record["provenance"]["url"]), "its line"
    assert all(one["detail"] in told for one in rejections)
    assert few.count("⇒") == 4
    assert all(one[1] in told for one in body["leftovers"])


def test_source_try_ends_1_where_a_build_would_stop(tmp_path: Path) -> None:
    path = tmp_path / "book.txt"
    path.write_text(book(REFUSED["cells of a Markdown table"]), encoding="utf-8")
    told = CliRunner().invoke(app, ["source", "try", str(path)])
    assert told.exit_code == 1
    assert "A build would stop here: no shape of entries" in told.output


def test_source_try_reads_a_table_and_names_an_unknown_site(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("phrase,explanation\nأ,ب\nج,\n", encoding="utf-8")
    told = CliRunner().invoke(app, ["source", "try", str(path)])
    assert told.exit_code == 0, told.output
    assert "Records    1" in told.output
    assert "1 explanation_missing" in told.output
    told = CliRunner().invoke(app, ["source", "try", "https://example.org/x"])
    assert told.exit_code == 2
    told = CliRunner().invoke(app, ["source", "try", str(path), "-o", "kind"])
    assert told.exit_code == 2
