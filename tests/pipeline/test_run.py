"""What a run looks at before its first step."""

from __future__ import annotations

from pathlib import Path

import pytest

from mihakk.machinery.errors import UsageError
from mihakk.pipeline.build import open_build
from mihakk.pipeline.engines.local import LocalEngine
from mihakk.pipeline.observer import Silent
from mihakk.pipeline.run import run_pipeline


class Begun(Exception):
    """The first step is about to run."""


@pytest.mark.parametrize("left", [None, b"{}"], ids=["fresh", "a damaged manifest"])
def test_a_build_that_audits_a_part_begins_in_whatever_lake(
    left: bytes | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def begin(*_: object) -> None:
        raise Begun

    monkeypatch.setattr("mihakk.pipeline.run.run_step", begin)
    build = open_build(Path("demo"), tmp_path / "run", str(tmp_path / "lake"))
    assert build.config.audit.limit is not None
    if left is not None:
        manifest = tmp_path / "lake" / "demo" / "5_checked" / "manifest.json"
        manifest.parent.mkdir(parents=True)
        manifest.write_bytes(left)
    with pytest.raises(Begun):
        run_pipeline(build, LocalEngine(1), Silent())


def test_weights_that_are_not_installed_are_named_before_the_first_step(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mihakk.machinery.llm.weights._part", lambda name, inside: None)
    build = open_build(Path("demo"), tmp_path / "run", str(tmp_path / "lake"))
    with pytest.raises(UsageError, match=r"'qwen2\.5-coder-0\.5b' need the packages .*make setup"):
        run_pipeline(build, LocalEngine(1), Silent())
    assert not (tmp_path / "lake" / "demo" / "1_scraped").exists()
