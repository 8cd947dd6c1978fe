"""Which columns an outside benchmark's prompts are made of: what each should hold of its own row."""

from collections.abc import Callable, Mapping
from typing import Any

from mihakk.machinery.text import words_key
from mihakk.schemas.record import Language
from mihakk.validators.external.cells import cell, column_of, shown
from mihakk.validators.external.mapping import Mapping as Columns
from mihakk.validators.external.table import Table

Part = Callable[[str], str]
SAMPLE = 300
LEAST_ROWS = 5
SHARE = 0.8
"""Share of the prompts that must hold their own row's cell."""
DIFFERENT = 0.5
"""Share of the cells that must differ: a subject's name stands in many prompts for another reason."""
_PARTS: dict[str, Part] = {
    "": lambda text: text,
    "first": lambda text: text.split(" / ")[0] if " / " in text else "",
    "last": lambda text: text.rsplit(" / ", maxsplit=1)[1] if " / " in text else "",
}
"""A cell, or one of two hemistichs in it."""


def embedded(table: Table, mapping: Columns, language: Language) -> dict[str, tuple[str, Part]]:
    """Columns outside the mapping whose text the prompts hold, by the name of the field.

    Inferred from the rows: a column, or a part of its cells, that nearly every prompt holds of its own row.
    """
    rows = list(table.rows.values())
    drawn = rows[:: max(1, len(rows) // SAMPLE)]
    prompts = [
        words_key("\n".join(shown(cell(row, name)) for name in mapping.question), language) for row in drawn
    ]
    found: dict[str, tuple[str, Part]] = {}
    for column in table.columns:
        if column in {column_of(name, table.columns) for name in mapping.columns()}:
            continue
        for part, take in _PARTS.items():
            texts = [words_key(take(_text(row.get(column))), language) for row in drawn]
            pairs = [
                (text, prompt) for text, prompt in zip(texts, prompts, strict=True) if text.count(" ") >= 1
            ]
            held = sum(f" {text} " in f" {prompt} " for text, prompt in pairs)
            various = len({text for text, _ in pairs}) >= DIFFERENT * len(pairs)
            if len(pairs) >= max(LEAST_ROWS, SHARE * len(drawn)) and held >= SHARE * len(pairs) and various:
                found[f"{column} ({part})" if part else column] = (column, take)
                break
    return found


def fields(row: Mapping[str, Any], columns: Mapping[str, tuple[str, Part]]) -> dict[str, str]:
    """What the prompt of a row should hold."""
    taken = {name: take(_text(row.get(column))) for name, (column, take) in columns.items()}
    return {name: text for name, text in taken.items() if text}


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
