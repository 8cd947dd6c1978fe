"""The reference tables are consistent with each other and with what they were made from."""

from __future__ import annotations

import csv
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import pytest
import yaml

from mihakk.machinery.errors import RecordRejected
from mihakk.machinery.languages import languages, pack
from mihakk.machinery.languages.pack import Cue
from mihakk.machinery.settings import REFERENCE
from mihakk.machinery.taxonomy import TABLES, fold, vocabulary
from mihakk.machinery.text import key, words_key

YAML_TABLES = sorted(path.stem for path in REFERENCE.glob("*.yaml"))


def table(name: str) -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load((REFERENCE / f"{name}.yaml").read_text("utf-8"))
    return loaded


def hafez_rows() -> list[dict[str, str]]:
    lines = (REFERENCE / "hafez_metres.tsv").read_text("utf-8").splitlines()
    assert lines[0].startswith("# ")
    return list(csv.DictReader(lines[1:], delimiter="\t", quoting=csv.QUOTE_NONE))


def leaves(node: Any) -> Iterator[str]:
    """Every string of a table."""
    if isinstance(node, str):
        yield node
    elif isinstance(node, dict):
        for value in node.values():
            yield from leaves(value)
    elif isinstance(node, list):
        for value in node:
            yield from leaves(value)


def test_the_tables_are_these() -> None:
    assert YAML_TABLES == [
        "arabic_metres",
        "benchmark_columns",
        "code_terms",
        "column_words",
        "eras",
        "genres",
        "model_residue",
        "persian_metres",
        "placeholders",
        "poets",
    ]


@pytest.mark.parametrize("name", YAML_TABLES)
def test_a_table_says_its_version_and_where_its_facts_come_from(name: str) -> None:
    assert table(name)["version"] >= 1
    assert len(table(name)["source"]) > 40
    for text in leaves(table(name)):
        assert text == text.strip()
        assert "\u0640" not in text or name == "placeholders"


@pytest.mark.parametrize(("kind", "language"), sorted(TABLES))
def test_every_spelling_stands_for_one_entry(kind: Any, language: Any) -> None:
    # The vocabulary refuses to load when a spelling stands for two.
    known = vocabulary(kind, language)
    assert known is not None
    file, field = TABLES[kind, language]
    rows = table(file)[field]
    assert len(known.entries) == len(rows)
    for row in rows:
        names = [row[name] for name in ("ar", "fa", "en", "name") if row.get(name)]
        spellings = [*names, *row.get("aliases", ())]
        assert all(known.match(spelling) == row["id"] for spelling in spellings), row["id"]
        assert len({fold(spelling) for spelling in spellings}) == len(spellings), row["id"]
        for variant in row.get("variants", ()):
            assert known.match(variant["ar"]) == row["id"]
    assert not set(known.spellings) & set(known.refused)


def test_twelve_eras_in_order_of_time() -> None:
    eras = table("eras")["eras"]
    assert len(eras) == 12
    assert [era["order"] for era in eras] == list(range(1, 13))
    ids = {era["id"] for era in eras}
    for era in eras:
        begin, end = era["span"]
        assert begin is None or end is None or begin < end
        assert set(era["overlaps"]) <= ids - {era["id"]}
        for other in era["overlaps"]:
            assert era["id"] in next(row["overlaps"] for row in eras if row["id"] == other)
    assert eras[0]["span"][0] is None
    assert eras[-1]["span"][1] is None
    numbers = [era["site_ids"]["aldiwan"] for era in eras if "site_ids" in era]
    assert sorted(numbers) == [7, 25, 26, 27, 28, 29, 30, 32, 485]
    for row in table("eras")["ambiguous"]:
        assert set(row["likely"]) <= ids


@pytest.mark.parametrize(
    ("kind", "label", "expected"),
    [
        ("era", "العصر الجاهلي", "pre_islamic"),
        ("era", "قبل الإسلام", "pre_islamic"),
        ("era", "المخضرمون", "mukhadram"),
        ("era", "صدر الإسلام", "early_islamic"),
        ("era", "إسلامي", "early_islamic"),
        ("era", "الاموي", "umayyad"),
        ("era", "العصر العباسي", "abbasid"),
        ("era", "الأندلسي", "andalusian"),
        ("era", "المغرب والأندلس", "maghrib_andalus"),
        ("era", "الايوبي", "ayyubid"),
        ("era", "الفاطمي", "fatimid"),
        ("era", "المملوكي", "mamluk"),
        ("era", "العثماني", "ottoman"),
        ("era", "الحديث", "modern"),
        ("genre", "قصيدة رومنسيه", "love"),
        ("genre", "قصيدة حزينه", "sadness"),
        ("genre", "قصيدة ذم", "satire"),
        ("genre", "قصيدة وطنيه", "nationalism"),
        ("genre", "حكمه", "wisdom"),
        ("metre", "الطويل", "tawil"),
        ("metre", "بحر الطويل", "tawil"),
        ("metre", "مجزوء الكامل", "kamil"),
        ("metre", "بحر مخلع البسيط", "basit"),
        ("metre", "بحر مشطور الرجز", "rajaz"),
        ("metre", "منهوك المنسرح", "munsarih"),
        ("metre", "taweel", "tawil"),
        ("metre", "بحر الخبب", "mutadarik"),
    ],
)
def test_labels_of_real_sites_are_known(kind: Any, label: str, expected: str) -> None:
    known = vocabulary(kind, "ar")
    assert known is not None
    assert known.match(label) == expected


