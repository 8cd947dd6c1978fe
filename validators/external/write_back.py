"""A corrected item back into the cells that it was read from."""

import json
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from mihakk.machinery.errors import RecordRejected
from mihakk.schemas.item import AnswerItem, ChoiceItem, QuestionItem
from mihakk.validators.external.benchmark import ExternalBenchmark, gold_cell, options_of
from mihakk.validators.external.cells import cell, shown, with_answer, with_cell
from mihakk.validators.external.mapping import Mapping


def write_back(
    benchmark: ExternalBenchmark,
    before: QuestionItem,
    after: QuestionItem,
    mapping: Mapping,
) -> list[str]:
    """Writes what differs into the item's row; the cleaned copy holds it from then on.

    Returns:
        The columns that changed.

    Raises:
        RecordRejected: A changed field was read from several cells, or the cell is no place for it.
    """
    place, number = benchmark.place[before.id]
    table = benchmark.tables[place]
    row = table.rows[number]
    cells: dict[str, Any] = {}
    for field in ("question", "context"):
        if getattr(before, field) != getattr(after, field):
            columns = getattr(mapping, field)
            if len(columns) != 1:
                raise RecordRejected("not_one_cell", f"the {field} comes from {len(columns)} columns")
            cells[columns[0]] = getattr(after, field)
    if isinstance(before, AnswerItem) and isinstance(after, AnswerItem):
        if before.answer != after.answer:
            cells[mapping.gold[0]] = with_answer(gold_cell(row, mapping), after.answer)
        if before.accepted != after.accepted:
            raise RecordRejected("not_one_cell", "further answers stand in a list")
    if isinstance(before, ChoiceItem) and isinstance(after, ChoiceItem):
        if before.options != after.options:
            cells |= _options(before.options, after.options, mapping, row)
        scheme = benchmark.golds[place].scheme
        if before.gold != after.gold or (scheme == "text" and before.options != after.options):
            if len(after.gold) != 1:
                raise RecordRejected("not_one_cell", "several options are right")
            known = options_of(row, mapping.choices, mapping.choices_at)
            cells[mapping.gold[0]] = benchmark.golds[place].write(
                after.gold[0], after.options, gold_cell(row, mapping), known.labels if known else ()
            )
    changed: dict[str, Any] = {}
    for name, value in cells.items():
        column, whole = with_cell({**row, **changed}, name, _like(cell(row, name), value))
        changed[column] = whole
    if changed:
        table.correct(number, changed)
    return sorted(changed)


def _options(
    before: tuple[str, ...], after: tuple[str, ...], mapping: Mapping, row: dict[str, Any]
) -> dict[str, Any]:
    changed = {i: after[i] for i in range(len(before)) if before[i] != after[i]}
    if len(mapping.choices) > 1:
        if len(mapping.choices) != len(before):
            raise RecordRejected("not_one_cell", "one of the columns of options holds several")
        return {mapping.choices[i]: text for i, text in changed.items()}
    name = mapping.choices[0]
    held = cell(row, name)
    if isinstance(held, list) and [shown(one) for one in held] == list(before):
        return {name: _texts(held, after)}
    if isinstance(held, list) and all(isinstance(one, dict) for one in held):
        for key in held[0]:
            if [shown(one.get(key)) for one in held] == list(before):
                texts = _texts([one.get(key) for one in held], after)
                return {name: [{**one, key: text} for one, text in zip(held, texts, strict=True)]}
    if isinstance(held, dict):
        return _of_dict(name, held, before, after)
    if isinstance(held, str) and held.lstrip().startswith('["'):
        return {name: json.dumps(list(after), ensure_ascii=held.isascii())}
    lines = [line.strip() for line in held.splitlines() if line.strip()] if isinstance(held, str) else []
    if lines == list(before):
        if any("\n" in text for text in after):
            raise RecordRejected("not_one_cell", f"column {name!r} holds an option a line")
        return {name: "\n".join(after)}
    raise RecordRejected("not_one_cell", f"column {name!r} holds its options in another way than as a list")


def _of_dict(
    name: str, held: dict[str, Any], before: tuple[str, ...], after: tuple[str, ...]
) -> dict[str, Any]:
    """The dictionary of labels and texts, or of a list of texts, with other texts."""
    for key, value in held.items():
        if isinstance(value, list) and [shown(one) for one in value] == list(before):
            return {name: {**held, key: _texts(value, after)}}
    keys = [key for key, value in held.items() if value is not None]
    if [shown(held[key]) for key in keys] == list(before):
        return {name: held | dict(zip(keys, _texts([held[key] for key in keys], after), strict=True))}
    raise RecordRejected("not_one_cell", f"column {name!r} holds its options in another way than as a list")


def _texts(held: Sequence[Any], after: Sequence[str]) -> list[Any]:
    return [_like(old, new) for old, new in zip(held, after, strict=True)]


def _like(old: Any, new: Any) -> Any:
    """A value in the type of the cell that it goes into: a number stays a number."""
    if shown(old) == new:
        return old
    if isinstance(new, str) and isinstance(old, (int, float)) and not isinstance(old, bool):
        with suppress(ValueError):
            number = type(old)(new)
            return number if shown(number) == new else new
    return new
