"""What a finding does: facts of shape block by definition, any other rule by what people read of it.

The readings are sheets of `data/reference/readings`: one table per set, drawn by seed, with what a person
thought of each finding. Sets that rules were tuned to are read as well and earn nothing.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable
from functools import cache
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from mihakk.machinery.configs import load_config
from mihakk.machinery.settings import REFERENCE
from mihakk.machinery.stats import Interval, clopper_pearson
from mihakk.schemas.finding import Severity
from mihakk.schemas.record import Language, Record

if TYPE_CHECKING:
    from mihakk.validators.checks.check import Check

BY_DEFINITION: Final = {
    "CH01": "the gold is no option",
    "CH02": "there is nothing to choose",
    "CH03": "an option stands there twice",
    "DU02": "the row itself, or its source record, stands in another split",
    "TX01": "a field is empty",
    "TX03": "a character was lost when bytes were read",
    "TX05": "a character that no font but the author's shows",
}
"""Facts of shape, by check: what is seen is the fault, whatever the text says."""
LEAST_READ: Final = 17
"""Findings read from which a rule may block: with all of them right the interval begins at .80."""
LEAST_PRECISION: Final = 0.8
"""Lower end of the 95 % interval (Clopper and Pearson) from which it may."""
SHEETS: Final = REFERENCE / "readings"


class ReadSet(Record):
    """A published set whose findings were read."""

    title: str
    source: str
    revision: str
    language: Language
    rows: int
    seed: int
    """Of the draw."""
    tuned: bool
    """Rules were changed with an eye on it, so that its figures are better than those of any other set."""


class ReadSets(Record):
    """`sets.yaml`."""

    version: int
    sets: dict[str, ReadSet]


class Reading(NamedTuple):
    """One finding as a person judged it."""

    set: str
    tuned: bool
    language: Language
    row: str
    rule: str
    effect: Severity
    """What the finding did when it was read."""
    kind: str
    where: str
    verdict: Literal["right", "wrong"]
    """Whether it was worth a maintainer's time; arguable ones count as wrong."""
    reason: str


class Precision(NamedTuple):
    """How often a rule was right among the findings read."""

    right: int
    read: int

    @property
    def interval(self) -> Interval:
        """95 %, Clopper and Pearson."""
        return clopper_pearson(self.right, self.read)

    def __str__(self) -> str:
        low, high = self.interval
        return f"{self.right} of {self.read} [{low:.2f}, {high:.2f}]" if self.read else "not read"


@cache
def read_sets() -> dict[str, ReadSet]:
    """The sets whose findings were read, by name."""
    return load_config(SHEETS / "sets.yaml", ReadSets).sets


@cache
def readings() -> tuple[Reading, ...]:
    """Every finding that was read, by set and in the order of its sheet."""
    found = []
    for name, of in sorted(read_sets().items()):
        with (SHEETS / f"{name}.csv").open(encoding="utf-8", newline="") as sheet:
            found += [
                Reading(set=name, tuned=of.tuned, language=of.language, **row)  # type: ignore[arg-type]
                for row in csv.DictReader(sheet)
            ]
    return tuple(found)


def _primary(language: Language) -> str:
    return language.partition("-")[0]


def precision(rule: str, languages: Iterable[Language] = (), *, tuned: bool = False) -> Precision:
    """How often a rule was right on sets that nobody tuned to.

    Args:
        rule: Id of the check.
        languages: Those of the sets; none: all.
        tuned: Count sets that rules were tuned to as well.
    """
    wanted = set(map(_primary, languages))
    read = [
        one.verdict == "right"
        for one in readings()
        if one.rule == rule and (tuned or not one.tuned) and (not wanted or _primary(one.language) in wanted)
    ]
    return Precision(sum(read), len(read))


def may_block(rule: str, language: Language | None) -> bool:
    """Whether the readings let a rule block in a language."""
    found = precision(rule, (language,) if language else ())
    return found.read >= LEAST_READ and found.interval.low >= LEAST_PRECISION


@cache
def _effect(
    rule: str, severity: Severity, earned: tuple[Language, ...], language: Language | None
) -> Severity:
    return "block" if language in earned and may_block(rule, language) else severity


def effect(check: Check, language: Language | None, *, note: bool = False) -> Severity:
    """What a finding of a check does about a text in a language, where no config says otherwise.

    Args:
        check: The rule.
        language: Of the item or record; None for the whole set.
        note: The rule itself says that the finding is only to be counted.
    """
    return "report" if note else _effect(check.id, check.severity, check.earned, language)
