"""The gate of a blind release: attacks with what its attackers have.

They have its public tables and earlier versions, the other benchmarks of the hub, this repository's own data,
the ids of public records, public sources that the config names, and a learner that sees options alone. Each
attack guesses golds, and what all find is compared with chance at once (Holm). What the hub or this
repository tells shuts the gate, and so does what the form of options tells of a task that asks for a skill.
What can be looked up elsewhere is no leak of the release, and no skill: such a config is ranked apart.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from math import log
from statistics import fmean
from typing import Any

from mihakk.generators.abilities import ability_of
from mihakk.machinery.groups import grouped
from mihakk.machinery.ids import item_id
from mihakk.machinery.stats import binomial_tail, holm
from mihakk.machinery.taxonomy import Kind, vocabulary
from mihakk.machinery.text import key
from mihakk.releases.content.apart import RUN, folded_words, runs
from mihakk.releases.content.fingerprints import about_marks
from mihakk.releases.content.split import LABELS, work
from mihakk.releases.gates import Gate
from mihakk.releases.lookups import Found
from mihakk.schemas.evaluation import Ability

FAMILY_WISE = 0.01
"""Chance that a release without a leak is refused."""
COINCIDENCE = 0.005
"""Answers in words that may stand elsewhere by coincidence."""
COMMON = 40
"""A run of words that so many questions hold says nothing about any of them."""
LOOKUPS = frozenset({"found", "read_off"})
"""Attacks by public sources that are not ours. Golds are read off for questions that no version has sealed:
whoever can add to such a source could have the gate guess at others, and see how it does."""
LEARNT = "learnt_from_options"
LEAST_LEARNT = 30
"""Open questions from which something is learnt."""
VARIANTS = tuple(
    f"{about}{order}" for about in ("", "phrase-", "explanation-") for order in ("", "order0", "order1")
)
_YEAR = re.compile(r"\b\d{3,4}\b")

Row = Mapping[str, Any]
Worth = Callable[[str], float]
"""How much speaks for an option."""


@dataclass(frozen=True)
class Attack:
    """What one attack found of one config."""

    name: str
    config: str
    questions: int
    """Questions it made a guess about; two orders of a pair are one."""
    right: float
    """Right guesses to expect; several guesses share one."""
    chance: float
    """Right ones to expect by chance."""

    @property
    def luck(self) -> float:
        """Probability of as many by chance."""
        share = max(COINCIDENCE, self.chance / self.questions)
        return binomial_tail(round(self.right), self.questions, share)

    def __str__(self) -> str:
        figures = f"{self.right:.1f} of {self.questions} (by chance {self.chance:.1f})"
        return f"{self.name} on {self.config}: {figures}"


@dataclass(frozen=True)
class Elsewhere:
    """What attackers have beside the versions of a release."""

    siblings: Sequence[Row] = ()
    """Rows of other benchmarks of the hub."""
    own_data: Found = field(default_factory=dict)
    """Where this repository's own data hold what is asked about."""
    lookups: Found = field(default_factory=dict)
    """The same of the public sources that the config names."""


def leaks_gate(
    tables: Mapping[str, Mapping[str, Any]],
    answers: Sequence[Row],
    records: Iterable[str],
    earlier: Iterable[Row] = (),
    elsewhere: Elsewhere | None = None,
) -> tuple[Gate, dict[str, Ability]]:
    """How a blind release stands to the attacks, and the ability that each config is ranked under."""
    rows = [
        {**row, "config": config}
        for config, splits in tables.items()
        for table in splits.values()
        for row in table.to_pylist()
    ]
    known, before = _sources(rows, set(records)), tuple(earlier)
    abilities: dict[str, Ability] = {row["config"]: ability_of(row["task"]) for row in rows}
    # What a version was ranked under stands, as what it sealed is not looked up anew.
    looked_up = {row["id"] for row in before if row["sealed"] and row.get("ability") == "lookup"}
    abilities |= {row["config"]: "lookup" for row in rows if row["sealed"] and row["id"] in looked_up}
    found = attacks(rows, {row["id"]: row for row in answers}, before, elsewhere)
    sure = holm([one.luck for one in found])
    leaks, told_apart = [], []
    for one, luck in zip(found, sure, strict=True):
        if luck >= FAMILY_WISE:
            continue
        if one.name in LOOKUPS:
            # How many golds are read off is not told: beside another version's it would tell single ones.
            share = (
                f"{one}, {one.right / one.questions:.0%}"
                if one.name == "found"
                else f"{one.name} on {one.config}"
            )
            told_apart.append(share)
            if abilities[one.config] == "skill":
                abilities[one.config] = "lookup"
        elif one.name != LEARNT or ability_of(one.config.partition("_")[2]) == "skill":
            # How many golds it finds would tell some of them to whoever sees the log of a build.
            leaks.append(f"{one.name} on {one.config}")
    if known:
        leaks.append(f"ids or groups name the source of {known} sealed items")
    sealed = sum(row["sealed"] for row in rows)
    looked = f" To be looked up in public sources: {'; '.join(told_apart)}." if told_apart else ""
    return Gate(
        name="leaks",
        passed=not leaks,
        asked=True,
        # Not how many had something to guess at: that is another number beside other versions.
        found=f"All attacks on {sealed} sealed items: "
        + (
            "; ".join(leaks)
            if leaks
            else "none that needs no public source finds more than chance explains "
            f"({1 - FAMILY_WISE:.0%}, all attacks together)"
        )
        + f".{looked}",
        remedy="Leave the task out, or have its wrong options made another way: no override opens this gate.",
    ), abilities


