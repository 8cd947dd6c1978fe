"""What a metric is: a figure of one answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.metadata import PackageNotFoundError, version
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mihakk.evaluation.reading import Reading
from mihakk.machinery.errors import UsageError
from mihakk.machinery.registry import Registry
from mihakk.machinery.settings import install_command
from mihakk.schemas.evaluation import AnswerKind, Method, Question

Options = Mapping[str, str]
UNITS: Final = ("verse", "couplet", "poem")
"""Of an explained poem: how many of its explanations are compared as one text (one, two, all)."""
METHODS: Final[tuple[Method, ...]] = ("written", "likelihood", "label_logprob")


class Case(NamedTuple):
    """One answer as a metric sees it."""

    question: Question
    reading: Reading
    reply: str
    """Raw, for protocols that have a reader of their own."""
    likelihoods: tuple[float, ...] = ()


class Scored(NamedTuple):
    """One figure and what it was made of."""

    value: float | None
    """None only where a published protocol leaves the answer out."""
    detail: Mapping[str, Any]


ScoreAll = Callable[[Sequence[Case], Options], Sequence[Scored]]


def _every(_: Question) -> bool:
    return True


@dataclass(frozen=True)
class Metric:
    """A figure of one answer."""

    name: str
    title: str
    meaning: str
    """The rules, as the docs print them."""
    kinds: tuple[AnswerKind, ...]
    score_all: ScoreAll
    version: str = "1"
    """Raised by every change after which the same answer could score differently."""
    methods: tuple[Method, ...] = METHODS
    low: float | None = 0.0
    high: float | None = 1.0
    higher_is_better: bool = True
    when: Callable[[Question], bool] = _every
    """Which questions of those kinds it applies to."""
    options: Options = field(default_factory=dict)
    libraries: tuple[str, ...] = ()
    """Distributions that a score depends on; their versions stand in the signature."""
    extra: str = ""
    """Extra of the project that brings them; empty where the core does."""
    total: Callable[[NDArray[np.float64], Options], float] | None = None
    """Figure of many answers from the sum of the details' `statistics`; None where it is the mean."""
    ranks: bool = True
    """Whether systems may be ordered by it; if not it stands beside other columns only."""
    probe: bool = False
    """Whether it is of probes for contamination that are answered in words; all others leave these out."""
    raw: bool = False
    """Whether it reads replies by a published protocol's own rules, and so scores even those that ours can't
    read; all other metrics have their worst value there."""

    def with_options(self, given: Mapping[str, str | int]) -> Metric:
        """The metric with some options set otherwise; they stand in its signature.

        Raises:
            UsageError: It has no such option, or none of that value.
        """
        can = {*self.options, "unit"} if "model" in self.options else set()
        if unknown := sorted(given.keys() - can):
            has = ", ".join(sorted(can)) or "none: its rules are fixed"
            raise UsageError(f"metric_options: {self.name} has no {unknown[0]!r}; it has {has}")
        if (unit := str(given.get("unit", "verse"))) not in UNITS:
            raise UsageError(f"metric_options: {self.name}'s unit is {unit!r}; it can be {', '.join(UNITS)}")
        told = {name: str(value) for name, value in given.items()}
        return replace(self, options={**self.options, **told})

    @property
    def signature(self) -> str:
        """Everything a value depends on besides the answer."""
        parts = [f"{self.name}/{self.version}"]
        parts += [f"{name}:{value}" for name, value in sorted(self.options.items())]
        for library in self.libraries:
            try:
                parts.append(f"{library}:{version(library)}")
            except PackageNotFoundError as error:
                raise not_installed(library, self.extra) from error
        return "|".join(parts)

    @property
    def worst(self) -> float:
        """Value of an answer that is empty or could not be read: 0, or the most where less is better."""
        if self.higher_is_better:
            return max(0.0, self.low or 0.0)
        return 0.0 if self.high is None else self.high

    def applies(self, question: Question, method: Method) -> bool:
        """Whether an answer to this question, had by this method, has this figure."""
        if (question.ability == "probe" and question.kind != "choice") != self.probe:
            return False
        return question.kind in self.kinds and method in self.methods and self.when(question)

    def score(self, cases: Sequence[Case]) -> list[Scored]:
        """One figure per answer, in order."""
        return list(self.score_all(cases, self.options))


METRICS: Registry[Metric] = Registry("metric", "mihakk.evaluation.metrics")


def known_metric(name: str) -> Metric | None:
    """The metric of that name; None of one that is scored elsewhere, as judges' are."""
    return METRICS.get(name) if name in METRICS.names() else None


def metric(**facts: Any) -> Callable[[Callable[[Case], Scored]], Callable[[Case], Scored]]:
    """Registers a function of one answer as the metric of its own name; its docstring states the rules.

    Args:
        facts: Fields of `Metric`, at least `title` and `kinds`.
    """

    def register(score: Callable[[Case], Scored]) -> Callable[[Case], Scored]:
        _add(score, lambda cases, _: [score(case) for case in cases], facts)
        return score

    return register


def batch_metric(**facts: Any) -> Callable[[ScoreAll], ScoreAll]:
    """As `metric`, of a function that scores written replies all at once, as models do."""

    def register(score_all: ScoreAll) -> ScoreAll:
        _add(score_all, score_all, {"methods": ("written",), **facts})
        return score_all

    return register


def _add(documented: Callable[..., Any], score_all: ScoreAll, facts: Mapping[str, Any]) -> None:
    meaning = " ".join((documented.__doc__ or "").split())
    METRICS.add(
        documented.__name__, Metric(documented.__name__, meaning=meaning, score_all=score_all, **facts)
    )


def not_installed(library: str, extra: str = "metrics") -> UsageError:
    """The error of a metric whose library is missing."""
    return UsageError(f"this metric needs {library}: {install_command(extra)}")
