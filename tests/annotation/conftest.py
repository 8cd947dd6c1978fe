"""What the tests of review share: a real Label Studio, people who signed up there, a real browser."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock

from mihakk.annotation.label_studio.connection import Connection
from mihakk.annotation.label_studio.server import LocalServer
from mihakk.machinery.ports import free_port
from tests.annotation.signed_up import Member, sign_up
from tests.servers import of_all_workers


@pytest.fixture(scope="session")
def label_interface() -> Any:
    """Label Studio's own validation of configs, tasks, predictions and annotations."""
    return pytest.importorskip("label_studio_sdk.label_interface").LabelInterface


@pytest.fixture(scope="session")
def migrated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Home of a stopped Label Studio with its database made, which takes a minute or more: one for all workers.

    MIHAKK_TEST_LABEL_STUDIO names one that is there already, while one works on these tests.
    """
    if kept := os.environ.get("MIHAKK_TEST_LABEL_STUDIO"):
        return Path(kept)
    home = of_all_workers(tmp_path_factory) / "label-studio"
    with FileLock(f"{home}.lock"):
        if not home.exists():
            with LocalServer(home, free_port()):
                pass
    return home


@pytest.fixture(scope="session")
def label_studio(migrated: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalServer]:
    """A real Label Studio on a free port, one a worker, its database gone afterwards."""
    home = tmp_path_factory.mktemp("label-studio")
    shutil.copytree(migrated, home, dirs_exist_ok=True)
    with LocalServer(home, free_port()) as server:
        yield server


@pytest.fixture
def connection(label_studio: LocalServer) -> Iterator[Connection]:
    with Connection(label_studio.url, label_studio.secrets.token) as own:
        yield own


@pytest.fixture(scope="session")
def members(label_studio: LocalServer) -> list[Member]:
    """Three annotators who came by the invitation link."""
    with Connection(label_studio.url, label_studio.secrets.token) as owner:
        invitation = owner.invitation()
    return [sign_up(invitation, f"person{n}@example.org") for n in range(1, 4)]


@pytest.fixture(scope="session")
def screenshots(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where screenshots go; set MIHAKK_SCREENSHOTS to keep them."""
    kept = os.environ.get("MIHAKK_SCREENSHOTS")
    folder = Path(kept) if kept else tmp_path_factory.mktemp("screenshots")
    folder.mkdir(parents=True, exist_ok=True)
    return folder
