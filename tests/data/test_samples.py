"""The tracked samples hold what their README and the demo promise."""

from __future__ import annotations

import gzip
import json
import re
import unicodedata
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml

from mihakk.machinery.languages import pack
from mihakk.machinery.settings import REFERENCE, SAMPLES
from mihakk.machinery.text import canonical, key, poem_rhyme, split_mudawwar, tokens, word_keys, words_key
from mihakk.schemas.record import Language

README = (SAMPLES / "README.md").read_text("utf-8")
POEM_FIELDS = ("id", "poet", "title", "era", "genre", "metre", "form", "rhyme", "couplets", "attribution")
IDIOM_FIELDS = ("id", "text", "explanation", "kind", "dialect", "connotation")
FORMS = {"qasida", "qita", "muwashshah", "muzdawija"}


def rows(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (SAMPLES / name).read_text("utf-8").splitlines()]


def table(name: str) -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load((REFERENCE / f"{name}.yaml").read_text("utf-8"))
    return loaded


@pytest.fixture(scope="module")
def poems() -> list[dict[str, Any]]:
    return rows("arabic_poems.jsonl")


@pytest.fixture(scope="module")
def idioms() -> list[dict[str, Any]]:
    return rows("egyptian_idioms.jsonl")


def strange(text: str) -> set[str]:
    """Code points that do not belong in typed Arabic: other letters, controls, joiners, presentation forms."""
    allowed = re.compile(r"[\u0621-\u063a\u0641-\u0652 ،؛؟:!.«»()\n-]")
    return {unicodedata.name(char, hex(ord(char))) for char in text if not allowed.match(char)}


def test_poems_have_one_shape(poems: list[dict[str, Any]]) -> None:
    for poem in poems:
        assert tuple(poem) == POEM_FIELDS
        assert all(len(couplet) == 2 and all(couplet) for couplet in poem["couplets"])
        assert 2 <= len(poem["couplets"]) <= 8
        assert "public domain" in poem["attribution"]


def test_poems_cover_what_the_demo_needs(poems: list[dict[str, Any]]) -> None:
    couplets = sum(len(poem["couplets"]) for poem in poems)
    assert couplets >= 60
    assert len({poem["poet"] for poem in poems}) >= 12
    assert {poem["era"] for poem in poems} == {era["id"] for era in table("eras")["eras"]}
    assert {poem["genre"] for poem in poems} == {genre["id"] for genre in table("genres")["genres"]}
    assert {poem["metre"] for poem in poems} <= {metre["id"] for metre in table("arabic_metres")["metres"]}
    assert {poem["form"] for poem in poems} == FORMS
    metres = Counter(poem["metre"] for poem in poems)
    assert len(metres) >= 8
    assert all(metres[metre] >= 2 for metre in ("tawil", "kamil", "basit", "wafir", "khafif", "ramal"))
    assert f"{len(poems)} excerpts, {couplets} couplets, {len({p['poet'] for p in poems})} poets" in README


def test_poets_and_their_eras_are_those_of_the_reference_table(poems: list[dict[str, Any]]) -> None:
    eras = {key(poet["ar"], "ar"): poet["era"] for poet in table("poets")["arabic"]}
    for poem in poems:
        assert eras[key(poem["poet"], "ar")] == poem["era"], poem["id"]


def test_no_poem_or_couplet_stands_twice(poems: list[dict[str, Any]]) -> None:
    assert len({poem["id"] for poem in poems}) == len(poems)
    keys = Counter(key("".join(couplet), "ar") for poem in poems for couplet in poem["couplets"])
    assert [text for text, n in keys.items() if n > 1] == []
    firsts = Counter(key(couplet[0], "ar") for poem in poems for couplet in poem["couplets"])
    assert [text for text, n in firsts.items() if n > 1] == []


def test_verse_is_clean_text(poems: list[dict[str, Any]]) -> None:
    for poem in poems:
        for couplet in poem["couplets"]:
            sadr, ajuz, _ = split_mudawwar(*couplet)
            for hemistich in (sadr, ajuz):
                assert strange(hemistich) == set(), hemistich
                assert canonical(hemistich, "ar") == hemistich
                assert len(tokens(hemistich)) >= 2


def test_couplets_of_a_poem_share_its_rhyme(poems: list[dict[str, Any]]) -> None:
    for poem in poems:
        ends = [split_mudawwar(*couplet).ajuz for couplet in poem["couplets"]]
        assert poem_rhyme(ends, "ar") == poem["rhyme"], poem["id"]
        assert poem["rhyme"] or poem["form"] == "muzdawija"


def test_verse_is_vocalised(poems: list[dict[str, Any]]) -> None:
    marks = re.compile(r"[\u064b-\u0652]")
    for poem in poems:
        for couplet in poem["couplets"]:
            text = "".join(couplet)
            assert len(marks.findall(text)) > 0.2 * len(key(text, "ar")), couplet


def test_idioms_have_one_shape(idioms: list[dict[str, Any]]) -> None:
    for idiom in idioms:
        assert tuple(idiom)[: len(IDIOM_FIELDS)] == IDIOM_FIELDS
        assert set(idiom) - set(IDIOM_FIELDS) <= {"examples"}
        assert idiom["kind"] in {"idiom", "proverb"}
        assert idiom["connotation"] in {"positive", "negative", "neutral"}
        assert idiom["dialect"] == "egyptian"
        assert strange(idiom["text"]) == set()
        assert strange(idiom["explanation"]) == set()


