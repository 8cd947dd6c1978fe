"""Opening a source: options checked, limits kept, yields held against what was promised."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from mihakk.machinery.errors import SourceChanged, UsageError
from mihakk.schemas.benchmark import SourceUse
from mihakk.schemas.idiom import Idiom
from mihakk.schemas.record import Form, Provenance
from mihakk.schemas.rejection import Rejection
from mihakk.scrapers.raw import RawStore
from mihakk.scrapers.source import SOURCES, Entry, OpenSource, Source, SourceOptions, open_source


def idiom(number: int) -> Idiom:
    provenance = Provenance(source="made", url="made:", licence="CC0-1.0", sha256="0", parser_version="1")
    form = Form(raw="x")
    return Idiom(id=f"made-{number}", language="ar", phrase=form, explanation=form, provenance=provenance)


def made(entries: list[Entry], least: int = 1) -> OpenSource:
    def scrape(_options: SourceOptions, _raw: RawStore) -> Iterator[Entry]:
        yield from entries

    source = Source(
        name="made",
        title="Made",
        licence="CC0-1.0",
        home="",
        languages=("ar",),
        options=SourceOptions,
        parser_version="1",
        scrape=scrape,
        least_yield=least,
    )
    return OpenSource(source=source, options=SourceOptions(), name="made")


def test_an_unknown_source_names_the_nearest() -> None:
    with pytest.raises(UsageError, match=r"no source 'hafiz'.*hafez"):
        open_source(SourceUse(use="hafiz"))


def test_an_unknown_option_is_named_with_the_nearest_known_one() -> None:
    with pytest.raises(UsageError, match=r"options of source 'files': .*'langauge'; did you mean 'language'"):
        open_source(SourceUse(use="files", options={"langauge": "ar"}))


def test_a_bad_option_value_is_named() -> None:
    options = {"path": "x", "kind": "novel", "language": "ar", "licence": "CC0-1.0"}
    with pytest.raises(UsageError, match=r"options of source 'files': kind is 'novel'"):
        open_source(SourceUse(use="files", options=options))


def test_rejections_do_not_count_towards_the_yield(raw: RawStore) -> None:
    rejection = Rejection(record="r", reason="odd", detail="d")
    with pytest.raises(SourceChanged, match=r"gave 1 records and 2 rejections; at least 2 "):
        list(made([rejection, idiom(1), rejection], least=2).entries(raw))


def test_a_limit_counts_records_and_lifts_the_least_yield(raw: RawStore) -> None:
    source = made([idiom(1), Rejection(record="r", reason="odd", detail="d"), idiom(2), idiom(3)], least=99)
    limited = OpenSource(source=source.source, options=source.options, name="made", limit=2)
    kinds = [type(entry).__name__ for entry in limited.entries(raw)]
    assert kinds == ["Idiom", "Rejection", "Idiom"]


def test_the_least_yield_can_be_set_for_one_use(raw: RawStore) -> None:
    source = made([idiom(1)], least=99)
    own = OpenSource(source=source.source, options=SourceOptions(least_yield=1), name="made")
    assert len(list(own.entries(raw))) == 1


@pytest.mark.parametrize(
    ("use", "options", "least"),
    [
        ("hafez", {}, 495),
        ("ganjoor", {"start": ["/hafez/ghazal", "/saadi/divan/ghazals", "/a"]}, 2),
        ("ganjoor", {"export": "poems.tar.gz"}, 1),
        ("hindawi", {"books": ["93047907", "75241938"]}, 20),
        ("hindawi", {"epub": ["a.epub"], "kind": "poem"}, 1),
        ("aldiwan", {"poems": ["1", "2", "3"], "poets": ["7"]}, 2),
        ("arabic_poetry_net", {"poems": ["/a", "/b", "/c", "/d"]}, 2),
        ("openiti", {"path": "kinayat.txt"}, 50),
        ("openiti", {"path": "kinayat.txt", "least_yield": 310}, 310),
    ],
)
def test_the_least_yield_follows_from_what_is_asked_for(
    use: str, options: dict[str, Any], least: int
) -> None:
    assert open_source(SourceUse(use=use, options=options)).least == least


def test_an_id_can_be_taken_once(raw: RawStore) -> None:
    first, second = made([idiom(1), idiom(1)]).entries(raw)
    assert isinstance(first, Idiom)
    assert isinstance(second, Rejection)
    assert (second.reason, second.record, second.source) == ("id_taken", "made-1", "made")


def test_every_source_says_who_it_is() -> None:
    for name, source in SOURCES:
        assert source.name == name
        assert source.title
        assert source.languages
        assert source.least_yield >= 1
        assert source.licence


def test_hafez_rejects_unknown_fields(scraped: Callable[..., list[Entry]], tmp_path) -> None:  # type: ignore[no-untyped-def]
    path = tmp_path / "hafez.json"
    path.write_text(
        '[{"id": 1, "poem": [], "interpretation": "", "alt_interpretation": "", "mp3": "", "new": 1}]'
    )
    with pytest.raises(SourceChanged, match="does not know new"):
        scraped("hafez", path=str(path), metres=str(_empty_metres(tmp_path)))


def _empty_metres(folder):  # type: ignore[no-untyped-def]
    path = folder / "metres.tsv"
    path.write_text("ghazal\tganjoor_id\tganjoor_number\tmetre_id\tmetre\trhyme\tmatched\n")
    return path
