"""Judges' figures with style taken out: what length and formatting are worth, and who is where without."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from math import log2
from typing import Final

import numpy as np

from mihakk.evaluation.judges.asking import Judged
from mihakk.evaluation.statistics.cluster import codes_of
from mihakk.evaluation.statistics.regression import regression
from mihakk.schemas.record import Record
from mihakk.schemas.rubric import Rubric

STYLE_FILE: Final = "judge_style.parquet"
LEAST_ANSWERS: Final = 50
"""Fewer can't tell a system's worth from its style."""
_LISTS: Final = re.compile(r"^[^\S\n]*(?:[-*•]|[0-9٠-٩۰-۹]+[.)-])\s", re.MULTILINE)
_HEADINGS: Final = re.compile(r"^[^\S\n]*#{1,6}\s", re.MULTILINE)
_BOLD: Final = re.compile(r"\*\*[^*\n]+\*\*|__[^_\n]+__")


STYLE_UNITS: Final = {
    "length": "a reply twice as long",
    "lists": "one more list item",
    "headings": "one more heading",
    "bold": "one more bold passage",
    "diacritics": "a tenth more letters with marks",
}


class StyleRow(Record):
    """What one feature is worth to the judges, or where one system stands with and without style."""

    rubric: str
    what: str
    """`length`, `lists`, `headings`, `bold`, `diacritics`; or `system`."""
    name: str
    """Of the system; empty of a feature."""
    raw: float | None
    """The judges' mean; None of a feature."""
    value: float
    """Points a feature is worth: a reply twice as long, one more list item, heading or bold passage, a tenth
    more of the letters with marks. Of a system its mean as if its replies had the style of all."""
    low: float
    high: float
    answers: int


def features(text: str) -> dict[str, float]:
    """Style of a reply, each in the unit that `StyleRow` tells."""
    letters = sum(unicodedata.category(one).startswith("L") for one in text)
    marks = sum(unicodedata.category(one) == "Mn" for one in text)
    return {
        "length": log2(max(1, len(text))),
        "lists": float(len(_LISTS.findall(text))),
        "headings": float(len(_HEADINGS.findall(text))),
        "bold": float(len(_BOLD.findall(text))),
        "diacritics": 10 * marks / max(1, letters),
    }


def style_rows(rubric: Rubric, cases: Sequence[Judged], totals: Mapping[str, float]) -> list[StyleRow]:
    """The regression of the judges' totals on system and style; nothing where there are too few answers.

    Style is measured from the mean of all systems' replies to the same item, so that hard items, which may
    ask for longer answers, teach it nothing. A feature that no two replies to one item differ in is left out,
    and so are answers that have no judges' mean in `totals`.
    """
    known = [case for case in cases if case.name in totals]
    systems = sorted({case.answer.model for case in known})
    if len(known) < LEAST_ANSWERS or len(systems) < 2:
        return []
    values = np.array([totals[case.name] for case in known], dtype=np.float64)
    rows = np.array([[case.answer.model == name for name in systems] for case in known], dtype=np.float64)
    items = codes_of([f"{case.answer.release} {case.answer.item} {case.answer.variant}" for case in known])
    style = [features(case.reply) for case in known]
    told = []
    for name in style[0]:
        given = np.array([one[name] for one in style])
        apart = given - (np.bincount(items, weights=given) / np.bincount(items))[items]
        more = np.column_stack([rows, apart])
        if np.linalg.matrix_rank(more) > rows.shape[1]:
            rows = more
            told.append(name)
    found = regression(rows, values, codes_of([f"{one.answer.release} {one.answer.group}" for one in known]))
    if found is None:
        return []
    raw = [float(values[rows[:, place] == 1].mean()) for place in range(len(systems))]
    of_systems = [("system", name, mean) for name, mean in zip(systems, raw, strict=True)]
    return [
        StyleRow(
            rubric=rubric.name,
            what=what,
            name=name,
            raw=mean,
            value=one.value,
            low=one.low,
            high=one.high,
            answers=len(known) if mean is None else sum(case.answer.model == name for case in known),
        )
        for (what, name, mean), one in zip(
            [*of_systems, *((one, "", None) for one in told)], found, strict=True
        )
    ]
