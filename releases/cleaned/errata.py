"""errata/changes.parquet of a cleaned release: each row that differs from the original, and why."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from mihakk.machinery.markdown import code, plain
from mihakk.releases.content.item_tables import write_parquet
from mihakk.releases.versions.version import Level
from mihakk.schemas.record import Record

FILE = "errata/changes.parquet"
NAMED = 200
"""Rows that a section of the changelog names for each kind; the errata hold them all."""
HEAD = """# Changelog

Scores of two versions can be compared only where a section says that the rows are the same. From 1.0.0 on a
change of rows raises the first number; below 1.0.0 it raises the second. `errata/changes.parquet` lists every
difference of the newest version from the original.
"""
"""Opening of the changelog."""
KINDS: dict[str, str] = {
    "blocked": "a check found that it can't be used",
    "waits": "a check or an auditor objects, and people have not decided",
    "merged": "an equal row stands for it",
    "discarded": "people discarded it",
    "unreadable": "it is no record",
    "corrected": "people corrected it",
    "repaired": "damaged letters with one reading alone were put right",
    "rescued": "people keep it as it is, though a check found that it can't be used",
}
"""Kinds of difference in words."""
STAY = frozenset(("corrected", "repaired", "rescued"))
"""Kinds whose rows stand in the release, all but the last with other cells."""


class RowErratum(Record):
    """One row of the benchmark that the cleaned release does not hold as it stood, or that people rescued."""

    table: str
    row: int
    """Number of the row in its table, counted from 0, the header left out."""
    line: int
    """Line of a text file or row of a sheet, counted from 1; 0 where a format has none."""
    own_id: str
    subset: str
    split: str
    change: str
    evidence: tuple[str, ...]
    before: str
    """The row as the benchmark holds it, as JSON; of an unreadable one its beginning."""
    after: str
    """The row as the release holds it; empty where it does not."""

    @property
    def place(self) -> tuple[str, int]:
        """What two releases of one benchmark are compared by."""
        return self.table, self.row

    @property
    def name(self) -> str:
        """What the changelog calls the row."""
        return self.own_id or f"{self.table}, row {self.row + 1}"


def write_errata(rows: Sequence[RowErratum], folder: Path) -> None:
    """Write the errata of a release."""
    from mihakk.machinery.lake.columns import to_table

    path = folder / FILE
    path.parent.mkdir(parents=True, exist_ok=True)
    write_parquet(to_table(rows, RowErratum), path)


def read_errata(folder: Path) -> list[RowErratum]:
    """The errata of a release."""
    import pyarrow.parquet as pq

    from mihakk.machinery.lake.columns import from_table

    return from_table(pq.read_table(folder / FILE), RowErratum)


def first_section(version: str, rows: int, original: int, source: str) -> str:
    """The changelog's section of the first cleaned release."""
    return f"## {version}\n\nFirst cleaned release: {rows} of {original} rows of {plain(source)}.\n"


def section(
    version: str,
    before: tuple[str, Iterable[RowErratum]],
    after: Iterable[RowErratum],
    level: Level,
    *,
    same_original: bool,
) -> str:
    """The changelog's section of a release that follows another.

    Row numbers can be compared where both were made from the same rows (`same_original`).
    """
    head = f"## {version}\n\n"
    if level == "patch":
        return f"{head}The rows are those of {before[0]}; only the papers around them changed.\n"
    if not same_original:
        return (
            f"{head}Made from other rows of the benchmark than {before[0]}: scores of the two can't be "
            "compared.\n"
        )
    moved = _moved({one.place: one for one in before[1]}, {one.place: one for one in after})
    lines = [f"{head}Changes since {before[0]}; its scores can't be compared with these.", ""]
    for said, names in moved.items():
        more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
        lines.append(f"- {said}: {len(names)} ({', '.join(map(code, names[:NAMED]))}{more})")
    return "\n".join([*lines, ""])


def _moved(
    before: Mapping[tuple[str, int], RowErratum], after: Mapping[tuple[str, int], RowErratum]
) -> dict[str, list[str]]:
    moved: dict[str, list[str]] = defaultdict(list)
    for place in sorted(before.keys() | after.keys()):
        was, now = before.get(place), after.get(place)
        if now is None and was is not None:
            moved["As in the original again"].append(was.name)
        elif now is not None and (was is None or (was.change, was.after) != (now.change, now.after)):
            moved[f"{now.change.capitalize()} ({KINDS.get(now.change, now.change)})"].append(now.name)
    return moved


def counts(rows: Iterable[RowErratum]) -> dict[str, int]:
    """Rows per kind of difference, in the order of `KINDS`."""
    seen = Counter(one.change for one in rows)
    return {kind: seen[kind] for kind in KINDS if seen[kind]}
