"""A set that was audited here: the rows that passed, under the names by which people review them.

Whatever the columns of somebody's benchmark are called, `mihakk audit` has read them: so any audited set can
be put to systems, and what their answers say against a row reaches its review.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import ClassVar

from evaluation.adapters.adapter import ADAPTERS, Published
from evaluation.questions import listed
from generators.prompts import bundled
from mihakk.ids import content_hash
from schemas.evaluation import Question
from schemas.item import ITEM_ROWS, ChoiceItem, Item


class Audited:
    """The folder that `mihakk audit --out` wrote; asked in our words, in each row's language."""

    version: ClassVar[str] = "1"

    def files(self, folder: Path) -> Sequence[Path]:
        """The items, what became of each, and what the set is called; nothing where one is missing."""
        named = [folder / "audited.json", folder / "people" / "items.parquet", folder / "verdicts.parquet"]
        return named if all(path.is_file() for path in named) else []

    def read(self, folder: Path, digest: str) -> Iterator[Published]:
        """One question for each row of the cleaned copy."""
        import pyarrow.parquet as pq

        from mihakk.lake.columns import from_table

        known, rows, verdicts = self.files(folder)
        name = json.loads(known.read_text(encoding="utf-8"))["name"]
        outcomes = pq.read_table(verdicts, columns=["item", "outcome"]).to_pylist()
        passed = {row["item"] for row in outcomes if row["outcome"] == "pass"}
        for item in from_table(pq.read_table(rows), ITEM_ROWS):
            if item.id in passed:
                yield Published(_question(item, name, digest), _prompt(item))


def _question(item: Item, name: str, digest: str) -> Question:
    facts = {"subset": item.subset, "dialect": item.dialect, **item.metadata}
    row = {
        **item.model_dump(include={"task", "kind", "language", "options", "gold", "answer", "accepted"}),
        "item": item.id,
        "content_hash": content_hash(item),
        "release": name,
        "version": "audited",
        "digest": digest,
        "config": f"{item.language}_{item.task}",
        "group": item.id,
        "slices": {key: value for key, value in facts.items() if value},
    }
    if isinstance(item, ChoiceItem):
        row["labels"] = bundled().labels(item.language, len(item.options))
        row["multiple"] = len(item.gold) > 1
    return Question.model_validate(row)


def _prompt(item: Item) -> str:
    layout = bundled().layout.languages[item.language]
    parts = [f"{layout.context}\n{item.context}" if item.context else "", item.question]
    if isinstance(item, ChoiceItem):
        labels = bundled().labels(item.language, len(item.options))
        parts.append(listed(labels, item.options))
        parts.append(layout.choice.format(labels=layout.separator.join(labels)))
    else:
        parts.append(layout.answer)
    return "\n\n".join(part for part in parts if part) + "\n"


ADAPTERS.add("audited", Audited())
