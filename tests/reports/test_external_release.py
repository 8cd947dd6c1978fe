"""The cleaned release of an audited set, as a consumer meets it: with pandas, `datasets` and the Hub's client."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import datasets
import pandas as pd
import pytest
import yaml
from typer.testing import CliRunner

from mihakk.flows.cli import app
from mihakk.machinery.errors import UsageError
from mihakk.machinery.settings import settings
from mihakk.pipeline.external_release import release_set
from mihakk.pipeline.external_summary import Audited, AuditSummary
from mihakk.releases.hub.embedded import EmbeddedHub
from tests.foreign_sets import audit_set
from tests.releases.hub_server import HubServer
from tests.reports.test_external_people import MAPPING, ROWS, decide, read, write


def audit(source: Path, out: Path, *, repair: bool = False, licence: str = "CC-BY-4.0") -> Audited:
    return run(source, out, repair=repair, licence=licence)[0]


def run(source: Path, out: Path, **more: Any) -> tuple[Audited, AuditSummary]:
    return audit_set(source, MAPPING, out, **more)


def errata(release: Path) -> list[dict[str, Any]]:
    return pd.read_parquet(release / "errata" / "changes.parquet").to_dict("records")  # type: ignore[return-value]


def front(release: Path) -> dict[str, Any]:
    return yaml.safe_load((release / "README.md").read_text(encoding="utf-8").split("---\n")[1])


def rebuilt(release: Path, name: str) -> list[dict[str, Any]]:
    """The original rows, put together again from the release alone."""
    told = {row["row"]: row for row in errata(release)}
    whole, kept = [], read(release / name)
    total = len(kept) + sum(not one["after"] for one in told.values())
    for number in range(total):
        one = told.get(number)
        if one is None:
            whole.append(kept.pop(0))
        else:
            whole.append(json.loads(one["before"]))
            if one["after"]:
                assert kept.pop(0) == json.loads(one["after"])
    assert not kept
    return whole


@pytest.mark.parametrize("ending", ["jsonl", "csv", "parquet", "xlsx"])
def test_the_original_comes_back_whole_from_the_release(tmp_path: Path, ending: str) -> None:
    source, out = write(tmp_path / f"exam.{ending}"), tmp_path / "out"
    first = audit(source, out)
    decide(out, first, "keep", "keep")
    decide(out, first, "discard", "discard", reason="wrong_gold")
    decide(out, first, "fix", "fix", corrections={"gold": "1", "question": "ما مفرد كتب؟"})
    decide(out, first, "blocked", "keep")
    audit(source, out)
    release = out / "release"
    assert rebuilt(release, source.name) == read(source)
    kinds = {row["own_id"]: row["change"] for row in errata(release)}
    assert kinds == {
        "discard": "discarded",
        "fix": "corrected",
        "wait": "waits",
        "one says": "waits",
        "blocked": "rescued",
    }
    assert all(len(row["evidence"]) for row in errata(release))
    columns = list(pd.DataFrame(read(source)).columns)
    assert list(pd.DataFrame(read(release / source.name)).columns) == columns
    assert {row["name"] for row in read(release / source.name)} == {"sound", "keep", "fix", "blocked"}


def test_repaired_cells_are_told_with_what_they_held(tmp_path: Path) -> None:
    source, out = write(tmp_path / "exam.jsonl"), tmp_path / "out"
    audit(source, out, repair=True)
    assert rebuilt(out / "release", "exam.jsonl") == ROWS
    repaired = [row for row in errata(out / "release") if row["change"] == "repaired"]
    assert repaired
    assert all("\u202a" in row["before"] and "\u202a" not in row["after"] for row in repaired)


def folder_of_files(path: Path) -> Path:
    """Two subsets, a test split and a semicolon, as authors give them."""
    (path / "geo").mkdir(parents=True)
    frame = pd.DataFrame(ROWS)
    frame.to_csv(path / "geo" / "test.csv", index=False, sep=";")
    frame.iloc[:2].assign(q=["ما ضد الطول؟", "ما ضد القصر؟"]).to_csv(
        path / "geo" / "dev.csv", index=False, sep=";"
    )
    frame.iloc[:1].assign(q=["ما ضد العلم؟"]).to_csv(path / "lang.csv", index=False)
    (path / "LICENSE").write_text("Do as you like, name us.\n", encoding="utf-8")
    return path


def test_a_folder_keeps_its_layout_and_datasets_loads_every_subset(tmp_path: Path) -> None:
    source, out = folder_of_files(tmp_path / "bench"), tmp_path / "out"
    audit(source, out)
    release = out / "release"
    assert (release / "LICENSE").read_bytes() == (source / "LICENSE").read_bytes()
    cache = str(tmp_path / "cache")
    assert set(datasets.get_dataset_config_names(str(release))) == {"geo", "lang"}
    geo = datasets.load_dataset(str(release), "geo", cache_dir=cache)
    assert {split: list(rows["name"]) for split, rows in geo.items()} == {
        "test": ["sound"],
        "dev": ["sound", "keep"],
    }
    lang = datasets.load_dataset(str(release), "lang", cache_dir=cache)
    assert [list(rows["q"]) for rows in lang.values()] == [["ما ضد العلم؟"]]
    assert geo["test"].column_names == list(ROWS[0])


def test_versions_follow_the_decisions_and_the_changelog_names_the_rows(tmp_path: Path) -> None:
    source, out = write(tmp_path / "exam.jsonl"), tmp_path / "out"
    first = audit(source, out)
    publication, _ = release_set(out)
    assert (publication.version, publication.created) == ("0.1.0", True)
    audit(source, out)
    again, _ = release_set(out)
    assert (again.version, again.created) == ("0.1.0", False)
    decide(out, first, "keep", "keep")
    audit(source, out)
    second, _ = release_set(out)
    assert second.version == "0.2.0"
    hub = EmbeddedHub()
    old, new = (hub.checkout(second.name, v, tmp_path / v) for v in ("0.1.0", "0.2.0"))
    assert [row["name"] for row in read(old / "exam.jsonl")] == ["sound"]
    assert [row["name"] for row in read(new / "exam.jsonl")] == ["sound", "keep"]
    log = (new / "CHANGELOG.md").read_text(encoding="utf-8")
    assert log.index("## 0.2.0") < log.index("As in the original again: 1 (`keep`)") < log.index("## 0.1.0")
    assert front(new)["version"] == "0.2.0"


def test_the_card_says_whose_it_is_and_no_path_leaves_the_machine(tmp_path: Path) -> None:
    source, out = write(tmp_path / "exam.jsonl"), tmp_path / "out"
    audit(source, out, licence="CC-BY-NC-4.0")
    release = out / "release"
    assert front(release)["license"] == "cc-by-nc-4.0"
    card = (release / "README.md").read_text(encoding="utf-8")
    assert "1 of the 7 rows of exam.jsonl" in card
    assert "Changes were made" in card
    for path in release.rglob("*"):
        if path.suffix == ".parquet":
            assert str(tmp_path) not in pd.read_parquet(path).to_json(), path
        elif path.is_file():
            assert str(tmp_path) not in path.read_text(encoding="utf-8"), path


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    monkeypatch.setenv("MIHAKK_CACHE", str(tmp_path / "cache"))
    settings.cache_clear()
    with HubServer().running() as running:
        yield running


def publish(out: Path, server: HubServer, *more: str) -> Any:
    words = ["publish", str(out), "--repository", "someone/exam", "--endpoint", server.endpoint, *more]
    return CliRunner().invoke(app, words)


def told(done: Any) -> str:
    return " ".join((done.output + done.stderr).split())


def overrides(*gates: str) -> list[str]:
    return [word for gate in gates for word in ("--override", gate, "--why", "a test of the machinery")]


ALL = ("full_audit", "capable_auditors", "miss_rate")


def test_publish_pushes_what_passed_the_gates_or_a_person_s_word(tmp_path: Path, server: HubServer) -> None:
    source, out = write(tmp_path / "exam.jsonl"), tmp_path / "out"
    audit(source, out)
    shut = publish(out, server)
    assert shut.exit_code != 0
    assert all(gate in told(shut) for gate in ALL)
    assert "someone/exam" not in server.repositories
    done = publish(out, server, *overrides(*ALL))
    assert done.exit_code == 0, told(done)
    assert set(server.repositories["someone/exam"].tags) == {"0.1.1"}
    card = (out / "release" / "README.md").read_text(encoding="utf-8")
    assert card.count("a test of the machinery") >= 3
    audit(source, out)
    again = publish(out, server)
    assert again.exit_code == 0, told(again)
    assert set(server.repositories["someone/exam"].tags) == {"0.1.1"}


@pytest.mark.parametrize(
    ("licence", "said"),
    [
        ("CC-BY-ND-4.0", "forbids derivatives"),
        ("CC-BY-NC-ND-4.0", "forbids derivatives"),
        ("unknown", "unknown"),
    ],
)
def test_publish_refuses_what_the_licence_does_not_allow(
    tmp_path: Path, server: HubServer, licence: str, said: str
) -> None:
    source, out = write(tmp_path / "exam.jsonl"), tmp_path / "out"
    audit(source, out, licence=licence)
    refused = publish(out, server, *overrides(*ALL))
    assert refused.exit_code != 0
    assert said in told(refused)
    forced = publish(out, server, *overrides("licences"))
    assert "can't be overridden" in told(forced)
    assert "someone/exam" not in server.repositories


def test_a_withdrawn_release_is_followed_by_a_corrected_one(tmp_path: Path) -> None:
    source, out = write(tmp_path / "exam.jsonl"), tmp_path / "out"
    first = audit(source, out)
    name = release_set(out)[0].name
    why = ["--why", "The gold of two rows was wrong."]
    done = CliRunner().invoke(app, ["withdraw", str(out), "0.1.0", *why])
    assert done.exit_code == 0, done.output
    with pytest.raises(UsageError, match=r"nothing has changed since 0\.1\.0 was withdrawn"):
        release_set(out)
    decide(out, first, "keep", "keep")
    audit(source, out)
    second, _ = release_set(out)
    assert second.version == "0.2.0"
    # A draft from before the withdrawal tells of it as well.
    decide(out, first, "fix", "fix", corrections={"gold": "1", "question": "ما مفرد كتب؟"})
    audit(source, out)
    CliRunner().invoke(app, ["withdraw", str(out), "0.2.0", *why])
    third, _ = release_set(out)
    new = EmbeddedHub().checkout(name, third.version, tmp_path / "new")
    assert [one["version"] for one in json.loads((new / "withdrawn.json").read_bytes())] == ["0.1.0", "0.2.0"]
    card, log = ((new / file).read_text("utf-8") for file in ("README.md", "CHANGELOG.md"))
    assert "Version 0.1.0 is withdrawn" in card
    assert "## 0.2.0 (withdrawn)" in log


def test_another_benchmark_of_the_same_name_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    one, two = write(tmp_path / "a" / "exam.jsonl"), write(tmp_path / "b" / "exam.csv")
    audit(one, tmp_path / "out")
    release_set(tmp_path / "out")
    audit(two, tmp_path / "out2")
    with pytest.raises(UsageError, match="another benchmark is released as audit-exam"):
        release_set(tmp_path / "out2")


def test_equal_audits_draft_equal_bytes(tmp_path: Path) -> None:
    source = write(tmp_path / "exam.xlsx")
    audit(source, tmp_path / "one")
    audit(source, tmp_path / "two")
    manifests = [(tmp_path / name / "release" / "MANIFEST.sha256").read_text() for name in ("one", "two")]
    assert manifests[0] == manifests[1]


def test_a_set_of_which_nothing_passes_has_no_release(tmp_path: Path) -> None:
    source, out = tmp_path / "exam.jsonl", tmp_path / "out"
    write(source)
    audit(source, out)
    source.write_text(json.dumps(ROWS[-1], ensure_ascii=False), encoding="utf-8")
    _, summary = run(source, out, licence="CC-BY-4.0")
    assert "release" not in summary.files
    with pytest.raises(UsageError, match="no cleaned release"):
        release_set(out)
