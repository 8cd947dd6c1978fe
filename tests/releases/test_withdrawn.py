"""A withdrawn version: its bytes and tag stay, and everybody who meets it is told, on both Hubs."""

from __future__ import annotations

import json
import subprocess
import warnings
from datetime import date
from pathlib import Path
from typing import Any

import datasets
import pytest
from typer.testing import CliRunner, Result

from mihakk.flows.cli import app
from mihakk.machinery.errors import ExternalFailure, MihakkWarning, UsageError
from mihakk.machinery.settings import settings
from mihakk.pipeline.build import open_build
from mihakk.pipeline.publishing import publish_version
from mihakk.releases.assemble import AssembledRelease, assemble
from mihakk.releases.content.checksum import faults
from mihakk.releases.hub.embedded import EmbeddedHub
from mihakk.releases.hub.load import load, named_folder
from mihakk.releases.hub.remote import RemoteHub
from mihakk.releases.versions.withdrawal import mark_card
from mihakk.schemas.withdrawal import Withdrawal
from tests.releases.hub_server import HubServer
from tests.releases.release_material import (
    FACTS,
    corrected_arguments,
    hafez_items,
    idiom_items,
    release_arguments,
)

WHY = "The gold of *40* items was shifted by one."
ONE = Withdrawal(version="0.1.0", why=WHY, withdrawn_on=date(2026, 11, 22))


def call(*words: object) -> Result:
    return CliRunner().invoke(app, [str(word) for word in words], terminal_width=300)


def git(folder: Path, *words: str) -> str:
    return subprocess.run(
        ["git", "-C", str(folder), *words], check=True, capture_output=True, text=True
    ).stdout


def test_tag_and_bytes_stay_and_the_main_branch_says_why(two_versions: EmbeddedHub, config: Path) -> None:
    repository = two_versions.repository("touchstone")
    before = {
        version: two_versions.commit("touchstone", version) for version in two_versions.versions("touchstone")
    }
    done = call("withdraw", config, "0.1.0", "--why", WHY, "--json")
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout) == {"version": "0.1.0", "places": {"the embedded Hub": True}}
    assert {version: two_versions.commit("touchstone", version) for version in before} == before
    assert two_versions.verify("touchstone", "0.1.0")
    assert faults(repository) == []
    assert git(repository, "status", "--porcelain") == ""
    assert "Version 0.1.0 is withdrawn" in (repository / "README.md").read_text("utf-8")
    log = (repository / "CHANGELOG.md").read_text("utf-8")
    assert "## 0.1.0 (withdrawn)\n\nWithdrawn on 20" in log
    assert r"The gold of \*40\* items" in log
    assert "\n## 0.2.0\n" in log
    configs = datasets.get_dataset_config_names(str(repository))
    assert configs == sorted(configs)
    again = call("withdraw", config, "0.1.0", "--why", "another reason")
    assert again.exit_code == 0
    assert "the first reason stands" in again.output
    assert two_versions.withdrawals("touchstone")[0].why == WHY


@pytest.mark.parametrize(
    "command", ["pull touchstone 0.1.0 TARGET", "diff CONFIG 0.1.0 0.2.0", "verify CLONE", "verify COPY"]
)
def test_every_command_that_reads_it_warns_in_one_line(
    two_versions: EmbeddedHub, config: Path, tmp_path: Path, command: str
) -> None:
    clone, copy = tmp_path / "clone", tmp_path / "copy"
    two_versions.checkout("touchstone", "0.1.0", copy)
    two_versions.withdraw("touchstone", ONE)
    git(tmp_path, "clone", "--branch", "0.1.0", str(two_versions.repository("touchstone")), str(clone))
    places = {"CONFIG": config, "TARGET": tmp_path / "t", "CLONE": clone, "COPY": copy}
    done = call(*[places.get(word, word) for word in command.split()])
    assert done.exit_code == 0, done.output
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"Warning: touchstone 0.1.0 was withdrawn on 2026-11-22: {WHY}")
    other = call(*[places.get(w, w) for w in ("pull", "touchstone", "0.2.0", tmp_path / "other")])
    assert other.stderr == ""


