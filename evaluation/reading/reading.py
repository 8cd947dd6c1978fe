"""What reading a reply gives, and the versions of the rules."""

from __future__ import annotations

from typing import Final, NamedTuple

READERS: Final = {
    "choice": "choice/4",
    "answer": "answer/4",
    "explanation": "verses/2",
    "code": "program/2",
    "likelihood": "likelihood/1",
}
"""Reader of each kind of answer, with the version of its rules: raised by changes by which a stored reply
could be read differently. Scores of two versions are never compared."""

LONGEST: Final = 1 << 16
"""Characters of the longest reply that is read, without its thoughts; a longer one repeats itself."""


class Reading(NamedTuple):
    """What one reply answers."""

    text: str = ""
    """The answer as written: the label, or the words."""
    picks: tuple[int, ...] = ()
    """Indices of the options chosen; empty unless the question is a choice and was answered."""
    rule: str = ""
    """The rule that fired, `<rule>/<version>`; empty where none did."""
    notes: tuple[str, ...] = ()
    """What had to be allowed for: `cut_tag`, `no_tag`, `other_alphabet`, `several`, `too_long`, ...;
    `run_on`: it goes on with a question of its own, or in a circle; `changed_answer`: it takes one back."""
    verses: tuple[str | None, ...] = ()
    """An explanation per verse of the poem, None where the reply has none; explanations alone."""
    format_ok: bool = False
    """Whether the reply is the answer in the form asked for and nothing else."""

    @property
    def found(self) -> bool:
        """Whether the reply answers at all."""
        return bool(self.rule)


UNREAD: Final = Reading()
