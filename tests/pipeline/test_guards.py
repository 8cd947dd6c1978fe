"""Tables that were examined are not examined again while nothing of them has changed."""

from __future__ import annotations

import os
import shutil
import time
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from mihakk.machinery.settings import settings
from mihakk.pipeline.build import open_build
from mihakk.pipeline.guards import IN_USE, KEPT, _clear_unused, guard_tables, write_data_docs
from mihakk.schemas.stages import CHECKED
from tests.archives import unpacked
from tests.end_to_end.test_older_lake import ARCHIVE


@pytest.mark.usefixtures("pages_of_suites")
def test_the_second_look_at_the_same_tables_examines_none_of_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    unpacked(ARCHIVE, tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MIHAKK_CACHE", str(tmp_path / "cache"))
    settings.cache_clear()
    build = open_build(Path("small.yaml"), tmp_path / "runs", str(tmp_path / "lake"))
    asked: list[str] = []
    module = import_module("mihakk.validators.expectations.guard")
    examine = module.examine

    def counted(table: Any, *arguments: Any, **named: Any) -> Any:
        asked.append(table)
        return examine(table, *arguments, **named)

    monkeypatch.setattr(module, "examine", counted)
    found = guard_tables(build)
    assert found is not None
    assert "items" in asked
    first = write_data_docs(build, found).read_text("utf-8")
    asked.clear()
    assert guard_tables(build) == found
    assert asked == []
    assert write_data_docs(build, found).read_text("utf-8") == first
    path = Path(build.stage(CHECKED)._path("manifest.json"))
    text = path.read_text("utf-8")
    part = build.stage(CHECKED).manifest().shards[0].parts["items"]
    path.write_text(text.replace(part, "0" * 64), "utf-8")
    assert guard_tables(build) != found
    assert "items" in asked
    asked.clear()
    monkeypatch.setenv("MIHAKK_DATA_DOCS", "false")
    settings.cache_clear()
    assert guard_tables(build) is None
    assert "items" in asked


def test_clearing_takes_only_what_no_run_asked_for_lately_and_bears_another_that_clears_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folders = [tmp_path / f"{number:02x}" for number in range(KEPT + 6)]
    for number, folder in enumerate(folders):
        folder.mkdir()
        (folder / "index.html").touch()
        age = 10 if number < 3 else IN_USE + number
        os.utime(folder, (time.time() - age, time.time() - age))
    vanishing = folders[-1]
    stat = Path.stat

    def another_clears(path: Path, **named: Any) -> os.stat_result:
        if path == vanishing:
            shutil.rmtree(path, ignore_errors=True)
        return stat(path, **named)

    monkeypatch.setattr(Path, "stat", another_clears)
    _clear_unused(tmp_path)
    left = {path.name for path in tmp_path.iterdir()}
    assert {folder.name for folder in folders[:3]} <= left
    assert len(left) == KEPT
