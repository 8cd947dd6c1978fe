"""The card's section on the core: what it is, how large each slice is, and what a slice can tell."""

from __future__ import annotations

from mihakk.machinery.markdown import plain, table
from mihakk.releases.release_facts import CoreFact

SHOWN = 12
"""Values of a stratum; the rest is counted."""


def core_section(name: str, core: CoreFact) -> str:
    """The section's Markdown."""
    parts = [
        "## Core",
        f"{core.questions} questions of the test split, about {core.works} poems and idioms, for those who "
        "can't run all of it: configs that end in `_core`, harness tag "
        f"`{plain(name)}_core`, ids and bands of difficulty in `core/index.parquet`. The rows are those of "
        f"the full set; {core.available} questions could be drawn. A question in both option orders counts "
        "once; tasks that share couplets ask about the same ones. Places are drawn by hashes of names: a "
        f"poem or idiom that goes takes its own places with it (at most {core.places_per_work}), as many "
        "others come in, and no other place changes. A band is told from the item alone (how near the "
        "nearest wrong option is to the right one, how long an answer is): no system was asked."
        + (
            f" {core.left_out} questions could not be drawn because answers to an earlier version told "
            "nothing of the systems that gave them."
            if core.left_out
            else ""
        ),
        "Standard error of a system that is right half of the time, and the smallest difference between two "
        "systems that shows 80 % of the time (two-sided 5 %, paired, their scores correlated by .5). The "
        "first figure holds if questions are independent, the second if all questions about one poem are "
        "right or wrong together; the truth lies between.",
    ]
    rows: list[tuple[object, ...]] = []
    for stratum in dict.fromkeys(one.stratum for one in core.slices):
        mine = sorted(
            (one for one in core.slices if one.stratum == stratum),
            key=lambda one: (-one.questions, one.value),
        )
        rows += [
            (
                plain(f"{stratum} {one.value}"),
                one.questions,
                one.works,
                f"{one.error:.3f} to {one.error_by_work:.3f}",
                f"{one.difference:.3f} to {one.difference_by_work:.3f}",
            )
            for one in mine[:SHOWN]
        ]
        if len(mine) > SHOWN:
            rest = sum(one.questions for one in mine[SHOWN:])
            rows.append((f"{plain(stratum)}: {len(mine) - SHOWN} more", rest, "", "", ""))
    head = ("slice", "questions", "poems and idioms", "standard error", "smallest difference")
    parts.append(table(head, rows))
    return "\n\n".join(parts)
