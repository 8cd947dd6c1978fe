"""What every test shares: its own lake, cache and Hub, and the real data where a checkout has it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mihakk import settings as settings_module
from tests.prefect_server import PrefectServer
from tests.servers import serving_vllm

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Folder of real data beside the checkout; a user's checkout has none, so its tests are skipped."""
    folder = Path(os.environ.get("MIHAKK_SHARED_DATA", ROOT.parent / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip(f"needs the real data that is not part of the repository (looked in {folder})")
    return folder


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """A headless Chromium. Not for the whole session: Playwright keeps an event loop running in this thread."""
    playwright = pytest.importorskip("playwright.sync_api")
    program = os.environ.get("MIHAKK_CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    if not program:
        pytest.skip("needs Chromium (Debian: apt-get install chromium fonts-noto-core)")
    with playwright.sync_playwright() as driver:
        chromium = driver.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield chromium
        chromium.close()


@pytest.fixture(scope="session")
def vllm() -> Iterator[str]:
    """Base URL of a real vLLM, one for every test of a worker: a start takes minutes."""
    with serving_vllm() as url:
        yield url


@pytest.fixture
def prefect_server(tmp_path: Path) -> Iterator[PrefectServer]:
    """A real Prefect server on SQLite."""
    with PrefectServer(tmp_path / "prefect") as server:
        yield server


@pytest.fixture(autouse=True)
def own_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[settings_module.Settings]:
    """Settings that point into the test's own folder; the weights' cache stays shared, for it is verified."""
    monkeypatch.setenv("MIHAKK_LAKE", str(tmp_path / "lake"))
    monkeypatch.setenv("MIHAKK_HUB", str(tmp_path / "hub"))
    for name in ("MIHAKK_HF_TOKEN", "MIHAKK_ALDIWAN_TOKEN", "MIHAKK_LABEL_STUDIO_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    settings_module.settings.cache_clear()
    yield settings_module.settings()
    settings_module.settings.cache_clear()
