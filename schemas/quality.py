"""What is measured of choice items as a set: solvers that go by form alone, and how like options are."""

from __future__ import annotations

from mihakk.schemas.record import Language, Record


class Baseline(Record):
    """How far one solver that goes by form alone gets on one task."""

    task: str
    language: Language
    name: str
    """`random`, a cue of `mihakk.generators.quality.cues`, `most_similar`, `options_only` or `all_cues`."""
    questions: int
    """Questions scored; the two orders of a pair are one."""
    accuracy: float
    """Expected share right, ties broken by lot."""
    chance: float
    low: float
    """Lower end of the 95 % Wilson interval of the accuracy."""
    high: float

    @property
    def config(self) -> str:
        """`<language>_<task>`."""
        return f"{self.language}_{self.task}"

    @property
    def margin(self) -> float:
        """How far it beats chance."""
        return self.accuracy - self.chance


class ValueSpread(Record):
    """How one measure of right and wrong options is spread over the questions of a strategy."""

    task: str
    language: Language
    strategy: str
    measure: str
    """`cosine` of right and wrong option, `letters` they have in common order once spelling is folded, or
    `length_ratio`: characters of the wrong per one of the right."""
    options: int
    """Wrong options measured."""
    mean: float
    p05: float
    p25: float
    median: float
    p75: float
    p95: float

    @property
    def config(self) -> str:
        """`<language>_<task>`."""
        return f"{self.language}_{self.task}"
