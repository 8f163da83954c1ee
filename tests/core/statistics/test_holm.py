"""Holm's adjustment, by hand and against statsmodels."""

from __future__ import annotations

import math
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats import multitest

from ragmetrics_core import InvalidInput
from ragmetrics_core.statistics import holm


def test_by_hand() -> None:
    """4 * 0.005, 3 * 0.01, 2 * 0.03, and 0.04 which may not fall below the one before it."""
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])


def test_what_was_not_tested_does_not_count() -> None:
    assert holm([0.02, None, 0.5, None]) == [0.04, None, 0.5, None]
    assert holm([None]) == [None]
    assert holm([]) == []


def test_no_more_than_1() -> None:
    assert holm([0.6, 0.7, 1.0]) == [1.0, 1.0, 1.0]


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30))
def test_as_statsmodels_does_it(p_values: list[float]) -> None:
    with mock.patch("gc.collect"):  # which the oracle calls each time, and which takes a second where much is loaded
        expected = multitest.multipletests(p_values, method="holm")[1]
    assert holm(p_values) == pytest.approx(list(expected))


@pytest.mark.parametrize("wrong", [-0.1, 1.5, math.nan])
def test_what_is_no_p_value(wrong: float) -> None:
    message = rf"^p_values\[1\] is {wrong}: give a number from 0 to 1, or None without a test$"
    with pytest.raises(InvalidInput, match=message):
        holm([0.5, wrong])
