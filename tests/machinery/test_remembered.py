"""What is remembered of words is what would be worked out, and never more than it may be."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mihakk.machinery import remembered
from mihakk.machinery.remembered import Remembered


@given(st.lists(st.text("abc", max_size=3)))
def test_words_mean_the_same_however_much_is_forgotten(words: list[str]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(remembered, "MOST_KEPT", 4)
        patch.setattr(remembered, "LONGEST_KEPT", 2)
        found = Remembered(len)
        for word in words:
            assert found[word] == len(word)
            assert len(found) <= 4
            assert all(len(one) <= 2 for one in found)


def test_a_word_met_all_the_time_is_worked_out_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remembered, "MOST_KEPT", 4)
    worked = []
    found = Remembered(lambda word: worked.append(word) or len(word))
    for number in range(40):
        assert found["word"] == 4
        assert found[str(number)] == len(str(number))
    assert worked.count("word") == 1
