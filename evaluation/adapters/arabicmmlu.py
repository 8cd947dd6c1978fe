"""ArabicMMLU: school and test questions with two to five options, as published in CSV."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from mihakk.evaluation.adapters.adapter import ADAPTERS, Adapter, Facts, Row, rows_with, tables_in
from mihakk.evaluation.questions import listed

LABELS: Final = ("أ", "ب", "ج", "د", "ه")
_KEYS: Final = "ABCDE"
_COLUMNS: Final = ("ID", "Question", "Answer Key", *(f"Option {place}" for place in range(1, 6)))
PROMPT: Final = "{context}{question}\n\n{options}\n\nأجب برمز الخيار الصحيح وحده ({labels}).\n"


def _files(folder: Path) -> list[Path]:
    return tables_in(folder, "*.csv")


def _rows(folder: Path) -> Iterator[tuple[str, Row]]:
    for path in _files(folder):
        yield from ((where, row | {"table": path.stem}) for where, row in rows_with(path, _COLUMNS))


def _ask(row: Row) -> Iterator[Facts]:
    texts = [row[f"Option {place}"].strip() for place in range(1, 6)]
    options = [text for text in texts if text]
    if texts[: len(options)] != options:
        raise ValueError("an empty option stands before another one: the key's letter is not sure")
    gold = _KEYS.index(row["Answer Key"].strip())
    if gold >= len(options):
        raise ValueError(f"the key {row['Answer Key']} names none of {len(options)} options")
    labels = LABELS[: len(options)]
    prompt = PROMPT.format(
        context=f"{row['Context'].strip()}\n\n" if row.get("Context", "").strip() else "",
        question=row["Question"].strip(),
        options=listed(labels, options),
        labels="، ".join(labels),
    )
    facts = {name: row.get(name.title(), "") for name in ("subject", "group", "level", "country")}
    yield {
        "shown": prompt,
        "content": [prompt, gold],
        "item": f"arabicmmlu-{row['table']}-{row['ID']}",
        "config": "ar_school_choice",
        "task": "school_choice",
        "kind": "choice",
        "language": "ar",
        "slices": {name: value for name, value in facts.items() if value},
        "options": options,
        "labels": labels,
        "gold": [gold],
    }


ADAPTERS.add("arabicmmlu", Adapter("ArabicMMLU", _files, _rows, _ask, "arabicmmlu"))
