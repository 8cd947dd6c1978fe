"""Settings as environments give them."""

from __future__ import annotations

import pytest

from mihakk.machinery.settings import Settings


def test_an_empty_variable_is_one_that_is_not_set(monkeypatch: pytest.MonkeyPatch) -> None:
    """Environment files and container set-ups often name every variable and fill in some."""
    for name in ("MIHAKK_LAKE", "MIHAKK_WORKERS", "MIHAKK_HF_TOKEN", "MIHAKK_LABEL_STUDIO_TOKEN"):
        monkeypatch.setenv(name, "")
    found = Settings()
    assert found.lake.endswith("lake")
    assert found.workers == 0
    assert found.hf_token is None
    assert found.label_studio_token is None
