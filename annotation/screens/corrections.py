"""Corrections: an item laid out as a form of text boxes, and a filled form read back into the item."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from mihakk.annotation.screens.labelling import MAX_OPTIONS, MAX_ROWS
from mihakk.machinery.errors import RecordRejected
from mihakk.schemas.item import ITEM, AnswerItem, ChoiceItem, Item

_INDEXED = re.compile(r"(options|verses|explanations)\[(\d{1,4})\]")
_ROW = re.compile(r"(option|verse|explanation)_(\d{1,4})")
_UNSHOWABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff]")


def showable(text: str) -> str:
    """The text with what no page or database can hold (control characters, lone surrogates) as U+FFFD."""
    return _UNSHOWABLE.sub("\N{REPLACEMENT CHARACTER}", text)


def form(item: Item) -> dict[str, str]:
    """Text boxes of the quality review, by control name, as the item fills them.

    Several values of one kind share a box where their number isn't fixed: one a line, line breaks inside a
    value shown as spaces.
    """
    boxes = {"fix_question": item.question}
    if item.context:
        boxes["fix_context"] = item.context
    if isinstance(item, ChoiceItem):
        boxes |= {f"fix_option_{i}": option for i, option in enumerate(item.options[:MAX_OPTIONS])}
    elif isinstance(item, AnswerItem):
        boxes |= {"fix_answer": item.answer, "fix_accepted": _lines(item.accepted)}
    else:
        if len(item.verses) > MAX_ROWS:
            boxes |= {"fix_verses": _lines(item.verses), "fix_explanations": _lines(item.explanations)}
        else:
            boxes |= {f"fix_verse_{i}": verse for i, verse in enumerate(item.verses)}
            boxes |= {f"fix_explanation_{i}": told for i, told in enumerate(item.explanations)}
        if item.overall:
            boxes["fix_overall"] = item.overall
    return {name: showable(text) for name, text in boxes.items() if text}


def read_form(before: Mapping[str, str], after: Mapping[str, str]) -> dict[str, str]:
    """Corrections, by item field, that turn a form as it was shown into what the person left in its boxes.

    A box that is missing was not touched. `RecordRejected` where verses or explanations changed in number.
    """
    corrections: dict[str, str] = {}
    for name in sorted(after):
        old, new = before.get(name, ""), after[name].strip()
        if new == old.strip():
            continue
        field = name.removeprefix("fix_")
        if field in ("verses", "explanations"):
            corrections |= _changed_lines(field, old.split("\n"), new.split("\n"))
        elif row := _ROW.fullmatch(field):
            corrections[f"{row[1]}s[{row[2]}]"] = new
        else:
            corrections[field] = new
    return corrections


def correct(item: Item, corrections: Mapping[str, str]) -> Item:
    """The item with the corrections made; its id stays, its content hash changes.

    `RecordRejected` where one names a field or index the item doesn't have, or a gold outside the options.
    """
    row: dict[str, Any] = item.model_dump()
    for field, text in corrections.items():
        indexed = _INDEXED.fullmatch(field)
        if indexed:
            name, index = indexed.group(1), int(indexed.group(2))
            values = list(row.get(name, ()))
            if index >= len(values):
                raise RecordRejected("unknown_field", f"item {item.id} has no {field}")
            values[index] = text
            row[name] = tuple(values)
        elif field == "gold" and isinstance(item, ChoiceItem):
            row["gold"] = _gold(item, text)
        elif field == "accepted" and isinstance(item, AnswerItem):
            row["accepted"] = tuple(line.strip() for line in text.split("\n") if line.strip())
        elif field in ("question", "context", "answer", "overall") and field in row:
            row[field] = text
        else:
            raise RecordRejected("unknown_field", f"item {item.id} has no {field}")
    return ITEM.validate_python(row)


def _gold(item: ChoiceItem, text: str) -> tuple[int, ...]:
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isascii() and part.isdigit() and int(part) < len(item.options) for part in parts):
        raise RecordRejected("bad_gold", f"item {item.id} has {len(item.options)} options, gold is {text!r}")
    return tuple(sorted({int(part) for part in parts}))


def _lines(values: tuple[str, ...]) -> str:
    return "\n".join(" ".join(value.split()) for value in values)


def _changed_lines(field: str, old: list[str], new: list[str]) -> dict[str, str]:
    if len(old) != len(new):
        new = [line for line in new if line.strip()]  # a stray Enter
    if len(old) != len(new):
        raise RecordRejected("line_count", f"{field}: {len(old)} lines were shown, {len(new)} came back")
    return {
        f"{field}[{i}]": now.strip()
        for i, (was, now) in enumerate(zip(old, new, strict=True))
        if now.strip() != was.strip()
    }
