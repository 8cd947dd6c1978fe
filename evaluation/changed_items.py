"""Rows that a person removed from a benchmark, or whose gold a person corrected, as files name them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mihakk.evaluation.joining import Joined, says_only_right
from mihakk.machinery.errors import UsageError
from mihakk.validators.external.cells import blank, shown
from mihakk.validators.external.golds import Given, infer
from mihakk.validators.external.table import FORMATS, read_tables

_NAMES = ("item", "items", "id")


def read_items(path: Path) -> list[str]:
    """Ids of items: a line each, or the column `item`, `items` or `id` of a table.

    Raises:
        UsageError: There is no such file or column.
    """
    if path.suffix.lower() in FORMATS:
        found: list[str] = []
        for row in _rows(path, "item"):
            cell = _item(row)
            found += [shown(one) for one in cell] if isinstance(cell, list) else [shown(cell)]
        return found
    try:
        return [line.strip() for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(
            f"{path} can't be read ({error}): give a text file with an id a line, or a table"
        ) from error


def read_corrections(path: Path) -> dict[str, Any]:
    """Item to its new gold, from the columns `item` (or `id`) and `gold` of a table.

    Raises:
        UsageError: There is no such file or column, a gold is empty, or an item has two.
    """
    found: dict[str, Any] = {}
    for row in _rows(path, "gold"):
        item, gold = shown(_item(row)), row.get("gold")
        if blank(gold):
            raise UsageError(f"{path}: {item} has no gold: name its new gold, or leave the row out")
        if shown(found.setdefault(item, gold)) != shown(gold):
            raise UsageError(
                f"{path}: {item} has two golds, {shown(found[item])} and {shown(gold)}: keep one"
            )
    return found


def _item(row: Mapping[str, Any]) -> Any:
    return next((row[name] for name in _NAMES if not blank(row.get(name))), "")


def _rows(path: Path, needed: str) -> list[Mapping[str, Any]]:
    rows: list[Mapping[str, Any]] = []
    for table in read_tables(path):
        columns = table.columns
        if not set(_NAMES) & set(columns) or (needed == "gold" and "gold" not in columns):
            wanted = "item (or id) and gold" if needed == "gold" else "item or id"
            raise UsageError(f"{path} has the columns {', '.join(columns[:8])}: it needs {wanted}")
        if table.unreadable:
            bad = table.unreadable[0]
            raise UsageError(f"{path}: {bad.detail}; correct it or remove it")
        for number, row in table.rows.items():
            if _item(row) == "":
                raise UsageError(f"{path}: row {number + 1} names no item: fill in its id or remove the row")
            rows.append(row)
    return rows


def correct(joined: Joined, golds: Mapping[str, Any]) -> Joined:
    """Results under other golds: letters, indices or texts of options, one way for all; words for answers.

    Raises:
        UsageError: An item is not among the questions, or a gold names no option.
    """
    questions = dict(joined.benchmark.questions)
    named = {joined.benchmark.names.get(name, name): gold for name, gold in golds.items()}
    if unknown := [name for name in named if name not in questions]:
        raise UsageError(f"there is no item {unknown[0]!r} among the {len(questions):,} questions")
    if any(map(says_only_right, questions.values())):
        raise UsageError("the results say only what was right by the old golds: give the answers themselves")
    chosen = [Given(gold, questions[name].options, questions[name].language) for name, gold in named.items()]
    choices = [one for one in chosen if one.options]
    try:
        scheme = infer(choices, "auto") if choices else None
    except UsageError as error:
        raise UsageError(
            f"the new golds (e.g. {shown(choices[0].gold)!r}) name no option, or may count from 0 as well as "
            "from 1: write letters, as A and B, or the options' words"
        ) from error
    for name, gold in named.items():
        old = questions[name]
        change: dict[str, Any] = {"answer": shown(gold), "accepted": ()}
        if old.options and scheme is not None:
            places = scheme.read(gold, old.options, old.language)
            if not places or not all(0 <= place < len(old.options) for place in places):
                raise UsageError(f"{name}: {shown(gold)!r} names none of its {len(old.options)} options")
            change = {"gold": places, "multiple": len(places) > 1}
        questions[name] = old.model_copy(update=change | {"content_hash": f"{old.content_hash}+corrected"})
    told = f"{next(iter(questions.values())).version}, {len(named):,} corrected"
    questions = {name: one.model_copy(update={"version": told}) for name, one in questions.items()}
    answers = [(questions[question.item], given) for question, given in joined.answers]
    return joined._replace(answers=answers, benchmark=joined.benchmark._replace(questions=questions))
