"""The examples of docs/text.md run and give what they say."""

import doctest
from pathlib import Path

PAGE = Path(__file__).resolve().parents[3] / "docs" / "text.md"


def test_examples_of_the_page():
    result = doctest.testfile(str(PAGE), module_relative=False, encoding="utf-8")
    assert result.attempted >= 15
    assert result.failed == 0
