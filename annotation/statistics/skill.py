"""Estimates how well each person separates defective items from sound ones, and whose answers they repeat."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from mihakk.machinery.stats import CONFIDENCE, Interval
from mihakk.schemas.review import Review

LEAST_VOTES = 30
"""Votes below which nothing is said of a person."""
LEAST_COMMON = 30
"""Items on which one person voted after another below which they are taken to judge alone."""
LEAST_DEFECTIVE = 10
"""Defective items that a third of a person's votes needs for a drift to be told."""
_PRIOR = (4.0, 1.0)
"""Right and wrong votes everybody is taken to have cast beforehand, lest the classes swap."""
_COPIES = 0.1
"""Share of people taken beforehand to copy: from each with whom they have common items enough as likely."""
_SHARES = (0.0, *(step / 20 for step in range(1, 20)), 0.99)
"""Shares of answers copied that are told apart; of those above 0 none is more likely beforehand."""
_HARD = (1.0, 19.0)
"""Hard and other items taken to be there beforehand."""
_ROUNDS = 600
_BURN_IN = 150
_SEED = 20


@dataclass(frozen=True)
class Copied:
    """How often one person gives the answer of another who had answered before, whatever they think."""

    likely: float
    """Probability that they do it at all."""
    share: float
    """Mean share of the answers that they repeat."""
    common: int
    """Items on which the other had voted before."""


@dataclass(frozen=True)
class Skill:
    """One person's estimated skill: means over the posterior, with 95 % intervals."""

    finds: float
    """Share of the defective items that they would fix or discard (sensitivity)."""
    spares: float
    """Share of the sound items that they keep (specificity)."""
    right: Interval
    """Share of items like those of the queue that they judge rightly."""
    apart: Interval
    """Youden's index, `finds` + `spares` - 1: 0 for who answers without looking, 1 for who is never wrong."""
    finds_drift: float | None = None
    """`finds` over the last third of their votes less that over the first; None with too few votes."""
    finds_drift_high: float | None = None
    """The most that the drift may be."""
    copied: Mapping[str, Copied] = field(default_factory=dict)
    """By pseudonym of whoever had answered before."""


def skills(
    reviews: Iterable[Review], known_defects: Iterable[str] = (), known_sound: Iterable[str] = ()
) -> dict[str, Skill]:
    """Skill of everybody with votes enough.

    The model is that of A. P. Dawid and A. M. Skene (Applied Statistics 28, 1979) with two classes, sound and
    defective, each person having two rates of being right. To it comes the dependence of X. L. Dong, L.
    Berti-Equille and D. Srivastava (VLDB 2009): with some probability, for each pair of people, a vote
    repeats an earlier one on the same item; such a vote says nothing of the item nor of its author's skill.
    Most people are taken to do no such thing until their votes speak for it: two who are always right always
    agree, but two who agree in errors, or more often than others find them right, don't judge alone. Who
    repeats an objection repeats its reason and its repair; how often two who judge alone give the same is
    estimated beside it, of sound and of defective items. Some items are hard: there everybody's own vote is a
    coin's, so that errors which all make on them are nobody's copying. The rates are those on the others. The
    posterior is sampled by Gibbs' method (B. Carpenter, Multilevel Bayesian models of categorical data
    annotation, 2008) from a fixed seed. Attention checks are held fixed.

    Args:
        reviews: Decisions that count, checks among them; of one person on one content the last counts.
        known_defects, known_sound: Ids of attention checks with a planted defect, and of sound ones.
    """
    last: dict[tuple[str, str], Review] = {
        (f"{row.item} {row.content_hash}", row.annotator): row for row in reviews
    }
    if not last:
        return {}
    rows = sorted(last.values(), key=lambda row: (row.decided_at, row.item, row.annotator))
    truth = dict.fromkeys(known_sound, 0.0) | dict.fromkeys(known_defects, 1.0)
    return _Votes(rows, truth).posterior()


