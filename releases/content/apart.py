"""Which items a blind test split takes: one question a couplet or idiom, and no text that another item shows.

Golds are apart only if no other item tells them. So a question is taken only if nothing that it shows or asks
for (lines, idioms, explanations, wrong options too) stands in another item or option of any split; items of
dev that show it are left out. Labels (metres, eras, poets) stand in many questions by their nature: of those
a poem is asked once a task, for its couplets share the answer, and questions go whose right label would be
told by how often labels are offered.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from mihakk.text import key
from releases.content.item_tables import Placed, config_name
from releases.content.placement import LIKE_TEST
from releases.content.secret import keyed
from releases.content.split import source_work
from schemas.item import AnswerItem, ChoiceItem, Item
from schemas.rejection import Rejection

RUN = 4
"""So many words in a row, or all of a text that has fewer, are what two items may not share."""
LABELS = frozenset({"other_label", "other_poet"})
"""Kinds of wrong options that name classes and are no texts."""
NAMES = frozenset({"poet", "title"})
"""Fields that name what a text is from."""
SHARED = "blind_shared_text"
TOLD_BY_FREQUENCY = "blind_told_by_frequency"
DOUBT = 0.2
"""Chance of as good a guess by luck, under which a guess by frequency is not believed to be luck."""
_PIECES = re.compile(r"[\n\t/*…|=«»]|\s{2,}")

Places = Mapping[str, Mapping[str, Sequence[Placed]]]
"""Config -> split -> items."""


@dataclass(frozen=True)
class _Unit:
    """One question in all its orders."""

    name: str
    items: tuple[Item, ...]
    texts: frozenset[str]

    @property
    def config(self) -> str:
        """Config it belongs to."""
        return config_name(self.items[0])


def keep_apart(
    placed: Places, secret: bytes, split: str
) -> tuple[dict[str, dict[str, list[Placed]]], list[Rejection]]:
    """The items that a blind release may hold, and those left out.

    Args:
        placed: All that could be released.
        secret: Draws the order in which questions are tried.
        split: The split to be sealed.
    """
    test: list[Item] = []
    dev: list[Item] = []
    for splits in placed.values():
        for name, each in splits.items():
            (test if name == split else dev).extend(one.item for one in each)
    units = _in_turns(list(_units(test)), secret)
    taken = _disjoint(units)
    kept = [unit for line in _by_config(taken).values() for unit in _unfrequent(line)]
    used = frozenset[str]().union(*(unit.texts for unit in kept))
    reasons = dict.fromkeys(_ids(units), SHARED)
    reasons |= dict.fromkeys(_ids(taken), TOLD_BY_FREQUENCY)
    for name in _ids(kept):
        del reasons[name]
    reasons |= dict.fromkeys(_ids(unit for unit in _units(dev) if unit.texts & used), LIKE_TEST)
    left = {
        config: {
            name: some
            for name, each in splits.items()
            if (some := [one for one in each if one.item.id not in reasons])
        }
        for config, splits in placed.items()
    }
    return {config: splits for config, splits in left.items() if splits}, [
        Rejection(record=name, reason=reason, detail="a blind release can't hold it beside the others")
        for name, reason in sorted(reasons.items())
    ]


def _ids(units: Iterable[_Unit]) -> list[str]:
    return [item.id for unit in units for item in unit.items]


def _units(items: Iterable[Item]) -> Iterator[_Unit]:
    orders: dict[str, list[Item]] = defaultdict(list)
    for item in items:
        orders[(isinstance(item, ChoiceItem) and item.pair_id) or item.id].append(item)
    for name, both in orders.items():
        yield _Unit(name, tuple(both), frozenset(text for item in both for text in _texts(item)))


def _texts(item: Item) -> Iterator[str]:
    """What no other item may hold: the record asked about, and every run of words shown or asked for."""
    label = isinstance(item, ChoiceItem) and bool(LABELS & set(item.option_kinds))
    if item.origin.records:
        yield f"record {item.origin.records[0]}"
    if label:
        yield f"label {item.task} {source_work(item)}"
    poet = item.metadata.get("poet", "")
    shown = [
        item.context,
        *(text for name, text in item.fields.items() if name not in NAMES and text != poet),
    ]
    if isinstance(item, ChoiceItem):
        shown += () if label else item.options
    elif isinstance(item, AnswerItem):
        shown += (item.answer, *item.accepted)
    else:
        shown += (*item.verses, *item.explanations, item.overall)
    for text in shown:
        for piece in _PIECES.split(text):
            yield from _runs(piece, item)


def _runs(text: str, item: Item) -> Iterator[str]:
    words = [word for word in (key(part, item.language) for part in text.split()) if word]
    for start in range(max(1, len(words) - RUN + 1) if words else 0):
        yield " ".join(words[start : start + RUN])


def _by_config(units: Iterable[_Unit]) -> dict[str, list[_Unit]]:
    found: dict[str, list[_Unit]] = defaultdict(list)
    for unit in units:
        found[unit.config].append(unit)
    return found


def _in_turns(units: Sequence[_Unit], secret: bytes) -> list[_Unit]:
    """Configs take turns, so that none takes all couplets."""
    turns = [
        (turn, config, unit)
        for config, line in _by_config(units).items()
        for turn, unit in enumerate(sorted(line, key=lambda one: keyed(secret, "apart", one.name)))
    ]
    return [unit for _, _, unit in sorted(turns, key=lambda one: one[:2])]


def _disjoint(units: Iterable[_Unit]) -> list[_Unit]:
    taken: list[_Unit] = []
    used: set[str] = set()
    for unit in units:
        if not unit.texts & used:
            used |= unit.texts
            taken.append(unit)
    return taken


def _unfrequent(units: Sequence[_Unit]) -> list[_Unit]:
    """The questions of one config without those that make the rarest or the commonest option a good guess."""
    left = [unit for unit in units if isinstance(unit.items[0], ChoiceItem)]
    others = [unit for unit in units if not isinstance(unit.items[0], ChoiceItem)]
    while left:
        offered = Counter(option for unit in left for option in _choice(unit).options)
        told = next((found for sign in (1, -1) if (found := _told(left, offered, sign))), None)
        if told is None:
            break
        left.remove(told)
    return [*others, *left]


def _choice(unit: _Unit) -> ChoiceItem:
    item = unit.items[0]
    assert isinstance(item, ChoiceItem)
    return item


def _told(units: Sequence[_Unit], offered: Mapping[str, int], sign: int) -> _Unit | None:
    """A question that the guess finds, where the guess finds more than luck explains."""
    from scipy.stats import binomtest

    right, chance, found = 0.0, 0.0, []
    for unit in units:
        item = _choice(unit)
        counts = [sign * offered[option] for option in item.options]
        best = [place for place, count in enumerate(counts) if count == max(counts)]
        share = len(set(best) & set(item.gold)) / len(best)
        right += share
        chance += len(item.gold) / len(item.options)
        if share > len(item.gold) / len(item.options):
            found.append((share, unit))
    luck = binomtest(round(right), len(units), min(1.0, chance / len(units)), alternative="greater").pvalue
    return max(found, key=lambda one: one[0])[1] if found and luck < DOUBT else None
