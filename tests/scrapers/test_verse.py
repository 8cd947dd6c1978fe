"""Verse as it is: couplets, free verse, lines of rajaz, stanzas; on 70 real poems read by eye and on broken ones."""

from __future__ import annotations

import gzip
import json
import re
from collections import Counter
from collections.abc import Callable
from itertools import islice
from pathlib import Path

import pytest

from mihakk.machinery.errors import RecordRejected
from mihakk.schemas.poem import Poem
from mihakk.schemas.rejection import Rejection
from mihakk.scrapers.hafez import data_file
from mihakk.scrapers.labels import is_country, number
from mihakk.scrapers.source import Entry
from mihakk.scrapers.verse import arrange

Scrape = Callable[..., list[Entry]]
FREE = {*range(30, 40), 58, 59, 60, 61, 62, 63, 64}
RAJAZ, DEDICATED, ODD = 51, 56, 40
DATED = {35, 36, 37, 38, 39}
"""Places of the poems that are no plain couplets, as read by eye."""
VERSE = [  # al-Mutanabbi
    *("على قدر أهل العزم تأتي العزائم", "وتأتي على قدر الكرام المكارم"),
    *("وتعظم في عين الصغير صغارها", "وتصغر في عين العظيم العظائم"),
    *("يكلف سيف الدولة الجيش همه", "وقد عجزت عنه الجيوش الخضارم"),
    *("ويطلب عند الناس ما عند نفسه", "وذلك ما لا تدعيه الضراغم"),
    *("يفدي أتم الطير عمرا سلاحه", "نسور الفلا أحداثها والقشاعم"),
]


def real(shared_data: Path) -> list[dict[str, str]]:
    rows: list[dict[str, str]] = json.loads(
        (shared_data / "aldiwan" / "poems_dev.json").read_text(encoding="utf-8")
    )
    return rows


def scrape_real(shared_data: Path, scraped: Scrape, folder: Path) -> list[Entry]:
    path = folder / "poems.json"
    rows = [row | {"number": place} for place, row in enumerate(real(shared_data))]
    path.write_text(json.dumps(rows, ensure_ascii=False), encoding="utf-8")
    columns = {"id": "number", "poet": "poet_name", "declared_couplets": "num_lines"}
    columns |= {"hemistichs": "poem_text", "url": "poem_url"}
    return scraped(
        "files", path=str(path), kind="poem", language="ar", licence="public-domain", columns=columns
    )


def test_each_of_seventy_real_poems_is_read_right_or_rejected_for_the_right_reason(
    shared_data: Path, scraped: Scrape, tmp_path: Path
) -> None:
    entries = scrape_real(shared_data, scraped, tmp_path)
    poems = {int(entry.id.split("-")[1]): entry for entry in entries if isinstance(entry, Poem)}
    rejected = [entry for entry in entries if isinstance(entry, Rejection)]
    assert {entry.record: entry.reason for entry in rejected} == {
        f"files-{ODD}": "odd_hemistichs",
        f"files-{DEDICATED}:n0": "dedication",
        **{f"files-{place}:n0": "place_and_date" for place in DATED},
    }
    assert {n for n, poem in poems.items() if poem.sections[0].form == "free_verse"} == FREE
    assert [n for n, poem in poems.items() if poem.sections[0].form == "rajaz_lines"] == [RAJAZ]
    assert len(poems) == 69
    for place, row in enumerate(real(shared_data)):
        if place == ODD:
            continue
        poem = poems[place]
        kinds = {couplet.kind for couplet in poem.couplets}
        assert kinds == ({"line"} if place in FREE or place == RAJAZ else {"couplet"}), place
        # What is read, in order, is every line of the poem that holds a letter.
        lines = [line for line in row["poem_text"].split("\n") if re.search(r"[ء-ي]", line)]
        halves = [half.raw for c in poem.couplets for half in (c.first, c.second) if half is not None]
        assert halves == (lines[:-1] if place in (DEDICATED, *DATED) else lines), place
        if poem.declared_couplets is not None and place != DEDICATED:
            assert len(poem.couplets) == poem.declared_couplets, place
    # Rows of stars and dots are stanza breaks.
    breaks = {n for n, poem in poems.items() if "stanza_breaks" in poem.source_labels}
    assert breaks == {31, 32, 33, 35, 36, 37, 38, 39, 58, 62}
    assert poems[36].source_labels["stanza_breaks"] == "25"


def test_countries_of_real_poems_are_no_eras(shared_data: Path, scraped: Scrape, tmp_path: Path) -> None:
    poems = [entry for entry in scrape_real(shared_data, scraped, tmp_path) if isinstance(entry, Poem)]
    assert Counter(poem.source_labels.get("country", "") for poem in poems) == {
        "": 49,
        "سوريا": 10,
        "فلسطين": 10,
    }
    assert {poem.source_labels.get("era", "") for poem in poems} == {"", "العصر الاموي"}


