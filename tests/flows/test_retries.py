"""Only what failed outside is tried again; secrets come from Prefect's blocks where the environment has none."""

from __future__ import annotations

from typing import Any

import pytest
from prefect.states import Failed

from mihakk.flows.deployed import job
from mihakk.flows.deployed.artifacts import markdown_table
from mihakk.flows.deployed.release import publish_release
from mihakk.flows.deployed.review import pull, push
from mihakk.machinery.errors import ExternalFailure, SourceChanged, UsageError
from mihakk.machinery.settings import settings


@pytest.mark.parametrize(
    ("error", "again"),
    [
        (ExternalFailure("the server is down"), True),
        (UsageError("no such file"), False),
        (SourceChanged("a page has another shape"), False),
        (KeyError("a bug"), False),
    ],
)
def test_a_mistake_or_a_bug_is_not_tried_again(error: Exception, again: bool) -> None:
    assert job.failed_outside(push, None, Failed(data=error)) is again  # type: ignore[arg-type]


@pytest.mark.parametrize("task", [push, pull, publish_release])
def test_what_talks_to_the_world_outside_is_tried_again(task: Any) -> None:
    assert task.retries == 3
    assert task.retry_condition_fn is job.failed_outside


def test_secrets_come_from_blocks_unless_the_environment_has_them(monkeypatch: pytest.MonkeyPatch) -> None:
    class Blocks:
        @staticmethod
        def load(name: str) -> Any:
            if name not in ("mihakk-hf-token", "mihakk-label-studio-token"):
                raise ValueError(f"no block {name}")
            return type("Block", (), {"get": lambda _: f"of {name}"})()

    monkeypatch.setattr(job, "Secret", Blocks)
    monkeypatch.setenv("MIHAKK_LABEL_STUDIO_TOKEN", "mine")
    monkeypatch.setenv("MIHAKK_HF_TOKEN", "")
    settings.cache_clear()
    job.secrets_from_blocks()
    known = settings()
    assert known.hf_token is not None
    assert known.hf_token.get_secret_value() == "of mihakk-hf-token"
    assert known.label_studio_token is not None
    assert known.label_studio_token.get_secret_value() == "mine"


def test_texts_in_artifacts_are_text() -> None:
    shown = markdown_table(("بيت", "n"), [("<b>قفا</b> | نبك\n*من*", 1234)])
    assert "<b>" not in shown
    assert "قفا" in shown
    assert "1,234" in shown
    assert shown.strip().count("\n") == 2
