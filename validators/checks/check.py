"""What a check is, how one is declared, and which ones a config lets run."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from inspect import signature
from typing import TypeAlias

from mihakk.registry import Registry
from schemas.benchmark import ChecksConfig
from schemas.finding import Finding, Severity
from schemas.idiom import Idiom
from schemas.item import AnswerItem, ChoiceItem, ExplanationItem, Item
from schemas.poem import Poem
from validators.checks.setindex import SetIndex
from validators.checks.texts import Texts

Checked: TypeAlias = Item | Poem | Idiom
ITEMS = (ChoiceItem, AnswerItem, ExplanationItem)
RECORDS = (Poem, Idiom)
EVERYTHING = (*ITEMS, *RECORDS)

Kinds: TypeAlias = type | tuple[type, ...]


@dataclass(frozen=True, slots=True)
class Objection:
    """What a check holds against its subject; the framework adds who says it and how hard."""

    detail: str
    where: str = ""
    """Field the evidence stands in, e.g. `options[2]`."""


CheckFunction = Callable[..., Iterator[Objection]]


@dataclass(frozen=True, slots=True)
class Check:
    """One rule: its identity, what it applies to, and the generator that raises its objections."""

    id: str
    title: str
    """What holds when nothing is wrong, in a few words."""
    severity: Severity
    on: tuple[type, ...]
    compares: bool
    """It needs the prepared set."""
    when: frozenset[str]
    """Characters of which one at least must occur; empty: it always runs."""
    takes: tuple[str, ...]
    """Which of `subject`, `texts`, `index` the generator is called with, in this order."""
    function: CheckFunction

    def run(
        self, subject: Checked | None, texts: Texts | None, index: SetIndex | None
    ) -> Iterator[Objection]:
        """Calls the generator with those of the three that it takes."""
        given = {"subject": subject, "texts": texts, "index": index}
        return self.function(*[given[name] for name in self.takes])

    def finding(self, severity: Severity, subject: str, objection: Objection) -> Finding:
        """The objection as a row of the findings table."""
        return Finding(
            check=self.id,
            severity=severity,
            subject=subject,
            detail=objection.detail,
            where=objection.where,
        )


CHECKS: Registry[Check] = Registry("check", "validators.checks")


def check(
    identifier: str, *, severity: Severity, on: Kinds, title: str, when: Iterable[str] = ()
) -> Callable[[CheckFunction], CheckFunction]:
    """Registers a generator of objections as a check.

    The generator names what it needs: its subject (under any name), `texts` for the shared matching forms,
    `index` for the rest of the set. One that takes `index` alone speaks of the whole set.

    Args:
        identifier: Two letters of the family and two digits; never reused, even after a check is removed.
        severity: What a finding does unless the config overrides it.
        on: Item or record types it applies to; `SetIndex` for a check of the whole set.
        title: What holds when nothing is wrong.
        when: Characters that the check is about: it is not called for a subject that has none of them.
    """
    kinds = on if isinstance(on, tuple) else (on,)

    def register(function: CheckFunction) -> CheckFunction:
        takes = tuple(name if name in SHARED else "subject" for name in signature(function).parameters)
        if when and takes != ("texts",):
            raise TypeError(f"{identifier}: a check with `when` takes texts alone")
        if takes not in CALLS or (takes == ("index",)) != (kinds == (SetIndex,)):
            raise TypeError(f"{identifier}: a check takes {sorted(CALLS)}, and index alone on=SetIndex")
        CHECKS.add(
            identifier,
            Check(identifier, title, severity, kinds, "index" in takes, frozenset(when), takes, function),
        )
        return function

    return register


MOST_TRIGGERS = 4096
"""Sets of characters for which it is remembered what they trigger: most texts have one of few."""
SHARED = ("texts", "index")
CALLS = frozenset(
    tuple(names.split())
    for names in ("subject", "texts", "index", "subject texts", "subject index", "subject texts index")
)


@dataclass(frozen=True, slots=True)
class CheckPlan:
    """The checks of one type of subject, arranged so that most subjects cost few calls."""

    of_subject: tuple[Check, ...]
    of_texts: tuple[Check, ...]
    of_both: tuple[Check, ...]
    trigger: re.Pattern[str] | None
    """Finds any of the characters for which some checks of texts run."""
    triggered: Callable[[frozenset[str]], tuple[Check, ...]]
    """The checks that run when these of the characters occur."""
    compared: tuple[Check, ...]
    """Checks that need the rest of the set."""


@dataclass(frozen=True, slots=True)
class Active:
    """The checks that a config lets run, with the severity it gives them."""

    severity: dict[str, Severity]
    plans: dict[type, CheckPlan]
    whole: tuple[Check, ...]
    """Checks of the whole set."""


def active(config: ChecksConfig) -> Active:
    """Checks left on by the config, in order of id.

    Raises:
        UsageError: The config names a check that does not exist; the message names the nearest.
    """
    for name in (*config.off, *config.severity):
        CHECKS.get(name)
    running = [found for name, found in CHECKS if name not in config.off]
    return Active(
        severity={one.id: config.severity.get(one.id, one.severity) for one in running},
        plans={kind: _plan([one for one in running if kind in one.on]) for kind in EVERYTHING},
        whole=tuple(one for one in running if one.on == (SetIndex,)),
    )


def _plan(running: Sequence[Check]) -> CheckPlan:
    always = [one for one in running if not one.compares and not one.when]
    triggered = tuple(one for one in running if one.when)
    characters = sorted({char for one in triggered for char in one.when})

    def taking(*names: str) -> tuple[Check, ...]:
        return tuple(one for one in always if one.takes == names)

    return CheckPlan(
        of_subject=taking("subject"),
        of_texts=taking("texts"),
        of_both=taking("subject", "texts"),
        triggered=lru_cache(MOST_TRIGGERS)(
            lambda present: tuple(one for one in triggered if not present.isdisjoint(one.when))
        ),
        trigger=re.compile(f"[{re.escape(''.join(characters))}]") if characters else None,
        compared=tuple(one for one in running if one.compares),
    )