@pytest.mark.parametrize(
    ("kind", "label", "reason"),
    [
        ("era", "مصر", "era_ambiguous"),
        ("era", "المغرب", "era_ambiguous"),
        ("era", "بين الدولتين", "era_ambiguous"),
        ("genre", "قصيدة قصيره", "genre_not_genre"),
        ("genre", "قصيدة عامه", "genre_not_genre"),
        ("genre", "قصيدة المعلقات", "genre_not_genre"),
        ("genre", "وصف", "genre_outside_taxonomy"),
        ("metre", "بحر الدوبيت", "metre_not_metre"),
        ("metre", "شعر حر", "metre_not_metre"),
    ],
)
def test_labels_that_name_no_entry_are_refused_with_the_reason(kind: Any, label: str, reason: str) -> None:
    known = vocabulary(kind, "ar")
    assert known is not None
    with pytest.raises(RecordRejected) as error:
        known.match(label)
    assert error.value.reason == reason


def test_fourteen_genres_and_sixteen_metres() -> None:
    assert len(table("genres")["genres"]) == 14
    metres = table("arabic_metres")
    ids = {metre["id"] for metre in metres["metres"]}
    assert len(ids) == 16
    assert Counter(metre["circle"] for metre in metres["metres"]) == {
        name: len(circle["metres"]) for name, circle in metres["circles"].items()
    }
    for metre in metres["metres"]:
        assert metre["id"] in metres["circles"][metre["circle"]]["metres"]
        assert set(metre["near"]) <= ids - {metre["id"]}
        assert len(metre["near"]) >= 3
        assert {variant["kind"] for variant in metre["variants"]} <= set(metres["kinds"])
    assert len({metre["pattern"] for metre in metres["metres"]}) == 16


def test_poets_are_dated_like_their_era() -> None:
    spans = {era["id"]: era["span"] for era in table("eras")["eras"]}
    poets = table("poets")
    assert len(poets["arabic"]) >= 60
    assert len(poets["persian"]) >= 20
    assert {poet["era"] for poet in poets["arabic"]} == set(spans)
    for poet in poets["arabic"]:
        begin, end = spans[poet["era"]]
        if died := poet.get("died"):
            assert died >= (begin or 0), poet["id"]
            assert died <= (end or 2000) + 30, poet["id"]
        if poet["era"] == "modern":
            assert poet["died"] < 1955


def test_hafez_table_lists_every_ghazal_once() -> None:
    rows = hafez_rows()
    assert [int(row["ghazal"]) for row in rows] == list(range(1, 496))
    found = [row for row in rows if row["metre_id"]]
    assert len(found) == 495
    assert len({row["ganjoor_id"] for row in found}) == len(found)
    metres = {metre["id"]: metre for metre in table("persian_metres")["metres"]}
    for row in found:
        metre = metres[row["metre_id"]]
        assert row["metre"] == metre.get("name", metre["pattern"])
        assert row["rhyme"]
        assert 0.5 <= float(row["matched"]) <= 1.0
    assert len({row["metre_id"] for row in found}) >= 15


def test_hafez_rhymes_end_the_couplets_of_the_package() -> None:
    from mihakk.scrapers.hafez import data_file

    path, _ = data_file()
    poems = {poem["id"]: poem["poem"] for poem in json.loads(path.read_text("utf-8"))}
    agree = total = 0
    for row in hafez_rows():
        rhyme = key(row["rhyme"], "fa")
        for line in poems[int(row["ghazal"])][1::2]:
            total += 1
            agree += key(line, "fa").endswith(rhyme)
    assert agree / total > 0.95


def test_placeholders_and_cues_differ_once_folded() -> None:
    placeholders = table("placeholders")
    assert len(set(placeholders["symbols"])) == len(placeholders["symbols"])
    for language in ("ar", "fa"):
        words = [*placeholders["words"], *pack(language).placeholders]
        folded = Counter(words_key(word, language) for word in words)
        assert [word for word, n in folded.items() if n > 1 or not word] == []
        assert {"N/A", "null"} <= set(placeholders["words"])
    for language in languages("items"):
        kinds = pack(language).cues
        assert tuple(kinds) == get_args(Cue)
        folded = Counter(words_key(cue, language) for group in kinds.values() for cue in group)
        assert [cue for cue, n in folded.items() if n > 1] == []


def test_sensitive_words_have_no_everyday_twin() -> None:
    harmless = {
        "ar": ["كلب", "عبد", "قلب", "حب", "خمر", "كأس"],
        "fa": ["کس", "کون", "می", "رند", "کافر", "بت"],
    }
    for language in ("ar", "fa"):
        folded = Counter(key(word, language) for group in pack(language).sensitive.values() for word in group)
        assert [word for word, n in folded.items() if n > 1] == []
        assert not folded.keys() & {key(word, language) for word in harmless[language]}


def test_persian_metres_are_those_of_the_export(shared_data: Path) -> None:
    known = vocabulary("metre", "fa")
    assert known is not None
    numbers = {n: metre["id"] for metre in table("persian_metres")["metres"] for n in metre["ganjoor"]}
    rhythms = json.loads((shared_data / "ganjoor" / "metres.json").read_text("utf-8"))
    assert {row["Id"] for row in rhythms} == set(numbers)
    for row in rhythms:
        assert known.match(row["Rhythm"]) == numbers[row["Id"]]


def test_hafez_table_is_what_the_script_makes(shared_data: Path, tmp_path: Path) -> None:
    from tools.hafez_metres import write

    made = tmp_path / "hafez_metres.tsv"
    with made.open("w", encoding="utf-8") as out:
        write(shared_data / "ganjoor" / "hafez_ghazals_raw.tar.gz", out)
    assert made.read_bytes() == (REFERENCE / "hafez_metres.tsv").read_bytes()
