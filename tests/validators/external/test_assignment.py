"""Columns are assigned to roles as the Hungarian method assigns them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.optimize import linear_sum_assignment

from mihakk.validators.external.assignment import assign

SCORES = st.floats(0, 2) | st.sampled_from([0.0, 0.5, 1.0])


@given(arrays(float, st.tuples(st.integers(1, 7), st.integers(1, 9)), elements=SCORES))
def test_the_sum_is_that_of_scipy_and_no_column_is_taken_twice(scores: np.ndarray) -> None:
    found = assign(scores.tolist())
    assert len(set(found.values())) == len(found)
    expected = scores[linear_sum_assignment(scores, maximize=True)].sum()
    assert sum(scores[row, column] for row, column in found.items()) == pytest.approx(expected, abs=1e-8)


def test_at_a_tie_the_first_columns_stay() -> None:
    assert assign([[1.0, 1.0, 0.0], [0.0, 0.5, 0.5]]) == {0: 0, 1: 1}


def test_nothing_below_zero_and_nothing_of_no_columns_is_assigned() -> None:
    assert assign([[-0.2, 0.0], [0.0, -1.0]]) == {}
    assert assign([[], []]) == {}
