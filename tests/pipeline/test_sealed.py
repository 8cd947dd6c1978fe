"""What of a blind benchmark can't be carried over is refused when it is sealed."""

from __future__ import annotations

from pathlib import Path

import pytest

from mihakk.machinery.errors import UsageError
from mihakk.pipeline import sealed
from mihakk.pipeline.build import CONFIGS, open_build
from mihakk.schemas.published import SealedItem


def test_a_work_that_is_not_found_by_its_id_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`amthal-1:2` reads as a couplet of `amthal-1`, and there is no such poem."""
    build = open_build(CONFIGS / "benchmarks" / "demo.yaml", tmp_path / "run", str(tmp_path / "lake"))
    monkeypatch.setattr(sealed, "states_of", lambda *_: {})
    monkeypatch.setattr(type(build.stage("3_curated")), "read_all", lambda *_: iter(()))
    assert sealed.sealed_tables(build) == {}  # an open benchmark closes nothing
    placed = sealed.Sides({"amthal-1": "test", "amthal-2": "dev"}, frozenset())
    monkeypatch.setattr(sealed, "sides", lambda _: placed)
    with pytest.raises(UsageError, match=r"no record of their id \(amthal-1\).*colon and digits"):
        sealed.sealed_tables(build)


def test_what_an_older_mihakk_kept_of_a_sealed_work_is_read() -> None:
    kept = {"item": "", "work": "own-1", "state": "s", "content_hash": ""}
    assert SealedItem.model_validate(kept | {"same": {"own-2": "t"}}) == SealedItem.model_validate(kept)
