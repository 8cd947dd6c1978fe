"""The notebooks of the documentation; `tests/end_to_end/test_wheel.py` shows that they give what they show."""

from __future__ import annotations

from tools.notebooks import NOTEBOOKS


def test_there_are_three() -> None:
    assert {path.stem for path in NOTEBOOKS.glob("*.ipynb")} == {"audit", "results", "build"}
