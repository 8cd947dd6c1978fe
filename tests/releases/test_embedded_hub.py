"""The embedded Hub: whole or nothing, same bytes twice, no version moved."""

from __future__ import annotations

import multiprocessing
import os
import shutil
import signal
import subprocess
from pathlib import Path

import pytest

from mihakk.machinery.errors import ExternalFailure, UsageError
from mihakk.releases.assemble import AssembledRelease
from mihakk.releases.hub import embedded
from mihakk.releases.hub.embedded import EmbeddedHub
from tests.releases.hub_state import altered


@pytest.fixture
def hub(tmp_path: Path) -> EmbeddedHub:
    return EmbeddedHub(tmp_path / "hub")


def visible(hub: EmbeddedHub) -> list[str]:
    """What a visitor of the folder sees."""
    return (
        sorted(path.name for path in hub.root.iterdir() if not path.name.startswith("."))
        if hub.root.exists()
        else []
    )


def test_two_versions_are_published_and_load_back(
    hub: EmbeddedHub, first_release: AssembledRelease, second_release: AssembledRelease
) -> None:
    first = hub.publish(first_release)
    assert first.created
    assert hub.verify("touchstone", "0.1.0", first_release.folder) == first_release.rows
    second = hub.publish(second_release)
    assert second.commit != first.commit
    assert hub.versions("touchstone") == ["0.1.0", "0.2.0"]
    assert hub.verify("touchstone", "0.1.0", first_release.folder) == first_release.rows
    assert hub.verify("touchstone", "0.2.0", second_release.folder) == second_release.rows


def test_the_repository_itself_is_what_datasets_loads(
    hub: EmbeddedHub, first_release: AssembledRelease, tmp_path: Path
) -> None:
    import datasets

    hub.publish(first_release)
    loaded = datasets.load_dataset(
        str(hub.repository("touchstone")), "fa_continuation_choice", cache_dir=str(tmp_path / "c")
    )
    assert {split: part.num_rows for split, part in loaded.items()} == first_release.rows[
        "fa_continuation_choice"
    ]


def test_the_same_bytes_again_change_nothing(hub: EmbeddedHub, small: AssembledRelease) -> None:
    first = hub.publish(small)
    again = hub.publish(small)
    assert (again.commit, again.created) == (first.commit, False)


def test_equal_histories_have_equal_commits(
    tmp_path: Path,
    small: AssembledRelease,
    small_next: AssembledRelease,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    one = EmbeddedHub(tmp_path / "one")
    commits = [one.publish(release).commit for release in (small, small_next)]
    monkeypatch.setenv("GIT_AUTHOR_NAME", "Somebody else")
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / ".gitconfig").write_text("[core]\n autocrlf = true\n[commit]\n gpgsign = true\n")
    other = EmbeddedHub(tmp_path / "other")
    assert [other.publish(release).commit for release in (small, small_next)] == commits


def test_other_bytes_under_a_published_version_are_refused(
    hub: EmbeddedHub, small: AssembledRelease, tmp_path: Path
) -> None:
    published = hub.publish(small)
    other = altered(small, tmp_path / "other")
    with pytest.raises(UsageError, match=r"0\.1\.0 is published with other bytes"):
        hub.publish(other)
    assert hub.commit("touchstone", "0.1.0") == published.commit


def test_a_lower_version_after_a_higher_one_is_refused(
    hub: EmbeddedHub, small: AssembledRelease, small_next: AssembledRelease
) -> None:
    hub.publish(small_next)
    with pytest.raises(UsageError, match="lower than the newest"):
        hub.publish(small)


def test_a_folder_that_differs_from_its_manifest_is_not_published(
    hub: EmbeddedHub, small: AssembledRelease, tmp_path: Path
) -> None:
    from dataclasses import replace

    folder = tmp_path / "damaged"
    shutil.copytree(small.folder, folder)
    part = folder / "ar_meaning_choice" / "test-00000-of-00001.parquet"
    part.write_bytes(part.read_bytes()[:-1] + b"\0")
    with pytest.raises(UsageError, match="other bytes than the manifest states"):
        hub.publish(replace(small, folder=folder))
    assert visible(hub) == []


