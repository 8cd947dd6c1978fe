"""The count of entries by the alphabet, against books whose true number of entries is known."""

from __future__ import annotations

import json
import random
import re
from itertools import combinations
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapers.book import Reading, read
from scrapers.book_order import _longest_chain
from scrapers.heads import sort_key

SAMPLE = [
    (row["text"], row["explanation"] + ".")
    for row in map(json.loads, Path("data/samples/egyptian_idioms.jsonl").read_text("utf-8").splitlines())
    if row["kind"] == "idiom"
]


def amthal(shared_data: Path) -> str:
    return (shared_data / "openiti/amthal_head.txt").read_text("utf-8").split("#META#Header#End#")[1]


def without_marks(text: str, share: float, seed: int = 5) -> tuple[str, int]:
    """The book with the «» of some heads of one line gone, so that they read as text; and how many."""
    heads = [found.start() for found in re.finditer(r"^ *«[^«»\n]+»$(?=\n\n)", text, re.MULTILINE)]
    lost = set(random.Random(seed).sample(heads[1:], round(share * len(heads))))
    kept, end = [], 0
    for place in sorted(lost):
        stop = text.index("\n", place)
        kept += [text[end:place], text[place:stop].replace("«", "").replace("»", "")]
        end = stop
    return "".join([*kept, text[end:]]), len(lost)


@pytest.mark.parametrize("share", [0, 0.02, 0.05, 0.3, 0.6])
def test_heads_that_lost_their_marks_are_counted_by_the_alphabet(shared_data: Path, share: float) -> None:
    text, lost = without_marks(amthal(shared_data), share)
    found = read(text, layout="quoted")
    assert len(found.entries) == 743 - lost
    counted = found.alphabet.counted
    assert counted is not None
    assert abs(counted - 743) <= 0.04 * 743
    assert bool(list(found.alphabet.problems())) == (lost > 0)


def test_both_books_of_taymur_agree_with_their_alphabet(shared_data: Path) -> None:
    kinayat = (shared_data / "kinayat/taymur_kinayat_hindawi_93047907.txt").read_text("utf-8")
    for text in (amthal(shared_data), kinayat):
        found = read(text)
        assert found.problems(0.8) == []
        assert found.alphabet.in_order >= 0.88 * found.alphabet.heads


def test_a_book_that_is_not_sorted_says_that_nothing_counts_it(shared_data: Path) -> None:
    blocks = re.split(r"\n(?= *«[^«»\n]+»\n\n)", amthal(shared_data))[1:]
    random.Random(1).shuffle(blocks)
    found = read("\n".join(blocks), layout="quoted")
    assert len(found.entries) > 500
    assert found.alphabet.counted is None
    assert "the book is not sorted" in str(found.alphabet)
    assert list(found.alphabet.problems()) == []


def sample(entry: str = "{head}: {text}\n\n", other: str = "", every: int = 0) -> Reading:
    book = []
    for place, (head, text) in enumerate(sorted(SAMPLE, key=lambda one: sort_key(one[0])), start=1):
        form = other if every and place % every == 0 else entry
        book.append(form.format(head=head, text=text))
    return read("كتاب\n\n" + "".join(book))


@pytest.mark.parametrize("other", ["{head} {text}\n\n", "{head} {text}\n"])
def test_every_tenth_colon_lost_refuses_the_book(other: str) -> None:
    found = sample(other=other, every=10)
    assert len(found.entries) < len(SAMPLE)
    assert any("the alphabet counts" in one for one in found.problems(0.8)), found.problems(0.8)
    assert sample().problems(0.8) == []


def test_notes_read_as_entries_are_strange_to_the_alphabet(shared_data: Path) -> None:
    blocks = re.split(r"\n(?= *«[^«»\n]+»\n\n)", amthal(shared_data))
    notes = [
        f"{block}\n\n«من الكتاب {place}»\n\nنقل.\n" if place % 4 == 0 else block
        for place, block in enumerate(blocks)
    ]
    found = read("\n".join(notes))
    assert any("heads stand far from their place in the alphabet" in one for one in found.problems(0.8))


