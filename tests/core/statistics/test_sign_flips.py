"""The exact p-value of few changes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from examples import examples
from ragmetrics_core.statistics import paired_difference


def sign_flip_p(changes: list[float]) -> float | None:
    """The p-value of these changes, and of two rows that did not change."""
    after = [*changes, 0.0, 0.0]
    return paired_difference([0.0] * len(after), after, scale=(-9, 9)).p_value


def test_by_hand() -> None:
    """Of the eight ways to sign 1, 2 and 3, only 6 and -6 are as far from 0 as 6; 4, 6 and their opposites as far as 4."""
    assert sign_flip_p([1, 2, 3]) == 2 / 8
    assert sign_flip_p([-1, 2, 3]) == 4 / 8
    assert sign_flip_p([1, 2, -3]) == 1


def test_unchanged_rows_do_not_matter() -> None:
    assert sign_flip_p([0.1, 0.0, 0.2, 0.0]) == sign_flip_p([0.1, 0.2]) == 0.5
    assert sign_flip_p([0.0, 0.0]) == 1


@pytest.mark.parametrize("changed", [1, 5, 6, 12])
def test_all_in_one_direction(changed: int) -> None:
    assert sign_flip_p([-0.25] * changed) == 2.0 ** (1 - changed)


def test_rounding_makes_no_difference() -> None:
    """0.1 + 0.2 is not 0.3, but as far from 0."""
    assert sign_flip_p([0.1, 0.2, -0.3]) == sign_flip_p([1, 2, -3]) == 1


@examples(25)
@given(st.lists(st.floats(-1, 1).map(lambda value: round(value, 3)), min_size=2, max_size=10))
def test_as_scipy_does_it(changes: list[float]) -> None:
    oracle = stats.permutation_test((changes,), np.sum, permutation_type="samples", n_resamples=np.inf)
    assert sign_flip_p(changes) == pytest.approx(min(oracle.pvalue, 1.0))


def test_as_truescore_does_it() -> None:
    truescore = pytest.importorskip("truescore.compare")
    before, after = [0.2, 0.5, 0.9, 0.4, 0.7, 0.1], [0.4, 0.6, 0.85, 0.9, 0.75, 0.3]
    assert paired_difference(before, after).p_value == truescore.paired_permutation(after, before).p_value
