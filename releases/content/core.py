"""The core: a balanced subset of the test split in a fixed size, for those who can't run all of it.

Each place of the core is drawn by hashes of names alone, level by level: the tasks take turns, within a task
the languages, and so on down the strata; in the innermost, works (poems, idioms) stand in the order of their
hash. So a work that goes takes its own places with it and as many others come in; no other place changes. All
tasks draw the same works and couplets, and a question whose options are shown in two orders counts once.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import inf, sqrt
from pathlib import Path
from statistics import NormalDist
from typing import Any, Literal

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pydantic import ValidationError

from mihakk.machinery.draw import in_turns, lot
from mihakk.machinery.errors import UsageError
from mihakk.machinery.groups import grouped
from mihakk.machinery.ids import content_hash
from mihakk.machinery.stats import t_quantile
from mihakk.machinery.text import key
from mihakk.releases.content.item_tables import Placed, config_name, core_file, with_version, write_parquet
from mihakk.releases.content.split import source_work
from mihakk.releases.release_facts import CoreFact, CoreSlice
from mihakk.schemas.benchmark import CoreConfig
from mihakk.schemas.item import AnswerItem, ChoiceItem, Item
from mihakk.schemas.suspect import Suspect

Band = Literal["easy", "middle", "hard"]
NEAR = (0.3, 0.5)
"""Letters the nearest wrong option shares with the right one, from which a choice is `middle` and `hard`."""
WORDS = (2, 5)
"""Words of an answer from which it is `middle` and `hard`."""
VERSES = (3, 6)
"""Verses to explain, likewise."""
INDEX = "core/index.parquet"
POWER = 0.8
CORRELATION = 0.5
"""Assumed between two systems' scores of one question."""


@dataclass(frozen=True)
class Core:
    """The drawn questions and what they can tell."""

    items: frozenset[str]
    """Ids, both orders of a pair."""
    bands: Mapping[str, Band]
    """Id to band of difficulty."""
    fact: CoreFact


@dataclass(frozen=True, slots=True)
class _Question:
    work: str
    record: str
    strata: tuple[str, ...]
    task: str
    items: tuple[Item, ...]

    @property
    def name(self) -> str:
        """Sorts by chance, and always the same."""
        return lot(self.items[0].id)


def core_of(placed: Iterable[Placed], asked: CoreConfig) -> Core:
    """Draw the core from the test split; `UsageError` where what systems answered can't be read."""
    able = _questions([one.item for one in placed], asked)
    dead = _dead(asked)
    questions = [
        one
        for one in able
        if not any(dead.get(item.id) == content_hash(item) for item in one.items if item.id in dead)
    ]
    drawn = in_turns(questions, lambda one: one.strata)[: asked.items]
    items = [item for question in drawn for item in question.items]
    return Core(
        items=frozenset(item.id for item in items),
        bands={item.id: band(item) for item in items},
        fact=_fact(drawn, len(able), asked).model_copy(update={"left_out": len(able) - len(questions)}),
    )


def _dead(asked: CoreConfig) -> dict[str, str]:
    """Item whose answers gave a reason to leave it out, and hash of the content that was asked.

    They go after couplets are chosen, so that no other task asks about another couplet because of them.
    """
    if not asked.answered:
        return {}
    from mihakk.machinery.lake.columns import from_table

    path = Path(asked.answered)
    try:
        rows = from_table(pq.read_table(path), Suspect)
    except (OSError, pa.ArrowInvalid, ValidationError, KeyError) as error:
        raise UsageError(
            f"release.core.answered: {path} is no table of `mihakk evaluate suspects`; name its "
            "suspects.parquet"
        ) from error
    return dict(content for row in rows if row.reason in asked.leave_out for content in row.contents)


def write_core(
    core: Core, tables: Mapping[str, Mapping[str, Any]], split: str, version: str, folder: Path
) -> None:
    """Write the core's rows, the same as in the full set, a file a config, and its ids with their bands."""
    wanted = pa.array(sorted(core.items))
    for config in core.fact.rows:
        table = tables[config][split]
        chosen = table.filter(pc.is_in(table.column("id"), value_set=wanted))
        write_parquet(with_version(chosen, version), core_file(folder, config))
    ids = sorted(core.items)
    write_parquet(pa.table({"id": ids, "band": [core.bands[name] for name in ids]}), folder / INDEX)


