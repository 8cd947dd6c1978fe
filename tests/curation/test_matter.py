"""Only verse stays among verses, and what is taken out says why."""

from __future__ import annotations

import gzip
from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mihakk.curation import curate, find_duplicates
from mihakk.curation.matter import clean_line, clean_poem
from mihakk.curation.normalization import normalize
from mihakk.machinery.errors import RecordRejected
from mihakk.machinery.text import canonical, key
from mihakk.schemas.benchmark import CurateConfig
from mihakk.schemas.poem import Couplet, CoupletKind, Poem
from mihakk.schemas.record import Form
from tests.machinery.records import poem

VERSES = [
    ("وَقَفنا عَلى الأَطلالِ نَسأَلُ صامِتاً", "وَهَل يَنطِقُ الرَسمُ الَّذي لَيسَ يَعقِلُ"),
    ("فَلَمّا أَجابَ الدَمعُ عَنهُ تَبَيَّنَت", "لَنا حُجَّةٌ في الصَمتِ لا تَتَبَدَّلُ"),
    ("إِذا المَرءُ لَم يَحفَظ عُهودَ صَديقِهِ", "فَكُلُّ وِدادٍ بَعدَها يَتَحَوَّلُ"),
    ("وَما كُلُّ مَن أَبدى البَشاشَةَ صاحِبٌ", "وَلا كُلُّ مَن تَرجو العَطاءَ يُنَوِّلُ"),
]


def made(*units: tuple[str, str | None] | tuple[str, None, CoupletKind], declared: int | None = None) -> Poem:
    """A normalised poem of the four verses and then these units."""
    base = poem("p", VERSES, language="ar", poet="شاعر", metre="tawil")
    couplets = list(base.couplets)
    for unit in units:
        first, second, kind = (*unit, "couplet")[:3] if len(unit) == 2 else unit
        n = len(couplets)
        couplets.append(
            Couplet(
                id=f"p:{n}",
                position=n,
                kind=kind,  # type: ignore[arg-type]
                first=Form(raw=first),
                second=None if second is None else Form(raw=second),
            )
        )
    whole = base.model_copy(update={"couplets": tuple(couplets), "declared_couplets": declared})
    kept: Poem = normalize([whole]).tables["poems"][1][0]  # type: ignore[assignment]
    return kept


@pytest.mark.parametrize(
    ("unit", "reason"),
    [
        (("وقال أيضا يمدح الأمير:", None, "line"), "heading"),
        (("القصيدة رقم ٣", None, "line"), "heading"),
        (("وقال يرثي", "أخاه:"), "heading"),
        (("ملاحظة: سقط بيت من الأصل", None, "line"), "editorial_note"),
        (("(في نسخة أخرى: يتبدل)", None, "line"), "editorial_note"),
        (("(١) الأطلال: ما بقي من آثار الديار", None, "line"), "footnote"),
        (("***", "وَهَل يَنطِقُ الرَسمُ"), "hemistich_empty"),
        (("[---]", "وَهَل يَنطِقُ الرَسمُ"), "hemistich_empty"),
        (("٤٢", "٤٣"), "number"),
        (("وَهَل <br> يَنطِقُ", "الرَسمُ الَّذي"), "markup"),
        (("وَهَل&nbsp;يَنطِقُ", "الرَسمُ الَّذي"), "markup"),
        (("www.example.org", "زوروا الموقع"), "link"),
        (("وَهَل يَنطِقُ x", "الرَسمُ الَّذي"), "foreign_letters"),
        (("Share this poem", None, "line"), "foreign_letters"),
        (("ترجيع", None, "line"), "refrain_marker"),
        (("ولد الشاعر في القرن الثالث وعاش في بغداد", None, "paragraph"), "prose"),
        (("كلمة " * 17, "وَهَل يَنطِقُ الرَسمُ"), "prose"),
        (("وَهَل يَنطِقُ الرَسمُ الَّذي لَيسَ يَعقِلُ", None, "couplet"), "odd_hemistich"),
        (("وَهَل يَنطِقُ الرَسمُ الَّذي لَيسَ يَعقِلُ", None, "line"), "one_hemistich"),
    ],
)
def test_what_is_no_verse_is_taken_out_with_the_reason(unit: tuple[str, str | None], reason: str) -> None:
    cleaned = clean_poem(made(unit))
    assert [(r.record, r.reason) for r in cleaned.removed] == [("p:4", reason)]
    assert canonical(unit[0].split("<")[0].split("&")[0], "ar").strip() in cleaned.removed[0].body.replace(
        "\\", ""
    )
    assert [c.id for c in cleaned.poem.couplets] == ["p:0", "p:1", "p:2", "p:3"]


