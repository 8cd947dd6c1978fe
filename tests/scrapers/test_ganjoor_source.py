"""Ganjoor's real export: every verse is used or said to be left out."""

from __future__ import annotations

import json
import tarfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mihakk.machinery.errors import SourceChanged, UsageError
from mihakk.schemas.poem import Poem
from mihakk.schemas.record import Provenance
from mihakk.schemas.rejection import Rejection
from mihakk.scrapers.ganjoor import in_public_domain
from mihakk.scrapers.ganjoor.export import read_poet
from mihakk.scrapers.ganjoor.poem import parse
from mihakk.scrapers.source import Entry

Scrape = Callable[..., list[Entry]]
AT = Provenance(source="ganjoor", url="file:x", licence="unknown", sha256="0", parser_version="1")


def verses_of(path: Path) -> int:
    with tarfile.open(path) as archive:
        return sum(
            len(json.load(archive.extractfile(member)).get("Verses", []))  # type: ignore[arg-type]
            for member in archive
            if member.isfile() and not member.name.endswith(("_cat.json", "poet.json"))
        )


def used(entries: list[Entry]) -> int:
    """Verses in couplets and in rejections."""
    total = 0
    for entry in entries:
        if isinstance(entry, Poem):
            total += sum(1 if couplet.second is None else 2 for couplet in entry.couplets)
        elif isinstance(entry, Rejection) and entry.record.count(":"):
            body = json.loads(entry.body)
            total += len(body) if isinstance(body, list) else 1
    return total


@pytest.mark.parametrize("name", ["hafez_ghazals_raw.tar.gz", "edge_cases_raw.tar.gz"])
def test_no_verse_is_lost(name: str, shared_data: Path, scraped: Scrape) -> None:
    path = shared_data / "ganjoor" / name
    entries = scraped("ganjoor", export=str(path))
    assert used(entries) == verses_of(path)


def test_the_ghazals_of_hafez_have_their_metres(shared_data: Path, scraped: Scrape) -> None:
    path = shared_data / "ganjoor" / "hafez_ghazals_raw.tar.gz"
    poems = scraped("ganjoor", export=str(path), start=["/hafez/ghazal"])
    assert len(poems) == 495
    for poem in poems:
        assert isinstance(poem, Poem)
        assert poem.provenance.licence == "public-domain"
        assert [section.form for section in poem.sections] == ["ghazal"]
        assert poem.sections[0].metre.startswith("fa_")
        assert poem.sections[0].rhyme
        assert len(poem.couplets) == poem.declared_couplets
        assert "هوش مصنوعی" not in poem.model_dump_json()


def test_odd_poems_keep_what_can_be_used(shared_data: Path, scraped: Scrape) -> None:
    entries = scraped("ganjoor", export=str(shared_data / "ganjoor" / "edge_cases_raw.tar.gz"))
    poems = {entry.id: entry for entry in entries if isinstance(entry, Poem)}
    reasons = Counter(entry.reason for entry in entries if isinstance(entry, Rejection))
    assert reasons == {
        **{"unpaired_hemistich": 9, "language_differs": 4, "hemistich_empty": 3, "verses_missing": 2},
    }
    # Prose and verse by turns (Saadi's Golestan), and a poem in bands with a rhyme each.
    assert {couplet.kind for couplet in poems["ganjoor-41294"].couplets} == {"paragraph", "couplet"}
    bands = poems["ganjoor-145513"]
    assert len({section.rhyme for section in bands.sections}) > 3
    # The metre of a work in which several poems start can't be laid at the door of one of them.
    assert not any(section.metre for section in poems["ganjoor-89726"].sections)
    # Entities are what a form made of letters, not letters.
    texts = "".join(couplet.first.raw for poem in poems.values() for couplet in poem.couplets)
    assert "&quot;" not in texts
    assert "&shy;" not in texts
    assert {poem.provenance.licence for poem in poems.values()} == {"unknown"}


def test_a_folder_and_a_tar_of_it_give_the_same(tmp_path: Path, scraped: Scrape) -> None:
    folder = Path(__file__).resolve().parent.parent / "fixtures" / "sources" / "ganjoor" / "export"
    tar = tmp_path / "export.tar.gz"
    with tarfile.open(tar, "w:gz") as archive:
        archive.add(folder, "data")

    def plain(entry: Entry) -> dict[str, Any]:
        row = entry.model_dump(mode="json")
        row.pop("provenance", None)
        return row

    left = [plain(entry) for entry in scraped("ganjoor", export=str(folder))]
    right = [plain(entry) for entry in scraped("ganjoor", export=str(tar))]
    assert sorted(map(str, left)) == sorted(map(str, right))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"Mood": "sad"}, "does not know mood"),
        ({"Verses": None}, "verses are missing"),
        (
            {"Verses": [{"VOrder": 1, "Position": "Above", "Text": "x", "CoupletIndex": 0}]},
            "position 'Above'",
        ),
        ({"Sections": [{"Index": 0}]}, "sectionType, verseType missing"),
    ],
)
def test_another_shape_stops_the_source(change: dict[str, Any], message: str) -> None:
    poem = {"Id": 1, "Title": "t", "FullTitle": "a » t", "FullUrl": "/a/t", "Sections": [], "Verses": []}
    with pytest.raises(SourceChanged, match=message):
        list(parse(json.dumps(poem | change).encode(), AT))