def stratum(item: Item, name: str) -> str:
    """Where an item stands in one stratum; empty where it says nothing of it."""
    if name == "band":
        return band(item)
    if name in ("task", "language", "dialect"):
        return str(getattr(item, name))
    return item.metadata.get(name, "")


def band(item: Item) -> Band:
    """How hard a question looks, from the item alone: no system has been asked.

    A choice by the letters that its nearest wrong option has in common order with the right one, once
    spelling is folded; an answer by its words, an explanation by the verses to explain.
    """
    from rapidfuzz.distance import Indel

    if isinstance(item, ChoiceItem):
        folded = [key(option, item.language) for option in item.options]
        wrong = [one for place, one in enumerate(folded) if place not in item.gold]
        near = [Indel.normalized_similarity(folded[gold], one) for gold in item.gold for one in wrong]
        return _band(max(near, default=0.0), NEAR)
    if isinstance(item, AnswerItem):
        return _band(len(item.answer.split()), WORDS)
    return _band(len(item.verses), VERSES)


def _band(value: float, bounds: tuple[float, float]) -> Band:
    return "easy" if value < bounds[0] else "middle" if value < bounds[1] else "hard"


def _questions(items: Sequence[Item], asked: CoreConfig) -> list[_Question]:
    """The questions that may be drawn, in the order in which their works and couplets stand in line."""
    shown = grouped(items, lambda item: (isinstance(item, ChoiceItem) and item.pair_id) or item.id)
    found = []
    for orders in shown.values():
        both = sorted(orders, key=lambda item: item.id)
        first = both[0]
        work = source_work(first)
        record = first.origin.records[0] if first.origin.records else first.id
        strata = tuple(stratum(first, name) for name in asked.strata)
        found.append(_Question(work, record, strata, first.task, tuple(both)))
    chosen = _records(found, asked.per_record)
    taken: dict[tuple[str, str], int] = defaultdict(int)
    kept = []
    for question in sorted(found, key=lambda one: (lot(one.work), lot(one.record), one.name)):
        place = question.work, question.task
        if question.record in chosen and taken[place] < asked.per_record:
            taken[place] += 1
            kept.append(question)
    return kept


def _records(questions: Iterable[_Question], per_record: int) -> set[str]:
    """Of every work the couplets that most tasks ask about, and the work itself."""
    tasks: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for one in questions:
        tasks[one.work][one.record].add(one.task)
    chosen = set()
    for work, records in tasks.items():
        couplets = sorted(
            (record for record in records if record != work),
            key=lambda record: (-len(records[record]), lot(record)),
        )
        chosen |= {work, *couplets[:per_record]}
    return chosen


def _fact(drawn: Sequence[_Question], available: int, asked: CoreConfig) -> CoreFact:
    slices: dict[tuple[str, str], list[_Question]] = defaultdict(list)
    for question in drawn:
        slices["all", ""].append(question)
        for name in dict.fromkeys((*asked.strata, "band")):
            if value := stratum(question.items[0], name):
                slices[name, value].append(question)
    return CoreFact(
        questions=len(drawn),
        available=available,
        works=len({question.work for question in drawn}),
        places_per_work=max(Counter(question.work for question in drawn).values(), default=0),
        slices=tuple(_slice(name, value, members) for (name, value), members in sorted(slices.items())),
        rows=dict(sorted(Counter(config_name(item) for one in drawn for item in one.items).items())),
    )


def _slice(name: str, value: str, members: Sequence[_Question]) -> CoreSlice:
    """What a slice can tell at worst: a system that is right half of the time.

    If the questions about one work had nothing in common the error would be that of as many draws as there
    are questions; if they were all right or all wrong together, of as many as there are works.
    """
    works = len({question.work for question in members})
    least, most = (0.5 / sqrt(count) for count in (len(members), works))
    reach = (t_quantile(inf) + NormalDist().inv_cdf(POWER)) * sqrt(2 * (1 - CORRELATION))
    return CoreSlice(
        stratum=name,
        value=value,
        questions=len(members),
        works=works,
        error=least,
        error_by_work=most,
        difference=min(1.0, reach * least),
        difference_by_work=min(1.0, reach * most),
    )