class _Votes:
    """Everybody's votes as arrays, in the order of time."""

    def __init__(self, rows: Sequence[Review], truth: Mapping[str, float]) -> None:
        import numpy as np

        names = [f"{row.item} {row.content_hash}" for row in rows]
        units = {name: place for place, name in enumerate(dict.fromkeys(names))}
        self.people = sorted({row.annotator for row in rows})
        places = {name: place for place, name in enumerate(self.people)}
        self.unit = np.array([units[name] for name in names])
        self.person = np.array([places[row.annotator] for row in rows])
        self.bad = np.array([row.decision != "keep" for row in rows])
        forms = [f"{row.decision} {row.reason} {sorted(row.corrections.items())}" for row in rows]
        self.form = np.unique(forms, return_inverse=True)[1]
        self.size = len(units)
        told = {
            units[name]: truth[row.item] for name, row in zip(names, rows, strict=True) if row.item in truth
        }
        self.fixed = np.isin(np.arange(self.size), list(told))
        self.known = np.array([told.get(place, 0.0) for place in range(self.size)]) == 1

    @cached_property
    def pairs(self) -> Any:
        """Votes and earlier ones on the same items, by place; the pairs of people, which of them each of
        these links is of, and how many links each has.
        """
        import numpy as np

        before: dict[int, list[int]] = defaultdict(list)
        links = []
        for place, unit in enumerate(self.unit.tolist()):
            links += [(place, earlier) for earlier in before[unit]]
            before[unit].append(place)
        later, earlier = np.array(links, dtype=int).reshape(-1, 2).T
        codes = self.person[later] * len(self.people) + self.person[earlier]
        names, pair, common = np.unique(codes, return_inverse=True, return_counts=True)
        return later, earlier, names, pair, common

    def posterior(self) -> dict[str, Skill]:
        """Means and quantiles over the draws, of people with votes enough."""
        import numpy as np

        finds, spares, share, likely, copies, drift = self._draws()
        _, _, names, _, common = self.pairs
        tails = [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2]
        copied: dict[str, dict[str, Copied]] = defaultdict(dict)
        for number, code in enumerate(names.tolist()):
            if common[number] < LEAST_COMMON:
                continue
            mine, other = divmod(code, len(self.people))
            told = Copied(
                float(likely[:, number].mean()), float(copies[:, number].mean()), int(common[number])
            )
            copied[self.people[mine]][self.people[other]] = told
        found = {}
        for place, name in enumerate(self.people):
            if np.count_nonzero(self.person == place) < LEAST_VOTES:
                continue
            f, s = finds[:, place], spares[:, place]
            right = np.quantile(share * f + (1 - share) * s, tails)
            apart = np.quantile(f + s - 1, tails)
            moved = drift[:, place]
            known = bool(np.isfinite(moved).mean() > 0.5)
            found[name] = Skill(
                float(f.mean()),
                float(s.mean()),
                Interval(float(right[0]), float(right[1])),
                Interval(float(apart[0]), float(apart[1])),
                float(np.nanmean(moved)) if known else None,
                float(np.nanquantile(moved, tails[1])) if known else None,
                copied[name],
            )
        return found

    def _draws(self) -> tuple[Any, ...]:
        """Draws of everybody's two rates, the share of defective items, pairs' copying, and drifts.

        Of pairs' copying its probability and mean share given all else, not whether a draw has it: means of
        these vary less from seed to seed (A. E. Gelfand and A. F. M. Smith, JASA 85, 1990).
        """
        import numpy as np

        draw = np.random.default_rng(_SEED)
        unit, person, bad, count = self.unit, self.person, self.bad, len(self.people)
        later, earlier, names, pair, _ = self.pairs
        both, free = bad[later] & bad[earlier], ~self.fixed
        alike = self.form[later] == self.form[earlier]
        same = np.where(both, alike, bad[later] == bad[earlier])
        mean = np.bincount(unit, bad, minlength=self.size) / np.bincount(unit, minlength=self.size)
        defective = np.where(self.fixed, self.known, mean >= 0.5)
        hard = np.zeros(self.size, dtype=bool)
        own, copying = np.ones(len(unit), dtype=bool), np.zeros(len(names))
        early, late = self._thirds()
        kept: list[tuple[Any, ...]] = []

        def rate(among: Any, hits: Any) -> Any:
            yes = np.bincount(person, among & hits, minlength=count)
            no = np.bincount(person, among & ~hits, minlength=count)
            return np.clip(draw.beta(_PRIOR[0] + yes, _PRIOR[1] + no), 1e-6, 1 - 1e-6)

        for number in range(_ROUNDS):
            is_bad, tossed = defective[unit], hard[unit]
            told = own & ~tossed
            finds, spares = rate(told & is_bad, bad), rate(told & ~is_bad, ~bad)
            share = draw.beta(1 + defective[free].sum(), 1 + (~defective[free]).sum())
            tosses = draw.beta(_HARD[0] + hard.sum(), _HARD[1] + (~hard).sum())
            if_bad = np.where(bad, finds[person], 1 - finds[person])
            if_sound = np.where(bad, 1 - spares[person], spares[person])
            likely = np.where(tossed, 0.5, np.where(is_bad, if_bad, if_sound))
            # Two who object by themselves give one reason and one repair rather if the item is defective.
            chances = [
                draw.beta(1 + (some & alike).sum(), 1 + (some & ~alike).sum())
                for some in (both & own[later] & ~is_bad[later], both & own[later] & is_bad[later])
            ]
            as_both = np.where(is_bad[later], chances[1], chances[0])
            match = np.where(both, np.where(alike, as_both, 1 - as_both), 1.0)
            copying, *told_of = self._shares(likely[later] * match, same, draw)
            # Whether each vote is its author's own or the repetition of an earlier one, given the class.
            odds = np.where(same, copying[pair] / (1 - copying[pair]), 0.0) / match
            own = draw.random(len(unit)) < likely / (likely + np.bincount(later, odds, minlength=len(unit)))
            sums = [
                np.bincount(unit, own * np.log(one / 0.5), minlength=self.size) for one in (if_sound, if_bad)
            ]
            defective, hard = self._classes(sums, share, tosses, draw)
            if number >= _BURN_IN:
                moved = self._rate_in(late, defective, draw) - self._rate_in(early, defective, draw)
                kept.append((finds, spares, share, *told_of, moved))
        return tuple(np.array(column) for column in zip(*kept, strict=True))

    def _classes(self, sums: Sequence[Any], share: float, tosses: float, draw: Any) -> tuple[Any, Any]:
        """A draw of which items are defective, and which are hard: there everybody's own vote is a coin's.

        Args:
            sums: Logarithms of how likely the own votes are if the item is sound, and if it is defective,
                over how likely they are if it is hard.
        """
        import numpy as np

        odds = [np.exp(np.clip(one, -300, 300)) * (1 - tosses) for one in sums]
        sound, broken = odds[0] * (1 - share), odds[1] * share
        easy = np.where(self.fixed, np.where(self.known, odds[1], odds[0]), sound + broken)
        hard = draw.random(self.size) * (easy + tosses) >= easy
        chance = np.where(hard, share, broken / (sound + broken))
        return np.where(self.fixed, self.known, draw.random(self.size) < chance), hard

    def _shares(self, likely: Any, same: Any, draw: Any) -> tuple[Any, Any, Any]:
        """A draw of the share that each pair copies, given how likely later votes are as their author's own;
        the probability that it copies, and its mean share.

        Over a grid (C. Ritter and M. A. Tanner, 1992), whose first point, 0, has most of the prior.
        """
        import numpy as np

        _, _, names, pair, common = self.pairs
        shares = np.array(_SHARES)
        each = np.log((1 - shares) * likely[:, None] + shares * same[:, None])
        logs = np.stack([np.bincount(pair, column, minlength=len(names)) for column in each.T], axis=1)
        enough = common >= LEAST_COMMON
        mine = names // len(self.people)
        prior = (_COPIES / np.maximum(1, np.bincount(mine, enough, len(self.people))))[mine, None]
        logs = logs + np.log(np.where(shares == 0, 1 - prior, prior / (len(shares) - 1)))
        weights = np.exp(logs - logs.max(axis=1, keepdims=True))
        weights = np.where(enough[:, None], weights, shares == 0)
        weights /= weights.sum(axis=1, keepdims=True)
        sums = np.cumsum(weights, axis=1)
        drawn = draw.random((len(names), 1)) * sums[:, -1:]
        return shares[(sums < drawn).sum(axis=1)], 1 - weights[:, 0], weights @ shares

    def _thirds(self) -> tuple[Any, Any]:
        """Which votes are in the first and in the last third of their author's."""
        import numpy as np

        early, late = np.zeros(len(self.unit), dtype=bool), np.zeros(len(self.unit), dtype=bool)
        for place in range(len(self.people)):
            mine = np.flatnonzero(self.person == place)
            third = len(mine) // 3
            early[mine[:third]] = True
            late[mine[len(mine) - third :]] = True
        return early, late

    def _rate_in(self, part: Any, defective: Any, draw: Any) -> Any:
        """A draw of everybody's `finds` over a part of their votes; NaN of too few defective items."""
        import numpy as np

        among = part & defective[self.unit]
        cases = np.bincount(self.person, among, minlength=len(self.people))
        hits = np.bincount(self.person, among & self.bad, minlength=len(self.people))
        return np.where(cases >= LEAST_DEFECTIVE, draw.beta(1 + hits, 1 + cases - hits), np.nan)
