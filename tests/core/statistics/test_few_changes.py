"""The score interval for few changes: Tango's where that applies, and the likeliest distributions searched for by force."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize

from examples import examples
from ragmetrics_core.statistics import paired_difference
from ragmetrics_core.statistics._means import FewChanges, clustered_mean, reach_of, units_of
from ragmetrics_core.statistics._pairs import tango_limits

Z = 1.959963984540054


def rows(values: list[float], reach: float, inflation: float = 1.0) -> FewChanges:
    return FewChanges(Counter((value, 1) for value in values), (-reach, reach), inflation)


@given(st.integers(0, 6), st.integers(0, 6), st.integers(13, 80))
def test_on_passes_and_fails_it_is_tangos(gained: int, lost: int, same: int) -> None:
    found = rows([1.0] * gained + [-1.0] * lost + [0.0] * same, 1.0).limits(Z)
    assert found == pytest.approx(tango_limits(gained, lost, gained + lost + same, 0.95), abs=1e-9)


@examples(30)
@given(
    st.lists(st.sampled_from([-0.5, -0.2, 0.1, 0.3, 0.7]), min_size=1, max_size=4),
    st.integers(6, 20),
    st.floats(-0.25, 0.25),
)
def test_the_spread_is_that_of_the_likeliest_distribution(changed: list[float], same: int, mean: float) -> None:
    values, reach = [*changed, *[0.0] * same], 1.4 * max(map(abs, changed))
    few = rows(values, reach)
    if few.mean in (0.0, mean) or abs(mean) > 0.9 * reach:
        return
    away = (few.mean - mean) / np.sqrt(likeliest_variance(values, reach, mean) / len(values))
    assert few.distance(mean) == pytest.approx(abs(away), rel=1e-3)


def likeliest_variance(values: list[float], reach: float, mean: float) -> float:
    """By a search over all distributions on the observed values and the two that were not seen."""
    counts = Counter(values)
    points = np.array([*counts, -reach, reach])
    weights = np.array([*counts.values(), 0, 0], dtype=float)

    def unlikely(shares: np.ndarray) -> float:
        return -float(weights @ np.log(np.maximum(shares, 1e-12)))

    conditions = [
        {"type": "eq", "fun": lambda shares: shares.sum() - 1},
        {"type": "eq", "fun": lambda shares: shares @ points - mean},
    ]
    starts = (weights + more / len(points) for more in (0.5, 1, 3))
    searches = [
        optimize.minimize(
            unlikely,
            start / start.sum(),
            bounds=[(1e-12, 1)] * len(points),
            constraints=conditions,
            options={"ftol": 1e-13},
        )
        for start in starts
    ]
    on_target = [found.x for found in searches if all(abs(each["fun"](found.x)) < 1e-9 for each in conditions)]
    return float(min(on_target, key=unlikely) @ (points - mean) ** 2)


def test_by_hand() -> None:
    """Two of ten rows fell by 0.5, nothing farther than 0.75 is expected: the upper limit lets rows rise by 0.75.

    With a supposed mean d above 0 the weights of the unchanged rows are (0.75 - d) / 10 / 0.75, of the changed ones
    (0.75 - d) / 10 / 1.25, and the rest lies at 0.75.
    """
    few = rows([-0.5] * 2 + [0.0] * 8, 0.75)
    mean = 0.05
    same, changed = 8 * 0.7 / 10 / 0.75, 2 * 0.7 / 10 / 1.25
    rest = 1 - same - changed
    assert same * 0 - changed * 0.5 + rest * 0.75 == pytest.approx(mean)
    variance = same * 0.05**2 + changed * 0.55**2 + rest * 0.7**2
    assert few.distance(mean) == pytest.approx(0.15 / np.sqrt(variance / 10))
    assert rows([-0.5] * 2 + [0.0] * 8, 0.75, 4.0).distance(mean) == pytest.approx(few.distance(mean) / 2)


@given(st.lists(st.floats(-1, 1).filter(lambda change: abs(change) > 1e-6), min_size=1, max_size=8), st.integers(9, 40))
def test_the_farther_the_odder(changed: list[float], same: int) -> None:
    few = rows([*changed, *[0.0] * same], min(1.0, 1.2 * max(map(abs, changed))))
    low, high = few.limits(Z)
    assert low <= few.mean <= high
    steps = [few.distance(few.mean + (high - few.mean) * share) for share in (0.1, 0.4, 0.7, 1.0)]
    assert steps == sorted(steps)
    assert steps[-1] == pytest.approx(Z, rel=1e-6)


def test_paired_differences_with_few_changes() -> None:
    """Two changes were seen, both for the worse: -0.5 * (1 + 2 / 2) and 0.5 are expected; the p-value flips their signs.

    The largest change is 1.5 less than the width of the scale, and three tenths of a row that changes by so much more are unmet.
    """
    found = paired_difference([0.9] * 10, [0.4, 0.4] + [0.9] * 8, scale=(-1, 1))
    low, high = FewChanges(Counter({(-0.5, 1): 2, (0.0, 1): 8}), (-1.0, 0.5), 1.0, 0.3 * 1.5**2 / 10).limits(Z)
    assert found.interval == (pytest.approx(low), pytest.approx(high), "few-changes")
    assert (found.p_value, found.changed) == (0.5, 2)


def test_what_may_be_expected() -> None:
    """Of 0.2 and 0.6 the largest is 0.6, and their squares over themselves are 0.4 / 0.8."""
    unchanged = [(0.0, 1)] * 4
    assert reach_of(Counter([(-0.2, 1), (0.6, 1), *unchanged]), math.inf) == pytest.approx((-1.2, 1.2))
    assert reach_of(Counter([(-0.2, 1), (-0.6, 1), *unchanged]), math.inf) == pytest.approx((-1.2, 0.5))
    assert reach_of(Counter([(0.2, 1), (0.6, 1), *unchanged]), math.inf) == pytest.approx((-0.5, 1.2))
    assert reach_of(Counter([(0.2, 1), (0.6, 1), *unchanged]), 1.0) == pytest.approx((-0.5, 1.0))
    assert reach_of(Counter([(0.2, 1), (0.6, 1), *unchanged]), 0.4) == (-0.4, 0.4)


def test_what_may_be_expected_of_a_cluster() -> None:
    """Of average size 2, with twice the largest mean change, which is 0.4; the sums 0.4 and 0.6 are usually 0.52 / 1."""
    clusters = Counter([(0.4, 1), (0.6, 4), (0.0, 1), (0.0, 2)])
    assert reach_of(clusters, math.inf) == pytest.approx((-0.52, 1.6))
    assert reach_of(clusters, 0.5) == pytest.approx((-0.52, 1.0))


def test_six_changes_in_one_direction_exclude_0() -> None:
    """As the exact test does; that one looks at their directions alone, and the interval also at a size that stands out."""
    cases = {True: ([0.5] * 6, [0.2, 0.3, 0.4, 0.5, 0.6, 0.7]), False: ([0.05] * 5 + [0.9],)}
    for excluded, lists in cases.items():
        for sizes in lists:
            found = paired_difference([0.1] * 40, [0.1 + size for size in sizes] + [0.1] * 34, scale=(0, 1))
            assert found.interval is not None
            assert (found.interval.low > 0, found.p_value) == (excluded, 2 / 64)


def test_a_mean_over_clusters_by_hand() -> None:
    """Clusters (1, 2, 3) and (6): mean 3, sums of deviations -3 and 3, shares 3/4 and 1/4.

    V = (9 / (1/4) + 9 / (3/4)) / 16 = 3; two clusters have one degree of freedom.
    """
    found = clustered_mean(units_of([1, 2, 3, 6], ["a", "a", "a", "b"]))
    assert (found.mean, found.variance, found.freedom) == pytest.approx((3, 3, 1))
    assert found.units == {(6, 3): 1, (6, 1): 1}
    assert found.inflation == pytest.approx(3 / (18 / 16))
