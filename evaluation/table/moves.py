"""Two releases answered by the same systems: how figures and ranks move, and because of which items."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, pairwise
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from mihakk.evaluation.statistics.cluster import Estimate, Values, clustered, codes_of, moved
from mihakk.evaluation.table.column import Column, columns_of
from mihakk.evaluation.table.results import results
from mihakk.evaluation.table.scores import COLUMN
from mihakk.evaluation.table.sheets import GAP, Sheet, ranks_text, signed
from mihakk.machinery.errors import UsageError

if TYPE_CHECKING:
    import pandas as pd

MOST_ITEMS: Final = 30
"""Items shown of one column; all are in the rows."""


class SystemMove(NamedTuple):
    """One system in one column, before and after; the four parts add up to the whole difference."""

    column: str
    model: str
    before: float
    after: float
    low: float | None
    """Lower end of the difference's interval (95 %), clustered by poem or idiom over both versions."""
    high: float | None
    place_before: int
    """Place by the figure alone, 1 the best."""
    place_after: int
    rank_before: str
    """Interval of ranks."""
    rank_after: str
    answers: float
    """Part that comes from other scores on items that stayed as they were."""
    removed: float
    """Part that comes from items that are gone."""
    changed: float
    """Part that comes from items whose content was corrected."""
    added: float


class Turned(NamedTuple):
    """Two systems that change places."""

    column: str
    first: str
    """The one that was ahead."""
    second: str
    before: Estimate
    """The first less the second, on the same items."""
    after: Estimate
    change: Estimate
    """How far their difference moved, with its paired interval."""

    @property
    def verdict(self) -> str:
        """Whether the change of places says anything."""
        certain = [_is_certain(one) for one in (self.before, self.after)]
        if not _is_certain(self.change):
            return "noise: their difference moved no farther than chance moves it"
        if all(certain):
            return "turned: each order can be told from a tie"
        told = "before" if certain[0] else "after" if certain[1] else ""
        return f"moved: only the order {told} can be told" if told else "moved, but neither order can be told"


def _is_certain(one: Estimate) -> bool:
    """Whether an interval leaves out 0."""
    return one.low is not None and one.high is not None and (one.low > 0 or one.high < 0)


class ItemMove(NamedTuple):
    """One item that is not what it was, and what that did to the systems' figures."""

    column: str
    item: str
    what: str
    """`removed`, `changed` or `added`."""
    effects: Mapping[str, float]
    """System to how far its figure moves by this item alone, among those of its kind."""

    @property
    def spread(self) -> float:
        """How much farther it moves one system than another: what moves ranks."""
        return max(self.effects.values()) - min(self.effects.values())


class Moves(NamedTuple):
    """Rows of all columns."""

    systems: list[SystemMove]
    items: list[ItemMove]
    turned: list[Turned]
    """Pairs of systems that change places."""
    between: str
    """The two versions."""


def moves(before: pd.DataFrame, after: pd.DataFrame, *, seed: int = 0) -> Moves:
    """How the figures of systems that answered two versions of a release move.

    A column is compared for the systems that have a figure in both, on the items that all of them have a
    value for; metrics whose figure is no mean are left out. `seed` is that of the rank intervals.

    Raises:
        UsageError: The two have no column in common, or are one version.
    """
    first, second = _version(before), _version(after)
    if first == second:
        raise UsageError(f"both are scores of {first}: give those of an older and of a newer version")
    old, new = _columns(before), _columns(after)
    contents = _contents(before), _contents(after)
    ranked = _ranks(before, seed), _ranks(after, seed)
    systems: list[SystemMove] = []
    items: list[ItemMove] = []
    turned: list[Turned] = []
    for name in sorted(old.keys() & new.keys()):
        if old[name].statistics is not None:
            continue
        one = _Pair(name, old[name], new[name], contents)
        systems += one.systems(ranked)
        items += one.items()
        turned += one.turned()
    if not systems:
        raise UsageError(f"no system has figures of one data set both in {first} and in {second}")
    return Moves(systems, items, turned, f"{first} → {second}")


