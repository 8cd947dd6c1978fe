"""BALSAM: the public development sets, JSON files of one data set each, laid out as by its runner."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from mihakk.evaluation.adapters.adapter import ADAPTERS, Adapter, Facts, Row, not_of, tables_in
from mihakk.evaluation.questions import listed
from mihakk.machinery.errors import SourceChanged
from mihakk.machinery.text import key

LABELS: Final = tuple("ABCDEFGHIJKLMNOPQRSTUVWXYZ")
SPLIT: Final = "dev"
"""The test split is blind: its outputs are not public."""


def _files(folder: Path) -> list[Path]:
    return tables_in(folder, "**/*.json")


def _rows(folder: Path) -> Iterator[tuple[str, Row]]:
    """Every data set as the authors' runner reads it (ksaa-nlp/balsam-eval, src/task.py).

    An object with `name`, `category`, `task` and `data`, which holds rows by split: `input`, `output`, maybe
    an `instruction`, which stands above the input, and the options of a choice in `mcq`.
    """
    for path in _files(folder):
        try:
            told = json.loads(path.read_text(encoding="utf-8"))
            name, category, task = (_slug(str(told[field])) for field in ("name", "category", "task"))
            rows = told["data"][SPLIT]
        except (ValueError, KeyError, TypeError) as error:
            raise not_of("BALSAM", str(path), error, "data set") from error
        if not rows:
            raise SourceChanged(f"{path}: its {SPLIT} split has no rows")
        for number, row in enumerate(rows, 1):
            known = {"number": number, "set": name, "task": f"{category}/{task}"}
            yield f"{path}, row {number}", known | {"row": row}


def _ask(given: Row) -> Iterator[Facts]:
    row = given["row"]
    output, shown = _text(row["output"]), _text(row["input"])
    if not output or not shown:
        raise ValueError("an empty input or output")
    if instruction := _text(row.get("instruction") or ""):
        shown = f"{instruction}\n{shown}"
    more: Facts = {"kind": "answer", "answer": output}
    if row.get("mcq"):
        more = _choice([_text(one) for one in row["mcq"]], output)
        shown += "\n\nالخيارات:\n" + listed(more["labels"], more["options"], ".")
    yield {
        "shown": shown,
        "content": [shown, more],
        "item": f"balsam-{given['set']}-{given['number']}",
        "config": f"ar_{given['set']}",
        "task": given["task"],
        "language": "ar",
        "slices": {"split": SPLIT},
        **more,
    }


def _choice(options: list[str], output: str) -> Facts:
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


ADAPTERS.add("balsam", Adapter("BALSAM", _files, _rows, _ask, "balsam", prompts="theirs"))
