"""BALSAM: the public development sets, JSON files of one data set each, in the authors' own prompts."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar, Final

from evaluation.adapters._tables import tables_in
from evaluation.adapters.adapter import ADAPTERS, Published, published, reason_of
from evaluation.questions import listed
from mihakk.errors import SourceChanged
from mihakk.text import key

LABELS: Final = tuple("ABCDEFGHIJKLMNOPQRSTUVWXYZ")
SPLIT: Final = "dev"
"""The test split is blind: its outputs are not public."""


class Balsam:
    """Every `*.json` of the folder, as the authors' runner reads them (ksaa-nlp/balsam-eval, src/task.py).

    An object with `name`, `category`, `task` and `data`, which holds rows by split: `input`, `output`, maybe
    an `instruction`, which stands above the input, and the options of a choice in `mcq`.
    """

    version: ClassVar[str] = "1"

    def files(self, folder: Path) -> Sequence[Path]:
        """The data sets."""
        return tables_in(folder, "**/*.json")

    def read(self, folder: Path, digest: str) -> Iterator[Published]:
        """One question per row of the development split."""
        for path in self.files(folder):
            try:
                told = json.loads(path.read_text(encoding="utf-8"))
                name, category, task = (str(told[field]) for field in ("name", "category", "task"))
                rows = told["data"][SPLIT]
            except (ValueError, KeyError, TypeError) as error:
                raise SourceChanged(f"{path}: not a data set of BALSAM ({reason_of(error)})") from error
            if not rows:
                raise SourceChanged(f"{path}: its {SPLIT} split has no rows")
            for number, row in enumerate(rows, 1):
                try:
                    yield _question(row, number, _slug(name), f"{_slug(category)}/{_slug(task)}", digest)
                except (KeyError, TypeError, ValueError) as error:
                    where = f"{path}, row {number}"
                    raise SourceChanged(f"{where}: not a row of BALSAM ({reason_of(error)})") from error


def _question(row: dict[str, Any], number: int, name: str, task: str, digest: str) -> Published:
    output, shown = _text(row["output"]), _text(row["input"])
    if not output or not shown:
        raise ValueError("an empty input or output")
    if instruction := _text(row.get("instruction") or ""):
        shown = f"{instruction}\n{shown}"
    more: dict[str, Any] = {"kind": "answer", "answer": output}
    if row.get("mcq"):
        more = _choice([_text(one) for one in row["mcq"]], output)
        shown += "\n\nالخيارات:\n" + listed(more["labels"], more["options"], ".")
    return published(
        shown,
        [shown, more],
        item=f"balsam-{name}-{number}",
        release="balsam",
        digest=digest,
        config=f"ar_{name}",
        task=task,
        language="ar",
        **more,
    )


def _choice(options: list[str], output: str) -> dict[str, Any]:
    """The option that the output names, by its words or by its label."""
    labels = LABELS[: len(options)]
    keys = [key(option, "ar") for option in options]
    if keys.count(key(output, "ar")) == 1:
        gold = keys.index(key(output, "ar"))
    elif output.rstrip(".) ").upper() in labels:
        gold = labels.index(output.rstrip(".) ").upper())
    else:
        raise ValueError(f"the output {output!r} is none of the options {options}")
    return {"kind": "choice", "options": options, "labels": labels, "gold": [gold]}


def _text(value: Any) -> str:
    """A text, or the first of a list of them: the newer files hold lists."""
    first = (value[0] if value else "") if isinstance(value, list) else value
    if not isinstance(first, str):
        raise TypeError(f"no text: {first!r}")
    return first.strip()


def _slug(name: str) -> str:
    return re.sub(r"[^\w-]+", "_", name.strip().lower()).strip("_")


ADAPTERS.add("balsam", Balsam())
