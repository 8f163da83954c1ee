"""Normal, beta and Student's t, against scipy, closed forms and each other."""

from __future__ import annotations

import math
import statistics
from typing import ClassVar

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy import stats

from ragmetrics_core.statistics import _distributions as own
from ragmetrics_core.statistics import mean_interval
from ragmetrics_core.statistics._distributions import crossing
from ragmetrics_core.statistics._interval import difference_of_means
from ragmetrics_core.statistics._means import rate_mid_p

Z = 1.959963984540054  # the normal distribution has 95 % of its mass within this many standard deviations
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


class TestQuantileOfT:
    # Two-sided 95 % points; three decimals are in every table (NIST/SEMATECH e-Handbook 1.3.6.7.2), more from scipy 1.17.
    KNOWN: ClassVar = {
        1: 12.7062047362,
        2: 4.3026527297,
        3: 3.1824463053,
        4: 2.7764451052,
        5: 2.5705818356,
        10: 2.2281388520,
        20: 2.0859634473,
        30: 2.0422724563,
        50: 2.0085591121,
        51: 2.0075837703,
        60: 2.0002978220,
        100: 1.9839715185,
        120: 1.9799304051,
        1000: 1.9623390808,
    }

    @pytest.mark.parametrize("freedom", KNOWN)
    def test_tables(self, freedom: int) -> None:
        assert own.t_quantile(0.975, freedom) == pytest.approx(self.KNOWN[freedom], abs=1e-8)

    def test_one_and_two_degrees_have_closed_forms(self) -> None:
        assert own.t_quantile(0.975, 1) == pytest.approx(math.tan(0.475 * math.pi), rel=1e-12)
        assert own.t_quantile(0.975, 2) == pytest.approx(0.95 * math.sqrt(2 / (1 - 0.95**2)), rel=1e-12)

    @given(st.integers(3, 1000))
    def test_95_percent_of_the_density_lie_within(self, freedom: int) -> None:
        """Simpson's rule over the density: an independent way, without the sums that the quantile is made of."""
        quantile, steps = own.t_quantile(0.975, freedom), 400
        scale = math.exp(math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2)) / math.sqrt(freedom * math.pi)
        width = quantile / steps
        density = [scale * (1 + (k * width) ** 2 / freedom) ** (-(freedom + 1) / 2) for k in range(steps + 1)]
        ends = density[0] + density[-1]
        half = width / 3 * (ends + 4 * math.fsum(density[1:-1:2]) + 2 * math.fsum(density[2:-1:2]))
        assert 2 * half == pytest.approx(0.95, abs=1e-8)

    def test_it_falls_towards_the_normal_quantile(self) -> None:
        quantiles = [own.t_quantile(0.975, freedom) for freedom in range(1, 200)]
        assert quantiles == sorted(quantiles, reverse=True)
        assert own.t_quantile(0.975, 10**9) == pytest.approx(Z, abs=1e-8)
        assert pytest.approx(statistics.NormalDist().inv_cdf(0.975), abs=1e-14) == Z


@pytest.mark.parametrize(
    ("hits", "count", "rate", "value"),
    [
        (0, 1, 0.25, 0.75 / 2),
        (1, 1, 0.25, 0.75 + 0.25 / 2),
        (0, 3, 0.5, 1 / 16),
        (1, 3, 0.5, 1 / 8 + 3 / 16),
        (3, 3, 0.5, 1 - 1 / 16),
        (0, 10, 1.0, 0.0),
        (10, 10, 1.0, 0.5),
        (0, 10, 0.0, 0.5),
    ],
)
def test_rates_by_hand(hits: int, count: int, rate: float, value: float) -> None:
    assert rate_mid_p(hits, count, rate) == pytest.approx(value, abs=1e-15)


@pytest.mark.parametrize("count", [2, 20, 1000])
@pytest.mark.parametrize("rate", [0.05, 0.5, 0.95])
def test_rates_against_the_binomial_distribution_of_scipy(count: int, rate: float) -> None:
    binom = pytest.importorskip("scipy.stats").binom
    for hits in {0, 1, count // 2, int(count * rate), count - 1, count}:
        expected = binom.cdf(hits - 1, count, rate) + binom.pmf(hits, count, rate) / 2
        assert rate_mid_p(hits, count, rate) == pytest.approx(expected, rel=1e-9, abs=1e-300)


def test_the_interval_of_a_difference_is_newcombes() -> None:
    """Newcombe 1998, table II, method 10: 56 of 70 and 48 of 80."""
    one, other = (
        mean_interval([1.0] * hits + [0.0] * (count - hits), scale=(0, 1)) for hits, count in ((56, 70), (48, 80))
    )
    assert one is not None
    assert other is not None
    found = difference_of_means(0.8, one, 0.6, other)
    assert (round(found.low, 4), round(found.high, 4)) == (0.0524, 0.3339)