@pytest.mark.parametrize(
    "unit",
    [
        ("وَقالَ أَصَيحابي الفِرارُ أَوِ الرَدى", "فَقُلتُ هُما أَمرانِ أَحلاهُما مُرُّ"),
        ("قالَ السَماءُ كَئيبَةٌ وَتَجَهَّما", "قُلتُ اِبتَسِم يَكفي التَجَهُّمُ في السَما"),
        ("لَهُ هِمَمٌ لا مُنتَهى لِكِبارِها", "وَهِمَّتُهُ الصُغرى أَجَلُّ مِنَ الدَهرِ"),
        ("بابُ الحَديدِ", "فَصلُ الخِطابِ"),
        ("(أَلا لَيتَ الشَبابَ)", "(يَعودُ يَوماً)"),
    ],
)
def test_verse_that_looks_like_a_heading_stays(unit: tuple[str, str]) -> None:
    assert clean_poem(made(unit)).removed == []


def test_free_verse_and_bands_stay() -> None:
    lines = [f"سطر من شعر التفعيلة رقمه {word}" for word in ("واحد", "اثنان", "ثلاثة")]
    free = made().model_copy(
        update={"couplets": tuple(c for c in made(*((line, None, "line") for line in lines)).couplets[4:])}
    )
    assert len(clean_poem(free).poem.couplets) == 3
    band = made(("يا لَيلُ طُل", None, "band"))
    assert len(clean_poem(band).poem.couplets) == 5


def test_an_odd_hemistich_without_a_common_rhyme_rejects_the_poem() -> None:
    shifted = [(a, b) for (_, a), (b, _) in pairwise(VERSES)]
    lost = poem("p", shifted, language="ar")
    odd = Couplet(id="p:9", position=9, first=Form(raw=VERSES[0][0]))
    broken = normalize([lost.model_copy(update={"couplets": (*lost.couplets, odd)})]).tables["poems"][1][0]
    with pytest.raises(RecordRejected) as error:
        clean_poem(broken)  # type: ignore[arg-type]
    assert error.value.reason == "odd_hemistichs"


@pytest.mark.parametrize(
    ("declared", "outcome"),
    [(None, ""), (4, ""), (5, "differs"), (3, "differs"), (7, "couplets_missing"), (2, "couplets_extra")],
)
def test_declared_and_parsed_counts(declared: int | None, outcome: str) -> None:
    whole = made(declared=declared)
    if outcome.startswith("couplets"):
        with pytest.raises(RecordRejected) as error:
            clean_poem(whole)
        assert error.value.reason == outcome
    else:
        assert bool(clean_poem(whole).notes["declared.differs"]) == (outcome == "differs")


def test_places_the_scraper_left_free_count_as_possible_couplets() -> None:
    whole = made(declared=8)
    last = whole.couplets[-1].model_copy(update={"position": 7})
    assert clean_poem(whole.model_copy(update={"couplets": (*whole.couplets[:-1], last)})).notes == {}