def test_idioms_are_enough_and_differ(idioms: list[dict[str, Any]]) -> None:
    kinds = Counter(idiom["kind"] for idiom in idioms)
    assert kinds["idiom"] >= 70
    assert kinds["proverb"] >= 10
    assert f"{kinds['idiom']} idioms and {kinds['proverb']} proverbs" in README
    for field in ("id", "text", "explanation"):
        assert len({key(idiom[field], "ar") for idiom in idioms}) == len(idioms)
    assert all(len(tokens(idiom["text"])) >= 2 for idiom in idioms)
    connotations = Counter(idiom["connotation"] for idiom in idioms)
    assert min(connotations.values()) >= 15
    assert len(connotations) == 3


def test_examples_use_their_idiom_in_a_situation(idioms: list[dict[str, Any]]) -> None:
    with_example = [idiom for idiom in idioms if idiom.get("examples")]
    assert f"{len(with_example)} of them stand in a sentence" in README
    for idiom in with_example:
        for sentence in idiom["examples"]:
            assert strange(sentence) == set()
            assert key(idiom["text"], "ar") in key(sentence, "ar")
            assert len(tokens(sentence)) >= len(tokens(idiom["text"])) + 5


@pytest.mark.parametrize(
    ("name", "language", "poems"),
    [
        ("arabic_explained.jsonl", "ar", 15),
        ("persian_explained.jsonl", "fa", 15),
        ("english_sonnets.jsonl", "en", 26),
    ],
)
def test_prose_and_explanations_are_of_their_couplets(name: str, language: Language, poems: int) -> None:
    found = rows(name)
    assert len(found) == poems
    assert f"{sum(len(poem['couplets']) for poem in found)} couplets" in README
    for poem in found:
        for texts in filter(None, (poem.get("prose"), poem.get("explanations"))):
            assert len(texts) == len(poem["couplets"]), poem["id"]
            for (first, second), text in zip(poem["couplets"], texts, strict=True):
                assert 5 <= len(text.split()) <= 30, text
                assert key(second, language) not in key(text, language), text
                assert key(first, language) not in key(text, language), text
        if name == "english_sonnets.jsonl":
            assert len(poem["couplets"]) == 7


def test_sonnets_read_as_another_edition_has_them(shared_data: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.load_workbook(shared_data / "ghazalbench" / "completionQsEnglish.xlsx", read_only=True)
    theirs: dict[str, list[list[str]]] = {}
    for number, _, *pair in book.worksheets[0].iter_rows(min_row=2, max_col=4, values_only=True):
        if number:
            theirs.setdefault(f"sonnet-{int(number)}", []).append([_plain(str(line)) for line in pair])
    compared = [poem for poem in rows("english_sonnets.jsonl") if poem["id"] in theirs]
    assert f"{len(compared)} were compared" in README
    for poem in compared:
        ours = [[_plain(line) for line in couplet] for couplet in poem["couplets"]]
        assert ours == theirs[poem["id"]]


def _plain(line: str) -> str:
    """Letters alone, with the endings that editions spell either way as one, and a misprint of theirs mended."""
    line = re.sub(r"(?:(?<=[^e])'d|ed)\b", "d", line.replace("\u2019", "'").lower())
    line = re.sub(r"(?<=[^aeiou])([bdgmnprt])\1(?=d\b)", r"\1", line)
    return re.sub(
        "[^a-z]", "", line.replace("rime", "rhyme").replace("respose", "repose").replace("leapt", "leapd")
    )


def test_explanations_explain_in_other_words(idioms: list[dict[str, Any]]) -> None:
    function_words = {key(word, "ar") for word in ("على", "من", "في", "ولا", "لا", "بين", "ما", "يا", "له")}
    openings = Counter(tokens(idiom["explanation"])[0] for idiom in idioms)
    assert openings.most_common(1)[0][1] <= 3
    for idiom in idioms:
        assert 8 <= len(idiom["explanation"].split()) <= 25, idiom["id"]
        shared = set(word_keys(idiom["text"], "ar")) & set(word_keys(idiom["explanation"], "ar"))
        assert shared <= function_words, idiom["id"]


def test_no_placeholder_and_no_coarse_word(idioms: list[dict[str, Any]], poems: list[dict[str, Any]]) -> None:
    placeholders = {
        words_key(word, "ar") for word in (*table("placeholders")["words"], *pack("ar").placeholders)
    }
    coarse = {key(word, "ar") for words in pack("ar").sensitive.values() for word in words}
    texts = [idiom[field] for idiom in idioms for field in ("text", "explanation")]
    texts += [hemistich for poem in poems for couplet in poem["couplets"] for hemistich in couplet]
    for text in texts:
        assert words_key(text, "ar") not in placeholders
        assert not set(word_keys(text, "ar")) & coarse, text


def metrec(path: Path) -> dict[str, set[str]]:
    """Metre labels per couplet key of MetRec."""
    labels = (path / "labels.txt").read_text("utf-8").split()
    found: dict[str, set[str]] = {}
    with gzip.open(path / "baits_train.txt.gz", "rt", encoding="utf-8") as file:
        for line in file:
            label, _, verse = line.strip().partition(" ")
            found.setdefault(key(verse.replace("#", ""), "ar"), set()).add(labels[int(label)])
    return found


def test_couplets_said_to_be_checked_stand_in_metrec(poems: list[dict[str, Any]], shared_data: Path) -> None:
    known = metrec(shared_data / "metrec")
    names = {metre["id"]: metre.get("metrec") for metre in table("arabic_metres")["metres"]}
    checked = 0
    for poem in poems:
        for couplet in poem["couplets"]:
            sadr, ajuz, _ = split_mudawwar(*couplet)
            if labels := known.get(key(sadr + ajuz, "ar")):
                assert labels == {names[poem["metre"]]}, couplet
                checked += 1
    couplets = sum(len(poem["couplets"]) for poem in poems)
    assert f"{checked} of the {couplets} couplets occur word for word" in README
    assert f"all {checked} bear the same metre" in README
