"""A set that was audited here: the rows that passed, under the names by which people review them.

Whatever the columns of somebody's benchmark are called, `mihakk audit` has read them: so any audited set can
be put to systems, and what their answers say against a row reaches its review.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from string import ascii_uppercase

from mihakk.evaluation.adapters.adapter import ADAPTERS, Adapter, Facts
from mihakk.generators.prompts import bundled, outside_prompt
from mihakk.machinery.configs import load_text
from mihakk.machinery.ids import content_hash
from mihakk.machinery.languages import stand_in
from mihakk.schemas.item import ITEM_ROWS, ChoiceItem, Item
from mihakk.schemas.record import Language


def _files(folder: Path) -> list[Path]:
    """The items, what became of each, and what the set is called; nothing where one is missing."""
    named = [folder / "audited.json", folder / "people" / "items.parquet", folder / "verdicts.parquet"]
    return named if all(path.is_file() for path in named) else []


def _rows(folder: Path) -> Iterator[tuple[str, tuple[str, Item]]]:
    """The rows of the cleaned copy, each with the name of the set."""
    import pyarrow.parquet as pq

    from mihakk.machinery.lake.columns import from_table

    known, rows, verdicts = _files(folder)
    name = load_text(known, "name")
    outcomes = pq.read_table(verdicts, columns=["item", "outcome"]).to_pylist()
    passed = {row["item"] for row in outcomes if row["outcome"] == "pass"}
    items = from_table(pq.read_table(rows), ITEM_ROWS)
    return ((item.id, (name, item)) for item in items if item.id in passed)


def _ask(row: tuple[str, Item]) -> Iterator[Facts]:
    """The item in our words, in its own language."""
    yield {**facts_of(*row), "shown": outside_prompt(row[1]), "content": []}


def facts_of(name: str, item: Item) -> Facts:
    """What is known of an item's question but for its prompt; `name` is that of the set."""
    facts = {"subset": item.subset, "dialect": item.dialect, **item.metadata}
    more: Facts = {}
    if isinstance(item, ChoiceItem):
        more["labels"] = labels_of(item.language, len(item.options))
        more["multiple"] = len(item.gold) > 1
    return {
        **item.model_dump(include={"task", "kind", "language", "options", "gold", "answer", "accepted"}),
        "content_hash": content_hash(item),
        "item": item.id,
        "release": name,
        "version": "audited",
        "config": f"{item.language}_{item.task}",
        "ability": "skill",
        "slices": {key: value for key, value in facts.items() if value},
        **more,
    }


def labels_of(language: Language, count: int) -> tuple[str, ...]:
    """Labels of so many options: the language's own, Latin letters where it has too few, else numbers."""
    layouts = bundled().layout.languages
    known = layouts[stand_in(language, layouts)].labels
    for labels in (known, tuple(ascii_uppercase)):
        if count <= len(labels):
            return labels[:count]
    return tuple(str(place) for place in range(1, count + 1))


ADAPTERS.add("audited", Adapter("a set that was audited", _files, _rows, _ask))