def test_an_unknown_version_is_named_with_the_one_meant(hub: EmbeddedHub, small: AssembledRelease) -> None:
    hub.publish(small)
    with pytest.raises(UsageError, match=r"no version 0\.9\.0 .*did you mean .0\.1\.0"):
        hub.verify("touchstone", "0.9.0")


def test_a_repository_whose_objects_are_damaged_gives_no_release(
    hub: EmbeddedHub, small: AssembledRelease, tmp_path: Path
) -> None:
    hub.publish(small)
    largest = max(
        (path for path in (hub.repository("touchstone") / ".git" / "objects").rglob("*") if path.is_file()),
        key=lambda path: path.stat().st_size,
    )
    largest.chmod(0o644)
    data = bytearray(largest.read_bytes())
    data[len(data) // 2] ^= 0xFF
    largest.write_bytes(data)
    with pytest.raises(ExternalFailure, match=r"git archive failed|came back damaged"):
        hub.verify("touchstone", "0.1.0", small.folder)


STEPS = ("init", "add", "commit", "tag", "rev-parse")


def _die_at(step: str, hub: EmbeddedHub, release: AssembledRelease) -> None:
    real = embedded.git

    def mortal(folder: Path, *arguments: str, day: int = 0) -> str:
        if arguments[0] == step:
            os.kill(os.getpid(), signal.SIGKILL)
        return real(folder, *arguments, day=day)

    embedded.git = mortal
    hub.publish(release)


@pytest.mark.parametrize(
    ("step", "second"), [*((one, False) for one in STEPS), *((one, True) for one in STEPS[1:])]
)
def test_killed_while_publishing_the_hub_is_as_before_and_the_next_run_succeeds(
    step: str,
    *,
    second: bool,
    hub: EmbeddedHub,
    small: AssembledRelease,
    small_next: AssembledRelease,
) -> None:
    if second:
        hub.publish(small)
    release = small_next if second else small
    process = multiprocessing.get_context("fork").Process(target=_die_at, args=(step, hub, release))
    process.start()
    process.join()
    assert process.exitcode == -signal.SIGKILL
    assert visible(hub) == (["touchstone"] if second else [])
    assert hub.versions("touchstone") == (["0.1.0"] if second else [])
    assert hub.rotten("touchstone") == []
    hub.publish(release)
    assert hub.verify("touchstone", release.version, release.folder) == release.rows
    assert not list(hub.root.glob(".touchstone.publishing-*"))


def _publish(hub: EmbeddedHub, release: AssembledRelease) -> None:
    hub.publish(release)


def test_two_publishers_at_once_make_one_version(hub: EmbeddedHub, small: AssembledRelease) -> None:
    fork = multiprocessing.get_context("fork")
    racers = [fork.Process(target=_publish, args=(hub, small)) for _ in range(3)]
    for racer in racers:
        racer.start()
    for racer in racers:
        racer.join()
    assert [racer.exitcode for racer in racers] == [0, 0, 0]
    log = subprocess.run(
        ["git", "-C", hub.repository("touchstone"), "log", "--oneline"], check=True, capture_output=True
    )
    assert len(log.stdout.splitlines()) == 1


def test_without_an_exchange_in_one_step_the_folders_still_change_places(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:

    from mihakk.releases.hub import embedded

    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "name").write_text(name)
    embedded.exchange(tmp_path / "one", tmp_path / "two")
    assert (tmp_path / "one" / "name").read_text() == "two"
    monkeypatch.setattr(embedded, "_exchanged", lambda first, second: False)
    embedded.exchange(tmp_path / "one", tmp_path / "two")
    assert (tmp_path / "one" / "name").read_text() == "one"
    assert (tmp_path / "two" / "name").read_text() == "two"
