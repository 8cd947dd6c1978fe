"""Overrides bind for the tables they were given for; publishing judges the release, whatever a config says."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from mihakk.machinery.errors import UsageError
from mihakk.machinery.lake import ShardOutput
from mihakk.machinery.settings import settings
from mihakk.pipeline.build import Build
from mihakk.pipeline.publishing import publish_version
from mihakk.pipeline.sign_off import override, standing_overrides
from mihakk.pipeline.steps import release
from mihakk.releases.assemble import assemble
from mihakk.releases.content.checksum import write_manifest
from mihakk.releases.content.item_tables import data_files
from mihakk.releases.hub.embedded import EmbeddedHub
from mihakk.releases.paper_trail.gate_record import FILE, read_gate_record, require_publishable
from mihakk.releases.release_facts import Override, ReleaseFacts
from mihakk.schemas.manifest import ShardCounts
from mihakk.schemas.model import AuditorsConfig
from mihakk.schemas.published import Published
from tests.pipeline.test_sign_off import build, reviewed
from tests.releases.hub_server import HubServer
from tests.releases.release_material import FACTS, hafez_config, idiom_items, release_arguments

__all__ = ["build"]

REPOSITORY = "someone/touchstone"
WORDS = tuple(Override(gate=gate, why=f"why {gate}") for gate in ("capable_auditors", "miss_rate"))


def test_an_override_binds_for_the_tables_as_they_were_and_the_latest_word_counts(build: Build) -> None:
    reviewed(build, "one")
    assert standing_overrides(build) == ()
    override(build, "miss_rate", "later")
    override(build, "miss_rate", "nobody\nreviewed it")
    assert [(one.gate, one.why) for one in standing_overrides(build)] == [("miss_rate", "nobody reviewed it")]
    reviewed(build, "two")
    assert standing_overrides(build) == ()


@pytest.mark.parametrize(
    ("gate", "why", "said"),
    [
        ("capable_auditor", "x", "did you mean capable_auditors"),
        ("miss_rate", "  ", "say why miss_rate may stay shut"),
        ("licences", "x", "can't be overridden"),
    ],
)
def test_an_override_needs_a_gate_that_has_a_key_and_a_reason(
    build: Build, gate: str, why: str, said: str
) -> None:
    reviewed(build, "one")
    with pytest.raises(UsageError, match=said):
        override(build, gate, why)
    assert standing_overrides(build) == ()


@pytest.fixture
def own_hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> EmbeddedHub:
    monkeypatch.setenv("MIHAKK_HUB", str(tmp_path / "hub"))
    settings.cache_clear()
    return EmbeddedHub()


def released(hub: EmbeddedHub, facts: ReleaseFacts, folder: Path, previous: Path | None = None) -> Path:
    release = assemble(folder=folder, previous=previous, **release_arguments(idiom_items(), facts))
    hub.publish(release)
    return release.folder


def test_a_hub_that_lacks_the_release_gets_it_each_time(
    build: Build, own_hub: EmbeddedHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another hub, or the folder was lost: what the lake counts as finished must stand there."""
    build = opened(build)
    reviewed(build, "one")
    made = assemble(folder=tmp_path / "made", **release_arguments(idiom_items()))

    def publish(_: Build, hub: EmbeddedHub, tick: object) -> ShardOutput:
        done = hub.publish(made)
        row = Published(
            name=made.name, version=made.version, commit=done.commit, location=made.name, items=1, files=1
        )
        return ShardOutput({"release": (Published, [row])}, ShardCounts(read=1, kept=1, written=1))

    monkeypatch.setattr(release, "_publish", publish)
    monkeypatch.setattr(release, "_auditors", lambda _: ())
    for _ in range(4):
        release.STEP.run(build, "release", None, lambda _: None)
        assert own_hub.versions(made.name) == [made.version]
        shutil.rmtree(own_hub.root)


def opened(build: Build) -> Build:
    """The benchmark as a config that names capable auditors would open it: the forger's copy."""
    return replace(build, config=hafez_config(require_capable_auditors=False))


def test_publishing_judges_the_release_and_not_the_config(
    build: Build, own_hub: EmbeddedHub, tmp_path: Path
) -> None:
    first = released(own_hub, FACTS, tmp_path / "first")
    with HubServer().running() as server:
        with pytest.raises(UsageError, match=r"capable_auditors: 2 auditors; too small to judge: first, sec"):
            publish_version(opened(build), repository=REPOSITORY, endpoint=server.endpoint)
        assert not server.repositories
        facts = FACTS.model_copy(update={"overrides": WORDS})
        second = released(own_hub, facts, tmp_path / "second", first)
        with pytest.raises(UsageError, match="capable_auditors"):
            publish_version(opened(build), "0.1.0", REPOSITORY, server.endpoint)
        assert publish_version(opened(build), "", REPOSITORY, server.endpoint).version == "0.1.1"
    assert "Version 0.1.1 went out although the gate `miss_rate` was shut. The reason given: why miss" in (
        second / "README.md"
    ).read_text("utf-8")
    third = released(own_hub, FACTS, tmp_path / "third", second)
    record = read_gate_record(third)
    assert record is not None
    assert [(one.gate, one.version) for one in record.overrides] == [
        ("capable_auditors", "0.1.1"),
        ("miss_rate", "0.1.1"),
    ]
    assert [gate.name for gate in record.gates if gate.bars_publication] == ["capable_auditors", "miss_rate"]


