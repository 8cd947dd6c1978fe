"""A tag that somebody moved: every reader stops, in the same words."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

from mihakk.flows.cli import app
from mihakk.machinery.errors import ExternalFailure
from mihakk.machinery.settings import settings
from mihakk.pipeline.build import open_build
from mihakk.pipeline.publishing import publish_version
from mihakk.releases.assemble import assemble
from mihakk.releases.hub.embedded import EmbeddedHub
from mihakk.releases.hub.load import load
from mihakk.releases.hub.remote import RemoteHub
from tests.releases.hub_server import HubServer
from tests.releases.release_material import idiom_items, release_arguments

NAME = "someone/touchstone"
WORDS = "touchstone: the tag 0.1.0 points at a release that says it is 0.2.0; the tag was moved"


@pytest.fixture
def hub(two_versions: EmbeddedHub) -> EmbeddedHub:
    """An embedded Hub with two versions, whose first tag somebody moved with git."""
    git(two_versions.repository("touchstone"), "tag", "--force", "0.1.0", "0.2.0^{commit}")
    return two_versions


def git(folder: Path, *words: str) -> None:
    subprocess.run(["git", "-C", str(folder), *words], check=True, capture_output=True)


@pytest.mark.parametrize(
    "command",
    [
        "diff CONFIG 0.1.0 0.2.0",
        "diff CONFIG 0.2.0 0.1.0",
        "pull touchstone 0.1.0 TARGET",
        "report-defect CONFIG x --problem wrong_gold --evidence e --version 0.1.0",
        "publish CONFIG --version 0.1.0 --repository a/b --endpoint http://127.0.0.1:9",
    ],
)
def test_every_command_that_reads_a_version_notices(
    hub: EmbeddedHub, config: Path, tmp_path: Path, command: str
) -> None:
    assert hub.versions("touchstone") == ["0.1.0", "0.2.0"]
    words = command.replace("CONFIG", str(config)).replace("TARGET", str(tmp_path / "t")).split()
    found = CliRunner().invoke(app, words, terminal_width=300)
    assert found.exit_code == 75, found.output
    assert WORDS in found.output
    assert not (tmp_path / "t").exists()


@pytest.mark.parametrize(
    "read",
    [
        lambda hub, _: load("touchstone", "0.1.0"),
        lambda hub, _: hub.verify("touchstone", "0.1.0"),
        lambda _, config: publish_version(open_build(config, Path("runs")), "0.1.0", "a/b"),
    ],
)
def test_every_function_that_reads_a_version_notices(
    hub: EmbeddedHub, config: Path, read: Callable[[EmbeddedHub, Path], object]
) -> None:
    with pytest.raises(ExternalFailure) as error:
        read(hub, config)
    assert str(error.value) == WORDS


def test_verify_notices_in_a_clone(hub: EmbeddedHub, tmp_path: Path) -> None:
    clone = tmp_path / "touchstone"
    git(tmp_path, "clone", "--branch", "0.1.0", str(hub.repository("touchstone")), str(clone))
    found = CliRunner().invoke(app, ["verify", str(clone)])
    assert found.exit_code == 1
    assert WORDS in found.output


def test_a_remote_tag_moved_to_other_bytes_of_the_same_version_is_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MIHAKK_CACHE", str(tmp_path / "cache"))
    settings.cache_clear()
    first = assemble(folder=tmp_path / "first", **release_arguments(idiom_items()))
    other = assemble(folder=tmp_path / "other", **release_arguments(idiom_items()[:-1]))
    assert first.version == other.version == "0.1.0"
    with HubServer().running() as server:
        remote = RemoteHub(NAME, server.endpoint)
        commit = remote.publish(first).commit
        load(NAME, "0.1.0", "ar_meaning_choice", endpoint=server.endpoint)
        load(NAME, "0.1.0", "ar_meaning_choice", endpoint=server.endpoint)
        (repository,) = server.repositories.values()
        del repository.tags["0.1.0"]
        assert remote.publish(other).commit != commit
        with pytest.raises(ExternalFailure, match=rf"pointed at {commit[:12]} when it .*; the tag was moved"):
            load(NAME, "0.1.0", "ar_meaning_choice", endpoint=server.endpoint)
        kept = load(NAME, "0.1.0", "ar_verse_explanation", commit=commit, endpoint=server.endpoint)
        assert kept["test"].num_rows + (kept["dev"].num_rows if "dev" in kept else 0) == 1
