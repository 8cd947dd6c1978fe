"""What a check is, how one is declared, and which ones a config lets run."""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache, reduce
from inspect import signature
from operator import or_
from types import UnionType
from typing import Any, TypeAlias, get_args

from mihakk.machinery.errors import UsageError
from mihakk.machinery.languages import pack
from mihakk.machinery.registry import Registry, misfits
from mihakk.machinery.remembered import Remembered
from mihakk.schemas.benchmark import ChecksConfig
from mihakk.schemas.finding import Severity
from mihakk.schemas.idiom import Idiom
from mihakk.schemas.item import AnswerItem, ChoiceItem, Item
from mihakk.schemas.poem import Poem
from mihakk.schemas.record import Language
from mihakk.validators.checks.setindex import SetIndex

Checked: TypeAlias = Item | Poem | Idiom


@dataclass(frozen=True, slots=True)
class Objection:
    """What is wrong with a subject; the framework adds the check's id and severity."""

    detail: str
    where: str = ""
    """Field the evidence stands in, e.g. `options[2]`."""
    note: bool = False
    """It is only counted: what the check says of such rows was seldom worth a maintainer's time."""


Objections: TypeAlias = Iterator[Objection]
CheckFunction = Callable[..., Objections]
Sign = Callable[[str], object]
"""Whether one word holds, or may be a part of, what a check objects to."""


@dataclass(frozen=True, slots=True)
class Check:
    """One rule: its identity, what it applies to, and the generator that raises its objections."""

    id: str
    title: str
    """What holds when nothing is wrong, in a few words."""
    severity: Severity
    earned: tuple[Language, ...]
    """Languages in which it blocks as long as the committed readings say that it may."""
    on: tuple[type, ...]
    compares: bool
    """It needs the prepared set."""
    when: frozenset[str] | Sign
    """Characters of which one must occur, or a test that one word must pass; empty: it always runs."""
    function: CheckFunction
    run: Callable[[Any, Any, Any], Objections]
    """The function, called with subject, texts and index, whichever of the three it takes."""
    needs: tuple[str, ...] = ()
    """What a language's pack must tell for the check to be whole."""
    apart: bool = False
    """It looks at texts alone: where an item has several languages, at the texts of each by themselves."""


_IDENTIFIER = re.compile("[A-Z]{2}[0-9]{2}")
CHECKS: Registry[Check] = Registry("check", "mihakk.validators.checks")


def check_titles() -> dict[str, str]:
    """What each check guards, by its id."""
    return {check.id: check.title for _, check in CHECKS}


def check(
    identifier: str,
    *,
    severity: Severity,
    title: str,
    earned: tuple[Language, ...] = (),
    on: type | UnionType = Checked,
    when: Iterable[str] | Sign = (),
    needs: tuple[str, ...] = (),
) -> Callable[[CheckFunction], CheckFunction]:
    """Registers a generator of objections as a check.

    The generator names what it needs: its subject (under any name), `texts` for the shared matching forms,
    `index` for the rest of the set. One that takes `index` alone speaks of the whole set.

    Args:
        identifier: Two letters of the family and two digits; never reused, even after a check is removed.
        severity: What a finding does unless the config overrides it; `block` for facts of shape alone
            (`effect.BY_DEFINITION`).
        title: What holds when nothing is wrong.
        earned: Languages in which a finding blocks, by what people read of it (`effect.readings`).
        on: Items and records it applies to; `SetIndex` for a check of the whole set.
        when: Characters that the check is about, or a test of one word, which is what stands between two
            spaces: the check is not called for a subject none of whose words has them or passes.
        needs: What the pack of the text's language must tell, as `cues` or `writing.alphabet`, or the level
            that it must have; where it does not, an audit says that the check found little or nothing.
    """
    kinds = get_args(on) or (on,)
    sign = when if callable(when) else frozenset(when)
    if not callable(sign) and " " in sign:
        raise TypeError(f"{identifier}: `when` asks of words, and no word holds a space")
    if not _IDENTIFIER.fullmatch(identifier):
        raise ValueError(f"{identifier!r} is no id: give two capital letters and two digits")
    for need in needs:
        try:
            pack("ar").tells_of(need)
        except AttributeError:
            raise ValueError(f"{identifier}: no language tells {need!r}, which `needs` names") from None

    def register(function: CheckFunction) -> CheckFunction:
        takes = tuple(
            name if name in ("texts", "index") else "subject" for name in signature(function).parameters
        )
        if sign and takes != ("texts",):
            raise TypeError(f"{identifier}: a check with `when` takes texts alone")
        if takes not in CALLS or (takes == ("index",)) != (kinds == (SetIndex,)):
            raise TypeError(f"{identifier}: a check takes {sorted(CALLS)}, and index alone on=SetIndex")
        run = CALLS[takes](function)
        CHECKS.add(
            identifier,
            Check(
                *(identifier, title, severity, earned, kinds, "index" in takes, sign, function, run, needs),
                apart=takes == ("texts",),
            ),
        )
        return function

    return register


