"""Differences between two runs over the same rows."""

from __future__ import annotations

import math

import pytest
from scipy import stats

from ragmetrics_core import InvalidInput
from ragmetrics_core.statistics import paired_difference

UNIT = (0.0, 1.0)


def test_other_values_have_students_t() -> None:
    before, after = [0.2, 0.5, 0.9, 0.4, 0.7], [0.4, 0.6, 0.85, 0.9, 0.75]
    found = paired_difference(before, after)
    oracle = stats.ttest_rel(after, before)
    low, high = oracle.confidence_interval(0.95)
    assert found.interval == (pytest.approx(low), pytest.approx(high), "t")
    assert found.difference == pytest.approx(0.16)
    assert (found.method, found.pairs, found.changed, found.clusters) == ("t", 5, 5, None)


def test_equal_pairs_are_not_certain() -> None:
    """z² / (20 + z²) of all rows may have changed from one end of the scale to the other."""
    found = paired_difference([0.5] * 20, [0.5] * 20, scale=UNIT)
    assert found.interval == (pytest.approx(-0.161125, abs=1e-6), pytest.approx(0.161125, abs=1e-6), "constant")
    assert (found.difference, found.p_value, found.changed) == (0, 1, 0)
    assert found.rows_needed(0.03) is None


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([0.1], [0.1, 0.2]), "after has 2 values and before 1: give both scores of every row, in the same order"),
        (([], []), "before has no values: give at least one pair"),
        (([0.1, math.nan], [0.1, 0.2]), "before[1] is nan: give finite numbers, and leave out rows without a score"),
    ],
)
def test_input_that_cannot_be_paired(arguments: tuple[list[float], list[float]], message: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        paired_difference(*arguments)
    assert str(caught.value) == message
