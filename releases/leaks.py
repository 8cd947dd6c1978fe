"""The gate of a blind release: attacks with its public tables, and with the ids of public records, alone.

Each attack guesses golds; what it finds is compared with the answers. The release is refused while any finds
more than chance and the interval around chance explain, over all attacks together. What is asked of memory
can be looked up elsewhere: that is no leak of the release, and no attack here looks anything up.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from statistics import fmean
from typing import Any

from mihakk.configs import load_yaml
from mihakk.ids import item_id
from mihakk.settings import REFERENCE
from mihakk.stats import holm
from releases.content.apart import RUN, folded_words, runs
from releases.content.split import work
from releases.gates import Gate

FAMILY_WISE = 0.01
"""Chance that a release without a leak is refused."""
COINCIDENCE = 0.005
"""Answers in words that may stand elsewhere by coincidence."""
COMMON = 40
"""A run of words that so many questions hold says nothing about any of them."""
VARIANTS = tuple(
    f"{about}{order}" for about in ("", "phrase-", "explanation-") for order in ("", "order0", "order1")
)
_YEAR = re.compile(r"\b\d{3,4}\b")

Row = Mapping[str, Any]


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
        from scipy.stats import binomtest

        share = max(COINCIDENCE, self.chance / self.questions)
        return float(binomtest(round(self.right), self.questions, share, alternative="greater").pvalue)

    def __str__(self) -> str:
        figures = f"{self.right:.1f} of {self.questions} (by chance {self.chance:.1f})"
        return f"{self.name} on {self.config}: {figures}"


def leaks_gate(
    tables: Mapping[str, Mapping[str, Any]],
    answers: Sequence[Row],
    records: Iterable[str],
    earlier: Iterable[Row] = (),
) -> Gate:
    """How a blind release stands to the attacks."""
    rows = [
        {**row, "config": config}
        for config, splits in tables.items()
        for table in splits.values()
        for row in table.to_pylist()
    ]
    known = _sources(rows, set(records))
    found = attacks(rows, {row["id"]: row for row in answers}, tuple(earlier))
    sure = holm([one.luck for one in found])
    leaks = [str(one) for one, luck in zip(found, sure, strict=True) if luck < FAMILY_WISE]
    if known:
        leaks.append(f"ids or groups name the source of {known} sealed items")
    sealed = sum(row["sealed"] for row in rows)
    return Gate(
        name="leaks",
        passed=not leaks,
        asked=True,
        # Not how many had something to guess at: that is another number beside other versions.
        found=f"All attacks on {sealed} sealed items: "
        + (
            "; ".join(leaks)
            if leaks
            else f"none finds more than chance explains ({1 - FAMILY_WISE:.0%}, all attacks together)"
        )
        + ".",
        remedy="Leave the task out, or have its wrong options made another way: no override opens this gate.",
    )


def attacks(rows: Sequence[Row], answers: Mapping[str, Row], earlier: Sequence[Row] = ()) -> list[Attack]:
    """Every attack on every config it applies to."""
    public = _Public(rows, earlier)
    ways: dict[str, Callable[[Row], Sequence[str]]] = {
        "cross_task": public.printed_beside,
        "printed_elsewhere": public.printed_elsewhere,
        "option_intersection": public.common_to_others,
        "group_intersection": public.common_to_group,
        "rarest_option": lambda row: public.by_frequency(row, -1),
        "commonest_option": lambda row: public.by_frequency(row, 1),
        "first_option": lambda row: row["options"][:1],
        "last_option": lambda row: row["options"][-1:],
        "first_by_alphabet": lambda row: [min(row["options"])],
        "last_by_alphabet": lambda row: [max(row["options"])],
        "place_as_in_dev": public.usual_place,
        "label_as_in_dev": public.usual_label,
        "kept_since": public.kept_since,
        "years": _by_year,
        "names": _by_name,
    }
    found = []
    for name, way in ways.items():
        scores: dict[str, list[tuple[float, float]]] = defaultdict(list)
        for row in public.questions:
            guesses = way(row) if row["kind"] == "choice" else public.answers(row, answers[row["id"]], name)
            if guesses:
                scores[row["config"]].append(_score(row, answers[row["id"]], guesses))
        found += [
            Attack(
                name, config, len(some), sum(right for right, _ in some), sum(chance for _, chance in some)
            )
            for config, some in sorted(scores.items())
        ]
    return found


def _score(row: Row, answer: Row, guesses: Sequence[str]) -> tuple[float, float]:
    if row["kind"] != "choice":
        return float(guesses[0] == "found"), 0.0
    golds = {row["options"][place] for place in answer["gold"]}
    return len(golds & set(guesses)) / len(set(guesses)), len(golds) / len(row["options"])


class _Public:
    """The public rows, indexed by what they print."""

    def __init__(self, own: Sequence[Row], earlier: Sequence[Row] = ()) -> None:
        # What earlier versions asked is another question where it was told: only its sealed form is the same.
        rows = [*own, *({**row, "sealed": False, "config": ""} for row in earlier)]
        self.rows = rows
        self.unit = [row.get("pair_id") or row["id"] for row in own]
        self.unit += [(row.get("pair_id") or row["id"]) if row["sealed"] else "" for row in earlier]
        self.before = {row["id"]: row for row in earlier if row["sealed"]}
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

    def _others(self, row: Row, text: str) -> Iterator[int]:
        """Other questions that hold a run of a text."""
        own = row.get("pair_id") or row["id"]
        for run in set(runs(text.split())):
            holders = self.holders.get(run, ())
            if len(holders) <= COMMON:
                yield from (number for number in holders if self.unit[number] != own)

    def _beside(self, row: Row) -> set[int]:
        shown = [row["question"], row["context"], *(row.get("verses") or ())]
        return {n for text in shown for n in self._others(row, _fold(text, row["language"]))}

    def _prints(self, number: int, text: str) -> bool:
        return any(f" {text} " in f" {other} " for other in self.texts[number])

    def printed_beside(self, row: Row) -> list[str]:
        others = self._beside(row)
        return self._most(
            row, lambda option: sum(self._prints(n, _fold(option, row["language"])) for n in others)
        )

    def printed_elsewhere(self, row: Row) -> list[str]:
        def count(option: str) -> int:
            text = _fold(option, row["language"])
            return sum(self._prints(n, text) for n in set(self._others(row, text)))

        return self._most(row, count)

    def common_to_others(self, row: Row) -> list[str]:
        others = self._beside(row)
        return self._most(
            row, lambda option: sum(option in (self.rows[n].get("options") or ()) for n in others)
        )

    def common_to_group(self, row: Row) -> list[str]:
        return self._most(row, lambda option: self.grouped[row["config"], row["group"]][option])

    def by_frequency(self, row: Row, sign: int) -> list[str]:
        return self._most(row, lambda option: sign * self.offered[option])

    def usual_place(self, row: Row) -> list[str]:
        usual = self.places[row["config"]].most_common(1)
        return [row["options"][usual[0][0]]] if usual and usual[0][0] < len(row["options"]) else []

    def usual_label(self, row: Row) -> list[str]:
        """The label that is right most often in the open split, where that has all of them."""
        found = {option: self.rates.get((row["config"], option)) for option in row["options"]}
        rates = {option: fmean(right) for option, right in found.items() if right}
        return self._most(row, lambda option: rates[option]) if len(rates) == len(row["options"]) else []

    def kept_since(self, row: Row) -> list[str]:
        """The options that the question has had since an earlier version, where others have changed."""
        before = self.before.get(row["id"])
        kept = [option for option in row["options"] if before is None or option in before["options"]]
        return kept if 0 < len(kept) < len(row["options"]) else []

    def _most(self, row: Row, count: Callable[[str], float]) -> list[str]:
        """The options with the highest count; none where all have the same."""
        counts = {option: count(option) for option in row["options"]}
        best = max(counts.values())
        return (
            [option for option, found in counts.items() if found == best]
            if min(counts.values()) < best
            else []
        )

    def answers(self, row: Row, answer: Row, attack: str) -> list[str]:
        """Whether an answer in words is printed where an attacker would look for it."""
        text = _fold(answer["answer"] or "", row["language"])
        if attack == "cross_task" and text:
            return ["found" if any(self._prints(n, text) for n in self._beside(row)) else "missed"]
        if attack == "printed_elsewhere" and len(text.split()) >= RUN:
            return ["found" if any(self._prints(n, text) for n in set(self._others(row, text))) else "missed"]
        return []


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


def _by_year(row: Row) -> list[str]:
    years = [int(year) for year in _YEAR.findall(_said(row))]
    spans = _eras()
    return [
        option
        for option in row["options"]
        if option in spans and any(spans[option][0] <= year < spans[option][1] for year in years)
    ]


def _by_name(row: Row) -> list[str]:
    said = f" {_fold(_said(row), row['language'])} "
    eras = {era for name, era in _poets().items() if f" {name} " in said}
    return [option for option in row["options"] if option in eras]


@cache
def _eras() -> dict[str, tuple[int, int]]:
    rows = load_yaml(REFERENCE / "eras.yaml")["eras"]
    return {row["ar"]: (row["span"][0] or 0, row["span"][1] or 9999) for row in rows}


@cache
def _poets() -> dict[str, str]:
    """Folded name of a poet -> what his era is called among options."""
    names = {row["id"]: row["ar"] for row in load_yaml(REFERENCE / "eras.yaml")["eras"]}
    return {
        _fold(name, "ar"): names[row["era"]]
        for row in load_yaml(REFERENCE / "poets.yaml")["arabic"]
        if row.get("era") in names
        for name in (row["ar"], *row.get("aliases", ()))
    }


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