CALLS: dict[tuple[str, ...], Callable[[CheckFunction], CheckFunction]] = {
    ("subject",): lambda function: lambda subject, _, __: function(subject),
    ("texts",): lambda function: lambda _, texts, __: function(texts),
    ("index",): lambda function: lambda _, __, index: function(index),
    ("subject", "texts"): lambda function: lambda subject, texts, _: function(subject, texts),
    ("subject", "index"): lambda function: lambda subject, _, index: function(subject, index),
    ("texts", "index"): lambda function: lambda _, texts, index: function(texts, index),
    ("subject", "texts", "index"): lambda function: function,
}
"""What a generator may take, and how it is called with all three."""
MOST_TRIGGERS = 4096
"""Sets of reasons for which it is remembered what they trigger: most texts have one of few."""


class _Triggers(Remembered[int]):
    """The checks that a word triggers, as bits."""

    def __init__(self, checks: Sequence[Check]) -> None:
        super().__init__(self._reasons)
        signs = [(1 << place, one.when) for place, one in enumerate(checks)]
        self.tests = [(bit, sign) for bit, sign in signs if callable(sign)]
        self.characters = [(bit, sign) for bit, sign in signs if not callable(sign)]
        every = "".join(sorted(char for _, characters in self.characters for char in characters))
        self.has_any = re.compile(f"[{re.escape(every)}]").search if every else lambda _: None

        def triggered(reasons: frozenset[int]) -> tuple[Check, ...]:
            either = reduce(or_, reasons, 0)
            return tuple(one for place, one in enumerate(checks) if either >> place & 1)

        self._triggered = lru_cache(MOST_TRIGGERS)(triggered)

    def by(self, words: Iterable[str]) -> tuple[Check, ...]:
        """The checks that run for these words."""
        return self._triggered(frozenset(map(self.__getitem__, words)))

    def _reasons(self, word: str) -> int:
        reasons = 0
        for bit, test in self.tests:
            if test(word):
                reasons |= bit
        if self.has_any(word):
            reasons |= sum(bit for bit, characters in self.characters if not characters.isdisjoint(word))
        return reasons


@dataclass(frozen=True, slots=True)
class CheckPlan:
    """The checks of one type of subject, arranged so that most subjects cost few calls."""

    always: tuple[Check, ...]
    triggers: _Triggers
    """Those that only some words call for."""
    compared: tuple[Check, ...]
    """Those that need the rest of the set."""


@dataclass(frozen=True, slots=True)
class Active:
    """The checks that a config lets run, with the severity it gives them."""

    severity: dict[str, Severity]
    """What the config gives a check."""
    plans: dict[type, CheckPlan]
    whole: tuple[Check, ...]
    """Checks of the whole set."""


def unchecked(language: Language, off: Collection[str] = ()) -> list[str]:
    """Ids of the checks of outside items that say little or nothing of a language, by what its pack lacks."""
    own = pack(language)
    return [
        name
        for name, one in CHECKS
        if name not in off
        and {ChoiceItem, AnswerItem, SetIndex} & set(one.on)
        and not all(map(own.tells_of, one.needs))
    ]


def active(config: ChecksConfig) -> Active:
    """Checks left on by the config, in order of id.

    Raises:
        UsageError: The config names a check that does not exist; the message names the nearest.
    """
    for name in (*config.off, *config.severity):
        CHECKS.get(name)
    running = [_named(found) for name, found in CHECKS if name not in config.off]
    return Active(
        severity=dict(config.severity),
        plans={kind: _plan([one for one in running if kind in one.on]) for kind in get_args(Checked)},
        whole=tuple(one for one in running if one.on == (SetIndex,)),
    )


@cache
def _named(one: Check) -> Check:
    """The check; one that another package brings names that package where it fails."""
    origin = CHECKS.origin(one.id)
    if not origin:
        return one

    def run(subject: Any, texts: Any, index: Any) -> Objections:
        try:
            for found in one.run(subject, texts, index):
                if not isinstance(found, Objection):
                    raise TypeError(f"{found!r} is no Objection")
                if wrong := misfits(found):
                    raise TypeError("; ".join(wrong))
                yield found
        except Exception as error:
            about = getattr(subject, "id", "the whole set")
            raise UsageError(
                f"the check {one.id} of the package {origin} failed at {about} ({type(error).__name__}: "
                f"{error}): correct or update that package, or leave it out: `checks: {{off: [{one.id}]}}`"
            ) from error

    return replace(one, run=run)


def _plan(running: Sequence[Check]) -> CheckPlan:
    return CheckPlan(
        always=tuple(one for one in running if not one.compares and not one.when),
        triggers=_triggers(tuple(one for one in running if one.when)),
        compared=tuple(one for one in running if one.compares),
    )


_triggers = cache(_Triggers)
"""What words trigger, remembered from shard to shard."""
