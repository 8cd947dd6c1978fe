"""Config mistakes are all listed, with the nearest key that exists."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from mihakk.machinery.configs import load_config, load_text, load_yaml, validate
from mihakk.machinery.errors import UsageError
from mihakk.schemas.benchmark import BenchmarkConfig
from mihakk.schemas.model import AuditorsConfig
from mihakk.scrapers.arabic_poetry_net import ArabicPoetryNetOptions

ADDED = {"use": "files", "contributed": True}
GOOD = {"name": "demo", "title": "Demo", "sources": [{"use": "hafez"}], "tasks": [{"use": "continuation"}]}


def test_an_unknown_key_names_the_nearest() -> None:
    bad = {**GOOD, "audit": {"limits": 3}, "sheed": 1}
    with pytest.raises(UsageError) as caught:
        validate(bad, BenchmarkConfig, "demo.yaml")
    assert "unknown key 'audit.limits'; did you mean 'limit'?" in str(caught.value)
    assert "unknown key 'sheed'; did you mean 'seed'?" in str(caught.value)


@pytest.mark.parametrize(
    "more", [{"release": {"blind": "repository"}}, {"sources": [{"use": "hafez"}, ADDED]}]
)
def test_what_others_can_add_to_stands_apart_from_what_is_sealed(more: dict[str, Any]) -> None:
    alone = {**GOOD, "sources": [ADDED]}
    assert validate(alone, BenchmarkConfig, "demo.yaml").contributed
    with pytest.raises(UsageError, match="put them into a benchmark of their own"):
        validate({**alone, **more}, BenchmarkConfig, "demo.yaml")


def test_a_missing_file_lists_its_neighbours(tmp_path: Path) -> None:
    (tmp_path / "demo.yaml").write_text("name: demo", encoding="utf-8")
    with pytest.raises(UsageError, match=r"demo\.yaml"):
        load_config(tmp_path / "dmeo.yaml", BenchmarkConfig)


def test_a_question_mark_is_an_open_question_in_a_proposal_alone(tmp_path: Path) -> None:
    class Marks(BaseModel):
        marks: list[str]

    path = tmp_path / "marks.yaml"
    path.write_text("marks: ['.', '?']", encoding="utf-8")
    assert load_config(path, Marks).marks == [".", "?"]
    with pytest.raises(UsageError, match=r"asks for marks\[1\]"):
        load_config(path, Marks, proposed=True)


@pytest.mark.parametrize("text", ["name: [", "\t- x: {", ""])
def test_broken_or_empty_yaml_is_a_usage_error(tmp_path: Path, text: str) -> None:
    path = tmp_path / "bad.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(UsageError, match=r"bad\.yaml"):
        load_config(path, BenchmarkConfig)


def test_auditors_of_one_family_are_refused() -> None:
    serve = {"engine": "embedded", "weights": "x"}
    same = [{"name": n, "family": "Qwen", "model": n, "serve": serve} for n in ("a", "b")]
    with pytest.raises(UsageError, match="different families"):
        validate({"auditors": same}, AuditorsConfig, "auditors.yaml")


def test_off_and_on_are_words_and_only_true_and_false_are_truth_values(tmp_path: Path) -> None:
    path = tmp_path / "checks.yaml"
    path.write_text("off: [TX21, CH05]\nblind: off\nyes: no\nkept: true\n", encoding="utf-8")
    assert load_yaml(path) == {"off": ["TX21", "CH05"], "blind": "off", "yes": "no", "kept": True}


@pytest.mark.parametrize(
    "text",
    [
        *("day: 2026-13-45", "day: 2026-01-01 99:99:99", "number: " + "9" * 5000),
        *("number: !!int ''", "truth: !!bool x", "share: !!float ''", "day: !!timestamp x"),
    ],
)
def test_a_date_or_number_that_is_none_is_said_to_be_none(tmp_path: Path, text: str) -> None:
    file = tmp_path / "c.yaml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(UsageError, match=r"c\.yaml is not YAML"):
        load_yaml(file)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: &a [*a]", "an alias inside of what it names"),
        ("a: &a {b: *a}", "an alias inside of what it names"),
        ("a: !!binary aGk=", "!!bytes"),
        ("a: !!set {b, c}", "!!set"),
        ('a: {b: ["\\ud800"]}', "half a character|found invalid Unicode character"),
        (f"a: {2**64}", "more than 64 bits"),
    ],
)
def test_what_yaml_can_hold_and_no_config_needs_is_refused(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "c.yaml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(UsageError, match=rf"c\.yaml holds .*{message}"):
        load_yaml(file)


@pytest.mark.parametrize("data", [b"", b"\xff", b"[" * 5000, b"[]", b'{"version": 1}', b'{"other": "x"}'])
def test_a_text_in_a_json_file_is_there_or_the_file_is_named(tmp_path: Path, data: bytes) -> None:
    file = tmp_path / "refined.json"
    file.write_bytes(data)
    with pytest.raises(UsageError, match=r"refined\.json"):
        load_text(file, "version")
    file.write_bytes(b'{"version": "0.1.0"}')
    assert load_text(file, "version") == "0.1.0"


def test_a_key_of_an_older_version_that_is_gone_is_to_be_left_out() -> None:
    given = {"poems": ["/poem/1-x"], "human_genres": True}
    with pytest.raises(UsageError, match="human_genres is no key any more: leave it out"):
        validate(given, ArabicPoetryNetOptions, "source 'arabic_poetry_net'")
