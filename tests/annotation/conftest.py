"""What the tests of review share: a real Label Studio, people who signed up there, a real browser."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mihakk.annotation.label_studio.connection import Connection
from mihakk.annotation.label_studio.server import LocalServer
from mihakk.machinery.ports import free_port
from tests.annotation.signed_up import Member, sign_up


@pytest.fixture(scope="session")
def label_interface() -> Any:
    """Label Studio's own validation of configs, tasks, predictions and annotations."""
    return pytest.importorskip("label_studio_sdk.label_interface").LabelInterface


@pytest.fixture(scope="session")
def label_studio(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalServer]:
    """A real Label Studio on a free port, its database gone afterwards.

    A first start takes a minute or more; MIHAKK_TEST_LABEL_STUDIO names the home of a stopped server whose
    copy is started instead, while one works on these tests.
    """
    home = tmp_path_factory.mktemp("label-studio")
    if template := os.environ.get("MIHAKK_TEST_LABEL_STUDIO"):
        shutil.copytree(template, home, dirs_exist_ok=True)
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
