"""What the compose file promises: every service confined, healthy by its own word, and reachable on loopback alone."""

from __future__ import annotations

import re
from typing import Any

import pytest
import yaml

from mihakk.machinery.settings import ROOT

TEXT = (ROOT / "compose.yaml").read_text("utf-8")
SERVICES: dict[str, dict[str, Any]] = yaml.safe_load(TEXT)["services"]


@pytest.mark.parametrize("name", SERVICES)
def test_a_service_is_confined_and_says_how_it_is(name: str) -> None:
    service = SERVICES[name]
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges"]
    assert service["healthcheck"]["test"]
    assert all(port.startswith("127.0.0.1:") for port in service.get("ports", []))
    assert "privileged" not in service


def test_every_image_is_a_target_that_runs_as_somebody_without_rights() -> None:
    stages = re.split(r"^FROM ", (ROOT / "Containerfile").read_text("utf-8"), flags=re.MULTILINE)[1:]
    users = {
        stage.splitlines()[0].split(" AS ")[1]: re.findall(r"^USER (\w+)$", stage, re.MULTILINE)
        for stage in stages
    }
    for name in {service["image"].removeprefix("localhost/") for service in SERVICES.values()}:
        target = name.removeprefix("mihakk-")
        assert users[target] in (["mihakk"], ["postgres"]), target


def test_every_secret_is_named_in_the_guide() -> None:
    guide = (ROOT / "docs" / "containers.md").read_text("utf-8")
    assert set(re.findall(r"\$\{(\w+)", TEXT)) == set(re.findall(r"^([A-Z_]+)=", guide, re.MULTILINE))
