"""QIMMA: the cleaned sets of its leaderboard, `MCQ_*` and `QA_*`, each with the prompt its authors sent."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar, Final

from evaluation.adapters._tables import rows_with, tables_in
from evaluation.adapters.adapter import ADAPTERS, Published, published
from mihakk.errors import SourceChanged

LABELS: Final = ("أ", "ب", "ج", "د", "هـ", *"وزحطيكلمنسعفصقرشتثخذضظغ")
"""As the leaderboard's code labels choices; the fifth is two code points."""
_COLUMNS: Final = {"MCQ": ("prompt", "choices", "index"), "QA": ("prompt", "choices")}
_SEVERAL: Final = "MizanQA"
"""Any number of its choices may be right."""


class Qimma:
    """Copies of the datasets `qimma/MCQ_*` and `qimma/QA_*`, a folder each; the rows of their test split.

    The columns are those that the authors' task file reads (tiiuae/lighteval_qimma, tasks/multilingual/tasks/
    qimma.py); the folders inside a set are its subsets, as the Hub lays them out.
    """

    version: ClassVar[str] = "1"

    def files(self, folder: Path) -> Sequence[Path]:
        """The tables of test splits."""
        found = [path for path in tables_in(folder, "*_*/**/*") if path.name.startswith("test")]
        return [path for path in found if _named(path, folder)[0] in _COLUMNS]

    def read(self, folder: Path, digest: str) -> Iterator[Published]:
        """One question per row."""
        numbers: Counter[str] = Counter()
        for path in self.files(folder):
            kind, benchmark, subset = _named(path, folder)
            name = f"{kind.lower()}-{benchmark}-{subset}"
            for where, row in rows_with(path, _COLUMNS[kind]):
                try:
                    more = _choice(row, benchmark) if kind == "MCQ" else _answer(row)
                    prompt = _prompt(row)
                except (TypeError, ValueError) as error:
                    raise SourceChanged(f"{where}: not a row of QIMMA ({error})") from error
                numbers[name] += 1
                more |= {"item": f"qimma-{name}-{numbers[name]}", "slices": {"subset": subset}}
                task = f"{kind}_{benchmark}".lower().replace("-", "_")
                facts = {"release": "qimma", "config": f"ar_{task}", "task": task, "language": "ar", **more}
                yield published(prompt, [prompt, more], digest=digest, **facts)


def _named(path: Path, folder: Path) -> tuple[str, str, str]:
    """Kind, benchmark and subset of a table: `MCQ_ArabicMMLU/History (High School)/test-....parquet`."""
    kind, _, benchmark = path.relative_to(folder).parts[0].partition("_")
    inner = [part for part in path.relative_to(folder).parts[1:-1] if part != "data"]
    return kind, benchmark, "/".join(inner) or "default"


def _choice(row: dict[str, Any], benchmark: str) -> dict[str, Any]:
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


def _answer(row: dict[str, Any]) -> dict[str, Any]:
    if not isinstance(row["choices"], str) or not row["choices"].strip():
        raise ValueError(f"`choices` is no reference answer: {row['choices']!r}")
    return {"kind": "answer", "answer": row["choices"].strip()}


def _prompt(row: dict[str, Any]) -> str:
    if not isinstance(row["prompt"], str) or not row["prompt"].strip():
        raise ValueError(f"`prompt` is no text: {row['prompt']!r}")
    return row["prompt"]


ADAPTERS.add("qimma", Qimma())
