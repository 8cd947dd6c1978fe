"""What an adapter of a published benchmark is: one file, registered by its name."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Protocol

from generators.abilities import ability_of
from mihakk.ids import digest as digest_of
from mihakk.registry import Registry
from schemas.evaluation import Question


class Published(NamedTuple):
    """One question of a published benchmark, with the prompt its authors sent."""

    question: Question
    prompt: str


class Adapter(Protocol):
    """Reads one published benchmark."""

    version: ClassVar[str]
    """Raised with every change of what is asked or counts as right."""

    def files(self, folder: Path) -> Sequence[Path]:
        """The files that are read, in a fixed order: their digest pins the benchmark."""

    def read(self, folder: Path, digest: str) -> Iterator[Published]:
        """Every question."""


def published(prompt: str, content: Sequence[Any], /, **facts: Any) -> Published:
    """A question as its authors put it.

    Args:
        prompt: As it is sent.
        content: What the question's digest covers.
        facts: Fields of `Question`, at least `item`, `release`, `digest`, `config`, `task` and `language`;
            the item is a cluster of its own where no `group` is named.
    """
    known = {"version": "published", "group": facts["item"], "ability": ability_of(facts["task"])}
    question = Question.model_validate({**known, "content_hash": digest_of(content), **facts})
    return Published(question, prompt)


def reason_of(error: Exception) -> str:
    """What is wrong with a row, for a message: the column it lacks, or what does not fit."""
    return f"no column {error}" if isinstance(error, KeyError) else str(error) or repr(error)


ADAPTERS: Registry[Adapter] = Registry("adapter", "evaluation.adapters")