def attacks(
    rows: Sequence[Row],
    answers: Mapping[str, Row],
    earlier: Sequence[Row] = (),
    elsewhere: Elsewhere | None = None,
) -> list[Attack]:
    """Every attack on every config it applies to."""
    public = _Public(rows, earlier, elsewhere or Elsewhere())
    found = []
    for name, way in public.ways().items():
        scores: dict[str, list[tuple[float, float]]] = defaultdict(list)
        for row in public.questions:
            answer = answers[row["id"]]
            if row["kind"] != "choice":
                printed = public.is_printed(row, answer["answer"] or "", name)
                score = None if printed is None else (float(printed), 0.0)
            else:
                score = _score(row, answer, _best(row["options"], way(row)))
            if score is not None and (name not in LOOKUPS or row["id"] not in public.asked_before):
                scores[row["config"]].append(score)
        found += [
            Attack(name, config, len(some), sum(right for right, _ in some), sum(luck for _, luck in some))
            for config, some in sorted(scores.items())
        ]
    for config, questions in (
        grouped(public.questions, lambda row: row["config"]).items() if public.lookups else ()
    ):
        there = sum(row["id"] in public.lookups for row in questions)
        found.append(Attack("found", config, len(questions), there, 0.0))
    return found


def _best(options: Sequence[str], worth: Worth) -> list[str]:
    """The options worth most; none where all are worth the same."""
    counts = {option: worth(option) for option in options}
    best = max(counts.values())
    return [option for option, count in counts.items() if count == best > min(counts.values())]


def _score(row: Row, answer: Row, guesses: Sequence[str]) -> tuple[float, float] | None:
    """Right guesses to expect, and those by chance; None where there is nothing to guess by."""
    golds = {row["options"][place] for place in answer["gold"]}
    return (len(golds & set(guesses)) / len(guesses), len(golds) / len(row["options"])) if guesses else None


