"""Which items a blind test split takes: one question a couplet or idiom, and no text that another item shows.

Golds are apart only if no other item tells them. So a question is taken only if nothing that it shows or asks
for (lines, idioms, explanations, wrong options too) stands in another item or option of any split; items of
dev that show it are left out.

Labels (metres, eras, poets) stand in many questions by their nature, and what else is asked about a work
tells of its label: its poet is printed, or is missing among those that are. So a work that is asked about a
label is asked nothing else, and works whose labels are each other's wrong options
(`mihakk.generators.parts.together`) are asked all or none: had they each other's labels, the same would be
printed. Of works that are alike (`mihakk.releases.content.split.alike`) one is asked, whatever is asked of
it: near copies have its label, and of copies with other labels beside each the one that all are offered would
be right; and words that two editions share in the same places tell each other's lines.

A version is read beside those before it. What the newest one sealed keeps its place as long as it asks what
it asked: where a couplet was taken out, the next one would be asked under its name, and what another question
showed or sealed is asked no more. Nothing else may show those texts, nothing new is asked of works that were
sealed or are like one that was, and what left comes back no more. What a version, another benchmark of the
hub or this repository printed with its gold is never sealed, nor what it could have sealed and did not, as
checks, auditors or people may have objected to it; and a sealed question whose options change is asked no
more, for the option that stays is likely the right one.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mihakk.machinery.groups import grouped
from mihakk.machinery.text import key
from mihakk.releases.content.fingerprints import NAMES, PIECES
from mihakk.releases.content.item_tables import Placed, config_name
from mihakk.releases.content.placement import LIKE_TEST
from mihakk.releases.content.seals import PRINTED, Seals, is_label
from mihakk.releases.content.secret import keyed, public_id
from mihakk.releases.content.split import LABELS, source_work, work
from mihakk.releases.release_facts import Before
from mihakk.schemas.item import ChoiceItem, Item
from mihakk.schemas.record import Language
from mihakk.schemas.rejection import Rejection

RUN = 4
"""So many words in a row, or all of a text that has fewer, are what two items may not share."""
SHARED = "blind_shared_text"
CHANGED = "blind_options_changed"
CLOSED = "blind_closed_before"
LABELLED = "blind_labelled"
"""Why a question is left out: its work is asked about a label, or would be if all those with it could be."""

Places = Mapping[str, Mapping[str, Sequence[Placed]]]
"""Config -> split -> items."""


@dataclass(frozen=True)
class _Unit:
    """One question in all its orders."""

    name: str
    items: tuple[Item, ...]
    texts: frozenset[str]
    group: str = ""
    """What share of the works a config may ask about labels is counted by."""

    @property
    def config(self) -> str:
        """Config it belongs to."""
        return config_name(self.items[0])

    @property
    def work(self) -> str:
        """The poem or idiom it asks about."""
        return source_work(self.items[0])

    @property
    def together(self) -> tuple[str, frozenset[str]]:
        """Of a question about a label: the works that are asked with it, itself included."""
        return self.config, frozenset(map(work, self.items[0].origin.records))


@dataclass(frozen=True)
class Earlier:
    """What versions before this one have printed."""

    sealed: Mapping[str, frozenset[str]]
    """Public name of a sealed question -> the options it had last."""
    asked: Mapping[tuple[str, ...], str]
    """What a sealed question says -> its name: another secret gives other names."""
    newest: frozenset[str]
    """Names of those that the newest version asks."""
    showing: Mapping[str, frozenset[str]]
    """Run of words -> the sealed questions that showed it in any version."""

    def names(self, units: Collection[_Unit], secret: bytes) -> dict[str, str]:
        """Those of the questions that an earlier version sealed -> what it called them.

        Another secret gives all of them other names: then those that say the same are taken for the same.
        Under one secret a question of another record is another one, whatever it says.
        """
        if not self.sealed:
            return {}
        ids = {unit.name: public_id(secret, unit.name) for unit in units}
        if found := {name: public for name, public in ids.items() if public in self.sealed}:
            return found
        said = {unit.name: self.asked.get(_said(unit.items[0].model_dump()), "") for unit in units}
        return {name: public for name, public in said.items() if public}

    def has_others(self, unit: _Unit, name: str) -> bool:
        """Whether the question had other options then."""
        item = unit.items[0]
        return isinstance(item, ChoiceItem) and self.sealed[name] != frozenset(item.options)

    def is_shown(self, unit: _Unit, name: str) -> bool:
        """Whether another question showed any of it."""
        return any(not self.showing.get(text, frozenset()) <= {name} for text in unit.texts)

    def shown_without(self, names: Collection[str]) -> frozenset[str]:
        """What others than these questions showed."""
        return frozenset(run for run, shown_by in self.showing.items() if not shown_by.issubset(names))


class _Asked:
    """Works that something is asked about.

    Args:
        alike: Work to others that are like it.
    """

    def __init__(self, alike: Mapping[str, frozenset[str]], works: Iterable[str] = ()) -> None:
        self._alike = alike
        self.works = set(works)

    def has_like(self, unit: _Unit) -> bool:
        """Whether another work is among them that is like the one a question is about."""
        return not self.works.isdisjoint(self._alike.get(unit.work, ()))

    def among(self, works: Iterable[str]) -> _Asked:
        """The same of other works."""
        return _Asked(self._alike, works)

    def add(self, units: Iterable[_Unit]) -> None:
        """Something is asked about their works."""
        self.works.update(unit.work for unit in units)


def keep_apart(
    placed: Places,
    secret: bytes,
    split: str,
    earlier: Sequence[Sequence[Mapping[str, Any]]],
    seals: Seals,
    *,
    own: Seals | None = None,
    before: Before | None = None,
    alike: Mapping[str, frozenset[str]] | None = None,
) -> tuple[dict[str, dict[str, list[Placed]]], list[Rejection]]:
    """The items that a blind release may hold, and those left out.

    Args:
        secret: Draws the order in which questions are tried.
        earlier: Public rows of each earlier version, the newest last.
        seals: What others have printed.
        own: What earlier versions printed with their golds.
        before: Of works that are closed no further question is sealed: whoever has the checks and auditors
            that objected to one, or the open split that told it, could ask them about each option, and a
            question that prints a poet would tell the label of one that left. A question about a label that
            was asked with other works is asked no more: which works are put together rests on labels.
        alike: Work to others that are like it.
    """
    before = before or Before()
    past = _earlier(earlier)
    test: list[Placed] = []
    dev: list[Placed] = []
    for splits in placed.values():
        for name, each in splits.items():
            (test if name == split else dev).extend(each)
    every = _in_turns(list(_units(test)), secret)
    labels = {unit.name for unit in every if is_label(unit.items[0])}
    sealed = {unit.name: frozenset[str]().union(*map(seals.marks, unit.items)) for unit in every}
    printed = {unit.name for unit in every if seals.is_printed(sealed[unit.name])}
    units = [unit for unit in every if unit.name not in printed]
    names = past.names(units, secret)
    closed = _Asked(alike or {}, before.closed)
    late = {
        u.name: u
        for u in units
        if (
            names[u.name] not in past.newest
            if u.name in names
            else u.work in closed.works or closed.has_like(u)
        )
    }
    units = [unit for unit in units if unit.name not in late]
    old = [unit for unit in units if unit.name in names]
    changed = [u for u in old if _is_with_others(u, before) or past.has_others(u, names[u.name])]
    gone = {unit.name for unit in changed}
    gone |= {unit.name for unit in old if past.is_shown(unit, names[unit.name])}
    gone |= {u.name for u in old if u.name not in labels and _asks_another(u, sealed[u.name], before, seals)}
    old = [unit for unit in old if unit.name not in gone]
    shown = past.shown_without({names[unit.name] for unit in old})
    taken = _disjoint(old, (), _Asked({}))
    asked = _Asked(alike or {}, (unit.work for unit in taken))
    new = [unit for unit in units if unit.name not in names]
    taken += _labelled(new, labels, shown.union(*(unit.texts for unit in taken)), asked)
    about = _Asked(alike or {}, (unit.work for unit in taken if unit.name in labels))
    others = [
        unit
        for unit in new
        if unit.name not in labels and unit.work not in about.works and not asked.has_like(unit)
    ]
    used = shown.union(*(unit.texts for unit in taken))
    taken += _disjoint(others, used, asked)
    # Only now, so that a build that changes nothing takes and leaves the same questions for the same reasons.
    own = own or Seals()
    told = {unit.name for unit in taken if own.is_printed(sealed[unit.name])}
    broken = {unit.together for unit in taken if unit.name in told & labels}
    kept = [unit for unit in taken if unit.name not in told and unit.together not in broken]
    # What would have been left out anyway is, for the reason of old: who prints it since changes no version.
    beside = frozenset[str]().union(*(unit.texts for unit in taken))
    printed = told | {unit.name for unit in every if unit.name in printed and not unit.texts & beside}
    used = shown.union(*(unit.texts for unit in kept))
    reasons = dict.fromkeys(_ids(every), SHARED)
    reasons |= dict.fromkeys(
        _ids(unit for unit in new if unit.name in labels or unit.work in about.works or about.has_like(unit)),
        LABELLED,
    )
    reasons |= dict.fromkeys(_ids(late.values()), CLOSED)
    reasons |= dict.fromkeys(_ids(changed), CHANGED)
    reasons |= dict.fromkeys(_ids(unit for unit in every if unit.name in printed), PRINTED)
    for name in _ids(kept):
        del reasons[name]
    reasons |= dict.fromkeys(_ids(unit for unit in _units(dev) if unit.texts & used), LIKE_TEST)
    return without(placed, reasons), not_held(reasons)


def without(placed: Places, gone: Collection[str]) -> dict[str, dict[str, list[Placed]]]:
    """The items but for some, by their ids."""
    left = {
        config: {
            name: some
            for name, each in splits.items()
            if (some := [one for one in each if one.item.id not in gone])
        }
        for config, splits in placed.items()
    }
    return {config: splits for config, splits in left.items() if splits}


def not_held(reasons: Mapping[str, str]) -> list[Rejection]:
    """Items that a blind release does not hold, with why."""
    return [
        Rejection(record=name, reason=reason, detail="a blind release can't hold it beside the others")
        for name, reason in sorted(reasons.items())
    ]


def _is_with_others(unit: _Unit, before: Before) -> bool:
    """Whether a question about a label was asked with other works."""
    was = before.together.get(unit.items[0].id)
    return was is not None and {*was} != unit.together[1]


def _asks_another(unit: _Unit, marks: frozenset[str], before: Before, seals: Seals) -> bool:
    """Whether a question asks what another one sealed, as that couplet has its place now."""
    was = before.corrected.get(unit.work)
    if was is None:
        return False
    known = frozenset[str]().union(*(was.get(one.id, frozenset()) for one in unit.items))
    return seals.has_sealed(marks - known)


def _ids(units: Iterable[_Unit]) -> list[str]:
    return [item.id for unit in units for item in unit.items]


def _units(placed: Iterable[Placed]) -> Iterator[_Unit]:
    orders = grouped(
        placed, lambda one: (isinstance(one.item, ChoiceItem) and one.item.pair_id) or one.item.id
    )
    for name, both in orders.items():
        texts = frozenset(text for one in both for text in _texts(one.item))
        yield _Unit(name, tuple(one.item for one in both), texts, both[0].group)


def _texts(item: Item) -> Iterator[str]:
    """What no other item may hold: the record asked about, and every run of words shown or asked for."""
    label = is_label(item)
    if item.origin.records:
        yield f"record {item.origin.records[0]}"
    if label:
        yield f"label {item.task} {source_work(item)}"
    yield from _shown(item.model_dump(), item.metadata.get("poet", ""), options=not label)


def _shown(row: Mapping[str, Any], poet: str, *, options: bool) -> Iterator[str]:
    """Every run of words that a question shows or asks for; `options` are no texts where they are labels."""
    shown = [row["context"], *(row.get("verses") or ()), *((row.get("options") or ()) if options else ())]
    for name, text in (row.get("fields") or {}).items():
        shown += [text] if text and name not in NAMES and text != poet else []
    for name in ("answer", "overall"):
        shown += [row.get(name) or ""]
    for name in ("accepted", "explanations"):
        shown += row.get(name) or ()
    for text in shown:
        for piece in PIECES.split(text):
            yield from runs(folded_words(piece, row["language"]))


def folded_words(text: str, language: Language) -> list[str]:
    """Words folded as the pipeline folds them, apart."""
    return [word for word in (key(part, language) for part in text.split()) if word]


def runs(words: Sequence[str]) -> Iterator[str]:
    """Every so many words in a row; all of them where there are fewer."""
    for start in range(max(1, len(words) - RUN + 1) if words else 0):
        yield " ".join(words[start : start + RUN])


def _in_turns(units: Sequence[_Unit], secret: bytes) -> list[_Unit]:
    """Configs take turns, so that none takes all couplets."""
    turns = [
        (turn, config, unit)
        for config, line in grouped(units, lambda unit: unit.config).items()
        for turn, unit in enumerate(sorted(line, key=lambda one: keyed(secret, "apart", one.name)))
    ]
    return [unit for _, _, unit in sorted(turns, key=lambda one: one[:2])]


def _labelled(
    units: Sequence[_Unit], labels: Collection[str], printed: Collection[str], asked: _Asked
) -> list[_Unit]:
    """Questions about labels, of works that are alike one at most, with those its wrong options are from.

    A config takes no more groups than are its own when each is shared out among those that ask about it. Of
    `asked` works something is asked already; those of the questions join them.
    """
    asking: dict[str, set[str]] = defaultdict(set)
    for unit in units:
        asking[unit.group].add(unit.config)
    room: dict[str, float] = defaultdict(float)
    for configs in asking.values():
        for config in configs:
            room[config] += 1 / len(configs)
    taken: list[_Unit] = []
    used = set(printed)
    sets = grouped((unit for unit in units if unit.name in labels), lambda unit: unit.together)
    for (config, works), every in sets.items():
        some = list({unit.work: unit for unit in reversed(every)}.values())
        texts = [text for unit in some for text in unit.texts]
        if (
            {unit.work for unit in some} == works
            and works.isdisjoint(asked.works)
            and not any(map(asked.has_like, some))
            and not any(map(asked.among(works).has_like, some))
            and len(works) <= room[config]
            and len(texts) == len({*texts})
            and used.isdisjoint(texts)
        ):
            taken += some
            used.update(texts)
            asked.add(some)
            room[config] -= len(works)
    return taken


def _disjoint(units: Iterable[_Unit], printed: Collection[str], asked: _Asked) -> list[_Unit]:
    """Questions that share no text, each taken if it can be; their works join those that are `asked`."""
    taken: list[_Unit] = []
    used = set(printed)
    for unit in units:
        if not unit.texts & used and not asked.has_like(unit):
            used |= unit.texts
            asked.add([unit])
            taken.append(unit)
    return taken


def _said(row: Mapping[str, Any]) -> tuple[str, ...]:
    return (
        row["task"],
        row["language"],
        row["question"],
        row["context"],
        *(row.get("verses") or ()),
    )


def _earlier(versions: Sequence[Sequence[Mapping[str, Any]]]) -> Earlier:
    """What earlier versions sealed and told, from their public rows."""
    found = [row for rows in versions for row in rows]
    units: Counter[str] = Counter()
    for row in {_name(row): row for row in found}.values():
        units.update(set(row.get("options") or ()))
    sealed: dict[str, frozenset[str]] = {}
    asked: dict[tuple[str, ...], str] = {}
    showing: dict[str, frozenset[str]] = defaultdict(frozenset)
    for row in found:
        options = row.get("options") or ()
        # What several questions offer names a class; the texts of a sealed question are its own.
        is_label = bool(LABELS & set(row.get("option_kinds") or ())) or any(units[one] > 1 for one in options)
        poet = (row.get("fields") or {}).get("poet") or ""
        if row["sealed"]:
            name = asked[_said(row)] = _name(row)
            sealed[name] = frozenset(options)
            for run in _shown(row, poet, options=not is_label):
                showing[run] |= {name}
    newest = frozenset(_name(row) for row in (versions[-1] if versions else ()) if row["sealed"])
    return Earlier(sealed, asked, newest, showing)


def _name(row: Mapping[str, Any]) -> str:
    """Public name of a question in all its orders."""
    return str(row.get("pair_id") or row["id"])
