"""QIMMA: the cleaned sets of its leaderboard, `MCQ_*` and `QA_*`, each with the prompt its authors sent."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

from mihakk.evaluation.adapters.adapter import ADAPTERS, Adapter, Facts, Row, rows_with, tables_in

LABELS: Final = ("أ", "ب", "ج", "د", "هـ", *"وزحطيكلمنسعفصقرشتثخذضظغ")
"""As the leaderboard's code labels choices; the fifth is two code points."""
_COLUMNS: Final = {"MCQ": ("prompt", "choices", "index"), "QA": ("prompt", "choices")}
_COLUMN: Final = {
    **dict.fromkeys(("nativeqa", "nativeqa_rdp", "syntheticqa"), "3lm_stem"),
    "arablegaleval": "arablegalqa",
}
"""Data sets to the column of the paper's table 3 that they are part of; others are a column each."""
_SEVERAL: Final = "MizanQA"
"""Any number of its choices may be right."""


class _Place(NamedTuple):
    """Where a row belongs: `MCQ_ArabicMMLU/History (High School)/test-....parquet`."""

    kind: str
    benchmark: str
    subset: str


def _files(folder: Path) -> list[Path]:
    """The tables of test splits, of copies of the datasets `qimma/MCQ_*` and `qimma/QA_*`, a folder each."""
    found = [path for path in tables_in(folder, "*_*/**/*") if path.name.startswith("test")]
    return [path for path in found if _place(path, folder).kind in _COLUMNS]


def _rows(folder: Path) -> Iterator[tuple[str, tuple[_Place, int, Row]]]:
    """Rows in the columns that the authors' task file reads (tiiuae/lighteval_qimma, tasks/multilingual/
    tasks/qimma.py), numbered within their subset; the folders inside a set are its subsets, as on the Hub."""
    numbers: Counter[_Place] = Counter()
    for path in _files(folder):
        place = _place(path, folder)
        for where, row in rows_with(path, _COLUMNS[place.kind]):
            numbers[place] += 1
            yield where, (place, numbers[place], row)


def _ask(given: tuple[_Place, int, Row]) -> Iterator[Facts]:
    place, number, row = given
    more = _choice(row, place.benchmark) if place.kind == "MCQ" else _answer(row)
    prompt = _text(row, "prompt", "text")
    name = f"qimma-{place.kind.lower()}-{place.benchmark}-{place.subset}-{number}"
    more |= {"item": name, "slices": {"subset": place.subset}}
    benchmark = place.benchmark.lower().replace("-", "_")
    config, task = f"ar_{place.kind.lower()}_{benchmark}", _COLUMN.get(benchmark, benchmark)
    facts = {"config": config, "task": task, "language": "ar", **more}
    yield {"shown": prompt, "content": [prompt, more], **facts}


def _place(path: Path, folder: Path) -> _Place:
    kind, _, benchmark = path.relative_to(folder).parts[0].partition("_")
    inner = [part for part in path.relative_to(folder).parts[1:-1] if part != "data"]
    return _Place(kind, benchmark, "/".join(inner) or "default")


def _choice(row: Row, benchmark: str) -> Facts:
    choices, index = row["choices"], row["index"]
    if not isinstance(choices, list) or not all(isinstance(one, str) and one.strip() for one in choices):
        raise ValueError(f"`choices` is no list of texts: {choices!r}")
    gold = sorted({int(one) for one in (index if isinstance(index, list) else [index])})
    if not gold or not 0 <= gold[0] <= gold[-1] < len(choices) <= len(LABELS):
        raise ValueError(f"`index` {index!r} names none of {len(choices)} choices")
    several = benchmark == _SEVERAL
    if len(gold) > 1 and not several:
        raise ValueError(f"`index` {index!r} names several choices where one is asked for")
    return {
        "kind": "choice",
        "options": choices,
        "labels": LABELS[: len(choices)],
        "gold": gold,
        "multiple": several,
    }


def _answer(row: Row) -> Facts:
    return {"kind": "answer", "answer": _text(row, "choices", "reference answer").strip()}


def _text(row: Row, column: str, what: str) -> str:
    text = row[column]
    if not isinstance(text, str) or not text.strip():
        raise ValueError(f"`{column}` is no {what}: {text!r}")
    return text


ADAPTERS.add("qimma", Adapter("QIMMA", _files, _rows, _ask, "qimma", version="2", prompts="theirs"))
