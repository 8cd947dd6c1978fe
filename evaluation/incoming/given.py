"""What systems answered, as a file of results has it: joined to no benchmark yet."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from mihakk.machinery.errors import RecordRejected

NOTHING: Final[Mapping[str, Any]] = MappingProxyType({})


@dataclass(slots=True, eq=False)
class AskedThere:
    """An item as the file shows it; what the file does not say is empty."""

    where: str
    """`line 3`, `sample 7`."""
    body: Any = b""
    """What stands there: bytes of a line, or plain values."""
    item: str = ""
    """Its id there."""
    index: int | None = None
    """Its place in the data set, from 0, where the file says one."""
    text: str = ""
    """The question, or the prompt that ends in it."""
    options: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    """Labels as the prompt showed them."""
    gold: tuple[int, ...] = ()
    answers: tuple[str, ...] = ()
    """What counts as right in words, where there are no options."""
    content_hash: str = ""
    """Of a release of ours."""
    compared: tuple[str, ...] = ()
    """Texts whose likelihoods were compared."""
    config: str = ""
    """Data set or task."""
    key: str = ""
    """What the file says is right, as it writes it, where its row shows no options."""


class Given(NamedTuple):
    """One answer of one system: a reply, a pick, likelihoods, an error, or only whether it was right."""

    asked: AskedThere
    system: str
    reply: str = ""
    pick: int | None = None
    """Place of the chosen option among the benchmark's; -1 where none was chosen."""
    likelihoods: tuple[float, ...] = ()
    correct: bool | None = None
    """Where the file says nothing else."""
    more: Mapping[str, Any] = NOTHING
    """Further fields of `Answer`."""
    own: Mapping[str, float] = NOTHING
    """The file's own scores."""


class Refused(NamedTuple):
    """A record that is no answer, and why."""

    asked: AskedThere
    system: str
    problem: RecordRejected
