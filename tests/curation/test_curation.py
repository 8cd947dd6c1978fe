"""Curation loses nothing silently: every record is kept, merged into a named one, or rejected with a reason."""

from __future__ import annotations

from mihakk.curation import curate, find_duplicates
from mihakk.curation.normalization import normalize
from mihakk.schemas.benchmark import CurateConfig
from mihakk.schemas.idiom import Idiom
from mihakk.schemas.poem import Poem
from tests.machinery.records import idiom, poem

FIRST = ("الا یا ایها الساقی ادر کاسا و ناولها", "که عشق آسان نمود اول ولی افتاد مشکل‌ها")
SECOND = ("به بوی نافه‌ای کاخر صبا زان طره بگشاید", "ز تاب جعد مشکینش چه خون افتاد در دل‌ها")
THIRD = ("صلاح کار کجا و من خراب کجا", "ببین تفاوت ره کز کجاست تا به کجا")
CONFIG = CurateConfig(required=())


def normal(*records: Poem | Idiom) -> list[Poem | Idiom]:
    tables = normalize(records).tables
    return [*tables["poems"][1], *tables["idioms"][1]]  # type: ignore[list-item]


def test_the_same_poem_in_another_spelling_is_merged() -> None:
    one = poem("one", [FIRST, SECOND])
    other = poem("other", [(FIRST[0].replace("ی", "ي"), FIRST[1].replace("\u200c", "")), SECOND])
    records = normal(one, other)
    shard = curate(records, find_duplicates(records, CONFIG), CONFIG)
    assert [p.id for p in shard.tables["poems"][1]] == ["one"]  # type: ignore[attr-defined]
    assert (shard.counts.merged, shard.counts.rejected) == (1, 0)
    assert (shard.rejections[0].record, shard.rejections[0].kept) == ("other", "one")
    assert shard.tables["clusters"][1][0].merged == ("other",)  # type: ignore[attr-defined]


def test_a_couplet_that_stands_in_an_earlier_poem_is_taken_out() -> None:
    records = normal(poem("one", [FIRST, SECOND]), poem("two", [THIRD, FIRST]))
    shard = curate(records, find_duplicates(records, CONFIG), CONFIG)
    two = shard.tables["poems"][1][1]
    assert [c.id for c in two.couplets] == ["two:0"]  # type: ignore[attr-defined]
    removed = shard.tables["removed"][1][0]
    assert (removed.record, removed.kept) == ("two:1", "one:0")  # type: ignore[attr-defined]


def test_a_refrain_inside_one_poem_is_no_duplicate() -> None:
    records = normal(poem("one", [FIRST, SECOND, FIRST]))
    assert not find_duplicates(records, CONFIG).clusters


def test_idioms_without_explanation_in_another_script_or_marked_sensitive_are_rejected() -> None:
    records = normal(
        idiom("a", "إيده طايلة", "نفوذه واسع ويقدر على كثير"),
        idiom("b", "إيده طايله", "له نفوذ"),
        idiom("c", "كلام فاضي", "***"),
        idiom("d", "كلمة نابية", "وصف جارح", sensitive=True),
        idiom("e", "light-blooded", "مرح خفيف الظل"),
    )
    shard = curate(records, find_duplicates(records, CONFIG), CONFIG)
    assert {r.record: r.reason for r in shard.rejections} == {
        "b": "exact_duplicate",
        "c": "no_explanation",
        "d": "sensitive",
        "e": "language_differs",
    }


def test_a_shard_depends_only_on_the_duplicates_that_concern_it() -> None:
    both = normal(poem("one", [FIRST, SECOND]), poem("two", [FIRST, SECOND]), poem("three", [THIRD]))
    alone = normal(poem("one", [FIRST, SECOND]), poem("three", [THIRD]))
    with_copy, without = find_duplicates(both, CONFIG), find_duplicates(alone, CONFIG)
    assert with_copy.digest(["three"]) == without.digest(["three"])
    assert with_copy.digest(["two"]) != without.digest(["two"])