class _Public:
    """The public rows, indexed by what they print."""

    def __init__(self, own: Sequence[Row], earlier: Sequence[Row], elsewhere: Elsewhere) -> None:
        self.own_data, self.lookups = elsewhere.own_data, elsewhere.lookups
        self.told = _golds_by_text((*earlier, *elsewhere.siblings))
        self.learners = {
            config: _Learner(some) for config, some in grouped(own, lambda row: row["config"]).items()
        }
        # What earlier versions asked is another question where it was told: only its sealed form is the same.
        rows = [*own, *({**row, "sealed": False, "config": ""} for row in earlier)]
        self.rows = rows
        self.unit = [row.get("pair_id") or row["id"] for row in own]
        self.unit += [(row.get("pair_id") or row["id"]) if row["sealed"] else "" for row in earlier]
        self.before: dict[str, list[str]] = {
            row["id"]: row["options"] for row in earlier if row["sealed"] and row.get("options")
        }
        self.asked_before = frozenset(row["id"] for row in earlier if row["sealed"])
        self.texts = [[_fold(text, row["language"]) for text in _printed(row)] for row in rows]
        self.questions = [row for row in rows if row["sealed"] and not row.get("order")]
        self.offered = Counter(option for row in own for option in row.get("options") or ())
        self.holders: dict[str, list[int]] = defaultdict(list)
        for number, texts in enumerate(self.texts):
            for run in {run for text in texts for run in runs(text.split())}:
                self.holders[run].append(number)
        self.grouped: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
        self.places: dict[str, Counter[int]] = defaultdict(Counter)
        self.rates: dict[tuple[str, str], list[bool]] = defaultdict(list)
        for row in own:
            if row["kind"] == "choice":
                self.grouped[row["config"], row["group"]].update(row["options"])
                self.places[row["config"]].update(() if row["sealed"] else row["gold"])
                for place, option in enumerate(() if row["sealed"] or row["order"] else row["options"]):
                    self.rates[row["config"], option].append(place in row["gold"])

    def ways(self) -> dict[str, Callable[[Row], Worth]]:
        """Name of an attack -> what an option of a question is worth by it."""
        return {
            "cross_task": self._printed_beside,
            "printed_elsewhere": self._printed_elsewhere,
            "option_intersection": self._offered_beside,
            "group_intersection": lambda row: self.grouped[row["config"], row["group"]].__getitem__,
            "rarest_option": lambda _: lambda option: -self.offered[option],
            "commonest_option": lambda _: lambda option: self.offered[option],
            "first_option": lambda row: lambda option: -row["options"].index(option),
            "last_option": lambda row: row["options"].index,
            "first_by_alphabet": lambda row: lambda option: -sorted(row["options"]).index(option),
            "last_by_alphabet": lambda row: sorted(row["options"]).index,
            "place_as_in_dev": self._usual_place,
            "label_as_in_dev": self._usual_label,
            "kept_since": lambda row: (self.before.get(row["id"]) or row["options"]).count,
            "years": _by_year,
            "names": _by_name,
            "told_elsewhere": lambda row: self._told(row).__getitem__,
            "own_data": lambda row: _read_off(self.own_data.get(row["id"], ())),
            LEARNT: lambda row: self.learners[row["config"]].worth,
            "read_off": lambda row: _read_off(self.lookups.get(row["id"], ())),
        }

    def is_printed(self, row: Row, answer: str, attack: str) -> bool | None:
        """Whether an answer in words is printed where an attacker would look; None where none would."""
        text = _fold(answer, row["language"])
        if attack == "cross_task" and text:
            return self._count(self._beside(row), text) > 0
        if attack == "printed_elsewhere" and len(text.split()) >= RUN:
            return self._count(self._others(row, text), text) > 0
        if attack == "told_elsewhere" and (told := self._told(row)):
            return answer in told
        passages = {"own_data": self.own_data, "read_off": self.lookups}.get(attack, {}).get(row["id"])
        return _read_off(passages)(answer) > 0 if passages and text else None

    def _told(self, row: Row) -> Counter[str]:
        """Golds that open questions about the same text have."""
        return sum((self.told[mark] for mark in about_marks(row) if mark in self.told), Counter())

    def _others(self, row: Row, text: str) -> set[int]:
        """Other questions that hold a run of a text."""
        own = row.get("pair_id") or row["id"]
        holders = (self.holders.get(run, ()) for run in set(runs(text.split())))
        return {n for some in holders if len(some) <= COMMON for n in some if self.unit[n] != own}

    def _beside(self, row: Row) -> set[int]:
        """Other questions about what this one shows."""
        shown = [row["question"], row["context"], *(row.get("verses") or ())]
        return {n for text in shown for n in self._others(row, _fold(text, row["language"]))}

    def _count(self, numbers: Iterable[int], text: str) -> int:
        """How many of the questions print a folded text."""
        return sum(any(f" {text} " in f" {other} " for other in self.texts[n]) for n in numbers)

    def _printed_beside(self, row: Row) -> Worth:
        others = self._beside(row)
        return lambda option: self._count(others, _fold(option, row["language"]))

    def _printed_elsewhere(self, row: Row) -> Worth:
        def worth(option: str) -> int:
            text = _fold(option, row["language"])
            return self._count(self._others(row, text), text)

        return worth

    def _offered_beside(self, row: Row) -> Worth:
        others = self._beside(row)
        return lambda option: sum(option in (self.rows[n].get("options") or ()) for n in others)

    def _usual_place(self, row: Row) -> Worth:
        usual = self.places[row["config"]].most_common(1)
        return lambda option: bool(usual) and row["options"].index(option) == usual[0][0]

    def _usual_label(self, row: Row) -> Worth:
        """How often a label is right in the open split, where that has all of them."""
        rates = {option: self.rates.get((row["config"], option)) for option in row["options"]}
        return lambda option: fmean(rates[option] or ()) if all(rates.values()) else 0.0


