"""The morning digest: what changed since yesterday, said of real runs, and a webhook that keeps its secret."""

from __future__ import annotations

import json
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from mihakk.flows.cli import app
from mihakk.flows.deployed.job import told_on_page
from mihakk.machinery.errors import ExternalFailure
from mihakk.machinery.settings import settings
from mihakk.pipeline.build import open_build
from mihakk.reports.dashboard.overview import Gatherer
from mihakk.reports.digest import digest as digest_of
from tests.archives import unpacked
from tests.drills.pager import listening
from tests.end_to_end.test_older_lake import ARCHIVE


@pytest.fixture
def lake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    unpacked(ARCHIVE, tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MIHAKK_HUB", str(tmp_path / "hub"))
    settings.cache_clear()
    return tmp_path / "lake"


def digest(lake: Path, *options: str) -> Result:
    return CliRunner().invoke(app, ["digest", "small.yaml", "--lake", str(lake), *options])


def test_two_real_runs_and_their_versions_are_told(lake: Path) -> None:
    (found,) = json.loads(digest(lake, "--since", "1000000", "--json").stdout)
    assert found["runs"] == {"finished": 2}
    assert found["released"] == ["0.2.0", "0.1.0"]
    (quiet,) = json.loads(digest(lake, "--since", "0.01", "--json").stdout)
    assert quiet["runs"] == {}
    assert quiet["released"] == []
    text = digest(lake, "--since", "1000000").stdout
    assert "- Runs: 2 finished." in text
    assert "- Version 0.2.0: " in text
    assert "- Version 0.1.0: " in text
    assert "- Released: nothing." in digest(lake, "--since", "0.01").stdout


def test_a_webhook_gets_the_text_and_its_address_is_never_shown(lake: Path) -> None:
    with listening([204, 403]) as (page, told):
        address = page.replace("/page", "/hook-secret")
        assert digest(lake, "--webhook", address).exit_code == 0
        assert json.loads(told[0])["text"].startswith("Mihakk since ")
        assert "small" in json.loads(told[0])["level"]
        refused = digest(lake, "--webhook", address)
    gone = digest(lake, "--webhook", address)
    assert (refused.exit_code, gone.exit_code) == (75, 75)
    assert "answered 403" in refused.stderr
    assert "did not answer" in gone.stderr
    assert "hook-secret" not in refused.output + gone.output


def test_a_job_that_builds_nothing_is_told_once_until_the_same_has_come_through(lake: Path) -> None:
    def ran(job: str, error: str = "", config: str = "small.yaml") -> str:
        """The digest after that job."""
        with suppress(ExternalFailure), told_on_page(job, config, str(lake)):
            if error:
                raise ExternalFailure(error)
        return digest(lake, "--since", "1").stdout

    text = ran("evaluate nights", "the system_under_test does not answer")
    (told,) = [line for line in text.splitlines() if "does not answer" in line]
    assert told.startswith("- bad: evaluate nights has failed since ")
    assert told.endswith("does not answer (operations: mihakk evaluate run nights)")
    assert "does not answer" in ran("evaluate other")
    assert "mihakk evaluate score --board board.yaml" in ran("score board.yaml", "the store is locked")
    assert "mihakk audit exam.csv" in ran("audit exam.csv", "no such file")
    text = ran("evaluate nights")
    (told,) = [line for line in text.splitlines() if "does not answer" in line]
    assert told.startswith("- Failed, and done since: ")
    assert "nowhere" not in ran("audit elsewhere", "nowhere", config="")


def test_what_was_broken_at_the_last_digest_is_said_to_be_over(lake: Path) -> None:
    def told_since(moment: datetime) -> tuple[str, ...]:
        return digest_of(Gatherer(open_build(Path("small.yaml"), lake=str(lake))).facts(), moment).failures

    def evaluated(error: str = "") -> datetime:
        with suppress(ExternalFailure), told_on_page("evaluate nights", "small.yaml", str(lake)):
            if error:
                raise ExternalFailure(error)
        return datetime.now(UTC)

    broken = evaluated("the system_under_test does not answer")
    assert told_since(broken) == (), "still open: the notes have it"
    mended = evaluated()
    (said,) = told_since(broken)
    assert said.endswith("in evaluate nights: the system_under_test does not answer")
    assert told_since(mended) == (), "told once"
