"""Messages that hold foreign text are printed in linear time."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from typer.testing import CliRunner

from mihakk.flows.cli import app


@pytest.mark.parametrize("text", ["a." * 30_000, "1" * 60_000, "a-" * 30_000, "/a" * 30_000, "x(" * 30_000])
def test_an_error_with_sixty_thousand_letters_of_a_file_is_printed_at_once(tmp_path: Path, text: str) -> None:
    began = time.process_time()
    done = CliRunner().invoke(app, ["source", "try", str(tmp_path / "no.csv"), "-o", f"{text}"])
    assert done.exit_code == 2
    assert text[:100] in done.output.replace("\n", "")
    assert time.process_time() - began < 5