def test_what_is_no_export_is_refused(tmp_path: Path, scraped: Scrape) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(UsageError, match="holds no JSON file under poets/"):
        scraped("ganjoor", export=str(tmp_path / "empty"))
    with pytest.raises(UsageError, match="needs the option `export`"):
        scraped("ganjoor")


def test_an_unsure_year_of_death_two_centuries_before_the_limit_is_enough(shared_data: Path) -> None:
    """Half the death years of the export are called invalid, Saadi's of the seventh century among them."""
    rows = json.loads((shared_data / "ganjoor" / "poets.json").read_text(encoding="utf-8"))
    poets = {
        row["FullUrl"]: read_poet(
            json.dumps({"Name": row["Nickname"], **_known(row)}).encode(), "poets.json"
        )[1]
        for row in rows
    }
    refused = {url for url, poet in poets.items() if not in_public_domain(poet)}
    assert {"/saadi", "/attar", "/moulavi", "/khayyam"}.isdisjoint(refused)
    # Khalili died in 1987 and Bahar in 1951; of Forughi Bastami's year (1274) nobody is sure enough.
    assert {"/khalili", "/bahar", "/forooghi"} <= refused
    by_hand = {
        row["FullUrl"]
        for row in rows
        if not row["DeathYearInLHijri"]
        or row["DeathYearInLHijri"] > (1370 if row["ValidDeathDate"] else 1170)
    }
    assert refused == by_hand
    assert len(refused) < 40


def _known(row: dict[str, Any]) -> dict[str, Any]:
    return {name: row[name] for name in ("FullUrl", "DeathYearInLHijri", "ValidDeathDate")}


RIGHT, LEFT, BAND, BAND_2, SINGLE, COMMENT, PROSE = 0, 1, 2, 3, 4, 5, -1


@pytest.mark.parametrize(
    ("number", "form", "couplets", "kinds", "reasons"),
    [
        (1, "ghazal", [(RIGHT, LEFT)] * 7, {"couplet": 7}, {}),
        (3, "masnavi", [(RIGHT, LEFT)] * 9, {"couplet": 9}, {}),
        (4, "qita", [(RIGHT, LEFT)] * 3, {"couplet": 3}, {}),
        (5, "rubai", [(RIGHT, LEFT)] * 2, {"couplet": 2}, {}),
        (6, "dobayti", [(RIGHT, LEFT)] * 2, {"couplet": 2}, {}),
        (8, "tarkib_band", [*[(RIGHT, LEFT)] * 5, (BAND, BAND_2)] * 2, {"couplet": 10, "band": 2}, {}),
        (10, "takbayt", [(RIGHT, LEFT)], {"couplet": 1}, {}),
        (11, "nimai", [(SINGLE,)] * 12, {"line": 12}, {}),
        (16, "tarji_band", [*[(RIGHT, LEFT)] * 4, (BAND,)] * 3, {"couplet": 12, "band": 3}, {}),
        (33, "mosammat", [(RIGHT, LEFT), (RIGHT, LEFT), (BAND,)] * 2, {"couplet": 4, "band": 2}, {}),
        (33, "mosammat", [*[(RIGHT, LEFT)] * 2, (RIGHT,)], {"couplet": 2}, {"unpaired_hemistich": 1}),
        (176, "sepid", [(SINGLE,)] * 20, {"line": 20}, {}),
        (187, "new", [*[(RIGHT, LEFT)] * 2, (SINGLE,)], {"couplet": 2, "line": 1}, {}),
        (9, "", [(RIGHT, LEFT)], {"couplet": 1}, {}),
        (7, "", [(PROSE,), (RIGHT, LEFT), (PROSE,)], {"paragraph": 2, "couplet": 1}, {}),
        (1, "ghazal", [(RIGHT, LEFT), (COMMENT,)], {"couplet": 1}, {"comment": 1}),
        (1, "ghazal", [(LEFT, RIGHT), (RIGHT, LEFT)], {"couplet": 1}, {"unpaired_hemistich": 1}),
    ],
)
def test_every_form_of_the_api_is_read_or_rejected_with_its_reason(
    number: int, form: str, couplets: list[tuple[int, ...]], kinds: dict[str, int], reasons: dict[str, int]
) -> None:
    verses = [
        {"vOrder": 10 * place + n, "coupletIndex": place, "sectionIndex1": 0}
        | {"versePosition": position, "text": f"سطر {place} {n}"}
        for place, couplet in enumerate(couplets)
        for n, position in enumerate(couplet)
    ]
    poem = {"id": 1, "title": "شعر", "fullTitle": "شاعر » شعر", "fullUrl": "/x/1", "verses": verses}
    poem["sections"] = [{"index": 0, "sectionType": 0, "verseType": 0, "poemFormat": number}]
    entries = list(parse(json.dumps(poem).encode(), AT))
    (read,) = (entry for entry in entries if isinstance(entry, Poem))
    assert Counter(couplet.kind for couplet in read.couplets) == kinds
    assert Counter(entry.reason for entry in entries if isinstance(entry, Rejection)) == reasons
    # Prose has no form of verse.
    assert {read.sections[one.section].form for one in read.couplets if one.kind != "paragraph"} == {form}
    assert used(entries) == len(verses)
