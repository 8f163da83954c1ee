"""Normal, beta and Student's t, against scipy, closed forms and each other."""

from __future__ import annotations

import math

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy import stats

from ragmetrics_core.statistics import _distributions as own
from ragmetrics_core.statistics._distributions import crossing

SHARES = st.floats(1e-6, 1 - 1e-6)
FREEDOM = st.floats(0, 6).map(lambda power: 10.0**power)
PARAMETER = st.floats(-0.5, 5).map(lambda power: 10.0**power)


class TestNormal:
    @given(st.floats(-30, 8))
    def test_share_below(self, z: float) -> None:
        assert own.normal_cdf(z) == pytest.approx(stats.norm.cdf(z), rel=1e-12)

    @given(SHARES)
    @example(0.5)
    @example(1e-200)
    def test_quantile(self, share: float) -> None:
        assert own.normal_quantile(share) == pytest.approx(stats.norm.ppf(share), rel=1e-12, abs=1e-15)

    def test_what_everybody_knows(self) -> None:
        assert own.normal_quantile(0.975) == pytest.approx(1.959963984540054, abs=1e-15)
        assert own.normal_quantile(0.025) == pytest.approx(-own.normal_quantile(0.975), rel=1e-14)
        assert own.normal_quantile(0.5) == 0


class TestBeta:
    @given(st.floats(0, 1), PARAMETER, PARAMETER)
    @example(0.5, 100_000.0, 100_000.0)
    @example(1e-300, 0.5, 0.5)
    def test_share_below(self, x: float, a: float, b: float) -> None:
        assert own.beta_cdf(x, a, b) == pytest.approx(stats.beta.cdf(x, a, b), rel=1e-8, abs=1e-10)

    @given(SHARES, PARAMETER, PARAMETER)
    def test_quantile(self, share: float, a: float, b: float) -> None:
        assert own.beta_quantile(share, a, b) == pytest.approx(stats.beta.ppf(share, a, b), rel=1e-8, abs=1e-13)

    def test_closed_forms(self) -> None:
        """beta(1, 1) is uniform, beta(a, 1) has the distribution x^a, and beta(2, 2) 3x² - 2x³."""
        assert own.beta_cdf(0.3, 1, 1) == pytest.approx(0.3, rel=1e-14)
        assert own.beta_cdf(0.3, 7.5, 1) == pytest.approx(0.3**7.5, rel=1e-13)
        assert own.beta_cdf(0.3, 2, 2) == pytest.approx(3 * 0.09 - 2 * 0.027, rel=1e-14)

    def test_the_ends(self) -> None:
        assert (own.beta_cdf(0, 2, 3), own.beta_cdf(1, 2, 3)) == (0, 1)
        assert (own.beta_quantile(0, 2, 3), own.beta_quantile(1, 2, 3)) == (0, 1)


class TestStudent:
    @given(st.floats(-50, 50), FREEDOM)
    @example(0.0, 3.7)
    @example(1e-170, 5.0)
    def test_share_at_least_as_far_away(self, t: float, freedom: float) -> None:
        assert own.t_two_sided(t, freedom) == pytest.approx(2 * stats.t.sf(abs(t), freedom), rel=1e-8)

    @given(SHARES, FREEDOM)
    @example(0.5, 3.0)
    @example(0.975, 4.37)
    def test_quantile(self, share: float, freedom: float) -> None:
        assert own.t_quantile(share, freedom) == pytest.approx(stats.t.ppf(share, freedom), rel=1e-8, abs=1e-12)

    def test_infinitely_many_degrees_are_the_normal_distribution(self) -> None:
        assert own.t_quantile(0.975, math.inf) == own.normal_quantile(0.975)
        assert own.t_two_sided(-1.7, math.inf) == pytest.approx(2 * own.normal_cdf(-1.7))
        assert own.t_quantile(0.975, 1e9) == pytest.approx(own.normal_quantile(0.975), rel=1e-8)

    def test_infinitely_far_away_lies_nothing(self) -> None:
        assert own.t_two_sided(math.inf, 3) == own.t_two_sided(-math.inf, math.inf) == 0


class TestCrossing:
    def test_a_root_that_is_known(self) -> None:
        assert crossing(lambda x: x**3 - 2, 0, 2) == pytest.approx(2 ** (1 / 3), rel=1e-15)
        assert crossing(lambda x: 2 - x**3, 0, 2) == pytest.approx(2 ** (1 / 3), rel=1e-15)

    def test_flat_steep_and_infinite_functions(self) -> None:
        assert crossing(lambda x: x**9, -1, 4) == pytest.approx(0, abs=1e-2)
        assert crossing(lambda x: math.exp(50 * x) - 1, -3, 5) == pytest.approx(0, abs=1e-15)
        assert crossing(lambda x: 1 / x - 5 if x > 0 else math.inf, 0, 7) == pytest.approx(0.2, rel=1e-14)

    def test_a_root_at_an_end_that_rounding_moved_out_of_reach(self) -> None:
        assert crossing(lambda x: x - 1 - 1e-17, 0.0, 1.0) == 1.0
        assert crossing(lambda x: x + 1e-17, 0.0, 1.0) == 0.0

    @given(st.floats(-10, 10), st.floats(0.01, 5), st.floats(0.01, 5))
    def test_any_line(self, root: float, left: float, right: float) -> None:
        assert crossing(lambda x: x - root, root - left, root + right) == pytest.approx(root, abs=1e-12)