def _golds_by_text(rows: Iterable[Row]) -> dict[str, Counter[str]]:
    """Fingerprint of a text -> golds of the open questions about it."""
    found: dict[str, Counter[str]] = defaultdict(Counter)
    for row in rows:
        if not row.get("sealed"):
            golds = [row["options"][place] for place in row.get("gold") or ()] or [row.get("answer") or ""]
            if "kind" not in row:  # of a table with columns of its own, where any may be the gold
                golds = [text for text in (row.get("fields") or {}).values() if text]
            for mark in about_marks(row):
                found[mark].update(golds)
    return found


def _read_off(passages: Sequence[str]) -> Worth:
    """How many of the passages hold an option, letter by letter."""

    def worth(option: str) -> int:
        letters = key(option, "ar")
        return sum(letters in passage for passage in passages) if letters else 0

    return worth


class _Learner:
    """Naive Bayes over words and letters of the options of open questions; it sees options alone."""

    def __init__(self, rows: Iterable[Row]) -> None:
        self.seen: dict[bool, Counter[str]] = {True: Counter(), False: Counter()}
        self.cases = 0
        for row in rows:
            if (
                row["kind"] == "choice"
                and not row["sealed"]
                and not LABELS & set(row.get("option_kinds") or ())
            ):
                self.cases += 1
                for place, option in enumerate(row["options"]):
                    self.seen[place in row["gold"]].update(_features(option))
        self.sizes = {right: sum(counts.values()) for right, counts in self.seen.items()}

    def worth(self, option: str) -> float:
        """Mean evidence of its features that it is right; none learnt from too few questions."""
        if self.cases < LEAST_LEARNT:
            return 0.0
        kinds = len(self.seen[True] | self.seen[False])

        def rate(feature: str, right: bool) -> float:
            return (self.seen[right][feature] + 1) / (self.sizes[right] + kinds)

        features = _features(option)
        return fmean(log(rate(one, True) / rate(one, False)) for one in features) if features else 0.0


def _features(option: str) -> list[str]:
    text = f" {' '.join(option.split())} "
    return [*option.split(), *(text[start : start + 3] for start in range(len(text) - 2))]


def _printed(row: Row) -> list[str]:
    fields = (row.get("fields") or {}).values()
    told = [
        row.get("answer"),
        row.get("overall"),
        *(row.get("accepted") or ()),
        *(row.get("explanations") or ()),
    ]
    shown = [
        row["question"],
        row["context"],
        *fields,
        *(row.get("options") or ()),
        *(row.get("verses") or ()),
    ]
    return [text for text in (*shown, *told) if text]


@cache
def _fold(text: str, language: Any) -> str:
    return " ".join(folded_words(text, language))


def _said(row: Row) -> str:
    """All that is said of an item beside what it asks."""
    return " ".join(
        str(row.get(name) or "")
        for name in ("attribution", "licence", "subset", "metadata", "fields", "context")
    )


def _by_year(row: Row) -> Worth:
    years = [int(year) for year in _YEAR.findall(_said(row))]
    spans = {era["ar"]: era["span"] for era in _entries("era").values()}

    def worth(option: str) -> bool:
        start, end = spans.get(option, (9999, 0))
        return any((start or 0) <= year < (end or 9999) for year in years)

    return worth


def _by_name(row: Row) -> Worth:
    said = f" {_fold(_said(row), row['language'])} "
    eras = {era for name, era in _poets().items() if f" {name} " in said}
    return eras.__contains__


@cache
def _poets() -> dict[str, str]:
    """Folded name of a poet -> what his era is called among options."""
    eras = _entries("era")
    return {
        _fold(name, "ar"): eras[poet["era"]]["ar"]
        for poet in _entries("poet").values()
        if poet.get("era") in eras
        for name in (poet["ar"], *poet.get("aliases", ()))
    }


def _entries(kind: Kind) -> Mapping[str, Mapping[str, Any]]:
    known = vocabulary(kind, "ar")
    return known.entries if known else {}


def _sources(rows: Iterable[Row], records: set[str]) -> int:
    """Sealed items whose source is found by trying the id that an item of each public record would have."""
    sealed = [row for row in rows if row["sealed"]]
    places = {(row["task"], row["language"]) for row in sealed}
    tried = {
        item_id(task, language, [record], variant)
        for task, language in places
        for record in records
        for variant in VARIANTS
    }
    works = records | {work(record) for record in records}
    return sum(
        row["id"] in tried or row["group"] in works or bool(row["origin"]["records"]) for row in sealed
    )