@pytest.mark.parametrize(
    ("line", "clean", "kind"),
    [
        ("وَهَل يَنطِقُ الرَسمُ٣", "وَهَل يَنطِقُ الرَسمُ", "footnote_digit"),
        ("وَهَل يَنطِقُ٣ الرَسمُ", "وَهَل يَنطِقُ الرَسمُ", "footnote_digit"),
        ("وَهَل يَنطِقُ (٣) الرَسمُ", "وَهَل يَنطِقُ الرَسمُ", "footnote_mark"),
        ("وَهَل يَنطِقُ الرَسمُ [12]", "وَهَل يَنطِقُ الرَسمُ", "footnote_mark"),
        ("وَهَل يَنطِقُ الرَسمُ*", "وَهَل يَنطِقُ الرَسمُ", "footnote_mark"),
        ("١٢- وَهَل يَنطِقُ", "وَهَل يَنطِقُ", "verse_number"),
        ("(7) وَهَل يَنطِقُ", "وَهَل يَنطِقُ", "verse_number"),
        ("وَهَل يَنطِقُ (مكرر)", "وَهَل يَنطِقُ", "repetition"),
        ("وَهَل يَنطِقُ ×٢", "وَهَل يَنطِقُ", "repetition"),
    ],
)
def test_marks_of_the_page_leave_a_line_and_are_counted(line: str, clean: str, kind: str) -> None:
    assert clean_line(line) == (clean, {kind: 1})


@pytest.mark.parametrize("line", ["في عام 1967 كانت", "عندي ٣ كتب", "قال: نعم", "سنة ١٩٦٧م"])
def test_numbers_that_are_words_stay(line: str) -> None:
    assert clean_line(line) == (line, {})


@given(st.text("ابتثج َُِ٣7()[]*×-", max_size=30))
def test_clean_lines_keep_every_letter(line: str) -> None:
    cleaned, found = clean_line(line)
    letters = [c for c in line if c.isalpha()]
    assert [c for c in cleaned if c.isalpha()] == letters
    assert found or cleaned == line


def test_a_cleaned_line_has_the_key_of_its_text_and_its_raw_form() -> None:
    cleaned = clean_poem(made(("وَهَل يَنطِقُ الرَسمُ٣", "الَّذي لَيسَ يَعقِلُ")))
    first = cleaned.poem.couplets[4].first
    assert first.key == key(first.text, "ar")
    assert "٣" not in first.key
    assert first.raw.endswith("٣")
    assert cleaned.notes == {"cleaned.footnote_digit": 1}


def test_every_couplet_is_kept_removed_or_in_a_rejected_poem() -> None:
    records: list[Poem] = [made(("ترجيع", None, "line"), ("٤٢", "٤٣")), made(declared=40)]
    records[1] = records[1].model_copy(update={"id": "q"})
    config = CurateConfig(required=())
    shard = curate(records, find_duplicates(records, config), config)
    kept: Poem = shard.tables["poems"][1][0]  # type: ignore[assignment]
    removed = shard.tables["removed"][1]
    assert len(kept.couplets) + len(removed) == len(records[0].couplets)
    assert [row.reason for row in shard.rejections] == ["couplets_missing"]
    assert shard.counts.notes == {"removed.refrain_marker": 1, "removed.number": 1}


def test_real_verse_is_left_alone(shared_data: Path) -> None:
    with gzip.open(shared_data / "metrec" / "baits_train.txt.gz", "rt", encoding="utf-8") as file:
        pairs = [line.rstrip("\n").split(" ", 1)[1].split(" # ") for line in file][::5]
    whole = poem("metrec", [(a, b) for a, b in pairs], language="ar")
    normal: Poem = normalize([whole]).tables["poems"][1][0]  # type: ignore[assignment]
    cleaned = clean_poem(normal)
    reasons = Counter(row.reason for row in cleaned.removed)
    assert len(cleaned.removed) <= len(pairs) / 2000, reasons


def test_a_place_and_a_date_below_a_poem_are_no_line_of_it() -> None:
    lines = ["نزورك طالعين", "من أناشيد الفوضى", "سلمية / كانون الأول 1990"]
    poem = made(*((line, None, "line") for line in lines))
    free = poem.model_copy(update={"couplets": poem.couplets[-3:]})
    assert [one.reason for one in clean_poem(free).removed] == ["place_and_date"]
    # A year inside the poem is its own.
    within = free.model_copy(update={"couplets": (free.couplets[2], *free.couplets[:2])})
    assert not clean_poem(within).removed