def test_no_ghazal_is_taken_for_free_verse() -> None:
    ghazals = json.loads(data_file()[0].read_bytes())
    assert {arrange(ghazal["poem"], "fa").form for ghazal in ghazals} == {""}


@pytest.mark.parametrize("lost", range(len(VERSE)))
def test_a_line_that_lost_its_partner_never_pairs_with_the_next(lost: int) -> None:
    rows = [line for place, line in enumerate(VERSE) if place != lost]
    with pytest.raises(RecordRejected, match="odd_hemistichs"):
        arrange(rows)
    # Two lost lines leave an even number: the rhyme tells where it has gone over to the first hemistichs.
    more = [*rows, "فمن ذا يرد الناس عن كل غاية"] if lost == 0 else [*rows[:-1]]
    if lost == 0:
        with pytest.raises(RecordRejected, match="hemistichs_shifted"):
            arrange(more)


def test_a_couplet_never_reaches_over_a_stanza_break() -> None:
    with pytest.raises(RecordRejected, match="3 hemistichs of stanza 1"):
        arrange([*VERSE[:3], "* * *", *VERSE[3:]])
    found = arrange([*VERSE[:4], "***", "", "......", *VERSE[4:]])
    assert found.stanza_breaks == 2
    assert found.units == list(zip(VERSE[::2], VERSE[1::2], strict=True))


@pytest.mark.parametrize(
    ("rows", "reasons"),
    [
        (["[من الطويل]", *VERSE], {"editorial_note"}),
        ([*VERSE, "https://example.org/poem12"], {"editorial_note"}),
        (["مناسبة القصيدة: بناء الحدث", *VERSE], {"editorial_note"}),
        (["وقال يمدح سيف الدولة", *VERSE], {"heading"}),
        ([*VERSE, "حلب 1990"], {"place_and_date"}),
        ([*VERSE, "حلب، ١٢/٣/١٩٩٠"], {"place_and_date"}),
        ([*VERSE, "(1) العزائم: جمع عزيمة", "(2) المكارم: جمع مكرمة"], {"footnote"}),
        (["المقطع الأول", *VERSE[:4], "***", "المقطع الثاني", *VERSE[4:]], {"heading"}),
        (["كلما أحببنا أحدا", "- أنسي الحاج", "*", *VERSE], {"epigraph"}),
        (["إلى أبي", "***", *VERSE], {"dedication"}),
        (["1", *VERSE[:4], "- ٢ -", *VERSE[4:]], set()),
    ],
)
def test_rows_around_the_verse_are_told_from_it(rows: list[str], reasons: set[str]) -> None:
    found = arrange(rows)
    assert found.units == list(zip(VERSE[::2], VERSE[1::2], strict=True))
    assert {reason for reason, _ in found.dropped} == reasons


@pytest.mark.parametrize(
    "between", ["...", " … ", "*", " *** ", "\t", "    ", " / ", "|", "#", " = ", " - ", " — "]
)
def test_two_hemistichs_in_one_row_are_a_couplet(between: str) -> None:
    pairs = list(zip(VERSE[::2], VERSE[1::2], strict=True))
    assert arrange([between.join(pair) for pair in pairs]).units == pairs
    with pytest.raises(RecordRejected, match="hemistichs_mixed"):
        arrange([between.join(pair) for pair in pairs[:-1]] + list(pairs[-1]))


def test_stanzas_of_five_lines_are_no_couplets(shared_data: Path) -> None:
    """Stanzas made of real hemistichs: four that end in the same two letters, then one of the common rhyme."""
    by_end: dict[str, list[str]] = {}
    with gzip.open(shared_data / "metrec" / "baits_train.txt.gz", "rt", encoding="utf-8") as file:
        for line in islice(file, 4_000):
            half = line.strip().split(" # ")[1]
            by_end.setdefault(half[-3:], []).append(half)
    rhymes = [halves for end, halves in by_end.items() if len(halves) >= 12 and end.isalpha()]
    common = rhymes[0]
    assert len(rhymes) > 6
    rows = [row for n in range(6) for row in (*rhymes[n + 1][:4], common[n])]
    found = arrange(rows)
    assert (found.form, found.kind, len(found.units)) == ("strophic", "line", 30)


def test_a_verse_that_begins_like_a_dedication_stays() -> None:
    rows = ["كتبت إليكم والفؤاد كأنه", "جناح غراب في الظلام يطير", *VERSE[:4]]
    assert arrange(rows).units[0] == (rows[0], rows[1])


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("عدد الأبيات: 5", 5),
        ("عدد الأبيات : ١٬٢٠٤ بيتا", 1204),
        ("تعداد ابیات: ۸", 8),
        ("إزالة التشكيل", None),
        (12, 12),
        (7.0, 7),
    ],
)
def test_numbers_inside_phrases_are_read(text: object, found: int | None) -> None:
    assert number(text) == found


def test_country_names_are_told_from_eras() -> None:
    assert is_country("سورية")
    assert is_country("السعودية")
    assert not is_country("العصر الأموي")
    assert not is_country("الأندلس")
