"""An explanation keeps its meaning and loses its book's references."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mihakk.curation import curate
from mihakk.curation.apparatus import without_apparatus
from mihakk.curation.duplicates import Duplicates
from mihakk.curation.normalization import normalize
from mihakk.schemas.benchmark import CurateConfig
from mihakk.schemas.idiom import Idiom
from tests.machinery.records import idiom

KINAYAT = {
    "entry": r"(?<=\n\n)(?!لبعضهم:)(?P<head>[^:\n]{1,40}):(?=\n\n)|^(?P<head>على سنجة عشره|مالوش طروه)$",
    "sections": "^# [|] حرف",
}
MEANING = "كناية عن سعة النفوذ والقدرة على قضاء الحاجات"


@pytest.mark.parametrize(
    ("said", "left", "kind"),
    [
        (f"{MEANING} (انظر كتاب الرحلة ج٢ ص١١٨).", f"{MEANING}.", "citation"),
        (f"{MEANING} (في ديوان شاعر ما ص٤٠ مقطوع فيه ذلك).", f"{MEANING}.", "citation"),
        (f"الإيد — بكسر الأول — اليد، {MEANING}", f"الإيد: اليد، {MEANING}", "pronunciation"),
        (f"الإيد — بضم أوله: اليد، {MEANING}", f"الإيد: اليد، {MEANING}", "pronunciation"),
        (f"{MEANING}، ومثله: «إيده طرشه» و«دراعه طويل.»", f"{MEANING}.", "similar_idioms"),
        (f"{MEANING}، وفي معناه قولهم: «إيده طرشه» أي لا ترد.", f"{MEANING}.", "similar_idioms"),
        (f"{MEANING}، ويقولون في عكسه: «إيده قصيره.»", f"{MEANING}.", "similar_idioms"),
        (f"{MEANING}، وانظر: «إيده طرشه.»", f"{MEANING}.", "reference"),
        (f"{MEANING}، وانظر في الأمثال: «العين بصيره» وغيرها.", f"{MEANING}.", "reference"),
        (f"{MEANING}، وقد قال شاعر في ذلك:\nبيت أول من الشعر هنا\nوبيت ثان من الشعر هناك", MEANING, "verse"),
        (f"{MEANING}\n١", MEANING, "footnote_digit"),
    ],
)
def test_apparatus_is_cut_and_counted(said: str, left: str, kind: str) -> None:
    text, cut, _ = without_apparatus(said)
    assert text == left
    assert cut[kind] >= 1


@pytest.mark.parametrize(
    "said",
    [
        MEANING,
        f"{MEANING} (والحاجات هنا ما يطلبه الناس)",
        "أي ينظر إلى البعيد، يقولون: «فلان عينه بعيده» أي طموح.",
        "كناية عن الانتظار الطويل، وأصله أن المنتظر ينظر كل حين.",
        "كناية عن كثرة المال\nوقد تكون كناية عن كثرة العيال.",
    ],
)
def test_meaning_without_apparatus_is_left_as_it_is(said: str) -> None:
    assert without_apparatus(said) == (said, {}, ())


def test_an_entry_of_references_alone_is_a_cross_reference() -> None:
    records = normalize([idiom("a", "إيده طرشه", "انظر: «إيده طايله.»"), idiom("b", "إيده طايله", MEANING)])
    shard = curate(records.tables["idioms"][1], Duplicates(), CurateConfig())  # type: ignore[arg-type]
    assert [(r.record, r.reason) for r in shard.rejections] == [("a", "cross_reference")]
    assert [i.id for i in shard.tables["idioms"][1]] == ["b"]  # type: ignore[attr-defined]


def test_a_listed_word_is_labelled_where_it_stands_and_rejects_nothing() -> None:
    records = normalize(
        [
            idiom("a", "ابن حرام", "كناية عن الماكر الخبيث"),
            idiom("b", "إيده طايله", f"{MEANING}، قاله لقيط بن مالك"),
            idiom("c", "احترت يا بخرا", "يضرب للأمر تكتنفه الموانع فلا يعرف من أين يتوصل إليه"),
            idiom("d", "ابن رضا", "كناية عن ولد الزنا، عبروا به تحسينا للقول"),
            idiom("e", "كلمة", "وصف لا يقال لأحد في وجهه أبدا", sensitive=True),
        ]
    ).tables["idioms"][1]
    shard = curate(records, Duplicates(), CurateConfig())  # type: ignore[arg-type]
    assert [(r.record, r.reason) for r in shard.rejections] == [("e", "sensitive")]
    kept: list[Idiom] = shard.tables["idioms"][1]  # type: ignore[assignment]
    labels = {i.id: {k: v for k, v in i.source_labels.items() if k.startswith("sensitive")} for i in kept}
    assert labels == {
        "a": {"sensitive_wording": "ابن حرام"},
        "b": {},
        "c": {},
        "d": {"sensitive_gloss": "ولد الزنا"},
    }
    keeping = curate(records, Duplicates(), CurateConfig(sensitive="keep"))  # type: ignore[arg-type]
    assert len(keeping.tables["idioms"][1]) == 5


def test_what_was_cut_stays_in_the_raw_form() -> None:
    said = f"{MEANING}، ومثله: «إيده طرشه.»"
    records = normalize([idiom("a", "إيده طايله", said)]).tables["idioms"][1]
    shard = curate(records, Duplicates(), CurateConfig())  # type: ignore[arg-type]
    kept: Idiom = shard.tables["idioms"][1][0]  # type: ignore[assignment]
    assert (kept.explanation.text, kept.explanation.raw) == (f"{MEANING}.", said)
    assert "طرشه" not in kept.explanation.key
    assert shard.counts.notes == {"explanation.similar_idioms": 1}


@given(st.text("كناية عن(انظر:«»)—بكسر الأول.،\n٣ص ", max_size=80))
def test_cutting_is_bounded_and_repeatable(said: str) -> None:
    text, cut, _ = without_apparatus(said)
    assert len(text) <= len(said) + sum(cut.values()) * 2
    assert bool(cut) or text == said


def test_taymur_keeps_a_meaning_for_every_entry_that_has_one(shared_data: Path, tmp_path: Path) -> None:
    from mihakk.scrapers.openiti import OpenitiOptions, scrape
    from mihakk.scrapers.raw import RawStore

    book = shared_data / "kinayat" / "taymur_kinayat_hindawi_93047907.txt"
    entries = scrape(OpenitiOptions(path=str(book), dialect="egyptian", **KINAYAT), RawStore(tmp_path))
    records = [entry for entry in entries if isinstance(entry, Idiom)]
    shard = curate(normalize(records).tables["idioms"][1], Duplicates(), CurateConfig())  # type: ignore[arg-type]
    kept: list[Idiom] = shard.tables["idioms"][1]  # type: ignore[assignment]
    assert shard.counts.read == len(records) >= 310
    # All keep a meaning; two bear a word that the reference table lists in the phrase, one in the explanation.
    assert shard.counts.reasons == {}
    marks = [name for record in kept for name in record.source_labels if name.startswith("sensitive")]
    assert sorted(marks) == ["sensitive_gloss", "sensitive_wording", "sensitive_wording"]
    before = {record.id: record.explanation.raw for record in records}
    for record in kept:
        if "كناية عن" in before[record.id]:
            assert "كناية عن" in record.explanation.text, record.id
        assert not any(mark in record.explanation.text for mark in ("ص١", "انظر: «")), record.id


@pytest.mark.parametrize(
    ("explanation", "meaning"),
    [
        ("أي: كذا. وقريب منه: «المركب تغرق.» وسيأتي في الميم.", "أي: كذا. وقريب منه: «المركب تغرق.»"),
        ("فهو مثل قولهم: «ابن الهبلة يعيش.» وسيأتي.", ""),
        ("فقال النابغة: «رب ساع لقاعد.» وقال:\nأبقيت للعبسي فضلا", "فقال النابغة: «رب ساع لقاعد.»"),
        ("والمراد: «وافق.» وانظر أيضا: «جوزوا زقزوق» في حرف الجيم فهو في معناه.", "والمراد: «وافق.»"),
        ("أي: كذا. وانظر في الباء: «البق.» وفي الضاد المعجمة: «الضحك …» إلخ.", "أي: كذا."),
        ("أي: كذا، فالفضل راجع لصاحب المال.", "أي: كذا، فالفضل راجع لصاحب المال."),
        ("والهدوم جمع هدمة بالكسر، ومعناها: الثوب.", "والهدوم جمع هدمة، ومعناها: الثوب."),
    ],
)
def test_references_of_al_amthal_go_whole_and_leave_no_half_quotation(explanation: str, meaning: str) -> None:
    """Formulas as they stand in the book; each was cut in part, or too much of it, when sixty entries were read."""
    assert without_apparatus(explanation).text == meaning
