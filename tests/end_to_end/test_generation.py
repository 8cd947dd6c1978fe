"""A lake's generation rises with its output, and an older program refuses a newer lake before it touches it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mihakk.machinery.errors import UsageError
from mihakk.machinery.llm.scripted import ScriptedServer
from mihakk.schemas import manifest
from mihakk.schemas.stages import STAGES
from tests.end_to_end import frozen
from tests.end_to_end.conftest import Built, fewer, make_workshop

GOLDEN = Path(__file__).resolve().parent.parent / "fixtures" / "frozen" / "generation.json"


def tables_of(lake: Path) -> dict[str, str]:
    """One digest of the rows of every table of every stage."""
    return {
        f"{stage}/{folder.name}": frozen.digest_of(frozen.rows_of(lake / stage, f"{folder.name}/*.parquet"))
        for stage in STAGES
        for folder in sorted((lake / stage).iterdir())
        if folder.is_dir() and any(folder.glob("*.parquet")) and folder.name != "release"
    }


def test_output_that_changes_raises_the_generation(
    built: Built,
) -> None:
    """Write the golden anew with MIHAKK_WRITE_GOLDEN=1 once `mihakk.schemas.manifest.FORMAT` is raised."""
    now = {"generation": manifest.FORMAT, "tables": tables_of(built.workshop.lake("a") / "small")}
    if frozen.writes(GOLDEN, now):
        pytest.skip("golden written anew")
    golden = json.loads(GOLDEN.read_text(encoding="utf-8"))
    assert golden["generation"] == manifest.FORMAT, "the golden is of another generation: write it anew"
    changed = sorted(
        name
        for name in golden["tables"] | now["tables"]
        if golden["tables"].get(name) != now["tables"].get(name)
    )
    assert changed == [], (
        "the same input gives other tables: raise mihakk.schemas.manifest.FORMAT, write the golden anew"
    )


def test_an_older_program_refuses_a_newer_lake_and_changes_nothing(
    built: Built, monkeypatch: pytest.MonkeyPatch
) -> None:
    workshop = built.workshop
    lake = workshop.lake("a") / "small"
    before = {path: path.read_bytes() for path in lake.rglob("*") if path.is_file()}
    for module in (
        "mihakk.schemas.manifest",
        "mihakk.machinery.lake._manifests",
        "mihakk.machinery.lake.stage",
    ):
        monkeypatch.setattr(f"{module}.FORMAT", manifest.OLDEST_FORMAT)
    with pytest.raises(
        UsageError, match=r"written by a newer Mihakk \(lake generation 3; this one knows 1\)"
    ):
        workshop.build("a", monkeypatch)
    assert {path: path.read_bytes() for path in lake.rglob("*") if path.is_file()} == before


def test_a_newer_program_reads_an_older_lake_and_makes_nothing_again(
    tmp_path: Path, auditors: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    workshop = make_workshop(tmp_path, auditors.url, fewer)
    with monkeypatch.context() as older:
        for module in (
            "mihakk.schemas.manifest",
            "mihakk.machinery.lake._manifests",
            "mihakk.machinery.lake.stage",
        ):
            older.setattr(f"{module}.FORMAT", manifest.OLDEST_FORMAT)
        workshop.build("a", older)
    before = {path: path.stat().st_mtime_ns for path in workshop.lake("a").rglob("part-*.parquet")}
    made = workshop.build("a", monkeypatch)
    assert {path: path.stat().st_mtime_ns for path in workshop.lake("a").rglob("part-*.parquet")} == before
    assert {one.format for one in made} == {manifest.FORMAT}
