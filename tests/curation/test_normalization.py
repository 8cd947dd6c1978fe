"""Normalised records keep what was fetched and say what was changed."""

from __future__ import annotations

from mihakk.curation.normalization import normalize
from mihakk.machinery.text import key
from tests.machinery.records import idiom, poem


def test_the_three_forms_and_the_counts() -> None:
    shard = normalize([poem("p", [("لَــم أَقـضِ مِنـهُ", "وَلا مِـن حُبِّـهِ أَرَبـي")], language="ar")])
    couplet = shard.tables["poems"][1][0].couplets[0]  # type: ignore[attr-defined]
    assert couplet.first.raw == "لَــم أَقـضِ مِنـهُ"
    assert couplet.first.text == "لَم أَقضِ مِنهُ"
    assert couplet.first.key == key("لم اقض منه", "ar")
    assert any(name.startswith("canonical.") and "kashida" in name for name in shard.counts.notes)


def test_a_word_across_the_hemistichs_is_marked_not_glued() -> None:
    shard = normalize([poem("p", [("لِيَخَف صاحِبُ الدِيانَةِ وَالصَو|", "نِ مَقالاً مِن جاهِلٍ")], language="ar")])
    couplet = shard.tables["poems"][1][0].couplets[0]  # type: ignore[attr-defined]
    assert couplet.mudawwar
    assert couplet.first.text.endswith("وَالصَو")
    assert couplet.first.raw.endswith("|")


def test_lines_without_letters_are_listed_and_poems_without_lines_rejected() -> None:
    kept = poem("kept", [("***", "***"), ("الا یا ایها الساقی", "ادر کاسا و ناولها")])
    gone = poem("gone", [("…", "—")])
    shard = normalize([kept, gone, idiom("i", "***", "شرح")])
    assert [row.record for row in shard.tables["removed"][1]] == ["kept:0", "gone:0"]  # type: ignore[attr-defined]
    assert {row.record: row.reason for row in shard.rejections} == {"gone": "no_text", "i": "no_text"}
    assert (shard.counts.read, shard.counts.kept, shard.counts.rejected) == (3, 1, 2)
    assert all(row.body for row in shard.rejections)
