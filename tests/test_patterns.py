"""No regular expression takes more than linear time on any text that it may be given."""

from __future__ import annotations

import json
import re
import resource
import subprocess
import sys

import pytest

from tests.patterns import Used, slow

_LEAST_PATTERNS = 300


@pytest.mark.parametrize(
    "pattern",
    [r"(?:[^\W_]|[ـ\u064b])+", r"\s+$", "«[^»]*»", r"\)[^()\n]*\w[^()\n]*\(", r"(?:a|a )+b", r"^\s*1$"],
)
def test_a_pattern_that_goes_back_over_its_text_is_found(pattern: str) -> None:
    method = "fullmatch" if pattern.startswith("(?:[") else "finditer"
    assert slow(Used("here", re.compile(pattern, re.MULTILINE), frozenset({method})), longest=0.05)


@pytest.mark.parametrize("pattern", [r"(?<!\s)\s++x", "«[^«»]*»", r"[a-z]+", "(?:[^\\W_]++|[\u064b]++)++"])
def test_a_pattern_that_goes_through_its_text_once_is_not(pattern: str) -> None:
    assert not slow(Used("here", re.compile(pattern), frozenset({"finditer", "fullmatch"})))


@pytest.mark.timeout(900)
def test_every_pattern_of_the_product_takes_linear_time() -> None:
    # In a process of its own: what backtracks without end is stopped by the limit on its processor time.
    ended = subprocess.run(
        [sys.executable, "-m", "tests.patterns"],
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (600, 600)),
    )
    assert ended.returncode == 0, ended.stderr
    told = json.loads(ended.stdout)
    assert told["patterns"] >= _LEAST_PATTERNS
    assert told["unknown"] == [], "name what such a pattern is made of in tests/patterns.py"
    assert told["slow"] == []
