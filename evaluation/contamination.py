"""Whether a system has seen a benchmark: three probes.

Probes are prompts made from items and a look at the replies; nothing here asks a model.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from mihakk.seeds import rng
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