class _Pair:
    """One column in both versions."""

    def __init__(
        self, name: str, old: Column, new: Column, contents: tuple[Mapping[str, str], Mapping[str, str]]
    ) -> None:
        self.name = name
        self._sign = old.sign
        self._scores = _scores(old), _scores(new)
        self._means = [
            {model: float(np.mean(list(one.values()))) for model, one in side.items() if one}
            for side in self._scores
        ]
        # Of an item in both versions the newer one says where it belongs.
        self._groups = {
            str(item): str(group)
            for column in (old, new)
            for item, group in zip(column.items, column.groups, strict=True)
        }
        self.models = sorted(self._scores[0].keys() & self._scores[1].keys())
        before, after = (_valued([scores[model] for model in self.models]) for scores in self._scores)
        self.removed = sorted(before - after)
        self.added = sorted(after - before)
        both = sorted(before & after)
        self.changed = [item for item in both if contents[0][item] != contents[1][item]]
        self.kept = sorted(set(both) - set(self.changed))

    def systems(
        self, ranked: tuple[Mapping[tuple[str, str], str], Mapping[tuple[str, str], str]]
    ) -> Iterator[SystemMove]:
        """Each system's difference in four steps: other answers, then what is gone, corrected and new."""
        sides = [*self.kept, *self.changed, *self.removed], [*self.kept, *self.changed, *self.added]
        codes = codes_of([self._groups[item] for side in sides for item in side])
        for model in self.models if all(sides) else ():
            old, new = (scores[model] for scores in self._scores)
            kept = [new[item] for item in self.kept]
            steps = (
                [old[item] for item in sides[0]],
                kept + [old[item] for item in (*self.changed, *self.removed)],
                kept + [old[item] for item in self.changed],
                kept + [new[item] for item in self.changed],
                [new[item] for item in sides[1]],
            )
            means: list[float] = []
            for values in steps:  # where nothing was kept, a step without items changes nothing
                means.append(float(np.mean(values)) if values else means[-1])
            first, last = (np.array(values, dtype=np.float64) for values in (steps[0], steps[-1]))
            found = moved(first, last, codes[: len(first)], codes[len(first) :])
            ranks = [one.get((self.name, model), GAP) for one in ranked]
            first_place, last_place = (self._place(model, side) for side in (0, 1))
            parts = [end - start for start, end in pairwise(means)]
            yield SystemMove(
                self.name,
                model,
                means[0],
                means[-1],
                found.low,
                found.high,
                first_place,
                last_place,
                ranks[0],
                ranks[1],
                *parts,
            )

    def turned(self) -> Iterator[Turned]:
        """Pairs that change places, the farthest first."""
        sides = [*self.kept, *self.changed, *self.removed], [*self.kept, *self.changed, *self.added]
        if not all(sides):
            return
        codes = codes_of([self._groups[item] for side in sides for item in side])
        own = codes[: len(sides[0])], codes[len(sides[0]) :]
        found = []
        for pair in combinations(self.models, 2):
            gaps = [self._gap(*pair, side, items) for side, items in enumerate(sides)]
            if gaps[0].sum() * gaps[1].sum() < 0:
                ahead = self._sign * gaps[0].sum() > 0
                first, second = pair if ahead else pair[::-1]
                before, after = (gap if ahead else -gap for gap in gaps)
                found.append(
                    Turned(
                        *(self.name, first, second, clustered(before, own[0]), clustered(after, own[1])),
                        moved(before, after, *own),
                    )
                )
        yield from sorted(found, key=lambda one: (-abs(one.change.mean), one.first, one.second))

    def _gap(self, first: str, second: str, side: int, items: Sequence[str]) -> Values:
        scores = self._scores[side]
        return np.array([scores[first][item] - scores[second][item] for item in items], dtype=np.float64)

    def _place(self, model: str, side: int) -> int:
        """Place among the systems compared, by their figures."""
        sides = [*self.kept, *self.changed, *self.removed], [*self.kept, *self.changed, *self.added]
        sums = {one: self._sign * sum(self._scores[side][one][i] for i in sides[side]) for one in self.models}
        return 1 + sum(value > sums[model] + 1e-9 for value in sums.values())

    def items(self) -> list[ItemMove]:
        """What each item that is gone, corrected or new does by itself, what moves ranks most first."""
        made = []
        for what, names in (("removed", self.removed), ("changed", self.changed), ("added", self.added)):
            for item in names:
                effects = {model: self._effect(what, item, model) for model in self.models}
                if effects:
                    made.append(ItemMove(self.name, item, what, effects))
        return sorted(made, key=lambda one: (-one.spread, one.item))

    def _effect(self, what: str, item: str, model: str) -> float:
        old, new = (scores[model] for scores in self._scores)
        if what == "changed":
            return (new[item] - old[item]) / len(new)
        scores, sign, whole = (old, -1, self._means[0]) if what == "removed" else (new, 1, self._means[1])
        return sign * (scores[item] - whole[model]) / max(1, len(scores) - 1)