def test_a_clone_knows_by_itself_what_its_origin_withdrew(two_versions: EmbeddedHub, tmp_path: Path) -> None:
    two_versions.withdraw("touchstone", ONE)
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "--branch", "0.1.0", str(two_versions.repository("touchstone")), str(clone))
    settings().hub.rename(tmp_path / "gone")
    assert "Warning: touchstone 0.1.0 was withdrawn" in call("verify", clone).stderr


def test_loading_warns_and_the_newest_is_the_newest_in_use(two_versions: EmbeddedHub) -> None:
    two_versions.withdraw("touchstone", ONE.model_copy(update={"version": "0.2.0"}))
    with pytest.warns(MihakkWarning, match=r"touchstone 0\.2\.0 was withdrawn"):
        load("touchstone", "0.2.0", "ar_meaning_choice")
    with warnings.catch_warnings():
        warnings.simplefilter("error", MihakkWarning)
        folder, _ = named_folder("touchstone@latest")
    assert folder.name == two_versions.commit("touchstone", "0.1.0")
    two_versions.withdraw("touchstone", ONE)
    with pytest.raises(UsageError, match="not withdrawn"):
        named_folder("touchstone@latest")


def test_a_withdrawn_version_is_not_published(two_versions: EmbeddedHub, config: Path) -> None:
    two_versions.withdraw("touchstone", ONE.model_copy(update={"version": "0.2.0"}))
    with pytest.raises(UsageError, match=r"0\.2\.0 is not published: it was withdrawn"):
        publish_version(open_build(config, Path("runs")), "", "a/b", "http://127.0.0.1:9")


@pytest.mark.parametrize(
    ("version", "why", "says"),
    [("0.9.0", "wrong", "no version 0.9.0"), ("0.1.0", " \n ", "say why 0.1.0 is withdrawn")],
)
def test_a_mistake_withdraws_nothing(
    two_versions: EmbeddedHub, config: Path, version: str, why: str, says: str
) -> None:
    before = git(two_versions.repository("touchstone"), "rev-parse", "main")
    done = call("withdraw", config, version, "--why", why)
    assert (done.exit_code, done.stderr.count("\n")) == (2, 1)
    assert says in done.stderr
    assert git(two_versions.repository("touchstone"), "rev-parse", "main") == before


def arguments(**changed: Any) -> dict[str, Any]:
    return release_arguments(hafez_items()) | changed


def test_later_versions_tell_of_it_and_its_own_items_make_none(
    two_versions: EmbeddedHub, first_release: AssembledRelease, tmp_path: Path
) -> None:
    facts = FACTS.model_copy(update={"withdrawn": (ONE,)})
    with pytest.raises(UsageError, match=r"0\.1\.0 was withdrawn .* very same items"):
        assemble(folder=tmp_path / "same", previous=first_release.folder, **arguments(facts=facts))
    later = assemble(
        folder=tmp_path / "later",
        previous=first_release.folder,
        **corrected_arguments() | {"facts": facts},
    )
    assert "Version 0.1.0 is withdrawn" in (later.folder / "README.md").read_text("utf-8")
    assert "## 0.1.0 (withdrawn)" in (later.folder / "CHANGELOG.md").read_text("utf-8")
    assert faults(later.folder) == []
    third = assemble(folder=tmp_path / "third", previous=later.folder, **arguments(facts=facts))
    assert third.version == "0.3.0"
    log = (third.folder / "CHANGELOG.md").read_text("utf-8")
    assert log.count("Withdrawn on") == 1
    assert (third.folder / "README.md").read_text("utf-8").count("is withdrawn") == 1
    two_versions.withdraw("touchstone", ONE)
    silent = assemble(
        folder=tmp_path / "silent",
        previous=two_versions.checkout("touchstone", "0.2.0", tmp_path / "2"),
        **arguments(),
    )
    with pytest.raises(UsageError, match=r"does not say that 0\.1\.0 is withdrawn"):
        two_versions.publish(silent)
    assert two_versions.publish(third).created
    assert [one.version for one in two_versions.withdrawals("touchstone")] == ["0.1.0"]


