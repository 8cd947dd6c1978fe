"""The small benchmark and the scripted auditors of the end-to-end tests, and a Prefect server to disturb."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.drills.prefect_server import PrefectServer
from tests.end_to_end.conftest import auditors, workshop

__all__ = ["auditors", "prefect_server", "workshop"]


@pytest.fixture
def prefect_server(tmp_path: Path) -> Iterator[PrefectServer]:
    with PrefectServer(tmp_path / "prefect") as server:
        yield server
