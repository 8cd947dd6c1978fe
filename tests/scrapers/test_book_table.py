"""Tables kept as plain text: read by the names of their columns, or refused with the row and the fix."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from mihakk.errors import SourceChanged
from scrapers.book import read
from scrapers.book_table import as_columns

SAMPLE = [
    (row["text"], row["explanation"])
    for row in map(json.loads, Path("data/samples/egyptian_idioms.jsonl").read_text("utf-8").splitlines())
    if row["kind"] == "idiom"
]


def separated(mark: str) -> str:
    """Written by the standard library, which quotes cells that hold the mark."""
    out = io.StringIO()
    writer = csv.writer(out, delimiter=mark, lineterminator="\n")
    writer.writerow(["الشرح", "م", "المثل", "الباب"])
    writer.writerows((f"{text}{mark} أيضا", n, head, "باب") for n, (head, text) in enumerate(SAMPLE, 1))
    return out.getvalue()


def tabs(header: str = "م\tالمثل\tالحرف\tالمعنى") -> str:
    return header + "".join(f"\n{n}\t{head}\tحرف\t{text}" for n, (head, text) in enumerate(SAMPLE, 1))


def bars(rows: int = 40) -> str:
    parts = ["# كتاب"]
    for first in range(0, len(SAMPLE), rows):
        parts.append(f"\n## باب {first}\n\n| م | المثل | معناه |\n|---|:---:|---|")
        parts += [
            f"| {n} | **{head}** | {text} |" for n, (head, text) in enumerate(SAMPLE[first : first + rows])
        ]
    return "\n".join(parts)


@pytest.mark.parametrize("mark", [";", ","])
def test_separated_values_are_read_by_their_header(mark: str) -> None:
    found = read(separated(mark))
    assert [(one.head, one.paragraphs) for one in found.entries] == [
        (head, [f"{text}{mark} أيضا"]) for head, text in SAMPLE
    ]
    assert found.problems(0.8) == []
    assert [(one.line, one.text, one.why) for one in found.leftovers] == [
        (1, "م, الباب", "columns that are not read")
    ]


@pytest.mark.parametrize("text", [tabs(), bars()])
def test_tabs_and_bars_are_read_by_their_header(text: str) -> None:
    found = read(text)
    assert [(one.head, one.paragraphs) for one in found.entries] == [(head, [text]) for head, text in SAMPLE]
    assert found.problems(0.8) == []
    first = next(n for n, line in enumerate(text.split("\n"), 1) if SAMPLE[0][0] in line)
    assert found.entries[0].line == first


def test_a_row_without_an_explanation_is_left_over() -> None:
    text = tabs() + "\n81\tمثل بلا شرح\tحرف\t"
    found = read(text)
    assert [(one.line, one.text, one.why) for one in found.leftovers][-1] == (
        85,
        "مثل بلا شرح",
        "a row without an explanation",
    )
    assert len(found.entries) == len(SAMPLE)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (
            tabs("رقم\tعمود\tحرف\tعمود آخر"),
            r"table of 4 columns between tabs, and line 1 does not name them \('رقم, عمود",
        ),
        (
            tabs().replace("\n7\t", "\n7\tزائد\t"),
            r"1 of 84 rows .* other cells than its header's 4, line 8 first: cells were merged",
        ),
        (tabs().replace(f"\n5\t{SAMPLE[4][0]}", "\n5\t"), r"1 of 84 rows .* line 6 first"),
        (
            bars().replace(SAMPLE[9][1], SAMPLE[9][1].replace(" ", "\n", 1)),
            r"rows of the table have other cells .* line \d+ first",
        ),
    ],
)
def test_a_table_with_merged_broken_or_unnamed_cells_is_refused(text: str, why: str) -> None:
    with pytest.raises(SourceChanged, match=why):
        read(text)


def test_prose_is_no_table(shared_data: Path) -> None:
    for path in ("openiti/amthal_head.txt", "kinayat/taymur_kinayat_hindawi_93047907.txt"):
        text = (shared_data / path).read_text("utf-8")
        assert as_columns(text).text is text
