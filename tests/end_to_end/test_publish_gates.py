"""Attacks on `mihakk publish`: a release that toy auditors passed goes out only by a person's recorded word."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

from mihakk.machinery.llm.scripted import ScriptedServer
from tests.end_to_end.conftest import Workshop, make_workshop, opinion, smaller
from tests.releases.hub_server import HubServer

pytestmark = pytest.mark.slow
REPOSITORY = "someone/small"
OVERRIDES = (
    "--override", "capable_auditors", "--why", "A rehearsal of [the line](x): nobody ranks models on it.",
    "--override", "full_audit", "--why", "The audit saw five items.",
    "--override", "miss_rate", "--why", "Nobody has reviewed it yet.",
)  # fmt: skip


@dataclass
class Bench:
    """A benchmark built with toy auditors, a Hub to publish to, and the command line."""

    shop: Workshop
    hub: HubServer
    endpoint: str

    def mihakk(self, *arguments: str) -> tuple[int, str]:
        done = self.shop.run("a", *arguments, MIHAKK_HF_TOKEN="t")
        return done.exit_code, done.stdout + done.stderr

    def publish(self, config: Path, *more: str) -> tuple[int, str]:
        return self.mihakk(
            "publish", str(config), "--repository", REPOSITORY, "--endpoint", self.endpoint, *more
        )

    def card(self) -> str:
        return (self.shop.hub("a") / "small" / "README.md").read_text("utf-8")


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    folder = tmp_path_factory.mktemp("publish")
    with ScriptedServer(opinion) as auditors, (hub := HubServer()).running() as server:
        made = Bench(make_workshop(folder, auditors.url, smaller), hub, server.endpoint)
        code, said = made.mihakk("build", str(made.shop.config))
        assert code == 0, said
        yield made


@pytest.fixture(scope="module")
def forged(bench: Bench) -> Path:
    """A copy of the config that names capable auditors; nothing is built from it."""
    judges = yaml.safe_load((bench.shop.folder / "auditors.yaml").read_text("utf-8"))
    for auditor in judges["auditors"]:
        auditor["capable"] = True
    (bench.shop.folder / "judges.yaml").write_text(yaml.safe_dump(judges), "utf-8")
    config = yaml.safe_load(bench.shop.config.read_text("utf-8"))
    config["audit"]["auditors"] = str(bench.shop.folder / "judges.yaml")
    config["release"] |= {"miss_rate_bound": None}
    path = bench.shop.folder / "forged.yaml"
    path.write_text(yaml.safe_dump(config, allow_unicode=True), "utf-8")
    return path


def test_naming_capable_auditors_in_a_copied_config_opens_nothing(
    bench: Bench, forged: Path, measured: Callable[[str, float], None]
) -> None:
    for config in (bench.shop.config, forged):
        code, said = bench.publish(config)
        assert code == 2, said
        assert "capable_auditors: 2 auditors; too small to judge: first, second." in said
        assert "full_audit: " in said
        assert "miss_rate: " in said
    measured("publish-judges-the-release", len(bench.hub.repositories))


def test_making_the_release_anew_from_the_copied_config_does_not_change_who_audited(
    bench: Bench, forged: Path
) -> None:
    bench.mihakk("release", str(forged))
    record = json.loads((bench.shop.hub("a") / "small" / "audit" / "gates.json").read_text("utf-8"))
    assert [(one["name"], one["engine"], one["capable"]) for one in record["auditors"]] == [
        ("first", "openai", False),
        ("second", "openai", False),
    ]
    assert bench.publish(forged)[0] == 2
    assert not bench.hub.repositories


def test_an_override_makes_a_version_whose_card_names_gate_and_reason_for_good(bench: Bench) -> None:
    before = bench.card()
    assert "went out although" not in before
    code, said = bench.publish(bench.shop.config, *OVERRIDES)
    assert code == 0, said
    card = bench.card()
    (published,) = bench.hub.repositories.values()
    version = json.loads((bench.shop.hub("a") / "small" / "audit" / "gates.json").read_text("utf-8"))[
        "version"
    ]
    assert version in published.tags
    assert version != "0.1.0"
    for gate in ("capable_auditors", "full_audit", "miss_rate"):
        assert f"Version {version} went out although the gate `{gate}` was shut." in card
    assert "[the line](x)" not in card, "the reason is text, never markup"
    assert "too small to judge" in card, "an override hides no limit"
    # other tables: the word no longer binds, the card still tells of it
    config = yaml.safe_load(bench.shop.config.read_text("utf-8"))
    config["sources"][0]["limit"] = 5
    later = bench.shop.folder / "later.yaml"
    later.write_text(yaml.safe_dump(config, allow_unicode=True), "utf-8")
    code, said = bench.mihakk("build", str(later))
    assert code == 0, said
    assert f"Version {version} went out although the gate `miss_rate` was shut." in bench.card()
    assert bench.publish(later)[0] == 2
