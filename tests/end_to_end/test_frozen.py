"""The demo and an audit give the rows that they gave before the house was rebuilt."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from mihakk.machinery.settings import ROOT
from tests.end_to_end import frozen


def run(folder: Path, *arguments: str) -> None:
    told = subprocess.run(
        [sys.executable, "-m", "mihakk.flows.cli", *arguments],
        cwd=ROOT,
        env=os.environ | {"MIHAKK_HUB": str(folder / "hub"), "MIHAKK_DATA_DOCS": "true"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert told.returncode == 0, told.stderr[-2_000:]


@pytest.mark.slow
def test_the_demo_gives_the_frozen_items_verdicts_and_released_tables(tmp_path: Path) -> None:
    places = ("--lake", str(tmp_path / "lake"), "--runs", str(tmp_path / "runs"))
    run(tmp_path, "build", "configs/benchmarks/demo.yaml", "--audit-limit", "0", *places)
    assert list(frozen.differences(frozen.read("demo"), frozen.demo(tmp_path))) == []
    worn = {
        (row["record"].removeprefix("worn_verse-"), row["reason"])
        for stage in ("1_scraped", "3_curated")
        for row in rows(tmp_path / "lake" / "demo" / stage, "rejected", "removed")
        if row["record"].startswith("worn_verse-")
    }
    assert worn == {
        *(
            ("w04", "exact_duplicate"),
            ("w05", "exact_duplicate"),
            ("w07", "no_verse"),
            ("w10:1", "hemistich_empty"),
        ),
        *(("w11:1", "link"), ("w12", "check_TX03"), ("w13", "metre_unknown"), ("w14", "verses_missing")),
    }
    checked = tmp_path / "lake" / "demo" / "5_checked"
    made = {row["id"]: row for row in rows(checked, "items") if "worn_verse" in row["origin"]["records"][0]}
    assert not any(
        row["task"] == "metre_choice" and "w09" in row["origin"]["records"][0] for row in made.values()
    )
    assert "إذا كنت في كل الأمور معاتبا" in "".join(row["question"] for row in made.values()), (
        "w06 is repaired"
    )
    flagged = {row["subject"] for row in rows(checked, "findings") if row["severity"] == "flag"}
    assert {name for name, row in made.items() if "w03" in row["origin"]["records"][0]} <= flagged


def rows(stage: Path, *tables: str) -> list[dict[str, Any]]:
    return [
        row
        for table in tables
        for path in sorted((stage / table).glob("*.parquet"))
        for row in pq.read_table(path).to_pylist()
    ]


@pytest.mark.slow
def test_an_audit_of_arabicmmlu_gives_the_frozen_verdicts_findings_and_cleaned_copy(
    tmp_path: Path, shared_data: Path
) -> None:
    table = str(shared_data / "arabicmmlu" / "dev.csv")
    run(tmp_path, "audit", table, "--map", "auto", "--rules-only", "--out", str(tmp_path / "audit"))
    assert list(frozen.differences(frozen.read("arabicmmlu"), frozen.arabicmmlu(tmp_path))) == []


def test_a_changed_row_is_a_difference() -> None:
    before = {"items": frozen.grouped([("a", "1"), ("b", "2")])}
    after = {"items": frozen.grouped([("a", "1"), ("b", "3")])}
    assert list(frozen.differences(before, before)) == []
    assert list(frozen.differences(before, after)) == ["items: 2 rows frozen, 2 now, 1 of 64 groups differ"]