def test_the_card_puts_its_own_version_first_and_marks_once() -> None:
    other = ONE.model_copy(update={"version": "0.2.0", "why": "an older fault"})
    card = "---\na: b\n---\n# T\n\n<!-- generated:begin summary -->\nS\n<!-- generated:end summary -->\n"
    once = mark_card(card, "0.1.0", (ONE, other))
    assert mark_card(once, "0.1.0", (ONE, other)) == once
    assert once.index("**This version, 0.1.0, is withdrawn**") < once.index("Version 0.2.0 is withdrawn")
    assert once.index("# T") < once.index("withdrawn") < once.index("begin summary")
    assert mark_card(card, "0.1.0", ()) == card


def test_a_damaged_list_is_no_clean_bill(two_versions: EmbeddedHub) -> None:
    two_versions.withdraw("touchstone", ONE)
    repository = two_versions.repository("touchstone")
    (repository / "withdrawn.json").write_text("[{]", encoding="utf-8")
    git(repository, "-c", "user.name=x", "-c", "user.email=x@y", "commit", "-qam", "rot")
    with pytest.raises(ExternalFailure, match="which versions are withdrawn"):
        load("touchstone", "0.1.0", "ar_meaning_choice")


def test_a_remote_hub_is_told_by_one_commit_and_tells_its_readers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MIHAKK_CACHE", str(tmp_path / "cache"))
    settings.cache_clear()
    small = assemble(folder=tmp_path / "r", **release_arguments(idiom_items()))
    choices = tuple(item for item in idiom_items() if item.task == "meaning_choice")
    silent = assemble(folder=tmp_path / "s", previous=small.folder, **release_arguments(choices))
    facts = FACTS.model_copy(update={"withdrawn": (ONE,)})
    told = assemble(folder=tmp_path / "n", previous=small.folder, **release_arguments(choices, facts))
    with HubServer().running() as server:
        remote = RemoteHub("someone/touchstone", server.endpoint, patience=0.001)
        remote.publish(small)
        (repository,) = server.repositories.values()
        tagged = dict(repository.tags)
        server.requests.clear()
        assert remote.withdraw(ONE)
        writes = [line for line in server.requests if line.startswith("POST") and "/commit/" in line]
        assert len(writes) == 1
        assert not remote.withdraw(ONE)
        assert repository.tags == tagged
        head = repository.commits[repository.main]
        assert set(head) == {*repository.commits[tagged["0.1.0"]], "withdrawn.json"}
        assert b"**This version, 0.1.0, is withdrawn**" in head["README.md"]
        with pytest.warns(MihakkWarning, match=r"someone/touchstone 0\.1\.0 was withdrawn"):
            load("someone/touchstone", "0.1.0", "ar_meaning_choice", endpoint=server.endpoint)
        assert not remote.publish(small).created
        with pytest.raises(UsageError, match=r"does not say that 0\.1\.0 is withdrawn"):
            remote.publish(silent)
        assert remote.publish(told).created
        assert [one.version for one in remote.withdrawals()] == ["0.1.0"]


def test_a_commit_made_during_a_withdrawal_is_kept(tmp_path: Path) -> None:
    small = assemble(folder=tmp_path / "r", **release_arguments(idiom_items()))
    with HubServer().running() as server:
        remote = RemoteHub("someone/touchstone", server.endpoint, patience=0.001)
        remote.publish(small)
        (repository,) = server.repositories.values()
        meanwhile: list[str] = []

        def elsewhere() -> None:
            tree = repository.commits[repository.main] | {"NOTES.md": b"by hand"}
            meanwhile.append(repository.commit(tree))

        server.before_commit = elsewhere
        assert remote.withdraw(ONE)
        assert repository.parents[repository.main] == meanwhile[0]
        assert repository.commits[repository.main]["NOTES.md"] == b"by hand"
