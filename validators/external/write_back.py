"""A corrected item back into the cells that it was read from."""

import json
from typing import Any

from mihakk.machinery.errors import RecordRejected
from mihakk.schemas.item import AnswerItem, ChoiceItem, QuestionItem
from mihakk.validators.external.benchmark import ExternalBenchmark
from mihakk.validators.external.cells import listed, options_in, shown, with_answer
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
            cells[mapping.gold] = with_answer(row.get(mapping.gold), after.answer)
        if before.accepted != after.accepted:
            raise RecordRejected("not_one_cell", "further answers stand in a list")
    if isinstance(before, ChoiceItem) and isinstance(after, ChoiceItem):
        if before.options != after.options:
            cells |= _options(before.options, after.options, mapping, row)
        scheme = benchmark.golds[place].scheme
        if before.gold != after.gold or (scheme == "text" and before.options != after.options):
            if len(after.gold) != 1:
                raise RecordRejected("not_one_cell", "several options are right")
            cells[mapping.gold] = benchmark.golds[place].write(
                after.gold[0], after.options, row.get(mapping.gold)
            )
    if cells:
        table.correct(number, cells)
    return sorted(cells)


def _options(
    before: tuple[str, ...], after: tuple[str, ...], mapping: Mapping, row: dict[str, Any]
) -> dict[str, Any]:
    changed = {i: after[i] for i in range(len(before)) if before[i] != after[i]}
    if len(mapping.choices) > 1:
        return {mapping.choices[i]: text for i, text in changed.items()}
    name = mapping.choices[0]
    cell = row.get(name)
    if isinstance(cell, list) and [shown(one) for one in cell] == list(before):
        return {name: list(after)}
    if isinstance(cell, str) and cell.lstrip().startswith('["'):
        return {name: json.dumps(list(after), ensure_ascii=cell.isascii())}
    if isinstance(cell, str) and listed(cell) is None and options_in(cell) == list(before):
        if any("\n" in text for text in after):
            raise RecordRejected("not_one_cell", f"column {name!r} holds an option a line")
        return {name: "\n".join(after)}
    raise RecordRejected("not_one_cell", f"column {name!r} holds its options in another way than as a list")
