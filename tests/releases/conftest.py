"""Assembled releases and an overlay that several tests look at."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from mihakk.machinery.settings import settings
from mihakk.pipeline.overlay import make_overlay
from mihakk.releases.assemble import AssembledRelease, assemble
from mihakk.releases.hub.embedded import EmbeddedHub
from tests.releases.overlay_sets import ROWS, audited, lines
from tests.releases.release_material import (
    corrected_arguments,
    hafez_items,
    idiom_items,
    only_read,
    release_arguments,
)


@pytest.fixture(scope="session")
def first_release(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AssembledRelease]:
    """Version 0.1.0 of 40 ghazals and the idioms."""
    folder = tmp_path_factory.mktemp("first") / "release"
    yield from only_read(assemble(folder=folder, **release_arguments(hafez_items())))


@pytest.fixture(scope="session")
def second_release(
    tmp_path_factory: pytest.TempPathFactory, first_release: AssembledRelease
) -> Iterator[AssembledRelease]:
    """The version after: one item gone with a reason, one gold corrected, one question reworded, one item new."""
    folder = tmp_path_factory.mktemp("second") / "release"
    release = assemble(folder=folder, previous=first_release.folder, **corrected_arguments())
    yield from only_read(release)


@pytest.fixture(scope="session")
def small(tmp_path_factory: pytest.TempPathFactory) -> AssembledRelease:
    """Two configs, few requests."""
    return assemble(folder=tmp_path_factory.mktemp("small") / "r", **release_arguments(idiom_items()))


@pytest.fixture(scope="session")
def small_next(tmp_path_factory: pytest.TempPathFactory, small: AssembledRelease) -> AssembledRelease:
    """The version after: one config gone."""
    items = tuple(item for item in idiom_items() if item.task == "meaning_choice")
    return assemble(
        folder=tmp_path_factory.mktemp("next") / "r", previous=small.folder, **release_arguments(items)
    )


@pytest.fixture(scope="session")
def hub_of_two(
    first_release: AssembledRelease,
    second_release: AssembledRelease,
    tmp_path_factory: pytest.TempPathFactory,
) -> Path:
    """A Hub with both versions; tests get copies."""
    folder = tmp_path_factory.mktemp("published")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MIHAKK_CACHE", str(folder / "cache"))
        settings.cache_clear()
        hub = EmbeddedHub(folder / "hub")
        hub.publish(first_release)
        hub.publish(second_release)
    settings.cache_clear()
    return hub.root


@pytest.fixture
def two_versions(hub_of_two: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> EmbeddedHub:
    """A Hub of the test's own with both versions."""
    monkeypatch.setenv("MIHAKK_HUB", str(tmp_path / "hub"))
    monkeypatch.setenv("MIHAKK_CACHE", str(tmp_path / "cache"))
    settings.cache_clear()
    shutil.copytree(hub_of_two, tmp_path / "hub", symlinks=True)
    return EmbeddedHub()


@pytest.fixture
def config(tmp_path: Path) -> Path:
    """The config of `two_versions`."""
    path = tmp_path / "touchstone.yaml"
    path.write_text(
        "name: touchstone\ntitle: T\nsources: [{use: hafez}]\ntasks: [{use: continuation}]\n", "utf-8"
    )
    return path


@pytest.fixture
def made(tmp_path: Path) -> tuple[Path, Path, Path]:
    """A benchmark as JSON lines, its overlay and the cleaned copy of its audit."""
    source = tmp_path / "bench.jsonl"
    source.write_bytes(lines(ROWS))
    audit = audited(source, tmp_path / "audit")
    make_overlay(audit, tmp_path / "overlay", dataset="owner/bench", revision="1a2b")
    return source, tmp_path / "overlay", audit / "clean.jsonl"