def test_the_same_override_again_changes_no_byte(own_hub: EmbeddedHub, tmp_path: Path) -> None:
    facts = FACTS.model_copy(update={"overrides": WORDS})
    first = released(own_hub, facts, tmp_path / "first")
    again = assemble(folder=tmp_path / "again", previous=first, **release_arguments(idiom_items(), facts))
    assert again.unchanged


def test_a_release_without_the_record_of_its_gates_is_not_published(
    build: Build, own_hub: EmbeddedHub, tmp_path: Path
) -> None:
    from mihakk.releases.content.checksum import write_manifest

    release = assemble(folder=tmp_path / "old", **release_arguments(idiom_items()))
    older = tmp_path / "older"
    shutil.copytree(release.folder, older)
    (older / FILE).unlink()
    own_hub.publish(replace(release, folder=older, digests=write_manifest(older)))
    with pytest.raises(UsageError, match=r"carries no audit/gates\.json"):
        publish_version(opened(build), repository=REPOSITORY, endpoint="http://127.0.0.1:9")


@pytest.mark.parametrize(
    ("weights", "capable"), [("qwen2.5-coder-0.5b", False), ("/models/judge.gguf", True)]
)
def test_weights_that_the_project_bundles_are_never_capable(
    build: Build, monkeypatch: pytest.MonkeyPatch, weights: str, capable: bool
) -> None:
    """The cheapest forgery: the toy auditors' own config with `capable: true` in it."""
    audited = build.stage("6_audited")
    audited.finish([], inputs={}, config_digest="", code_version="")
    judges = [
        {
            "name": name,
            "family": name,
            "model": name,
            "capable": True,
            "serve": {"engine": "embedded", "weights": weights},
        }
        for name in ("first", "second")
    ]
    monkeypatch.setattr(release, "audited_by", lambda _: AuditorsConfig.model_validate({"auditors": judges}))
    found = list(release._auditors(build))
    assert [one.capable for one in found] == [capable, capable]
    assert {one.engine for one in found} == {"embedded"}


def forged(folder: Path, change: Callable[[dict[str, Any]], None]) -> Path:
    """The release with its gates rewritten, and a manifest that fits them."""
    told = json.loads((folder / FILE).read_bytes())
    change(told)
    (folder / FILE).write_text(json.dumps(told), encoding="utf-8")
    write_manifest(folder)
    return folder


def open_all(told: dict[str, Any]) -> None:
    for gate in told["gates"]:
        gate["passed"] = True


def drop(path: Path, column: str, value: str) -> None:
    table = pq.read_table(path)
    pq.write_table(table.filter(pc.not_equal(table.column(column), value)), path)


def test_gates_that_say_more_than_the_tables_are_refused(own_hub: EmbeddedHub, tmp_path: Path) -> None:
    def fresh(name: str) -> Path:
        return assemble(folder=tmp_path / name, **release_arguments(idiom_items())).folder

    def refused(folder: Path, said: str) -> None:
        with pytest.raises(UsageError, match=said):
            require_publishable("touchstone", folder)

    honest = fresh("honest")
    refused(honest, "gates are shut in the release itself")
    refused(forged(fresh("capable"), open_all), "names 0 that are capable")

    def two_judges(told: dict[str, Any]) -> None:
        open_all(told)
        told["auditors"] = [
            {**one, "name": f"judge-{n}", "capable": True} for n, one in enumerate(told["auditors"])
        ]

    refused(forged(fresh("names"), two_judges), "scores of first, second")

    def same_names(told: dict[str, Any]) -> None:
        open_all(told)
        for one in told["auditors"]:
            one["capable"] = True

    unseen = fresh("unseen")
    drop(unseen / "audit" / "scores.parquet", "item", idiom_items()[0].id)
    refused(forged(unseen, same_names), "1 of [0-9]+ released rows have no two usable")
    ours = fresh("licence")
    path = next(path for _, _, path in data_files(ours))
    table = pq.read_table(path)
    place = table.column_names.index("licence")
    pq.write_table(table.set_column(place, "licence", pa.array(["CC-BY-ND-4.0"] * table.num_rows)), path)
    refused(forged(ours, same_names), "rows are under CC-BY-ND-4.0")
    assert require_publishable("touchstone", forged(fresh("all"), same_names)).version == "0.1.0"
