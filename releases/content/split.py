"""Dev and test: whole groups of related items on one side, whatever else is in the benchmark."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import NamedTuple

from mihakk.machinery.draw import split_of
from mihakk.machinery.groups import Groups
from mihakk.machinery.ids import digest
from mihakk.machinery.text import key
from mihakk.schemas.item import AnswerItem, ChoiceItem, Item
from mihakk.schemas.rejection import Cluster

MOST_SHARE = 0.02
"""Share of the items that works may come to by chains of likeness; a longer chain is not closed."""
MOST_ITEMS = 100
"""So many may always hang together: in a small benchmark a fiftieth is little."""
EDITION = 2
"""Couplets that are alike make two works editions of one, however many items are made of them."""
COMMON = 20
"""Works up to which each two that share a line are looked at: a line that more have tells little."""
LABELS = frozenset({"other_label", "other_poet"})
"""Kinds of wrong options that name classes and are no texts."""
_ORDER = ("asked", "exact", "near", "similar", "half")
"""Reasons to keep two works together, the strongest first."""
_POSITION = re.compile(r":\d+$")


class Link(NamedTuple):
    """Two works that ask or hold much the same somewhere."""

    order: int
    """Of its reason, in `_ORDER`."""
    distance: float
    first: str
    second: str


@dataclass(frozen=True)
class Split:
    """Where every item goes."""

    places: Mapping[str, tuple[str, str]]
    """Item id to (split, group)."""
    left_out: Mapping[str, str] = field(default_factory=dict)
    """Item id to what it is like on the other side. Where a chain of likeness was too long to stay on one
    side, dev loses the items that would show what test asks."""


def work(record: str) -> str:
    """Id of the poem or idiom that a record id belongs to: couplets stand under their poem."""
    return _POSITION.sub("", record)


def source_work(item: Item) -> str:
    """The poem or idiom an item asks about: the first record of its origin, else its own id."""
    return work(item.origin.records[0]) if item.origin.records else item.id


def set_of(option_kinds: Iterable[str], records: Iterable[str]) -> str:
    """Name of the questions about a label that are asked together, each label right once; else empty."""
    works = sorted({*map(work, records)})
    return f"with {works[0]}" if len(works) > 1 and not LABELS.isdisjoint(option_kinds) else ""


def group_items(
    items: Iterable[Item], clusters: Sequence[Cluster] = (), *, most: float | None = None
) -> dict[str, str]:
    """Item id to group name.

    Always together are items about one poem or idiom, the two option orders of a pair, and works that are
    the same work, or editions of one: two couplets of theirs are alike. Other works that ask the same words
    of the same matter, or hold couplets that are alike, are kept together as long as that does not chain more
    than `most` items (by default a fiftieth of them, and at least 100): with long poems, single common lines
    would tie half of all verse into one group. The strongest likeness is heeded first.
    """
    groups = Groups[str]()
    own: dict[str, str] = {}
    asked: dict[bytes, list[str]] = defaultdict(list)
    for item in items:
        own[item.id] = about = source_work(item)
        groups.add(about)
        if isinstance(item, ChoiceItem) and item.pair_id:
            groups.join(about, f"~pair:{item.pair_id}")
        asked[_asked(item)].append(about)
    _join(groups, asked, clusters, max(MOST_SHARE * len(own), MOST_ITEMS) if most is None else most)
    return {name: groups.root(about) for name, about in own.items()}


def group_works(works: Collection[str], clusters: Sequence[Cluster]) -> dict[str, str]:
    """Work to group name, as `group_items` does before any item is made: by the texts of the works alone."""
    groups = Groups[str]()
    for name in works:
        groups.add(name)
    _join(groups, {}, clusters, max(MOST_SHARE * len(works), MOST_ITEMS))
    return {name: groups.root(name) for name in works}


def _join(
    groups: Groups[str], asked: Mapping[bytes, Sequence[str]], clusters: Sequence[Cluster], most: float
) -> None:
    _join_editions(groups, clusters)
    for link in sorted(_links(asked, clusters)):
        groups.join(link.first, link.second, most)


def alike(clusters: Sequence[Cluster]) -> dict[str, frozenset[str]]:
    """Work to all others that are editions of it, or hold a whole couplet like one of its own."""
    groups = Groups[str]()
    _join_editions(groups, clusters)
    found: dict[str, set[str]] = defaultdict(set)
    for members in groups.members().values():
        for name in members:
            found[name].update(members)
    for cluster in clusters:
        for first, second in _works_alike(cluster) if cluster.method != "half" else ():
            found[first].add(second)
            found[second].add(first)
    return {name: frozenset(others - {name}) for name, others in found.items()}


def _join_editions(groups: Groups[str], clusters: Iterable[Cluster]) -> None:
    """Works that are the same, or two of whose couplets are alike: of one work, whatever hangs on it."""
    shared = Counter[tuple[str, str]]()
    for cluster in clusters:
        if cluster.level == "couplet":
            shared.update(_works_alike(cluster))
        else:
            for merged in cluster.merged:
                groups.join(work(cluster.kept), work(merged))
    for pair, couplets in shared.items():
        if couplets >= EDITION:
            groups.join(*pair)


def _works_alike(cluster: Cluster) -> Iterator[tuple[str, str]]:
    """Each two works of a cluster; of very many each with the first."""
    first, *others = works = sorted({*map(work, (cluster.kept, *cluster.merged))})
    if len(works) <= COMMON:
        yield from combinations(works, 2)
    else:
        yield from ((first, other) for other in others)


def _links(asked: Mapping[bytes, Sequence[str]], clusters: Iterable[Cluster]) -> Iterator[Link]:
    for works in asked.values():
        first, *others = sorted(set(works))
        for other in others:
            yield Link(_ORDER.index("asked"), 0.0, first, other)
    for cluster in clusters:
        if cluster.level == "couplet":
            for other in cluster.merged:
                order = _ORDER.index(cluster.method)
                yield Link(order, 1 - cluster.similarity, work(cluster.kept), work(other))


def _asked(item: Item) -> bytes:
    """Digest of what an item asks; options join in only where the stem alone may be a mere template.

    Half of it: there are as many as items, and they are compared with each other alone.
    """
    matter: list[object] = [item.question, item.context, sorted(item.fields.items())]
    if not (item.context or item.fields):
        matter.append(sorted(item.options) if isinstance(item, ChoiceItem) else "")
    return bytes.fromhex(digest(matter))[:16]


def _with_options_of_test(
    items: Sequence[Item], places: Mapping[str, tuple[str, str]]
) -> Iterator[tuple[str, str]]:
    """Items of dev that say of an option of test whether it answers another question, and so not this one."""
    offered = {
        (item.language, key(text, item.language)): item.id
        for item in items
        if not item.split and places[item.id][0] == "test" and isinstance(item, ChoiceItem)
        for text in _texts_offered(item)
    }
    for item in items:
        if not item.split and places[item.id][0] != "test":
            for text in _texts_offered(item):
                if asked := offered.get((item.language, key(text, item.language))):
                    yield item.id, f"holds an option of {asked} of the test split: {text}"


def _texts_offered(item: Item) -> tuple[str, ...]:
    """Texts among which an item's answer lies; labels are no texts, for each is right many times."""
    if isinstance(item, ChoiceItem):
        return () if LABELS & set(item.option_kinds) else item.options
    return (item.answer,) if isinstance(item, AnswerItem) else ()


