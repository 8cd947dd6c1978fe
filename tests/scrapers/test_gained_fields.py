"""A page or row that gains something its parser neither uses nor ignores stops the source."""

from __future__ import annotations

from pathlib import Path

import pytest

from mihakk.machinery.errors import SourceChanged
from mihakk.scrapers.raw import RawStore
from mihakk.scrapers.source import SOURCES, run
from tests.scrapers.conftest import SAMPLES, fill, read_sample

FIELD = ("{", '{"mood": "sad", ')
GAINED = [
    # (sample, file, what stands there, what it becomes)
    ("ganjoor/api", "poem.json", *FIELD),
    ("ganjoor/api", "poem.json", '"vOrder": 1,', '"vOrder": 1, "mood": "sad",'),
    ("ganjoor/api", "poem.json", '"sectionType": 0,', '"sectionType": 0, "mood": "sad",'),
    ("ganjoor/api", "cat.json", *FIELD),
    ("ganjoor/api", "cat.json", '"cat": {', '"cat": {"mood": "sad",'),
    ("ganjoor/pages", "page.html", "</table>", "<tr><td>حال:</td><td>غم</td></tr></table>"),
    ("ganjoor/pages", "page.html", "</article>", '<div class="mood"><p>غم</p></div></article>'),
    ("aldiwan/api", "poem66.json", *FIELD),
    ("aldiwan/api", "poem66.json", '"id": 66,', '"id": 66, "mood": "sad",'),
    ("aldiwan/api", "listing.json", *FIELD),
    ("aldiwan/pages_b", "b70.html", "<h3>وَقَفتُ", "<h5>غم</h5><h3>وَقَفتُ"),
    ("aldiwan/pages_b", "b70.html", '<a href="Type-x">', '<a href="Mood-x">حزن شديد</a><a href="Type-x">'),
    ("aldiwan/pages_c", "c80.html", "<span>عدد", "<span>المزاج: حزن</span><span>عدد"),
    ("aldiwan/pages_c", "c80.html", '<div class="poem-line">', '<h5>غم</h5><div class="poem-line">'),
    ("arabic_poetry_net/maps", "ld.html", '"genre":', '"mood": "sad", "genre":'),
    ("arabic_poetry_net/maps", "next.html", '"views":', '"mood": "sad", "views":'),
    ("hindawi/pages", "ch1.html", "<h2>", '<div class="mood">غم</div><h2>'),
]


@pytest.mark.parametrize(
    "gained",
    GAINED,
    ids=[f"{case[0]}-{case[1]}-{n}" for n, case in enumerate(GAINED)],
)
def test_a_page_that_gains_a_field_stops_its_source(
    gained: tuple[str, str, str, str], raw: RawStore, tmp_path: Path
) -> None:
    sample, file, old, new = gained
    path = SAMPLES / f"{sample}.yaml"
    use, pages = read_sample(path)
    for page in {str(page["file"]) for page in pages.values()}:
        text = (path.parent / page).read_text(encoding="utf-8")
        if page == file:
            assert old in text
            text = text.replace(old, new, 1)
        (tmp_path / page).write_text(text, encoding="utf-8")
    fill(raw, tmp_path, pages)
    with pytest.raises(SourceChanged, match=r"does not know|map them or name them"):
        list(run(use, raw))


def test_every_source_that_reads_pages_is_among_them() -> None:
    fetching = {name for name, source in SOURCES if source.delay_seconds}
    assert {sample.partition("/")[0] for sample, *_ in GAINED} == fetching
