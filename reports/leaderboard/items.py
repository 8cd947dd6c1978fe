"""Items of a leaderboard as small files loaded on demand: an index per column, pages per data set."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Any, Final

import numpy as np

from mihakk.evaluation.reading import read
from mihakk.evaluation.rows import ANSWER_KEY, answer_key, read_batches, read_rows
from mihakk.evaluation.running.asking import Asked
from mihakk.evaluation.table.column import Column
from mihakk.schemas.evaluation import Answer, Attempt, Judgement

PAGE: Final = 25
"""Items of one file of prompts and replies."""
LONGEST: Final = 4000
"""Letters of a reply or prompt that are shown; how many there are is said."""
_SHOWN: Final = (*ANSWER_KEY, "reply", "finish_reason", "likelihoods", "error")
Fields = dict[str, Any]


def index_of(column: Column, systems: Sequence[str]) -> Fields:
    """Ids in order, and for each a letter a system: `0` worst to `9` best, `-` where there is no score."""
    low, high = _ends(column)
    scaled = np.clip((column.values - low) / (high - low), 0, 1)
    digits = np.where(np.isnan(scaled), -1, np.floor(np.nan_to_num(scaled) * 9 + 0.5)).astype(int)
    if not column.metric.higher_is_better:
        digits = np.where(digits < 0, -1, 9 - digits)
    place = {name: number for number, name in enumerate(column.models)}
    letters = np.array([*"0123456789", "-"])
    table = np.full((len(column.items), len(systems)), "-", dtype="<U1")
    for number, name in enumerate(systems):
        if name in place:
            table[:, number] = letters[digits[place[name]]]
    return {"items": [str(item) for item in column.items], "scores": ["".join(row) for row in table]}


def _ends(column: Column) -> tuple[float, float]:
    known = column.values[~np.isnan(column.values)]
    low = column.metric.low if column.metric.low is not None else float(known.min(initial=0))
    high = column.metric.high if column.metric.high is not None else float(known.max(initial=1))
    return (low, high) if high > low else (low, low + 1)


def pages_of(
    column: Column,
    asked: Mapping[str, Asked],
    folder: Path,
    systems: Sequence[str],
) -> Iterator[list[Fields]]:
    """Prompts, golds, replies, readings and judges' reasons of one data set, page by page.

    Args:
        column: The data set.
        asked: Item to its question in the first wording; replies stand alone where it has none.
        folder: The suite's folder.
        systems: Names in the order of the board.
    """
    place = {str(item): number for number, item in enumerate(column.items)}
    replies: list[dict[int, Fields]] = [{} for _ in column.items]
    for number, name in enumerate(systems):
        for item, told in _replies(column, asked, folder, name, place):
            replies[item][number] = told
    for start in range(0, len(column.items), PAGE):
        part = range(start, min(start + PAGE, len(column.items)))
        yield [_item(asked.get(str(column.items[item])), replies[item]) for item in part]


def _item(asked: Asked | None, replies: dict[int, Fields]) -> Fields:
    told: Fields = {"replies": {str(place): one for place, one in sorted(replies.items())}}
    if asked is None:
        return told
    question = asked.question
    told |= {"prompt": _cut(asked.whole), "language": question.language, "kind": question.kind}
    marks = [f"{question.labels[place]}) " for place in question.gold] if question.labels else []
    told["gold"] = [mark + text for mark, text in zip_longest(marks, question.references, fillvalue="")]
    facts = {name: value for name, value in question.slices.items() if name != "record"}
    return told | ({"facts": facts} if facts else {})


def _replies(
    column: Column,
    asked: Mapping[str, Asked],
    folder: Path,
    name: str,
    place: Mapping[str, int],
) -> Iterator[tuple[int, Fields]]:
    end = "" if column.method == "written" else f".{column.method}"
    path = folder / f"{name}{end}" / "answers.parquet"
    if not path.is_file():
        return
    reasons = _reasons(folder / f"{name}{end}" / "judgements.parquet")
    for batch in read_batches(path, Answer, _SHOWN):
        for row in batch.to_pylist():
            item = row["item"]
            if item not in place or row["variant"] or row["repeat"]:
                continue
            if row["config"] != column.config or row["method"] != column.method:
                continue
            told: Fields = {"reply": _cut(row["reply"])} if not row["error"] else {"error": row["error"]}
            question = asked[item].question if item in asked else None
            if question is not None and not row["error"]:
                found = read(
                    question,
                    row["method"],
                    row["reply"],
                    tuple(row["likelihoods"] or ()),
                    cut=row["finish_reason"] == "length",
                )
                told |= {"read": found.text, "rule": found.rule} if found.found else {"unread": True}
            if reasons and (judged := reasons.get(answer_key(Attempt.model_construct(**row)))):
                told["judges"] = judged
            yield place[item], told


def _reasons(path: Path) -> dict[str, list[Fields]]:
    """Answer to what judges said of it."""
    found: dict[str, list[Fields]] = defaultdict(list)
    if path.is_file():
        for one in read_rows(path, Judgement):
            if not one.repeat and one.status != "invalid":
                found[one.answer].append({"by": one.judge, "scores": one.scores, "reason": _cut(one.reason)})
    return found


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[:LONGEST]} … ({len(text):,})"
