"""CR2 and Satterthwaite's degrees of freedom, against the general formulas with matrices."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from ragmetrics_core.statistics import mean_interval, paired_difference


def by_matrices(values: Sequence[float], clusters: Sequence[int]) -> tuple[float, float]:
    """Variance and degrees of freedom as Pustejovsky & Tipton 2018 define them for any regression, on the intercept alone.

    A_g = (I - H)_gg^(-1/2), V = M (sum of X_g' A_g e_g e_g' A_g' X_g) M; the degrees of freedom are (sum of p_g'p_g)² over the sum
    of all (p_g'p_h)², with p_g = (I - H)_g' A_g X_g M, where rows are independent.
    """
    count = len(values)
    x, y = np.ones((count, 1)), np.array(values)
    m = np.linalg.inv(x.T @ x)
    rest = np.eye(count) - x @ m @ x.T
    errors = rest @ y
    variance, columns = 0.0, []
    for cluster in sorted(set(clusters)):
        rows = np.flatnonzero(np.array(clusters) == cluster)
        values_of, vectors = np.linalg.eigh(rest[np.ix_(rows, rows)])
        root = vectors @ np.diag(values_of**-0.5) @ vectors.T
        variance += float((m @ x[rows].T @ root @ errors[rows])[0]) ** 2
        columns.append((rest[rows].T @ root @ x[rows] @ m)[:, 0])
    products = np.array(columns) @ np.array(columns).T
    return variance, float(np.trace(products) ** 2 / (products**2).sum())


SAMPLES = st.lists(st.tuples(st.floats(-2, 2), st.integers(0, 5)), min_size=3, max_size=25).filter(
    lambda rows: len({cluster for _, cluster in rows}) > 1
)


@given(SAMPLES)
def test_closed_forms_are_those_of_the_matrices(sample: list[tuple[float, int]]) -> None:
    values, clusters = map(list, zip(*sample, strict=True))
    variance, freedom = by_matrices(values, clusters)
    for confidence in (0.5, 0.95):
        found = mean_interval(values, clusters, confidence=confidence)
        if len(set(clusters)) == len(values) or found is None:  # no clusters, or their means are equal
            continue
        half = stats.t.ppf((1 + confidence) / 2, max(freedom, 1.0)) * math.sqrt(variance)
        assert found.high - found.low == pytest.approx(2 * half, rel=1e-8, abs=1e-12)
        assert (found.high + found.low) / 2 == pytest.approx(np.mean(values), abs=1e-9 * max(1.0, half))


def test_equal_clusters_are_as_their_means() -> None:
    """With clusters of one size, CR2 is Student's t of the means of the clusters."""
    values = [0.1, 0.4, 0.3, 0.9, 0.8, 0.6, 0.2, 0.5]
    means = [sum(pair) / 2 for pair in zip(values[::2], values[1::2], strict=True)]
    oracle = stats.ttest_1samp(means, 0)
    low, high = oracle.confidence_interval(0.9)
    found = mean_interval(values, [0, 0, 1, 1, 2, 2, 3, 3], confidence=0.9)
    assert found == (pytest.approx(low), pytest.approx(high), "cr2")
    paired = paired_difference([0] * 8, values, [0, 0, 1, 1, 2, 2, 3, 3])
    assert (paired.p_value, paired.method, paired.clusters) == (pytest.approx(oracle.pvalue), "cr2", 4)


def test_repeats_of_rows_tell_nothing_new() -> None:
    values = [0.1, 0.4, 0.3, 0.9, 0.8]
    once, thrice = mean_interval(values), mean_interval(values * 3, list(range(5)) * 3)
    assert once is not None
    assert thrice is not None
    assert thrice[:2] == pytest.approx(once[:2])


def test_clusters_of_one_row_are_no_clusters() -> None:
    before, after = [0.2, 0.5, 0.9, 0.4, 0.7], [0.4, 0.6, 0.85, 0.9, 0.75]
    alone, apart = paired_difference(before, after), paired_difference(before, after, "abcde")
    assert (alone.interval, alone.p_value, alone.method) == (apart.interval, apart.p_value, apart.method)
    assert (alone.clusters, apart.clusters) == (None, 5)
    assert mean_interval(after, "abcde", (0, 1)) == mean_interval(after, None, (0, 1))


def test_a_single_cluster_tells_nothing_of_others() -> None:
    found = paired_difference([0.2, 0.5], [0.4, 0.6], ["x", "x"], (0, 1))
    assert (found.interval, found.p_value, found.method, found.clusters) == (None, None, "none", 1)
    assert found.problem == "all rows are in one cluster, so nothing shows how much clusters differ"
    assert found.difference == pytest.approx(0.15)
    assert found.rows_needed(0.1) is None
    assert mean_interval([0.2, 0.5], ["x", "x"], (0, 1)) is None


def test_equal_clusters_are_not_certain() -> None:
    """Three clusters of mean 0.5, however many rows: z² / (3 + z²) of all clusters may lie elsewhere."""
    unseen = 1.959963984540054**2 / (3 + 1.959963984540054**2)
    expected = (pytest.approx(0.5 - unseen / 2), pytest.approx(0.5 + unseen / 2))
    found = mean_interval([0.4, 0.6] * 3, [0, 0, 1, 1, 2, 2], (0, 1))
    assert found is not None
    assert (found[:2], found.method) == (expected, "constant")
    ends = mean_interval([0, 1] * 3, [0, 0, 1, 1, 2, 2], (0, 1))
    assert ends == mean_interval([0.5] * 3, None, (0, 1))._replace(method="wilson") or ends.method == "wilson"
    perfect = mean_interval([1.0] * 6, [0, 0, 1, 1, 2, 2], (0, 1))
    assert perfect == mean_interval([1.0] * 3, None, (0, 1))
    assert mean_interval([0.4, 0.6] * 3, [0, 0, 1, 1, 2, 2]) is None


def test_mean_on_a_scale_has_wilsons_form() -> None:
    """Both limits p solve (mean - p)² = t² * V / (mean * (1 - mean)) * p * (1 - p)."""
    values, clusters = [0.2, 0.9, 1.0, 1.0, 0.75, 0.4, 0.6], [0, 0, 1, 1, 1, 2, 3]
    found, (variance, freedom) = mean_interval(values, clusters, (0, 1)), by_matrices(values, clusters)
    mean = sum(values) / 7
    assert found is not None
    assert found.method == "cr2"
    spread = stats.t.ppf(0.975, freedom) ** 2 * variance / (mean * (1 - mean))
    for limit in found[:2]:
        assert (mean - limit) ** 2 == pytest.approx(spread * limit * (1 - limit))


def test_few_clusters_that_are_not_perfect() -> None:
    """Two of nine clusters have failures; the t interval would end above 1, Wilson's form just below."""
    values, clusters = [0, 1] + [1] * 15 + [0], [index // 2 for index in range(18)]
    found = mean_interval(values, clusters, (0, 1))
    assert found is not None
    assert found.method == "few-changes"
    assert 0 < found.low < 16 / 18 < found.high < 1
    mirrored = mean_interval([1 - value for value in values], clusters, (0, 1))
    assert mirrored is not None
    assert (mirrored.low, mirrored.high) == pytest.approx((1 - found.high, 1 - found.low))
