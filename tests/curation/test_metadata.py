"""A poem's labels in the taxonomy's terms, and contradictions noted and never corrected."""

from __future__ import annotations

import pytest

from mihakk.curation import curate, find_duplicates
from mihakk.curation.duplicates import Duplicates, entries
from mihakk.curation.metadata import match_metadata
from mihakk.curation.normalization import normalize
from mihakk.machinery.errors import RecordRejected
from mihakk.machinery.prosody import scan
from mihakk.machinery.taxonomy import Kind, vocabulary
from mihakk.schemas.benchmark import CurateConfig
from mihakk.schemas.poem import Poem
from tests.machinery.records import poem

VERSES = [("وَقَفنا عَلى الأَطلالِ نَسأَلُ صامِتاً", "وَهَل يَنطِقُ الرَسمُ الَّذي لَيسَ يَعقِلُ")]
CONFIG = CurateConfig(required=("poet",))


def arabic(poet: str, era: str = "", genre: str = "", metre: str = "بحر الطويل") -> Poem:
    scraped = poem("p", VERSES, language="ar", poet=poet, era=era, genre=genre, metre=metre)
    normal: Poem = normalize([scraped]).tables["poems"][1][0]  # type: ignore[assignment]
    return normal


def test_labels_become_identifiers_and_the_sources_words_stay() -> None:
    matched = match_metadata(arabic("جرير", "العصر الأموي", "قصيدة هجاء"), CONFIG)
    assert (matched.era, matched.genre, matched.sections[0].metre) == ("umayyad", "satire", "tawil")
    assert matched.source_labels["era"] == "العصر الأموي"
    assert matched.source_labels["metre"] == "بحر الطويل"
    assert "era_of_poet" not in matched.source_labels


def test_an_era_the_source_lacks_is_that_of_the_poet() -> None:
    matched = match_metadata(arabic("جرير"), CONFIG)
    assert (matched.era, matched.source_labels["era_from"]) == ("umayyad", "table of poets")


def test_an_era_of_another_time_stays_and_is_counted() -> None:
    matched = match_metadata(arabic("جرير", "العصر المملوكي"), CONFIG)
    assert (matched.era, matched.source_labels["era_of_poet"]) == ("mamluk", "umayyad")
    shard = curate([arabic("جرير", "العصر المملوكي")], Duplicates(), CONFIG)
    assert shard.counts.notes == {"metadata.era_of_another_time": 1}
    assert shard.counts.kept == 1


def test_eras_that_overlap_do_not_contradict() -> None:
    eras, poets = vocabulary("era", "ar"), vocabulary("poet", "ar")
    assert eras is not None
    assert poets is not None
    row = next(row for row in poets.entries.values() if eras.entries[row["era"]]["overlaps"])
    other = eras.entries[row["era"]]["overlaps"][0]
    assert "era_of_poet" not in match_metadata(arabic(row["ar"], other), CONFIG).source_labels


@pytest.mark.parametrize(
    ("era", "reason"), [("", "era_missing"), ("مصر", "era_ambiguous"), ("عصر الذرة", "era_unknown")]
)
def test_a_required_label_that_cannot_be_matched_rejects_the_poem(era: str, reason: str) -> None:
    strict = CurateConfig(required=("poet", "era"))
    with pytest.raises(RecordRejected) as refused:
        match_metadata(arabic("شاعر مجهول الاسم", era), strict)
    assert refused.value.reason == reason
    lenient = strict.model_copy(update={"unknown_metadata": "keep"})
    assert match_metadata(arabic("شاعر مجهول الاسم", era), lenient).era == ""


def test_an_unnamed_poet_rejects_the_poem() -> None:
    with pytest.raises(RecordRejected) as refused:
        match_metadata(arabic("؟"), CONFIG)
    assert refused.value.reason == "poet_missing"


@pytest.mark.parametrize(
    ("kind", "label", "want"),
    [
        ("era", "العصر العباسي الأول", "abbasid"),
        ("era", "Abbasid Era", "abbasid"),
        ("era", "الدولة الأموية", "umayyad"),
        ("era", "الشعر الحديث", "modern"),
        ("era", "عصر بين الدولتين", "era_ambiguous"),
        ("era", "عصور متأخرة", "era_ambiguous"),
        ("genre", "رثاء المدن", "elegy"),
        ("genre", "الطبيعة", "genre_outside_taxonomy"),
        ("genre", "Description", "genre_outside_taxonomy"),
        ("metre", "دوبيت", "metre_not_metre"),
        *(
            ("metre", name, want)
            for name, want in {"saree": "sari", "taweel": "tawil", "mujtath": "mujtathth"}.items()
        ),
    ],
)
def test_labels_of_published_lists_are_known(kind: Kind, label: str, want: str) -> None:
    table = vocabulary(kind, "ar")
    assert table is not None
    try:
        found = table.match(label)
    except RecordRejected as error:
        found = error.reason
    assert found == want


def test_a_sure_scansion_serves_where_the_source_names_no_metre() -> None:
    matched = match_metadata(arabic("جرير", metre=""), CurateConfig(required=("metre",)))
    assert (matched.sections[0].metre, matched.source_labels["metre_from"]) == ("tawil", "scansion")


@pytest.mark.parametrize(("metre", "contested"), [("البسيط", "metre"), ("الطويل", None), ("تفعيلة", None)])
def test_a_metre_that_sure_scansion_contradicts_stays_and_is_contested(
    metre: str, contested: str | None
) -> None:
    shard = curate([arabic("جرير", metre=metre)], Duplicates(), CONFIG)
    assert shard.counts.notes == ({"metadata.metre_scans_otherwise": 1} if contested else {})
    (kept,) = shard.tables["poems"][1]
    assert kept.sections[0].metre == {"البسيط": "basit", "الطويل": "tawil"}.get(metre, "")  # type: ignore[attr-defined]
    assert kept.source_labels.get("contested") == contested  # type: ignore[attr-defined]


def test_likenesses_are_looked_for_without_scanning_verse_whose_metre_is_named() -> None:
    scan.cache_clear()
    find_duplicates([arabic("جرير", metre="البسيط")], CONFIG)
    assert scan.cache_info().currsize == 0
    (unnamed,) = entries([arabic("جرير", metre="")], CONFIG).poems
    assert unnamed.labels[-1] == "tawil"


@pytest.mark.parametrize(
    ("verses", "language", "metre"),
    [
        ([("ذهبت إلى السوق", "واشتريت خبزا وجبنا ثم رجعت إلى البيت")] * 3, "ar", ""),
        (VERSES, "fa", ""),
        (VERSES, "ar", "تفعيلة"),
    ],
)
def test_prose_persian_and_a_metre_that_nobody_knows_are_not_scanned(
    verses: list[tuple[str, str]], language: str, metre: str
) -> None:
    scraped = poem("p", verses, language=language, poet="x", metre=metre)
    normal = normalize([scraped]).tables["poems"][1][0]
    matched = match_metadata(normal, CurateConfig(required=()))  # type: ignore[arg-type]
    assert (matched.sections[0].metre, "metre_from" in matched.source_labels) == ("", False)