def split_items(
    items: Sequence[Item],
    test_share: float,
    clusters: Sequence[Cluster] = (),
    sides: Mapping[str, str] | None = None,
) -> Split:
    """Dev and test; an item of an external benchmark keeps the split it came with.

    Args:
        sides: Where each work belongs, if that was settled before items were made of it, as it is in a blind
            benchmark; groups lie within a side then.
    """
    places = places_of(items, test_share, clusters, sides)
    return Split(places, dict(_across(items, places, clusters)))


def places_of(
    items: Sequence[Item],
    test_share: float,
    clusters: Sequence[Cluster] = (),
    sides: Mapping[str, str] | None = None,
) -> dict[str, tuple[str, str]]:
    """Item id to split and group, each item heeded alone; arguments as those of `split_items`."""
    if not sides:
        groups = group_items(items, clusters)
        named = ((item, groups[item.id]) for item in items)
        return {item.id: (item.split or split_of(group, test_share), group) for item, group in named}
    places: dict[str, tuple[str, str]] = {}
    for side in sorted({*sides.values()}):
        mine = (item for item in items if side_of(item, sides) == side)
        groups = group_items(mine, [one for each in clusters if (one := _within(each, sides, side))])
        places |= {name: (side, group) for name, group in groups.items()}
    return places


def side_of(item: Item, sides: Mapping[str, str]) -> str:
    """Where an item's work belongs; what is about no work of the benchmark is test's."""
    return sides.get(source_work(item), "test")


def _within(cluster: Cluster, sides: Mapping[str, str], side: str) -> Cluster | None:
    """What of a cluster belongs to a side, or was merged into what does; nothing where no two do."""
    members = [name for name in (cluster.kept, *cluster.merged) if sides.get(work(name), side) == side]
    if len(members) < 2:
        return None
    return cluster.model_copy(update={"kept": members[0], "merged": tuple(members[1:])})


def _across(
    items: Sequence[Item], places: Mapping[str, tuple[str, str]], clusters: Iterable[Cluster]
) -> Iterator[tuple[str, str]]:
    """Items of dev that ask what test asks, hold an option of it, or are about a couplet like one of it."""
    by_asked: dict[bytes, list[str]] = defaultdict(list)
    by_couplet: dict[str, list[str]] = defaultdict(list)
    for item in items:
        if item.split:
            continue  # it keeps the split it came with
        by_asked[_asked(item)].append(item.id)
        if item.origin.records:
            by_couplet[item.origin.records[0]].append(item.id)
    for same in by_asked.values():
        tested = [name for name in same if places[name][0] == "test"]
        for name in same if tested else ():
            if places[name][0] != "test":
                yield name, f"asks what {tested[0]} of the test split asks"
    yield from _with_options_of_test(items, places)
    for cluster in clusters:
        members = [name for name in (cluster.kept, *cluster.merged) if name in by_couplet]
        tested = [name for name in members if places[by_couplet[name][0]][0] == "test"]
        for couplet in members if tested else ():
            for name in by_couplet[couplet]:
                if places[name][0] != "test":
                    yield name, f"{couplet} is like {tested[0]}, which the test split asks about"
