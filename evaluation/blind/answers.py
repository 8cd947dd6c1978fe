"""Answers of a season's submissions: read once, and kept without a word on right or wrong."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
import orjson
from filelock import FileLock
from numpy.typing import NDArray

from mihakk.evaluation.blind.disclosure import Keyed
from mihakk.evaluation.metrics.metric import METRICS, Case
from mihakk.evaluation.reading import Reading, read
from mihakk.machinery.errors import ExternalFailure
from mihakk.machinery.ids import digest
from mihakk.machinery.text import key
from mihakk.machinery.whole import write_whole
from mihakk.schemas.blind import RANKED
from mihakk.schemas.evaluation import Question

KEPT: Final = "answers"
"""Folder of what was read in each submission, in a season's folder."""


class Marked(NamedTuple):
    """A submission as it was read."""

    tokens: list[str]
    """What was read in each reply, in the order of the questions; equal for replies that answer alike."""
    values: NDArray[np.float64]
    """1 or 0 an item. They are never written anywhere."""


class Answers:
    """What was read in each submission of a season.

    Args:
        questions: The questions that are ranked, with their golds, by item.
        folder: Where it is kept, a file a submission.
        keyed: Digests by the release's secret, which name the files.
    """

    def __init__(self, questions: Mapping[str, Question], folder: Path, keyed: Keyed) -> None:
        self.questions, self.folder, self.keyed = questions, folder, keyed
        self._known: dict[str, NDArray[np.float64]] = {}

    def read(self, replies: Mapping[str, str]) -> Marked:
        """Reads and scores a reply to every question."""
        readings = [read(question, "written", replies[name]) for name, question in self.questions.items()]
        return self._scored(
            [
                ",".join(map(str, one.picks)) or key(one.text, question.language) if one.found else ""
                for one, question in zip(readings, self.questions.values(), strict=True)
            ]
        )

    def name(self, tokens: Sequence[str]) -> str:
        """Name of answers; the same for all that answer alike."""
        return self.keyed("answers", digest(tokens))

    def keep(self, name: str, marked: Marked) -> None:
        """Writes down what was read."""
        write_whole(self._path(name), orjson.dumps(marked.tokens), 0o600)
        self._known[name] = marked.values

    def values(self, name: str) -> NDArray[np.float64]:
        """1 or 0 an item, of what was kept under a name.

        Raises:
            ExternalFailure: It is missing, or not what was kept.
        """
        if name not in self._known:
            try:
                self._known[name] = self._scored(self.tokens(name)).values
            except (ValueError, IndexError, TypeError, AttributeError) as error:
                raise _damaged(self._path(name)) from error
        return self._known[name]

    def tokens(self, name: str) -> list[str]:
        """What was kept under a name, as it was read.

        Raises:
            ExternalFailure: It is missing, or not what was kept.
        """
        path = self._path(name)
        try:
            tokens: list[str] = orjson.loads(path.read_bytes())
            if self.name(tokens) != name:
                raise ValueError("other answers than those that were scored")
        except (OSError, ValueError, TypeError, AttributeError) as error:
            raise _damaged(path) from error
        return tokens

    def lost(self, names: Iterable[str]) -> list[str]:
        """The names under which what was read is not kept any more, or no longer as it was."""
        return [name for name in names if not self._is_whole(name)]

    def _is_whole(self, name: str) -> bool:
        try:
            self.tokens(name)
        except ExternalFailure:
            return False
        return True

    def _path(self, name: str) -> Path:
        return self.folder / f"{name}.json"

    def _scored(self, tokens: list[str]) -> Marked:
        """Right and wrong, of what was read alone: answers that are kept need no more."""
        values = []
        for token, question in zip(tokens, self.questions.values(), strict=True):
            metric = METRICS.get(RANKED[question.kind])
            picks = tuple(map(int, token.split(","))) if token and question.kind == "choice" else ()
            case = Case(question, Reading(text=token, picks=picks, rule="kept"), token)
            values.append(float(metric.score([case])[0].value or 0.0))
        return Marked(tokens, np.array(values))


def forget_values(store: Path) -> None:
    """Of seasons that kept right and wrong beside the answers (`read/`), the answers are kept alone."""
    with FileLock(store / "seasons.lock", timeout=60):
        for path in sorted(store.glob("*/read/*.json")):
            try:
                tokens = orjson.loads(path.read_bytes())["tokens"]
            except (OSError, ValueError, KeyError, TypeError) as error:
                raise _damaged(path) from error
            write_whole(path.parent.with_name(KEPT) / path.name, orjson.dumps(tokens), 0o600)
            path.unlink()


def _damaged(path: Path) -> ExternalFailure:
    return ExternalFailure(
        f"{path} is missing or damaged: put it back from a copy, or move the file that was scored from "
        "`scored/` back into the inbox, and run again"
    )