@pytest.mark.parametrize("size", [60, 100, 200, 400])
def test_parts_of_a_real_book_raise_no_alarm(shared_data: Path, size: int) -> None:
    text = amthal(shared_data)
    lines = text.split("\n")
    starts = [one.line for one in read(text).entries]
    rng = random.Random(size)
    refused = 0
    for first in rng.sample(range(len(starts) - size), 8):
        part = read("\n".join(lines[starts[first] - 1 : starts[first + size] - 1]), layout="quoted")
        assert len(part.entries) == size
        found = read("\n".join(lines[starts[first] - 1 : starts[first + size] - 1]))
        refused += bool(found.problems(0.8))
    assert refused <= 1


def test_persian_letters_head_their_sections() -> None:
    heads = {
        "آ": "آب از سر گذشتن",
        "پ": "پول علف خرس نیست",
        "چ": "چراغ دزدی روشن است",
        "گ": "گربه دستش نرسید",
        "ک": "کار از کار گذشت",
    }
    text = "".join(f"## حرف {letter}\n\n**{head}** معنی آن.\n\n" for letter, head in heads.items())
    found = read(text)
    assert [one.head for one in found.entries] == list(heads.values())
    assert found.shape.in_order == found.shape.lettered == 5


def test_a_text_in_presentation_forms_is_folded_and_a_single_one_kept() -> None:
    whole = read("ﺣﺮﻑ ﺍﻟﺒﺎﺀ\n\n" + "".join(f"ﺑﺎﺏ {one}: ﻣﻌﻨﺎﻩ ﻛﺬﺍ.\n\n" for one in "ﺍﺝﺩﻩ"))
    assert [one.head for one in whole.entries] == ["باب ا", "باب ج", "باب د", "باب ه"]
    kept = read("".join(f"باب {one}: توفي سنة ١٣١٥ﻫ.\n\n" for one in "اجدو"))
    assert kept.entries[0].paragraphs == ["توفي سنة ١٣١٥ﻫ."]


def test_numbers_and_quotes_are_no_part_of_heads() -> None:
    text = "".join(f"{n}. “مثل {one}” – معناه كذا.\n\n" for n, one in enumerate("ابجد", 1))
    assert [one.head for one in read(text).entries] == ["مثل ا", "مثل ب", "مثل ج", "مثل د"]


def test_entities_and_marks_of_openiti_are_no_text() -> None:
    text = "".join(f"### $ مثل {one}\n# معناه &laquo;كذا&raquo; Milestone300\n~~وكذا.\n" for one in "أبجد")
    assert read(text).entries[0].paragraphs == ["معناه «كذا» وكذا."]


def test_a_letter_named_again_at_the_top_of_a_page_cuts_no_entry() -> None:
    text = "حرف الباء\n\nباب النجار — مخلع يراد به\nحرف الباء\nالصانع الماهر.\n\nبيت العز — يقال للدار.\n\nبكره — الغد.\n"
    found = read(text)
    assert found.entries[0].paragraphs == ["مخلع يراد به الصانع الماهر."]
    assert [one.head for one in found.entries] == ["باب النجار", "بيت العز", "بكره"]


def test_two_entries_on_one_line_refuse_the_book() -> None:
    found = sample("{head}: {text} ", "{head}: {text}\n\n", 2)
    assert any("the alphabet counts" in one for one in found.problems(0.8)), found.problems(0.8)


@given(st.lists(st.text("ab", max_size=2), max_size=9))
def test_the_longest_chain_is_the_longest_of_all_that_are_in_order(keys: list[str]) -> None:
    chain = _longest_chain(keys)
    said = [keys[place] for place in chain]
    assert said == sorted(set(said))
    assert chain == sorted(set(chain))
    longer = combinations(keys, len(chain) + 1)
    assert not any(list(one) == sorted(set(one)) for one in longer)


def test_heads_sort_by_the_alphabet_without_their_article() -> None:
    heads = [
        "آخر الحياة",
        "الأب عاشق",
        "ألف عيشه",
        "اللي فيه",
        "إن كان",
        "الباب",
        "پیر",
        "الحب",
        "گربه",
        "لا",
        "ی",
    ]
    random.shuffle(shuffled := heads.copy())
    assert sorted(shuffled, key=sort_key) == heads
