"""What a rebuilt house must give again: items, verdicts and released tables, as digests of their rows.

Written once, by the commit before a change that moves code. The rows themselves stay out of the repository, as
one of the two sets may not be copied; rows lie in 64 groups by their key, so that a difference says how far it
reaches. Run: python -m tests.end_to_end.frozen FOLDER, where FOLDER/lake and FOLDER/hub hold the demo built
without auditors and FOLDER/audit the audit of ArabicMMLU by rules alone.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

FIXTURES = Path(__file__).resolve().parent.parent / "fixtures" / "frozen"
_GROUPS = 64
_UNLIKE = frozenset({"code", "code_version", "parser_version"})
"""Columns that name the code itself."""


def rows_of(folder: Path, pattern: str, *key: str) -> dict[str, str]:
    """Groups of the rows of all tables that fit a pattern, each with its size and a digest of its rows."""
    rows = [
        ("/".join([path.parent.name, *(str(row[one]) for one in key)]), _told(row))
        for path in sorted(folder.glob(pattern))
        for row in pq.read_table(path).to_pylist()
    ]
    return grouped(rows)


def digest_of(groups: dict[str, str]) -> str:
    """One digest of all groups."""
    return _digest(repr(groups))


def writes(path: Path, golden: dict[str, Any]) -> bool:
    """Whether the golden was written anew, which `MIHAKK_WRITE_GOLDEN=1` asks for."""
    if os.environ.get("MIHAKK_WRITE_GOLDEN") != "1":
        return False
    path.write_text(json.dumps(golden, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    return True


def grouped(rows: list[tuple[str, str]]) -> dict[str, str]:
    """Rows by their key, in groups: number of rows and digest."""
    groups: dict[str, list[tuple[str, str]]] = {}
    for key, told in sorted(rows):
        groups.setdefault(f"{int(_digest(key), 16) % _GROUPS:02}", []).append((key, told))
    return {name: f"{len(found)}:{_digest(repr(found))}" for name, found in sorted(groups.items())}


def _told(row: dict[str, Any]) -> str:
    cells = {name: value for name, value in row.items() if name not in _UNLIKE}
    if "source" in cells and str(cells["source"]).startswith("/"):  # where the table lies is no part of a row
        cells["source"] = Path(cells["source"]).name
    return json.dumps(cells, ensure_ascii=False, sort_keys=True, default=str)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def demo(folder: Path) -> dict[str, dict[str, str]]:
    """Tables of the demo, by name."""
    lake, hub = folder / "lake" / "demo", folder / "hub" / "demo"
    return {
        "generated items": rows_of(lake, "4_generated/items/*.parquet", "id"),
        "checked items": rows_of(lake, "5_checked/items/*.parquet", "id"),
        "findings": rows_of(lake, "5_checked/findings/*.parquet", "subject"),
        "verdicts": rows_of(lake, "6_audited/verdicts/*.parquet", "item"),
        "reviewed items": rows_of(lake, "7_reviewed/items/*.parquet", "id"),
        "released": rows_of(hub, "??_*/*.parquet", "id"),
    }


def arabicmmlu(folder: Path) -> dict[str, dict[str, str]]:
    """Tables of the audit of ArabicMMLU, by name."""
    audit = folder / "audit"
    names = {"verdicts": "item", "findings": "subject", "removed": "item", "repairs": "row"}
    tables = {name: rows_of(audit, f"{name}.parquet", key) for name, key in names.items()}
    cleaned = (audit / "clean.csv").read_text(encoding="utf-8").split("\n")
    return tables | {"cleaned": grouped([(f"{n:06}", line) for n, line in enumerate(cleaned)])}


def read(name: str) -> dict[str, dict[str, str]]:
    """What was frozen under a name."""
    frozen: dict[str, dict[str, str]] = json.loads((FIXTURES / f"{name}.json").read_text(encoding="utf-8"))
    return frozen


def differences(frozen: dict[str, dict[str, str]], now: dict[str, dict[str, str]]) -> Iterator[str]:
    """One line for each table whose rows are not those frozen: how many rows, and groups, differ."""
    for table in sorted(frozen.keys() | now.keys()):
        before, after = frozen.get(table, {}), now.get(table, {})
        if before != after:
            rows = [sum(int(one.partition(":")[0]) for one in found.values()) for found in (before, after)]
            groups = sum(before.get(name) != after.get(name) for name in before.keys() | after.keys())
            yield f"{table}: {rows[0]} rows frozen, {rows[1]} now, {groups} of {_GROUPS} groups differ"


def main() -> None:
    """Writes both fixtures."""
    folder = Path(sys.argv[1])
    FIXTURES.mkdir(exist_ok=True)
    for name, tables in (("demo", demo(folder)), ("arabicmmlu", arabicmmlu(folder))):
        (FIXTURES / f"{name}.json").write_text(json.dumps(tables, indent=0, sort_keys=True) + "\n", "utf-8")
        print(name, {table: len(rows) for table, rows in tables.items()})


if __name__ == "__main__":
    main()
