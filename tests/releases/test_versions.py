"""Versions, splits and licences: the rules by themselves."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mihakk.machinery.draw import split_of
from mihakk.machinery.errors import UsageError
from mihakk.releases.content.placement import place
from mihakk.releases.content.split import alike as works_alike
from mihakk.releases.content.split import group_items, split_items, work
from mihakk.releases.licence import known, licences, refuse_unknown
from mihakk.releases.release_facts import ReleaseFacts
from mihakk.releases.versions.version import Version, choose
from mihakk.schemas.item import AnswerItem, Origin
from mihakk.schemas.rejection import Cluster
from tests.releases.release_material import hafez_config, hafez_items, idiom_items

VERSIONS = st.builds(Version, *[st.integers(0, 30)] * 3)


@given(VERSIONS)
def test_a_version_reads_back(version: Version) -> None:
    assert Version.parse(str(version)) == version


@given(VERSIONS, st.sampled_from(["patch", "minor", "major"]))
def test_every_change_raises_the_version(version: Version, level: str) -> None:
    assert version.bump(level) > version  # type: ignore[arg-type]
    assert version.bump("none") == version


@pytest.mark.parametrize(
    ("version", "level", "following"),
    [
        ("1.2.3", "major", "2.0.0"),
        ("1.2.3", "minor", "1.3.0"),
        ("1.2.3", "patch", "1.2.4"),
        ("0.2.3", "major", "0.3.0"),
        ("0.2.3", "minor", "0.2.4"),
        ("0.2.3", "patch", "0.2.4"),
    ],
)
def test_what_may_move_a_version(version: str, level: str, following: str) -> None:
    assert str(Version.parse(version).bump(level)) == following  # type: ignore[arg-type]


@pytest.mark.parametrize("text", ["1", "1.2", "v1.2.3", "01.2.3", "1.2.3-rc1", "", "latest", "1.2.3\n"])
def test_what_is_no_version_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="is not a version"):
        Version.parse(text)


def test_a_person_may_choose_higher_but_not_lower() -> None:
    assert str(choose("1.0.0", Version(0, 3, 1), "major")) == "1.0.0"
    assert str(choose("auto", None, "none")) == "0.1.0"
    assert str(choose("0.9.0", None, "none")) == "0.9.0"
    with pytest.raises(UsageError, match="too low"):
        choose("1.2.4", Version(1, 2, 3), "minor")


def test_items_of_one_poem_and_both_orders_of_a_pair_share_a_split() -> None:
    items = hafez_items()
    places = split_items(items, 0.8).places
    by_poem: dict[str, set[str]] = {}
    by_pair: dict[str, set[str]] = {}
    for item in items:
        by_poem.setdefault(work(item.origin.records[0]), set()).add(places[item.id][0])
        if getattr(item, "pair_id", ""):
            by_pair.setdefault(item.pair_id, set()).add(places[item.id][0])  # type: ignore[union-attr]
    assert all(len(splits) == 1 for splits in (*by_poem.values(), *by_pair.values()))
    assert {split for split, _ in places.values()} == {"dev", "test"}


def test_a_new_poem_moves_no_other_item() -> None:
    items = hafez_items()
    fewer = [item for item in items if not item.origin.records[0].startswith("hafez:7:")]
    assert len(fewer) < len(items)
    before, after = split_items(fewer, 0.8).places, split_items(items, 0.8).places
    assert before == {name: after[name] for name in before}


def item(name: str, record: str, question: str) -> AnswerItem:
    """A bare item."""
    return AnswerItem(
        id=name, task="t", language="ar", question=question, answer="a", licence="MIT", context=question,
        origin=Origin(records=(record,), generator="t", generator_version="1"),
    )  # fmt: skip


@given(st.lists(st.tuples(st.integers(0, 40), st.integers(0, 15)), min_size=1, max_size=60), st.floats(0, 1))
def test_near_duplicates_and_equal_questions_never_straddle(
    pairs: list[tuple[int, int]], share: float
) -> None:
    items = [
        item(f"i{place}", f"poem{poem}:0", f"q{question}") for place, (poem, question) in enumerate(pairs)
    ]
    cluster = Cluster(
        kept="poem0:3", merged=("poem1:0", "poem2"), level="couplet", method="near", similarity=0.9
    )
    split = split_items(items, share, [cluster])
    assert not split.left_out
    places = split.places
    for one in items:
        for other in items:
            together = one.question == other.question or {one.origin.records[0], other.origin.records[0]} <= {
                "poem0:0", "poem1:0", "poem2:0"
            }  # fmt: skip
            if together:
                assert places[one.id] == places[other.id]


def alike(first: str, second: str, similarity: float = 0.7, method: str = "similar") -> Cluster:
    """Two couplets of different poems that look alike."""
    return Cluster(kept=first, merged=(second,), level="couplet", method=method, similarity=similarity)


def chained_poems(poems: int, couplets: int) -> tuple[list[AnswerItem], list[Cluster]]:
    """Poems each of whose last couplet is like the first of the next: one endless chain."""
    items = [
        item(f"i{poem}-{place}", f"poem{poem}:{place}", f"{poem}/{place}")
        for poem in range(poems)
        for place in range(couplets)
    ]
    return items, [alike(f"poem{poem}:{couplets - 1}", f"poem{poem + 1}:0") for poem in range(poems - 1)]


def test_a_chain_of_like_couplets_does_not_tie_all_verse_together() -> None:
    items, clusters = chained_poems(200, 10)
    split = split_items(items, 0.8, clusters)
    sizes = Counter(group for _, group in split.places.values())
    assert max(sizes.values()) == 100
    tested = sum(side == "test" for side, _ in split.places.values())
    assert 0.5 < tested / len(items) < 1
    assert split.left_out
    for name, evidence in split.left_out.items():
        assert split.places[name][0] == "dev"
        assert "which the test split asks about" in evidence
    kept = {one.origin.records[0]: split.places[one.id][0] for one in items if one.id not in split.left_out}
    for cluster in clusters:
        assert len({kept[one] for one in (cluster.kept, *cluster.merged) if one in kept}) <= 1


@pytest.mark.parametrize("blind", ["off", "repository"])
def test_what_no_split_can_hold_is_named_and_a_blind_split_is_not_told(blind: str) -> None:
    items, clusters = chained_poems(200, 10)
    facts = ReleaseFacts(code_version="test", clusters=tuple(clusters))
    placed, left_out = place(items, [], [], hafez_config(blind=blind), facts)
    released = sum(len(rows) for splits in placed.values() for rows in splits.values())
    assert left_out
    assert released + len(left_out) == len(items)
    assert {one.reason for one in left_out} == {"like_test"}
    assert all(("poem" in one.detail) == (blind == "off") for one in left_out)


def test_the_strongest_likeness_is_heeded_first() -> None:
    items, _ = chained_poems(30, 10)
    clusters = [alike(f"poem{n}:0", f"poem{n + 1}:0", 0.7) for n in range(29)]
    clusters.append(alike("poem0:1", "poem29:1", 0.95, "near"))
    groups = group_items(items, clusters, most=20)
    assert groups["i0-0"] == groups["i29-0"]
    assert groups["i0-0"] != groups["i1-0"]


def test_one_work_is_never_parted_however_large() -> None:
    items, _ = chained_poems(2, 600)
    copy = Cluster(kept="poem0", merged=("poem1",), level="poem", method="near", similarity=0.93)
    assert len(set(group_items(items, [copy]).values())) == 1


def test_editions_of_a_work_are_never_parted_and_works_with_one_like_couplet_may_be() -> None:
    """Two copies of a poem of 24 couplets have more items than may hang together by a common line."""
    items, _ = chained_poems(4, 600)
    editions = [alike("poem0:1", "poem1:1"), alike("poem0:7", "poem1:6")]
    once = [alike("poem2:1", "poem3:1")]
    groups = group_items(items, [*editions, *once])
    assert groups["i0-0"] == groups["i1-0"]
    assert groups["i2-0"] != groups["i3-0"]


def test_works_that_are_alike_are_editions_and_those_that_share_a_whole_couplet() -> None:
    clusters = [
        # c is like a by b alone, which is an edition of both.
        *(alike("a:1", "b:1"), alike("a:2", "b:2"), alike("b:5", "c:5"), alike("b:6", "c:6")),
        alike("c:9", "d:3"),
        alike("d:4", "e:4", method="half"),
        Cluster(kept="f", merged=("g",), level="poem", method="near", similarity=0.9),
    ]
    found = works_alike(clusters)
    assert found["a"] == {"b", "c"}
    assert found["c"] == {"a", "b", "d"}
    assert found["d"] == {"c"}
    assert found["f"] == {"g"}
    assert "e" not in found


def test_shares_are_kept_over_many_groups_and_at_the_ends() -> None:
    groups = [f"poem{number}" for number in range(4000)]
    tests = sum(split_of(group, 0.8) == "test" for group in groups)
    assert 3120 < tests < 3280
    assert {split_of(group, 1.0) for group in groups} == {"test"}
    assert {split_of(group, 0.0) for group in groups} == {"dev"}


def test_an_external_items_own_split_stays() -> None:
    kept = idiom_items()[0].model_copy(update={"split": "validation"})
    assert split_items([kept], 0.8).places[kept.id][0] == "validation"


def test_a_custom_licence_needs_words_on_where_its_text_is() -> None:
    fine = idiom_items()[0].model_copy(
        update={"licence": "LicenseRef-Diwan", "attribution": "see diwan.example/terms"}
    )
    refuse_unknown([fine], "CC-BY-4.0")
    with pytest.raises(UsageError, match="without an attribution"):
        refuse_unknown([fine.model_copy(update={"attribution": ""})], "CC-BY-4.0")


@pytest.mark.parametrize("licence", ["", "unknown", "NOASSERTION", "cc-by-4.0", "proprietary"])
def test_unlisted_licences_are_unknown(licence: str) -> None:
    assert not known(licence)


def test_every_listed_licence_has_its_text_and_hub_name() -> None:
    assert all(one.url.startswith("https://") and one.hub and one.title for one in licences().values())
