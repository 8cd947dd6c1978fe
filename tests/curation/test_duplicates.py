"""Which record stands for which, and what is only reported."""

from __future__ import annotations

from mihakk.curation import curate, find_duplicates
from mihakk.curation.normalization import normalize
from mihakk.schemas.benchmark import CurateConfig
from mihakk.schemas.idiom import Idiom
from mihakk.schemas.poem import Poem
from tests.machinery.records import poem

FIRST = ("الا یا ایها الساقی ادر کاسا و ناولها", "که عشق آسان نمود اول ولی افتاد مشکل‌ها")
SECOND = ("به بوی نافه‌ای کاخر صبا زان طره بگشاید", "ز تاب جعد مشکینش چه خون افتاد در دل‌ها")
THIRD = ("صلاح کار کجا و من خراب کجا", "ببین تفاوت ره کز کجاست تا به کجا")
FOURTH = ("دل می‌رود ز دستم صاحب‌دلان خدا را", "دردا که راز پنهان خواهد شد آشکارا")
CONFIG = CurateConfig(required=())


def normal(*records: Poem | Idiom) -> list[Poem | Idiom]:
    tables = normalize(records).tables
    return [*tables["poems"][1], *tables["idioms"][1]]  # type: ignore[list-item]


def test_a_record_that_is_rejected_stands_for_nobody() -> None:
    config = CurateConfig(required=("poet",))
    records = normal(poem("nameless", [FIRST, SECOND], poet="؟"), poem("named", [FIRST, SECOND]))
    shard = curate(records, find_duplicates(records, config), config)
    assert [p.id for p in shard.tables["poems"][1]] == ["named"]  # type: ignore[attr-defined]
    assert [r.reason for r in shard.rejections] == ["poet_missing"]


def test_couplets_with_one_hemistich_in_common_are_reported_and_kept() -> None:
    records = normal(poem("one", [FIRST, THIRD]), poem("two", [FOURTH, (SECOND[0], THIRD[1])]))
    found = find_duplicates(records, CONFIG)
    assert [(c.kept, c.merged, c.method, c.similarity) for c in found.clusters] == [
        ("one:1", ("two:1",), "half", 1.0)
    ]
    assert found.of("two:1") is None
    shard = curate(records, found, CONFIG)
    assert [len(p.couplets) for p in shard.tables["poems"][1]] == [2, 2]  # type: ignore[attr-defined]
    assert [c.method for c in shard.tables["clusters"][1]] == ["half"]  # type: ignore[attr-defined]


def test_couplets_less_alike_than_the_config_asks_are_reported_and_kept() -> None:
    other = (FIRST[0].replace("ادر کاسا", "بده جامی"), FIRST[1].replace("ولی افتاد", "سپس آمد"))
    records = normal(poem("one", [FIRST, THIRD]), poem("two", [FOURTH, other]))
    found = find_duplicates(records, CONFIG)
    assert [(c.kept, c.merged, c.method) for c in found.clusters] == [("one:0", ("two:1",), "similar")]
    assert 0.7 <= found.clusters[0].similarity < 0.9
    merging = find_duplicates(records, CurateConfig(required=(), near_duplicates=0.7))
    assert [(c.kept, c.merged, c.method) for c in merging.clusters] == [("one:0", ("two:1",), "near")]
    assert merging.of("two:1") == merging.clusters[0]


def test_a_chain_of_likenesses_does_not_merge_its_ends() -> None:
    letters = "".join("".join(FIRST).split())
    versions = [letters[: 8 * n] + "ش" * 5 * n + letters[8 * n :] for n in range(8)]
    records = normal(*(poem(f"p{n}", [(line, FOURTH[n % 2])]) for n, line in enumerate(versions)))
    config = CurateConfig(required=(), near_duplicates=0.85)
    for cluster in find_duplicates(records, config).clusters:
        assert cluster.method not in ("exact", "near") or cluster.similarity >= 0.85


def test_the_shard_of_the_kept_record_learns_of_a_new_copy() -> None:
    before = normal(poem("one", [FIRST, SECOND]), poem("two", [THIRD]))
    after = normal(poem("one", [FIRST, SECOND]), poem("two", [THIRD]), poem("copy", [FIRST, SECOND]))
    # Its table of clusters names the copy, so it has to be written again.
    assert find_duplicates(before, CONFIG).digest(["one"]) != find_duplicates(after, CONFIG).digest(["one"])
    assert find_duplicates(before, CONFIG).digest(["two"]) == find_duplicates(after, CONFIG).digest(["two"])


def test_a_label_that_the_editors_of_a_poem_give_differently_is_contested() -> None:
    records = normal(
        poem("one", [FIRST, SECOND], metre="fa_3"),
        poem("copy", [FIRST, SECOND], metre="fa_2"),
        poem("other", [THIRD], metre="fa_3"),
        poem("same", [THIRD], metre="fa_3"),
    )
    found = find_duplicates(records, CONFIG)
    assert [(c.kept, c.contested) for c in found.clusters] == [("one", ("metre",)), ("other", ())]
    kept = [one for one in curate(records, found, CONFIG).tables["poems"][1] if isinstance(one, Poem)]
    assert [one.source_labels.get("contested") for one in kept] == ["metre", None]


def quatrain(name: str, *halves: str) -> Poem:
    return poem(name, [(halves[0], halves[1]), (halves[2], halves[3])], language="fa")


# Two couplets of Hafez stand for the quatrain; an edition swaps its lines and has other words for some.
ONE = "الا یا ایها الساقی ادر کاسا و ناولها", "که عشق آسان نمود اول ولی افتاد مشکل‌ها"
TWO = "به بوی نافه‌ای کاخر صبا زان طره بگشاید", "ز تاب جعد مشکینش چه خون افتاد در دل‌ها"
OTHER = "مرا در منزل جانان چه امن عیش چون هر دم", "جرس فریاد می‌دارد که بربندید محمل‌ها"


def kept(*poems: Poem, near: float = 0.9) -> list[str]:
    config = CurateConfig(required=(), near_duplicates=near)
    records = normal(*poems)
    return [row.id for row in curate(records, find_duplicates(records, config), config).tables["poems"][1]]


def test_a_quatrain_whose_lines_another_edition_swaps_and_rewords_is_kept_once() -> None:
    swapped = quatrain("b", ONE[0], TWO[1], TWO[0], ONE[1])
    reworded = quatrain(
        "c", ONE[0], ONE[1], TWO[0].replace("به بوی نافه‌ای", "امید مژده‌ای"), TWO[1][:-6] + "جان و تن"
    )
    assert kept(quatrain("a", *ONE, *TWO), swapped, reworded) == ["a"]
    assert kept(quatrain("a", *ONE, *TWO), swapped, near=1.0) == ["a", "b"]


def test_half_a_quatrain_in_common_makes_no_copy_and_longer_poems_keep_their_order() -> None:
    assert kept(quatrain("a", *ONE, *TWO), quatrain("b", *ONE, *OTHER)) == ["a", "b"]
    whole = [(ONE[0], ONE[1]), (TWO[0], TWO[1]), (OTHER[0], OTHER[1])]
    turned = [(OTHER[1], ONE[0]), (TWO[1], OTHER[0]), (ONE[1], TWO[0])]
    assert kept(poem("a", whole, language="fa"), poem("b", turned, language="fa")) == ["a", "b"]
