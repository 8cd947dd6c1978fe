"""Result files as model pages of the Hub read them: `.eval_results/<suite>.yaml`, one per system."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from pathlib import Path

import yaml

from mihakk.evaluation.table.column import may_rank
from mihakk.evaluation.table.results import Results, Row
from mihakk.schemas.suite import Suite, System


def write_hub_results(
    suite: Suite, systems: Sequence[System], found: Results, out: Path, *, day: date, source: str = ""
) -> int:
    """Writes a folder per system, to be put into its model's repository.

    Only figures over whole data sets of releases on the Hub (`owner/name`) that systems may be ordered by.
    `source` is the address that the entries name as theirs. Returns how many systems have a file.
    """
    count = 0
    for system in systems:
        entries = [
            _entry(row, day, source)
            for row in found.figures_of(system.name)
            if "/" in row["release"] and may_rank(row["metric"])
        ]
        if entries:
            path = out / system.name / ".eval_results" / f"{suite.name}.yaml"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(yaml.safe_dump(entries, allow_unicode=True, sort_keys=False), encoding="utf-8")
            count += 1
    return count


def _entry(row: Row, day: date, source: str) -> Row:
    notes = f"{row['metric']}, {row['method']}, {row['items']} items"
    if row["ci_low"] is not None:
        notes += f", 95 % interval {row['ci_low']:.4f} to {row['ci_high']:.4f}, clustered"
    entry: Row = {
        "dataset": {"id": row["release"], "task_id": row["config"]},
        "value": row["figure"],
        "date": day.isoformat(),
        "notes": notes,
    }
    return entry | ({"source": {"url": source, "name": "Mihakk"}} if source else {})