def move_sheets(found: Moves) -> list[Sheet]:
    """A sheet of systems and one of items for every column."""
    head = (
        *("system", "before", "after", "difference [95 %]", "place", "rank"),
        *("answers", "removed", "corrected", "added"),
    )
    shown = []
    for column in sorted({row.column for row in found.systems}):
        systems = sorted(
            (row for row in found.systems if row.column == column), key=lambda row: (-row.after, row.model)
        )
        rows = tuple(
            (
                row.model,
                f"{row.before:.3f}",
                f"{row.after:.3f}",
                signed(row.after - row.before, row.low, row.high),
                _from_to(row.place_before, row.place_after),
                _from_to(row.rank_before, row.rank_after),
                *(_change(part) for part in (row.answers, row.removed, row.changed, row.added)),
            )
            for row in systems
        )
        shown.append(Sheet(f"{column}: {found.between}", "The parts add up to the difference.", head, rows))
        if pairs := [row for row in found.turned if row.column == column]:
            shown.append(_turned_sheet(column, pairs))
        items = [row for row in found.items if row.column == column]
        if items:
            shown.append(_item_sheet(column, items))
    return shown


def _turned_sheet(column: str, pairs: Sequence[Turned]) -> Sheet:
    rows = tuple(
        (
            f"{one.first} – {one.second}",
            *(signed(part.mean, part.low, part.high) for part in (one.before, one.after, one.change)),
            one.verdict,
        )
        for one in pairs
    )
    head = ("systems", "difference before [95 %]", "after [95 %]", "change [95 %]", "what it is")
    return Sheet(f"{column}: who changes places", "Paired: both on the same items.", head, rows)


def _from_to(before: object, after: object) -> str:
    return f"{before} → {after}" if before != after else str(after)


def _item_sheet(column: str, items: Sequence[ItemMove]) -> Sheet:
    more = len(items) - MOST_ITEMS
    rows = []
    for row in items[:MOST_ITEMS]:
        ordered = sorted(row.effects, key=lambda model: (-row.effects[model], model))
        best, worst = ordered[0], ordered[-1]
        gains = f"{best} {_small(row.effects[best])}, {worst} {_small(row.effects[worst])}"
        rows.append((row.item, "corrected" if row.what == "changed" else row.what, _small(row.spread), gains))
    return Sheet(
        f"{column}: items that are not what they were",
        f"{more} more move less." if more > 0 else "The one that moves systems farthest apart first.",
        ("item", "what", "apart", "most, least"),
        tuple(rows),
    )


def _scores(column: Column) -> dict[str, dict[str, float]]:
    """System to item to value, of systems that lack no answer."""
    return {
        model: {
            str(item): float(value)
            for item, value in zip(column.items, column.values[place], strict=True)
            if not np.isnan(value)
        }
        for place, model in enumerate(column.models)
        if not column.missing[place]
    }


def _valued(scores: Sequence[Mapping[str, float]]) -> set[str]:
    """Items that every system has a value for."""
    return set.intersection(*(set(one) for one in scores)) if scores else set()


def _name(column: Column) -> str:
    return f"{column.config} · {column.metric.name} · {column.method}"


def _columns(frame: pd.DataFrame) -> dict[str, Column]:
    found: dict[str, Column] = {}
    for one in columns_of(frame, COLUMN):
        if (other := found.setdefault(_name(one), one)) is not one:
            raise UsageError(
                f"{other.release} and {one.release} both have {_name(one)}: compare one data set at a time"
            )
    return found


def _contents(frame: pd.DataFrame) -> dict[str, str]:
    rows = frame[["item", "content_hash"]].drop_duplicates().astype(str)
    return dict(zip(rows["item"], rows["content_hash"], strict=True))


def _version(frame: pd.DataFrame) -> str:
    rows = frame[["release", "version"]].drop_duplicates().astype(str)
    return ", ".join(sorted(f"{one.release} {one.version}" for one in rows.itertuples(index=False)))


def _ranks(frame: pd.DataFrame, seed: int) -> dict[tuple[str, str], str]:
    """Column and system to its rank interval."""
    return {
        (f"{row['config']} · {row['metric']} · {row['method']}", row["model"]): ranks_text(
            row["rank_low"], row["rank_high"]
        )
        for row in results(frame, None, seed=seed, permutations=1).rows()["cells"]  # no p-value is shown
    }


def _change(value: float) -> str:
    return f"{value:+.3f}" if abs(value) >= 0.0005 else GAP


def _small(value: float) -> str:
    """Of one item among thousands."""
    return f"{value:+.5f}" if abs(value) >= 0.000005 else GAP
