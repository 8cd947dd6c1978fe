"""Famous lines scan to their metres, and what is no verse to none."""

from __future__ import annotations

import gzip
import time
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mihakk.machinery.prosody import SURE, scan
from mihakk.machinery.prosody.feet import HEMISTICHS, RARE, forms
from mihakk.machinery.prosody.letters import lattice, vocalised
from mihakk.machinery.prosody.scansion import costs_left, spelt, states
from mihakk.machinery.taxonomy import vocabulary
from mihakk.machinery.text import canonical, strip_marks

LINES = [
    ("tawil", "قِفا نَبكِ مِن ذِكرى حَبيبٍ وَمَنزِلِ", "بِسِقطِ اللِوى بَينَ الدَخولِ فَحَومَلِ"),
    ("kamil", "هَل غادَرَ الشُعَراءُ مِن مُتَرَدَّمِ", "أَم هَل عَرَفتَ الدارَ بَعدَ تَوَهُّمِ"),
    ("basit", "بانَت سُعادُ فَقَلبي اليَومَ مَتبولُ", "مُتَيَّمٌ إِثرَها لَم يُفدَ مَكبولُ"),
    ("wafir", "أَلا هُبّي بِصَحنِكِ فَاِصبَحينا", "وَلا تُبقي خُمورَ الأَندَرينا"),
    ("khafif", "آذَنَتنا بِبَينِها أَسماءُ", "رُبَّ ثاوٍ يُمَلُّ مِنهُ الثَواءُ"),
    ("basit", "السَيفُ أَصدَقُ أَنباءً مِنَ الكُتُبِ", "في حَدِّهِ الحَدُّ بَينَ الجِدِّ وَاللَعِبِ"),
    ("tawil", "عَلى قَدرِ أَهلِ العَزمِ تَأتي العَزائِمُ", "وَتَأتي عَلى قَدرِ الكِرامِ المَكارِمُ"),
    ("mutaqarib", "إِذا الشَعبُ يَوماً أَرادَ الحَياةَ", "فَلا بُدَّ أَن يَستَجيبَ القَدَر"),
    ("ramal", "جادَكَ الغَيثُ إِذا الغَيثُ هَمى", "يا زَمانَ الوَصلِ بِالأَندَلُسِ"),
    ("mutadarik", "يا لَيلُ الصَبُّ مَتى غَدُهُ", "أَقِيامُ الساعَةِ مَوعِدُهُ"),
]


@pytest.mark.parametrize(("metre", "first", "second"), LINES)
def test_famous_vocalised_lines_scan_to_their_metre(metre: str, first: str, second: str) -> None:
    found = scan((first, second))
    assert found.metre_id == metre
    assert found.confidence > 0.5
    assert set(found.pattern) == {"0", "1", " "}


@pytest.mark.parametrize(
    ("hemistich", "pattern"),
    [
        ("قِفا نَبكِ مِن ذِكرى حَبيبٍ وَمَنزِلِ", "11010110101011010110110"),
        ("أَلا هُبّي بِصَحنِكِ فَاِصبَحينا", "1101010110111011010"),
        ("السَيفُ أَصدَقُ أَنباءً مِنَ الكُتُبِ", "1010110111010101101110"),
    ],
)
def test_the_pattern_is_what_is_heard(hemistich: str, pattern: str) -> None:
    assert scan((hemistich, hemistich)).pattern == f"{pattern} {pattern}"


def readable(*hemistichs: list[dict[str, float]]) -> list[dict[str, tuple[float, str]]]:
    """Of each hemistich the metres that can be read, each with the cheapest reading's cost and its letters."""
    left = costs_left(hemistichs)
    return [
        {
            metre: (cost, spelt(sounds, [step[row] for step in left], state))
            for metre, (state, price) in states().starts.items()
            if (cost := left[0][row, state] + price) < float("inf")
        }
        for row, sounds in enumerate(hemistichs)
    ]


def likeliest(text: str) -> list[str]:
    return [min(options, key=lambda sound: options[sound]) for options in lattice(text)]


def test_the_sounds_of_letters() -> None:
    assert likeliest("وَالشَّمسُ") == ["1", "", "", "01", "0", "10"]
    assert likeliest("هَذا") == ["10", "1", "0"]
    assert likeliest("قَلباً") == ["1", "0", "1", "0"]
    assert vocalised("قلبا") == 0.0
    assert vocalised("قَلْبُهُ") == 1.0


@pytest.mark.parametrize(("metre", "first", "second"), LINES[:6])
def test_bare_text_is_never_sure_of_another_metre(metre: str, first: str, second: str) -> None:
    found = scan((strip_marks(first), strip_marks(second)))
    assert found.metre_id == metre or found.confidence < SURE


