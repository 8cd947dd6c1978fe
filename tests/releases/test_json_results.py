"""Commands that end with a result give it as JSON, with the same exit code."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from mihakk.flows.cli import app
from mihakk.machinery.settings import settings
from mihakk.releases.assemble import AssembledRelease
from mihakk.releases.hub.embedded import EmbeddedHub
from mihakk.releases.hub.publication import Publication


@pytest.fixture(autouse=True)
def published(two_versions: EmbeddedHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two versions on the embedded Hub."""
    monkeypatch.setenv("MIHAKK_ERRATA", str(tmp_path / "errata"))
    settings.cache_clear()


def call(*words: object) -> Result:
    return CliRunner().invoke(app, [*map(str, words), "--json"])


def told(*words: object) -> Any:
    done = call(*words)
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def test_pull_and_verify(config: Path, tmp_path: Path, first_release: AssembledRelease) -> None:
    folder = tmp_path / "pulled"
    found = told("pull", "touchstone", "0.1.0", folder)
    assert found["files"] == len(first_release.digests) + 1
    sound = told("verify", folder)
    assert sound == {"version": "0.1.0", "files": len(first_release.digests), "damaged": [], "generated": []}
    (folder / "README.md").write_text("x", encoding="utf-8")
    damaged = call("verify", folder)
    assert damaged.exit_code == 1
    assert json.loads(damaged.stdout)["damaged"] == ["README.md has other bytes than the manifest states"]


def test_diff(config: Path, second_release: AssembledRelease) -> None:
    found = told("diff", config, "0.1.0", "0.2.0")
    assert second_release.diff is not None
    assert found["counts"] == second_release.diff.counts
    assert [row["id"] for row in found["changes"]] == [one.id for one in second_release.diff.changes]
    assert found["level"] == second_release.diff.level


def test_diff_shows_changed_texts_side_by_side(config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "160")
    shown = CliRunner().invoke(app, ["diff", str(config), "0.1.0", "0.2.0"]).output
    assert "Changed texts" in shown
    assert any("question" in line or "gold" in line for line in shown.split("Changed texts")[1].splitlines())


def test_a_version_or_release_that_is_not_there_says_which_is_meant(config: Path, tmp_path: Path) -> None:
    folder = str(tmp_path / "pulled")
    wrong = CliRunner().invoke(app, ["pull", "touchstone", "0.1", folder])
    assert (wrong.exit_code, "did you mean '0.1.0'?" in " ".join(wrong.output.split())) == (2, True)
    wrong = CliRunner().invoke(app, ["pull", "tuchstone", "0.1.0", folder])
    assert (wrong.exit_code, "did you mean 'touchstone'?" in " ".join(wrong.output.split())) == (2, True)


def test_report_defect(config: Path, first_release: AssembledRelease, tmp_path: Path) -> None:
    item = told("diff", config, "0.1.0", "0.2.0")["changes"][-1]["id"]
    found = told(
        "report-defect", config, item, "--problem", "wrong_gold", "--evidence", "The printed divan, p. 12.",
        "--version", "0.1.0",
    )  # fmt: skip
    assert (found["item"], found["version"]) == (item, "0.1.0")
    assert Path(found["file"]).is_file()


def test_publish(config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = Publication("touchstone", "0.2.0", "c" * 40, "owner/touchstone", created=True)
    monkeypatch.setattr("mihakk.pipeline.publishing.publish_version", lambda *_: made)
    assert told("publish", config) == {
        "name": "touchstone", "version": "0.2.0", "commit": "c" * 40, "location": "owner/touchstone",
        "created": True,
    }  # fmt: skip
