"""Scripted servers, models that ask them, and patience measured in milliseconds."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from mihakk.machinery.llm import client, endpoint
from mihakk.machinery.llm.journal import Journal
from mihakk.machinery.llm.structured import Request
from mihakk.schemas.model import Limits, ModelConfig, Remote, Sampling

SCHEMA = {
    "type": "object",
    "properties": {"n": {"type": "integer"}},
    "required": ["n"],
    "additionalProperties": False,
}


@pytest.fixture(autouse=True)
def _short_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    def short(attempt: int) -> float:
        return min(0.3, 0.01 * 2**attempt)

    monkeypatch.setattr(endpoint, "backoff", short)
    monkeypatch.setattr(client, "backoff", short)


@pytest.fixture
def remote() -> Callable[..., ModelConfig]:
    def config(*urls: str, api_key_env: str = "", name: str = "judge", **limits: Any) -> ModelConfig:
        limits = {"concurrency": 4, "timeout_seconds": 60, **limits}
        return ModelConfig(
            name=name,
            family="scripted",
            model="scripted-1",
            revision="r1",
            serve=Remote(endpoints=urls, api_key_env=api_key_env),
            sampling=Sampling(max_tokens=50),
            limits=Limits(**limits),
        )

    return config


@pytest.fixture
def ask() -> Callable[..., Request[int]]:
    def number(value: dict[str, Any]) -> int:
        if set(value) != {"n"} or type(value["n"]) is not int:
            raise ValueError("give one integer n")
        return int(value["n"])

    def request(tag: object) -> Request[int]:
        return Request(
            tag=str(tag),
            messages=[{"role": "system", "content": "Count."}, {"role": "user", "content": str(tag)}],
            schema=SCHEMA,
            validate=number,
            meta={"item": str(tag)},
        )

    return request


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[Journal]:
    with Journal(tmp_path / "journals", "test") as opened:
        yield opened