def test_prose_and_other_scripts_have_no_metre() -> None:
    prose = "اِجتَمَعَ مَجلِسُ الوُزَراءِ صَباحَ أَمسِ في العاصِمَةِ لِمُناقَشَةِ ميزانِيَّةِ السَنَةِ القادِمَةِ"
    assert scan((prose, prose)).metre_id == ""
    assert scan(("", "")) == ("", 0.0, "")
    assert scan(("shall I compare thee", "to a summer's day")) == ("", 0.0, "")


def test_couplets_of_one_poem_add_their_evidence() -> None:
    lines = [(first, second) for metre, first, second in LINES if metre == "tawil"]
    whole = scan(*lines)
    assert whole.metre_id == "tawil"
    assert whole.confidence >= max(scan(line).confidence for line in lines)
    assert whole.pattern.count(" / ") == 1


def test_every_metre_of_the_table_has_forms() -> None:
    table = vocabulary("metre", "ar")
    assert table is not None
    assert set(HEMISTICHS) == set(table.entries) >= set(RARE)
    assert {metre for metres in forms().values() for metre in metres} == set(HEMISTICHS)


@settings(max_examples=40)
@given(st.text("ابتكلموينَُِّْ ", max_size=24), st.text("ابتكلموينَُِّْ ", max_size=24))
def test_any_text_gives_a_share_and_a_pattern_of_its_metre(first: str, second: str) -> None:
    found = scan((first, second))
    assert 0.0 <= found.confidence <= 1.0
    assert bool(found.metre_id) == bool(found.confidence)
    for reading in readable(lattice(first), lattice(second)):
        for metre, (cost, read) in reading.items():
            assert cost >= forms()[read][metre] - 1e-9


@settings(max_examples=25, deadline=None)
@given(st.data())
def test_no_reading_is_cheaper_than_the_one_found(data: st.DataObject) -> None:
    """Beside every reading of the letters there is, tried one by one."""
    form = data.draw(st.sampled_from(sorted(forms(), key=len)[:120]))
    prices = st.sampled_from([0.0, 0.125, 0.25, 0.5])
    sounds = [{letter: data.draw(prices)} for letter in form]
    for options in data.draw(st.lists(st.sampled_from(sounds), max_size=9)):
        options[data.draw(st.sampled_from(["", "0", "1", "01", "10"]))] = data.draw(prices)
    readings: dict[tuple[str, str], float] = {}
    for chosen in product(*(options.items() for options in sounds)):
        letters = "".join(sound for sound, _ in chosen)
        for metre, price in forms().get(letters, {}).items():
            cost = price + sum(cost for _, cost in chosen)
            readings[metre, letters] = min(cost, readings.get((metre, letters), cost))
    longer = lattice("قِفا نَبكِ مِن ذِكرى حَبيبٍ")
    found = readable(sounds, longer)[0]
    assert set(found) == {metre for metre, _ in readings}
    for metre, (cost, letters) in found.items():
        assert cost == pytest.approx(min(price for (one, _), price in readings.items() if one == metre))
        assert readings[metre, letters] == pytest.approx(cost)
    assert readings


def test_a_reading_costs_little_more_than_what_its_letters_may_sound_like() -> None:
    """Curation scans every Arabic poem: walked node by node, a reading took fifty times as long as its lattice."""
    texts = [hemistich for _, *couplet in LINES for hemistich in couplet]
    sounds = [lattice(text) for text in texts]
    costs_left(sounds)
    began = time.process_time()
    for text in texts * 4:
        lattice(text)
    between = time.process_time()
    for _ in range(4):
        costs_left(sounds)
    assert time.process_time() - between < 8 * (between - began)


def test_measured_on_real_couplets(shared_data: Path) -> None:
    names = {
        **{"saree": "sari", "kamel": "kamil", "mutakareb": "mutaqarib", "mutadarak": "mutadarik"},
        **{"munsareh": "munsarih", "madeed": "madid", "mujtath": "mujtathth", "baseet": "basit"},
        **{"khafeef": "khafif", "taweel": "tawil", "wafer": "wafir"},
    }
    labels = (shared_data / "metrec" / "labels.txt").read_text("utf-8").split()
    with gzip.open(shared_data / "metrec" / "baits_train.txt.gz", "rt", encoding="utf-8") as file:
        rows = [line.rstrip("\n").split(" ", 1) for line in file][13::240]
    sure = right = signed = 0
    for label, couplet in rows:
        first, second = (canonical(half, "ar") for half in couplet.split(" # "))
        if vocalised(first) < 0.5:
            continue
        signed += 1
        found = scan((first, second))
        if found.confidence >= SURE:
            sure += 1
            right += found.metre_id == names.get(labels[int(label)], labels[int(label)])
    assert signed > 80
    assert sure / signed > 0.7
    assert right / sure > 0.97
