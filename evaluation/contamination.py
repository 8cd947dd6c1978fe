"""Whether a system has seen a benchmark: three probes, and familiarity with what was published.

Probes are prompts made from items and a look at the replies; nothing here asks a model. Classical verse is
older than any model, so unpublished couplets in the same metre and rhyme stand beside it as controls.
"""

from __future__ import annotations

from math import sqrt
from typing import Final, NamedTuple

from evaluation.statistics.cluster import Estimate
from mihakk.seeds import rng
from mihakk.stats import t_quantile
from mihakk.text import key
from schemas.record import Language

LEAST_CONTINUED: Final = 50
"""Characters of the true text, folded, that a reply has to begin with."""


class Cut(NamedTuple):
    """A text to be continued, and how it goes on."""

    shown: str
    hidden: str


def cut_canary(line: str, guid: str) -> Cut:
    """The first half of a canary's sentence; the identifier is in what is hidden.

    Raises:
        ValueError: The line does not hold the identifier.
    """
    if guid not in line:
        raise ValueError(f"the canary's line does not hold {guid}")
    words = line[: line.index(guid)].split()
    shown = " ".join(words[: max(1, len(words) // 2)])
    return Cut(shown, line[len(shown) :].strip())


def names_canary(reply: str, guid: str) -> bool:
    """Whether a reply holds the identifier, which nobody can guess: proof of training on the benchmark."""
    return _plain(guid) in _plain(reply)


def cut_in_middle(text: str, language: Language) -> Cut | None:
    """A text cut between two words, its hidden half too long to be guessed; None where it is short."""
    words = text.split()
    for place in range(len(words) // 2, 0, -1):
        hidden = " ".join(words[place:])
        if len(key(hidden, language)) >= LEAST_CONTINUED:
            return Cut(" ".join(words[:place]), hidden)
    return None


def shuffled_twin(text: str, *, seed: int, name: str) -> str:
    """The text with its words in another order: as hard to continue for whoever has not seen it."""
    words = text.split()
    rng(seed, name, "contamination_twin").shuffle(words)
    return " ".join(words)


def continues(reply: str, hidden: str, language: Language) -> bool:
    """Whether a reply begins with the next 50 characters of the text, by its folded letters."""
    expected = key(hidden, language)[:LEAST_CONTINUED]
    return len(expected) == LEAST_CONTINUED and key(reply, language).startswith(expected)


class Familiarity(NamedTuple):
    """Known verse less unpublished controls."""

    gap: float
    low: float | None
    """95 % interval; None where either side has too few clusters for one."""
    high: float | None


def familiarity(known: Estimate, controls: Estimate) -> Familiarity:
    """The gap between classical verse and controls in its metre and rhyme that nobody has published.

    Two independent clustered means; degrees of freedom after B. L. Welch, 1947.
    """
    gap = known.mean - controls.mean
    if known.se is None or controls.se is None or known.low is None or controls.low is None:
        return Familiarity(gap, None, None)
    one, other = known.se**2, controls.se**2
    if one + other == 0:
        return Familiarity(gap, gap, gap)
    degrees = (one + other) ** 2 / (one**2 / (known.clusters - 1) + other**2 / (controls.clusters - 1))
    reach = t_quantile(degrees) * sqrt(one + other)
    return Familiarity(gap, gap - reach, gap + reach)


def _plain(text: str) -> str:
    """Text without what a model may write otherwise: case, hyphens, spaces."""
    return "".join(char for char in text.lower() if char.isalnum())
